"""Self-play at public belief states (Brown et al. 2020, ReBeL, algorithm 1): where the examples of
a value network come from.

Many games go on together, a subgame of each at a time. A subgame is solved; what the hands at its
root may expect is an example. At a random iteration one walks by that iteration's policies, now and
then by chance, to a leaf, which is the next root. Nothing that happens later changes an example:
values come from search alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float32s, Float64s, Int32s, Int64s
from stratkit.engine import PublicTree, Subgames, uniform
from stratkit.engine.random_streams import Stream
from stratkit.search.leaves import inside, rows_of
from stratkit.search.safe import Depths, PBSSearch, begun
from stratkit.search.subgame import Leaves, SubgameSolver

EXPLORE = 0.25
WALKS = 64  # from the opening, at most, until one leads to the root of another subgame


@dataclass(frozen=True)
class Examples:
    """Examples of a value network.

    rows    float32 [n, pbs_inputs], its inputs
    values  float32 [n, hands], of the player's hands in units of the largest return; NaN of a
            hand that is not there. Behind them, if policies are learned, too, [n, hands * actions],
            how likely a hand takes each action, where the player acts; NaN of others
    """

    rows: Float32s
    values: Float32s

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class _After:
    """The roots at which some games go on.

    games    int64 [n]
    nodes    int32 [n], of the roots
    beliefs  float64 [n, hands], of both players
    """

    games: Int64s
    nodes: Int32s
    beliefs: tuple[Float64s, Float64s]


class Generator:
    """Plays so many `games` at a time on `tree`. Games at the opening share one subgame, from which
    each goes on at an iteration of its own. At each other root games are added until it has as many
    as the search has leaves. They take the places of games that end, or none. The games are a
    function of the seed and the leaves."""

    def __init__(
        self, tree: PublicTree, search: PBSSearch, games: int, seed: int, explore: float = EXPLORE
    ) -> None:
        self.tree, self.search, self.seed, self.explore = tree, search, seed, explore
        self._depths = Depths(tree, search)
        self.round = self.ended = 0  # rounds, and games that have ended
        self._start = tree.prior(tree.opening, 0), tree.prior(tree.opening, 1)
        self._slots = games
        self._games = np.arange(games)  # their numbers, which are a slot's modulo the slots
        self._same = np.arange(games)  # of each game the first that has its root
        self._roots = np.full(games, tree.opening, np.int32)
        self._beliefs = np.tile(self._start[0], (games, 1)), np.tile(self._start[1], (games, 1))

    def examples(self, leaves: Leaves) -> Examples:
        """Solves a subgame of each game, two examples of each, and moves on."""
        self._share_roots()
        depths = self._depths.alone(self._roots)
        parts = [
            self._solve(np.flatnonzero(depths == depth), int(depth), leaves)
            for depth in np.unique(depths)
        ]
        self._begin_again()
        self.round += 1
        rows, values = ([getattr(x, name) for x in parts] for name in ("rows", "values"))
        return Examples(np.concatenate(rows), np.concatenate(values))

    def _solve(self, some: Int64s, depth: int, leaves: Leaves) -> Examples:
        """The same of some games, whose subgames have this depth."""
        tree, search = self.tree, self.search
        solved, which = np.unique(self._same[some], return_inverse=True)
        beliefs = self._beliefs[0][solved], self._beliefs[1][solved]
        subgames = Subgames(tree, self._roots[solved], depth)
        solver = begun(search, subgames, beliefs, leaves)
        numbers = np.full(len(some), self.round, np.int32)
        u = uniform(self.seed, self._games[some], numbers, Stream.STOP)
        stops = (u * search.updates).astype(np.int64)
        reached: list[_After] = []
        parts: list[Int32s] = []
        for update in range(search.updates):
            now = np.flatnonzero(stops == update)
            if len(now):
                after, at = self._walk(solver, some[now], which[now])
                reached.append(after)
                parts.append(at)
            solver.step()
        examples = examples_of(solver, beliefs)
        if search.warm is not None:
            passed = passed_by(subgames, np.concatenate(parts))
            examples = with_policies(examples, solver, beliefs, passed)
        for after in reached:
            self._roots[after.games] = after.nodes
            for player in (0, 1):
                self._beliefs[player][after.games] = after.beliefs[player]
        return examples

    def roots(self) -> tuple[Int32s, tuple[Float64s, Float64s]]:
        """Where the games stand that have begun: nodes int32 [n], and what is believed of either
        player's hands, float64 [n, game's hands]."""
        begun = self._roots != self.tree.opening
        return self._roots[begun], (self._beliefs[0][begun], self._beliefs[1][begun])

    def _share_roots(self) -> None:
        """Adds the games that share roots behind the opening with those that stand there, last and
        the first of each root before the second of any. All at the opening share one."""
        opening = self._roots == self.tree.opening
        self._same = np.where(opening, np.argmax(opening), np.arange(self._slots))
        copies, first = np.arange(1, self.search.leaves), np.flatnonzero(~opening)
        added = self._games[first] + self._slots * copies[:, None]
        self._games = np.append(self._games, added)
        self._same = np.append(self._same, np.tile(first, len(copies)))
        self._take(self._same)

    def _take(self, games: Int64s) -> None:
        """Goes on from the roots of these games."""
        self._roots = self._roots[games]
        self._beliefs = self._beliefs[0][games], self._beliefs[1][games]

    def _walk(self, solver: SubgameSolver, games: Int64s, which: Int64s) -> tuple[_After, Int32s]:
        """Where some games go on, of the subgames `which`, which is decided now, and the parts of
        these roots, int32 [n]. Those that end in the opening's subgame begin again in it, since it
        is solved: deep ones have few leaves that are no ends."""
        subgames = solver.subgames
        reached, some = np.empty(len(games), np.int32), np.arange(len(games))
        for walk in range(WALKS if subgames.leaves else 1):
            if walk:
                self._over(games[some])
            draws = self.explore, self.seed, which[some], self._games[games[some]], self.round
            reached[some] = subgames.walk(solver.policy, solver.reach, *draws)
            first = subgames.roots[which[some]] == self.tree.opening
            some = some[first & (subgames.leaf[reached[some]] < 0)]
            if not len(some):
                break
        believed, reach = solver.believed(), solver.reach
        if believed is not solver.policy:
            reach = reach[0].copy(), reach[1].copy()
            for player in (0, 1):
                subgames.reach(player, believed, reach[player])
        beliefs = [subgames.beliefs(player, reach[player], reached) for player in (0, 1)]
        return _After(games, subgames.nodes[reached], (beliefs[0], beliefs[1])), reached

    def _over(self, games: Int64s) -> None:
        self.ended += len(games)
        self._games[games] += self._slots

    def _begin_again(self) -> None:
        """Games that were added take the places of those that are over, while there are any of
        either. The others of these begin again, and the others of those are dropped."""
        going = self.tree.actors[self._roots] != -2
        self._over(np.flatnonzero(~going))
        free = np.flatnonzero(~going[: self._slots])
        added = np.flatnonzero(going)[self._slots - len(free) :][: len(free)]
        goes_on = np.arange(self._slots)
        goes_on[free[: len(added)]] = added
        self._games = self._games[: self._slots]
        self._take(goes_on)
        again = free[len(added) :]
        self._roots[again] = self.tree.opening
        for player in (0, 1):
            self._beliefs[player][again] = self._start[player]


def examples_of(solver: SubgameSolver, beliefs: tuple[Float64s, Float64s]) -> Examples:
    """Two examples of each subgame that was solved, from `beliefs` float64 [subgames, game's hands]
    of either player's hands."""
    tree, roots = solver.subgames.tree, solver.subgames.roots
    rows = np.concatenate([rows_of(tree, roots, beliefs, player) for player in (0, 1)])
    values = np.concatenate([solver.values(player) for player in (0, 1)]) / tree.game.unit
    return Examples(rows, values.astype(np.float32))


def passed_by(subgames: Subgames, reached: Int32s) -> Int32s:
    """The parts, int32 [n], at which a player acts on the ways to those that were reached."""
    passed, at = np.zeros(len(subgames.parents), bool), reached
    while len(at):
        above = np.unique(subgames.parents[at])
        at = above[above >= 0]
        passed[at] = True
    passed &= subgames.tree.actors[subgames.nodes] >= 0
    return np.flatnonzero(passed).astype(np.int32)


def with_policies(
    examples: Examples, solver: SubgameSolver, beliefs: tuple[Float64s, Float64s], parts: Int32s
) -> Examples:
    """The examples, which say no policy, and one of each of `parts`, which says no values, but the
    average policy, at the beliefs to which it leads."""
    subgames, policy = solver.subgames, solver.averaged()
    rows = inside(subgames, policy, beliefs, parts)
    game, (n, hands) = subgames.tree.game, examples.values.shape
    table = np.full((n + len(parts), hands * (1 + game.actions)), np.nan, np.float32)
    table[:n, :hands] = examples.values
    row = np.full(len(subgames.parents), -1)
    row[parts] = n + np.arange(len(parts))
    at = row[subgames.part]
    known = at >= 0
    table[at[known], hands + subgames.output[known]] = policy[known]
    return Examples(np.concatenate([examples.rows, rows]), table)
