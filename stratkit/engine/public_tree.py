"""The public tree of a small game: public states, hands, and subgames that are cut out of it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from stratkit.arguments import Player, checked, fitting, integer
from stratkit.arrays import Float64s, Int8s, Int32s, Int64s
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, lib, pointer, text, writable
from stratkit.engine.tree import MAX_BYTES, STEP, Most, Tree
from stratkit.errors import InputError

MAX_NODES = 10_000_000


class PublicTree:
    """All public states of `game`, a two-player zero-sum game with few hands, enumerated once
    (cengine/public_tree.h says what a hand and a weight are).

    Of its N nodes, H_p hands of player p, I information sets and E choices of these:

        parents   int32 [N]       -1 at the root; a node comes after its parent
        actors    int8 [N]        a player, -1 chance, -2 the end
        child     int32 [N + 1]   the children of node i, if it has some, begin at child[i]
        infoset   int32 [N]       the information set of the first hand, where a player acts
        hand      int32 [N + 1, 2]  where its hands begin
        weight    int64 [N + 1]   where its weights begin, [hands of 0, hands of 1]
        look      int32 [N]       which row of `seen` everybody sees there
        seen      uint8 [S, public_bytes]  what may be seen, each once: many nodes look alike
        source    2 x int32 [H_p] what of the parent a hand comes from: a hand, or, where the player
                                  acted, a choice, both counted from the parent's first
        number    2 x int32 [H_p] which hand it is for the game
        last      2 x int32 [H_p] 1 + its player's last choice, 0 before the first
        first     int32 [I + 1]   where the choices of an information set begin
        choices   int32 [E]       the game's number of each action
        weights   float64         the probability of chance's part; at an end, times what player 0
                                  gets

    In a `merged` tree nodes that go on alike share their children and information sets: one may
    have several parents, of which `parents` has the first. Subgames cut out of both are the same.

    Raises `InputError` for a game without public belief states, or one that is too large; for one
    that does not recombine, if it is to be merged.
    """

    @checked
    def __init__(
        self,
        game: Game,
        most_nodes: Most = MAX_NODES,
        most_bytes: Most = MAX_BYTES,
        merged: bool = False,
    ) -> None:
        opened = ffi.new("sk_public_tree **")
        wrong = lib.sk_public_tree_open(game.handle, most_nodes, most_bytes, merged, opened)
        if wrong != ffi.NULL:
            raise InputError(f"{game.name}: {text(wrong)}")
        self.handle = ffi.gc(opened[0], lib.sk_public_tree_close)
        self.game, self.merged = game, merged
        whole = ffi.new("int32_t *")
        while not whole[0]:
            wrong = lib.sk_public_tree_grow(self.handle, STEP, whole)
            if wrong != ffi.NULL:
                raise InputError(f"{game.name}: {text(wrong)}")
        self._read()

    def _read(self) -> None:
        size = ffi.new("sk_public_tree_size *")
        lib.sk_public_tree_describe(self.handle, size)
        n, hands = size.nodes, (size.hands[0], size.hands[1])
        self.bytes: int = size.bytes
        self.parents, self.actors = np.empty(n, np.int32), np.empty(n, np.int8)
        self.child, self.infoset = np.empty(n, np.int32), np.empty(n, np.int32)
        self.hand, self.weight = np.empty((n + 1, 2), np.int32), np.empty(n + 1, np.int64)
        self.look = np.empty(n, np.int32)
        self.seen = np.empty((size.seen, self.game.public_bytes), np.uint8)
        lib.sk_public_tree_nodes(
            self.handle,
            *(writable(a) for a in (self.parents, self.actors, self.child, self.infoset)),
            writable(self.hand[:-1]),
            *(writable(a) for a in (self.weight[:-1], self.look, self.seen)),
        )
        self.hand[-1], self.weight[-1] = hands, size.weights
        self.source, self.number, self.last = (
            tuple(np.empty(k, np.int32) for k in hands) for _ in range(3)
        )
        for player in (0, 1):
            arrays = self.source[player], self.number[player], self.last[player]
            lib.sk_public_tree_hands(self.handle, player, *map(writable, arrays))
        self.first = np.empty(size.infosets + 1, np.int32)
        self.choices = np.empty(size.choices, np.int32)
        self.packed = np.empty((size.infosets, self.game.observation_bytes), np.uint8)
        self.weights = np.empty(size.weights)
        sets = self.first, self.choices, self.packed, self.weights
        lib.sk_public_tree_sets(self.handle, *map(writable, sets))

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.parents)

    @cached_property
    def opening(self) -> int:
        """The first node at which a player acts, unless chance has shown something before."""
        children = np.bincount(self.parents[1:], minlength=len(self))
        node = 0
        while self.actors[node] == -1 and children[node] == 1:
            node = int(self.child[node])
        return node

    @cached_property
    def histories(self) -> int:
        """How many histories the game has, of any weight but 0."""
        sizes = np.bincount(self.parents[1:], minlength=len(self))
        begin, own = self.child[sizes > 0], sizes[sizes > 0]
        size = dict(zip(begin.tolist(), own.tolist(), strict=True))
        below: dict[int, int] = {}

        def after(node: int) -> int:
            a, b = self.weight[node : node + 2]
            mine = int(np.count_nonzero(self.weights[a:b]))
            return mine + behind(int(self.child[node]), node)

        def behind(child: int, node: int) -> int:
            if self.actors[node] == -2:
                return 0
            if child not in below:
                below[child] = sum(after(i) for i in range(child, child + size[child]))
            return below[child]

        return after(0)

    @checked
    def path(self, actions: Int32s) -> tuple[Int32s, tuple[int, int]]:
        """Where actions lead, chance's included.

        actions  int32 [n]

        Returns the nodes before and after each, int32 [n + 1], and which of the last one's hands
        either player has. `ValueError`: they are no history of the game.
        """
        fitting("actions", actions, (None,))
        nodes, hands = np.empty(len(actions) + 1, np.int32), np.empty(2, np.int32)
        given = pointer("actions", actions, "int32", (len(actions),))
        out = writable(nodes), writable(hands)
        wrong = lib.sk_public_tree_path(self.handle, given, len(actions), *out)
        if wrong != ffi.NULL:
            raise ValueError(f"actions: {text(wrong)}")
        return nodes, (int(hands[0]), int(hands[1]))

    @checked
    def prior(self, node: int, player: Player) -> Float64s:
        """The probability of each hand of `player` at `node`, float64 [game's hands], by the deal
        alone: what everybody believes while no player has chosen anything."""
        node = integer("node", node, 0, len(self) - 1)
        a, b = self.hand[node], self.hand[node + 1]
        weights = self.weights[self.weight[node] : self.weight[node + 1]]
        sums = weights.reshape(b - a).sum(1 - player)
        prior = np.zeros(self.game.hands)
        prior[self.number[player][a[player] : b[player]]] = sums / sums.sum()
        return prior

    @checked
    def normalised(self, sums: Float64s) -> Float64s:
        """The policy [E] in proportion to `sums` [E]; uniform where these are 0."""
        fitting("sums", sums, (len(self.choices),))
        sizes = np.diff(self.first)
        total = np.repeat(np.add.reduceat(sums, self.first[:-1]), sizes)
        policy = np.repeat(1.0 / sizes, sizes)
        np.divide(sums, total, out=policy, where=total > 0)
        return policy

    @checked
    def infosets(self, tree: Tree) -> Int64s:
        """Which information set of `tree`, of the same game, each of this tree's is, int64 [I].

        Raises `ValueError` if they do not correspond one to one.
        """
        sets = {
            (int(player), int(before), seen.tobytes()): i
            for i, (player, before, seen) in enumerate(
                zip(tree.players, tree.before, tree.observations(), strict=True)
            )
        }
        out = np.full(len(self.first) - 1, -1)
        players, last = self.set_players, self._of_sets()[1]
        of_choice = np.repeat(np.arange(len(out)), np.diff(self.first))
        for i in range(len(out)):
            before = 0
            if last[i]:  # its set has a lower number
                set_ = of_choice[last[i] - 1]
                before = 1 + int(tree.first[out[set_]] + last[i] - 1 - self.first[set_])
            infoset = sets.get((int(players[i]), before, self.packed[i].tobytes()), -1)
            mine, theirs = slice(*self.first[i : i + 2]), slice(*tree.first[infoset : infoset + 2])
            if infoset < 0 or not np.array_equal(self.choices[mine], tree.actions[theirs]):
                raise ValueError(f"tree has no information set {i}")
            out[i] = infoset
        if len(np.unique(out)) != len(tree):
            raise ValueError("tree has information sets that are none of these")
        return out

    @cached_property
    def set_nodes(self) -> Int32s:
        """int32 [I]: the node of each information set."""
        return self._of_sets()[0]

    @cached_property
    def set_players(self) -> Int8s:
        """int8 [I]: who acts in each information set."""
        return self.actors[self.set_nodes]

    def _of_sets(self) -> tuple[Int32s, Int32s]:
        """Of each information set its node, and its player's last choice before, int32 [I]."""
        nodes, last = np.empty((2, len(self.first) - 1), np.int32)
        for node in np.flatnonzero(self.actors >= 0):
            who = self.actors[node]
            a, b = self.hand[node : node + 2, who]
            at = slice(self.infoset[node], self.infoset[node] + b - a)
            nodes[at], last[at] = node, self.last[who][a:b]
        return nodes, last
