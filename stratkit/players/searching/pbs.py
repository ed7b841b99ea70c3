"""Players that search public belief states (`stratkit.search.safe`)."""

from __future__ import annotations

import copy
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stratkit.arrays import Float64s, Int64s
from stratkit.engine import Game, PublicTree, Subgames, sample
from stratkit.engine.tree import MAX_HISTORIES
from stratkit.errors import InputError, UsageError, counted
from stratkit.games.table import kit_of
from stratkit.players.player import Decision, Floats, Games, Player, Sides, Views
from stratkit.players.searching.options import SearchOptions
from stratkit.search.leaves import ExactLeaves
from stratkit.search.safe import Depths, PBSSearch, draw_stops, play_through, solve
from stratkit.search.subgame import Leaves

CACHE_BYTES = 1 << 27  # bytes of solved subgames, of all games


@dataclass(frozen=True)
class Solved:
    """A subgame that was searched in a game.

    stop      updates of either player after which the search stopped
    played    float64 [E]: the policy that is played in it
    believed  float64 [E]: the policy that both are believed to play
    root      float64 [1, hands], of both players: beliefs at the root
    beliefs   float64 [L, hands], of both players: beliefs at the leaves
    """

    subgames: Subgames
    stop: int
    played: Float64s
    believed: Float64s
    root: tuple[Float64s, Float64s]
    beliefs: tuple[Float64s, Float64s]

    def at(self, part: int, player: int) -> Float64s:
        """What is believed of the player's hands at a part, float64 [game's hands]."""
        reach = self.subgames.begin(player, self.root[player])
        self.subgames.reach(player, self.believed, reach)
        at = np.array([part], np.int32)
        believed: Float64s = self.subgames.beliefs(player, reach, at)[0]
        return believed

    @property
    def bytes(self) -> int:
        """Of its own: `subgames` is the same in all games."""
        arrays = self.played, self.believed, *self.root, *self.beliefs
        return sum(array.nbytes for array in arrays)


Path = tuple[int, ...]  # nodes, from the opening on


@dataclass(frozen=True)
class _Position:
    """Where a player acts: the path to its node, and its information set."""

    path: Path
    infoset: int


class _SubgameCache:
    """Solved subgames by seat and way to the root: of the seats last asked for, `CACHE_BYTES` at
    most. Threads may share it: games with programs are played in some."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seats: OrderedDict[int, dict[Path, Solved]] = OrderedDict()
        self.bytes = 0

    def get(self, seat: int, root: Path) -> Solved | None:
        with self._lock:
            if seat not in self._seats:
                return None
            self._seats.move_to_end(seat)
            return self._seats[seat].get(root)

    def put(self, seat: int, root: Path, solved: Solved) -> None:
        with self._lock:
            self._seats.setdefault(seat, {})[root] = solved
            self.bytes += solved.bytes
            while self.bytes > CACHE_BYTES and len(self._seats) > 1:
                self._drop(next(iter(self._seats)))

    def drop(self, seat: int) -> None:
        with self._lock:
            self._drop(seat)

    def _drop(self, seat: int) -> None:
        self.bytes -= sum(solved.bytes for solved in self._seats.pop(seat, {}).values())


class PBSPlayer(Player):
    """Plays `game` by `search`, its leaves being worth what `leaves` says.

    What it plays is a function of the seed, the game's number, what is public and its own hand: it
    searches what is public from the game's start, as it did at earlier turns, and both sides' play
    follows from the same search. It keeps some solved subgames of games that are not over, and need
    not.
    """

    random_ties = False

    def __init__(self, game: Game, search: PBSSearch, leaves: Leaves, seed: int) -> None:
        if search.leaves > 1:
            raise UsageError(f"leaves={search.leaves} is for self-play: a game goes on from one")
        self.game, self.search, self.leaves, self.seed = game, search, leaves, seed
        self.tree = open_tree(game, search)
        self._depths = Depths(self.tree, search)
        self._sets: dict[tuple[int, bytes], int] | None = None
        if not self.tree.merged:
            self._sets = self._by_observation(search.kind)
        self._cache = _SubgameCache()
        self._cut: weakref.WeakValueDictionary[int, Subgames] = weakref.WeakValueDictionary()
        self._log: Callable[[str], None] | None = None

    def _by_observation(self, kind: str) -> dict[tuple[int, bytes], int]:
        tree = self.tree
        seen = zip(tree.set_players.tolist(), tree.packed, strict=True)
        sets = {(who, packed.tobytes()): i for i, (who, packed) in enumerate(seen)}
        if len(sets) < len(tree.packed):
            what = "an observation does not tell what was seen before"
            raise UsageError(f"search={kind}: {self.game.name}: {what}")
        return sets

    def logged(self, log: Callable[[str], None]) -> PBSPlayer:
        """The same player, which also tells how each of its turns came about."""
        twin = copy.copy(self)
        twin._log = log
        return twin

    def act(self, views: Views) -> Decision:
        policy = self.policy(views)
        return Decision(*sample(policy, views.legal, self.seed, views.games, views.numbers))

    def end(self, games: Games, sides: Sides) -> None:
        for seat in (2 * games + sides).tolist():
            self._cache.drop(seat)

    def play_through(self, games: int, groups: int, **how: Any) -> Float64s:
        """What it plays in so many games, as `search.safe.play_through` counts it."""
        return play_through(self.tree, self.leaves, self.search, games, 0, groups, **how)

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]. `InputError`: a view is no information set of the game."""
        out = np.zeros(views.legal.shape, np.float32)
        for row in range(len(views)):
            side = int(views.sides[row])
            position = self._position(views, row)
            if position is None:
                raise InputError(f"no position of {self.game.name} that can be searched")
            solved, part = self._solved_at(2 * int(views.games[row]) + side, position.path)
            actions, chosen = self._choices(solved, part, position.infoset)
            out[row, actions] = chosen
            if self._log:
                turn = f"game {views.games[row]}, side {side}"
                report = self._report(solved, part, position.infoset, actions, chosen)
                self._log(f"{turn}, {report}")
        return out

    def _position(self, views: Views, row: int) -> _Position | None:
        """Where the player of a view stands; None: nowhere in the game, or nobody can say."""
        tree, side = self.tree, int(views.sides[row])
        if self._sets is None:  # many ways lead to a node, and the opponent's hand is not told
            if not views.of_games:
                return None
            history = views.state(row).worlds(1).histories()
            assert history is not None
            nodes, hands = tree.path(history[0])
            path = nodes[np.flatnonzero(nodes == tree.opening)[0] :]
            return _Position(tuple(path.tolist()), int(tree.infoset[path[-1]]) + hands[side])
        infoset = self._sets.get((side, views.observations[row].tobytes()))
        if infoset is None:
            return None
        back = [int(tree.set_nodes[infoset])]
        while back[-1] > tree.opening:
            back.append(int(tree.parents[back[-1]]))
        return _Position(tuple(reversed(back)), infoset)

    def _report(
        self, solved: Solved, part: int, infoset: int, actions: Int64s, chosen: Float64s
    ) -> str:
        """The result at an information set, in words."""
        tree, search = self.tree, self.search.at(int(solved.subgames.roots[0]), self.tree)
        node = int(solved.subgames.nodes[part])
        side = int(tree.actors[node])
        hand = tree.number[side][tree.hand[node, side] + infoset - tree.infoset[node]]
        how = f"iteration {solved.stop} of {search.updates // 2}" if search.safe else "the average"
        lines = [f"hand {hand}: {how}"]
        for who, player in (("own", side), ("opponent", 1 - side)):
            lines.append(f"  {who + ' hands':14} {_numbers(solved.at(part, player))}")
        names = kit_of(self.game).action_names()[side, actions]
        lines += [f"  {name:14} {p:.3f}" for name, p in zip(names, chosen, strict=True)]
        return "\n".join(lines)

    def _solved_at(self, seat: int, path: Path) -> tuple[Solved, int]:
        """The subgame to which the end of a path belongs, and its part there. `seat`: a number of
        the game and the side, which are to draw iterations of their own."""
        solved, part = self._subgame(seat, path[:1], None), 0
        for length, node in enumerate(path[1:], 2):
            subgames = solved.subgames
            below = np.flatnonzero(subgames.parents == part)
            part = int(below[subgames.nodes[below] == node][0])
            leaf = int(subgames.leaf[part])
            if leaf >= 0:
                beliefs = solved.beliefs[0][leaf : leaf + 1], solved.beliefs[1][leaf : leaf + 1]
                solved, part = self._subgame(seat, path[:length], beliefs), 0
        return solved, part

    def _choices(self, solved: Solved, part: int, infoset: int) -> tuple[Int64s, Float64s]:
        """The actions of an information set, and their probabilities."""
        tree, subgames = self.tree, solved.subgames
        first, end = tree.first[infoset : infoset + 2]
        begin = subgames.choice[part] + first - tree.first[tree.infoset[subgames.nodes[part]]]
        return tree.choices[first:end].astype(np.int64), solved.played[begin : begin + end - first]

    def _subgame(self, seat: int, path: Path, beliefs: tuple[Float64s, Float64s] | None) -> Solved:
        """The subgame that begins where a path ends, as it is searched for a seat."""
        if cached := self._cache.get(seat, path):
            return cached
        tree, root = self.tree, path[-1]
        if beliefs is None:
            beliefs = tree.prior(root, 0)[None], tree.prior(root, 1)[None]
        nodes = np.array([root], np.int32)
        subgames = Subgames(tree, nodes, self._depths.of(root)[0])
        search = self.search.at(root, tree)
        stops = draw_stops(search, self.seed, np.array([seat]), nodes)
        solution = solve(subgames, beliefs, self.leaves, search, stops)
        after = [solution.beliefs(player, beliefs[player]) for player in (0, 1)]
        shared = self._cut.get(root)
        if shared is None:  # not the one just solved: `ExactLeaves` keeps solvers as long as that
            shared = self._cut[root] = Subgames(tree, nodes, subgames.depth)
        solved = Solved(
            shared, int(stops[0]), solution.played, solution.believed, beliefs, (after[0], after[1])
        )
        self._cache.put(seat, path, solved)
        return solved


def _numbers(values: Float64s) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def open_tree(game: Game, search: PBSSearch) -> PublicTree:
    """The public tree of a game to be searched, merged where the whole one were large.
    `UsageError`: it has none, it is too large, or a search is to look beyond its end."""
    try:
        tree = PublicTree(game, merged=True) if game.recombines else None
        if tree is None or tree.histories <= MAX_HISTORIES:
            tree = PublicTree(game)
    except InputError as error:
        raise UsageError(f"search={search.kind}: {error}") from None
    _check_depth(tree, search.depth)
    return tree


def _check_depth(tree: PublicTree, depth: int | None) -> None:
    """`UsageError`: even games of the most decisions end before a search of `depth` does."""
    opening = np.array([tree.opening], np.int32)
    if depth is None or depth < 2 or Subgames(tree, opening, depth - 1).leaves:
        return
    most = next(d for d in range(1, depth) if not Subgames(tree, opening, d).leaves)
    what = f"{tree.game.name} ends after {counted(most, 'decision')} at most"
    raise UsageError(f"depth={depth}: {what}; depth=0 searches to its end")


def search_of(options: SearchOptions) -> PBSSearch:
    """The search that the options describe."""
    assert options.search is not None
    safe = options.mode == "safe"
    found = PBSSearch(options.search, options.iterations, options.depth, safe)
    nodes = options.states or found.nodes
    found = replace(found, warm=options.warm, nodes=nodes, opening=options.opening)
    return replace(found, leaves=options.leaves)


def open_exact(game: Game, options: SearchOptions, seed: int) -> PBSPlayer:
    """A player that solves what lies beyond the depth of its search, too: what a perfect network
    would say is found anew in every iteration. `UsageError`: the game cannot be searched so."""
    return PBSPlayer(game, search_of(options), ExactLeaves(), seed)
