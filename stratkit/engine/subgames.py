"""Subgames of a public tree, many at a time, each from a public belief state to some depth."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from stratkit.arguments import Int32, Seed, checked, fitting, integer, within
from stratkit.arrays import Float64s, Int8s, Int32s, Int64s
from stratkit.engine.library import ffi, filled, length, lib, pointer, text, writable
from stratkit.engine.public_tree import PublicTree
from stratkit.engine.random_streams import Stream
from stratkit.engine.tree import Check, three_parts


class Subgames:
    """Subgames of `tree`, one for each node of `roots`, each of so many decisions (`depth`; 0: to
    the end of the game); one of several hands' forced moves is no decision.

    Of all subgames together, P parts with H_p hands of player p, E choices and L leaves:

        nodes    int32 [P]     of the tree
        parents  int32 [P]     -1 at the root of a subgame
        child    int32 [P]     the first of its children, -1: none
        hand     int32 [P, 2]  where its hands begin
        choice   int32 [P]     where its choices begin, if it has children and a player acts
        leaf     int32 [P]     its number among leaves, or -1

    A policy, regrets and so on are float64 [E]; reach and values of a player float64 [H_p]. Values
    are counterfactual: weighted with the reach of the opponent's hands and of chance.
    """

    def __init__(self, tree: PublicTree, roots: Int32s, depth: int) -> None:
        if not isinstance(tree, PublicTree):
            raise TypeError(f"tree must be a PublicTree, not {type(tree).__name__}")
        n = length("roots", roots)
        begin = pointer("roots", roots, "int32", (n,))
        within("roots", roots, 0, len(tree) - 1)
        self.tree, self.roots, self.depth = tree, roots, integer("depth", depth, 0, 2**31 - 1)
        opened = ffi.new("sk_subgames **")
        wrong = lib.sk_subgames_open(tree.handle, begin, n, depth, opened)
        if opened[0] != ffi.NULL:
            self._handle = ffi.gc(opened[0], lib.sk_subgames_close)
        if wrong != ffi.NULL:
            raise MemoryError(text(wrong))
        size = ffi.new("sk_subgames_size *")
        lib.sk_subgames_describe(self._handle, size)
        self.hands: tuple[int, int] = (size.hands[0], size.hands[1])
        self.choices: int = size.choices
        self.leaves: int = size.leaves
        self.nodes, self.parents, self.child, self.choice, self.leaf = np.empty(
            (5, size.parts), np.int32
        )
        self.hand = np.empty((size.parts, 2), np.int32)
        lib.sk_subgames_parts(
            self._handle,
            *map(
                writable, (self.nodes, self.parents, self.child, self.hand, self.choice, self.leaf)
            ),
        )

    @cached_property
    def root_parts(self) -> Int32s:
        """int32 [subgames]: the part of each root."""
        return np.flatnonzero(self.parents < 0).astype(np.int32)

    @cached_property
    def leaf_parts(self) -> Int32s:
        """int32 [L]: the part of each leaf."""
        return np.flatnonzero(self.leaf >= 0).astype(np.int32)

    @cached_property
    def owner(self) -> Int64s:
        """int64 [P]: the subgame of each part."""
        return np.asarray(np.cumsum(self.parents < 0) - 1, np.int64)

    @cached_property
    def _acting(self) -> tuple[Int64s, Int64s, Int64s]:
        """Of all hands that act, S in the order of their choices: part, information set of the
        tree, and place among all hands of their player, int64 [S]."""
        tree = self.tree
        part = np.flatnonzero((self.child >= 0) & (tree.actors[self.nodes] >= 0))
        node, who = self.nodes[part], tree.actors[self.nodes[part]]
        size = tree.hand[node + 1, who] - tree.hand[node, who]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        begin = tree.infoset[node], self.hand[part, who]
        return np.repeat(part, size), *(np.repeat(b, size) + within for b in begin)

    @cached_property
    def first(self) -> Int64s:
        """int64 [S + 1]: where the choices of each hand that acts begin, S of all subgames."""
        sets = self._acting[1]
        sizes = self.tree.first[sets + 1] - self.tree.first[sets]
        return np.append(0, np.cumsum(sizes))

    @cached_property
    def player(self) -> Int8s:
        """int8 [E]: whose each choice is."""
        return np.repeat(self.tree.actors[self.nodes[self._acting[0]]], np.diff(self.first))

    @cached_property
    def subgame(self) -> Int64s:
        """int64 [E]: the subgame of each choice."""
        return np.repeat(self.owner[self._acting[0]], np.diff(self.first))

    @cached_property
    def hand_of_choice(self) -> Int64s:
        """int64 [E]: the hand that has each choice, among all of its player."""
        return np.repeat(self._acting[2], np.diff(self.first))

    @cached_property
    def tree_choice(self) -> Int64s:
        """int64 [E]: which choice of the tree each choice is."""
        begin = self.tree.first[self._acting[1]]
        return np.repeat(begin - self.first[:-1], np.diff(self.first)) + np.arange(self.choices)

    @cached_property
    def part(self) -> Int64s:
        """int64 [E]: the part that has each choice."""
        return np.repeat(self._acting[0], np.diff(self.first))

    @cached_property
    def output(self) -> Int64s:
        """int64 [E]: where tables [game's hands, game's actions] have each choice."""
        tree, (part, infoset, _) = self.tree, self._acting
        node = self.nodes[part]
        who, number = tree.actors[node], np.empty(len(part), np.int64)
        for player in (0, 1):
            mine = who == player
            place = tree.hand[node[mine], player] + infoset[mine] - tree.infoset[node[mine]]
            number[mine] = tree.number[player][place]
        hands = np.repeat(number, np.diff(self.first))
        return hands * tree.game.actions + tree.choices[self.tree_choice]

    @checked
    def choices_of(self, which: Int64s) -> Int64s:
        """int64: where the choices of subgames `which` int64 [n] are, one's after the other's."""
        self._subgames(which)
        sizes = np.bincount(self.subgame, minlength=len(self.roots))
        begin, size = (np.cumsum(sizes) - sizes)[which], sizes[which]
        return np.repeat(begin - np.cumsum(size) + size, size) + np.arange(size.sum())

    def uniform(self) -> Float64s:
        """The policy that has all choices of a hand alike."""
        sizes = np.diff(self.first)
        return np.repeat(1.0 / sizes, sizes)

    @checked
    def normalised(self, sums: Float64s) -> Float64s:
        """The policy in proportion to `sums` [E]; uniform where these are 0."""
        fitting("sums", sums, (self.choices,))
        total = np.repeat(np.add.reduceat(sums, self.first[:-1]), np.diff(self.first))
        policy = self.uniform()
        np.divide(sums, total, out=policy, where=total > 0)
        return policy

    # ---- Beliefs ----

    def beliefs(self, player: int, reach: Float64s, parts: Int32s) -> Float64s:
        """What everybody believes of `player`'s hands at some parts, float64 [n, game's hands]: of
        hands that are not there 0; where the player never goes, what was believed before."""
        n = length("parts", parts)
        some = pointer("parts", parts, "int32", (n,))
        within("parts", parts, 0, len(self.parents) - 1)
        out = np.empty((n, self.tree.game.hands))
        lib.sk_subgames_beliefs(
            self._handle,
            _player(player),
            self._hands("reach", reach, player),
            some,
            n,
            writable(out),
        )
        return out

    def roots_of(self, player: int) -> tuple[Int64s, tuple[Int64s, Int64s]]:
        """Of all hands of `player` at roots, int64 [n]: which of its H_p hands each is, and where
        it belongs in a table [subgames, game's hands]."""
        player = _player(player)
        first, end = self.tree.hand[self.roots, player], self.tree.hand[self.roots + 1, player]
        return self._places(player, self.root_parts, first, end - first)

    def leaves_of(self, player: int) -> tuple[Int64s, tuple[Int64s, Int64s]]:
        """The same of hands at leaves, in a table [L, game's hands]."""
        player = _player(player)
        nodes = self.nodes[self.leaf_parts]
        first, end = self.tree.hand[nodes, player], self.tree.hand[nodes + 1, player]
        return self._places(player, self.leaf_parts, first, end - first)

    def _places(
        self, player: int, parts: Int32s, first: Int32s, sizes: Int32s
    ) -> tuple[Int64s, tuple[Int64s, Int64s]]:
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        number = self.tree.number[player][np.repeat(first, sizes) + within].astype(np.int64)
        rows = np.repeat(np.arange(len(parts)), sizes)
        return np.repeat(self.hand[parts, player], sizes) + within, (rows, number)

    def begin(self, player: int, beliefs: Float64s) -> Float64s:
        """Reach [H_p] from `beliefs` float64 [subgames, game's hands] of the roots; all other parts
        have none yet. `ValueError`: a hand that is not there is believed in."""
        reach = np.zeros(self.hands[_player(player)])
        shape = (len(self.roots), self.tree.game.hands)
        believed = pointer("beliefs", beliefs, "float64", shape)
        if beliefs[self._absent[player]].any():
            raise ValueError("beliefs in a hand that is not there")
        lib.sk_subgames_begin(self._handle, player, believed, writable(reach))
        return reach

    @cached_property
    def _absent(self) -> tuple[tuple[Int64s, ...], tuple[Int64s, ...]]:
        """Of either player, where tables [subgames, game's hands] have hands that are not there."""
        absent = np.ones((2, len(self.roots), self.tree.game.hands), bool)
        for player in (0, 1):
            absent[player][self.roots_of(player)[1]] = False
        return absent[0].nonzero(), absent[1].nonzero()

    def inputs(self, player: int, reach: tuple[Float64s, Float64s], out: Any) -> Int32s:
        """What a network sees that is asked for `player`'s values at the leaves where the opponent
        gets: elsewhere they are multiplied by 0. Returns which leaves these are, int32 [n], and
        writes a row of each into the first n of `out`, float32 [L, game's pbs_inputs]: whether the
        player acts there, what everybody sees, the beliefs of its hands and those of the
        opponent's."""
        _both("reach", reach)
        leaves = np.empty(self.leaves, np.int32)
        n = lib.sk_subgames_inputs(
            self._handle,
            _player(player),
            self._hands("reach", reach[player], player),
            self._hands("reach", reach[1 - player], 1 - player),
            writable(leaves),
            filled("out", out, "float32", (self.leaves, self.tree.game.pbs_inputs)),
        )
        return leaves[:n]

    # ---- Loops over all parts ----

    def reach(self, player: int, policy: Float64s, reach: Float64s) -> None:
        """Continues the `reach` of the roots' hands to all others."""
        lib.sk_subgames_reach(
            self._handle,
            _player(player),
            self._each("policy", policy),
            self._hands("reach", reach, player, filled),
        )

    def compatible(self, player: int, other_reach: Float64s) -> Float64s:
        """[H_p]: the reach of what the opponent may have beside each hand, weighed with the deals;
        0 at ends."""
        out = np.zeros(self.hands[_player(player)])
        other = self._hands("other_reach", other_reach, 1 - player)
        lib.sk_subgames_compatible(self._handle, player, other, writable(out))
        return out

    def ends(self, player: int, other_reach: Float64s, leaves: Any, values: Float64s) -> None:
        """Sets `values` at ends, and at leaves from what each hand is worth there, `leaves` float32
        [L, game's hands]; 0 elsewhere."""
        lib.sk_subgames_ends(
            self._handle,
            _player(player),
            self._hands("other_reach", other_reach, 1 - player),
            pointer("leaves", leaves, "float32", (self.leaves, self.tree.game.hands)),
            self._hands("values", values, player, filled),
        )

    def backup(self, player: int, policy: Float64s, values: Float64s, q: Float64s) -> None:
        """From `values` of ends and leaves those of all hands, and of choices in `q`."""
        lib.sk_subgames_backup(
            self._handle,
            _player(player),
            self._each("policy", policy),
            self._hands("values", values, player, filled),
            self._each("q", q, filled),
        )

    def best_response(self, player: int, policy: Float64s, values: Float64s, q: Float64s) -> None:
        """As `backup`, by the best choices (equal ones alike), which are written into `policy`."""
        lib.sk_subgames_best_response(
            self._handle,
            _player(player),
            self._each("policy", policy, filled),
            self._hands("values", values, player, filled),
            self._each("q", q, filled),
        )

    def cfr(
        self,
        player: int,
        keep: tuple[float, float, float],
        reach: Float64s,
        values: Float64s,
        q: Float64s,
        regrets: Float64s,
        average: Float64s,
        policy: Float64s,
    ) -> None:
        """As `backup`; then `player` learns. `keep`: the parts of positive regrets, of negative
        ones and of the average that are not forgotten. `average` sums what was played, the
        player's own `reach` times its policy."""
        lib.sk_subgames_cfr(
            self._handle,
            _player(player),
            *three_parts(keep),
            self._hands("reach", reach, player),
            self._hands("values", values, player, filled),
            self._each("q", q, filled),
            self._each("regrets", regrets, filled),
            self._each("average", average, filled),
            self._each("policy", policy, filled),
        )

    @checked
    def walk(
        self,
        policy: Float64s,
        reach: tuple[Float64s, Float64s],
        explore: float,
        seed: Seed,
        which: Int64s,
        games: Int64s,
        number: Int32,
    ) -> Int32s:
        """Plays games, each from the root of subgame `which` int64 [n] to a leaf or an end: the
        part reached, int32 [n]. One player, drawn for each game, takes any action alike with
        probability `explore`; else hands are drawn as they are believed, and actions by `policy`,
        whose `reach` it is. The draws are a function of seed, `games` int64 [n] and `number`."""
        _both("reach", reach)
        self._subgames(which)
        if not 0 <= explore <= 1:
            raise ValueError(f"explore must be a probability, not {explore}")
        out = np.empty(len(which), np.int32)
        lib.sk_subgames_walk(
            self._handle,
            self._each("policy", policy),
            self._hands("reach", reach[0], 0),
            self._hands("reach", reach[1], 1),
            explore,
            seed,
            Stream.WALK,
            pointer("which", self.root_parts[which], "int32", out.shape),
            pointer("games", games, "int64", out.shape),
            len(out),
            number,
            writable(out),
        )
        return out

    def _subgames(self, which: Int64s) -> None:
        fitting("which", which, (None,))
        within("which", which, 0, len(self.roots) - 1)

    def _hands(self, name: str, array: Float64s, player: int, check: Check = pointer) -> Any:
        return check(name, array, "float64", (self.hands[player],))

    def _each(self, name: str, array: Float64s, check: Check = pointer) -> Any:
        return check(name, array, "float64", (self.choices,))


def _player(player: int) -> int:
    return integer("player", player, 0, 1)


def _both(name: str, arrays: tuple[Float64s, Float64s]) -> None:
    if not isinstance(arrays, tuple | list) or len(arrays) != 2:
        raise TypeError(f"{name} must be two arrays, one for each player")
