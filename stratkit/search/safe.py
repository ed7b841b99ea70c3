"""Playing whole games by search at public belief states (Brown et al. 2020, ReBeL, section 6).

At each subgame's root the search stops after a random number of iterations, drawn with the weights
of the average. What was found then is played in the subgame, and both players are believed to play
it: so the next root's beliefs follow. That is *safe*: in expectation an equilibrium is played.
*Average* play takes the average policies for both, and can be exploited by who knows that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine import PublicTree, Subgames, uniform
from stratkit.engine.random_streams import Stream
from stratkit.search.regret_matching import inverse_cdf
from stratkit.search.subgame import SOLVERS, Leaves

AT_ONCE = 512  # subgames that are solved together


@dataclass(frozen=True)
class PBSSearch:
    """How a subgame is searched.

    kind     the algorithm, of `SOLVERS`
    updates  number of them, of one player each
    depth    in decisions; 0: to the end of the game
    safe     play a random iteration, not the average
    """

    kind: str = "cfr"
    updates: int = 1024
    depth: int = 2
    safe: bool = True


@dataclass(frozen=True)
class SolvedSubgames:
    """Some solved subgames, and policies of all their choices.

    average   float64 [E]
    played    float64 [E], of the iteration that was drawn
    believed  float64 [E], what both are believed to play then
    """

    subgames: Subgames
    average: Float64s
    played: Float64s
    believed: Float64s

    def beliefs(self, player: int, before: Float64s) -> Float64s:
        """What is believed of `player`'s hands at all leaves, float64 [L, game's hands], if it was
        `before` at the roots, float64 [subgames, game's hands]."""
        subgames = self.subgames
        reach = subgames.begin(player, before)
        subgames.reach(player, self.believed, reach)
        return subgames.beliefs(player, reach, subgames.leaf_parts)


def distinct_roots(roots: Int32s, opening: int) -> tuple[Int64s, Int64s]:
    """Which of some roots are to be solved, and of each root which of these it is: all at the
    opening, where everybody believes the same, are one."""
    new = roots == opening
    new[np.flatnonzero(new)[:1]] = False
    which = np.cumsum(~new) - 1
    which[new] = which[roots == opening][:1]
    return np.flatnonzero(~new), which


def solve(
    subgames: Subgames,
    beliefs: tuple[Float64s, Float64s],
    leaves: Leaves,
    search: PBSSearch,
    stops: Int64s,
) -> SolvedSubgames:
    """Solves `subgames` from `beliefs`, those that begin at the opening once; of subgame i what is
    played after stops[i] updates of either player is kept (of average play: nothing but the
    average)."""
    roots, which = distinct_roots(subgames.roots, subgames.tree.opening)
    solved = subgames
    if len(roots) < len(which):
        solved = Subgames(subgames.tree, subgames.roots[roots], subgames.depth)
    solver = SOLVERS[search.kind](solved, (beliefs[0][roots], beliefs[1][roots]), leaves)
    at = solved.choices_of(which)
    if not search.safe:
        solver.solve(search.updates)
        average = solver.averaged()[at]
        return SolvedSubgames(subgames, average, average, average)
    played, believed = solver.policy[at], solver.policy[at]
    counts = np.bincount(stops, minlength=search.updates // 2 + 1)
    stop_of_choice = stops[subgames.subgame]

    def keep() -> None:
        k = solver.updates // 2
        if counts[k]:
            now = stop_of_choice == k
            np.copyto(played, solver.policy[at], where=now)
            np.copyto(believed, solver.believed()[at], where=now)

    solver.solve(search.updates, keep)
    return SolvedSubgames(subgames, solver.averaged()[at], played, believed)


def draw_stops(search: PBSSearch, seed: int, games: Int64s, nodes: Int32s) -> Int64s:
    """After how many updates of either player to stop, int64 [n], in games of these numbers at
    subgames that begin at `nodes`."""
    weights = SOLVERS[search.kind].weights(search.updates)
    u = uniform(seed, games, nodes, Stream.STOP)
    return inverse_cdf(weights, u)


@dataclass(frozen=True)
class _Roots:
    """Subgames still to be played.

    nodes    int32 [n], their roots
    games    int64 [n], the game of each
    beliefs  float64 [n, hands], of both players
    reach    float64 [n, hands], of both players: how often each hand gets there
    """

    nodes: Int32s
    games: Int64s
    beliefs: tuple[Float64s, Float64s]
    reach: tuple[Float64s, Float64s]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, rows: slice | Int64s) -> _Roots:
        beliefs, reach = self.beliefs, self.reach
        return _Roots(
            self.nodes[rows],
            self.games[rows],
            (beliefs[0][rows], beliefs[1][rows]),
            (reach[0][rows], reach[1][rows]),
        )


def play_through(
    tree: PublicTree,
    leaves: Leaves,
    search: PBSSearch,
    games: int,
    seed: int,
    groups: int,
    done: Callable[[int], None] = lambda games: None,
) -> Float64s:
    """How often each choice of `tree` is made by its player alone, over `games` games that are each
    played through the whole tree: float64 [groups, E], game g being of group g mod `groups`. The
    sum over the groups, normalised in each information set, is the policy.

    Inside a subgame the average policy is counted, since it is what the random iteration plays in
    expectation; the iteration drawn decides how the game goes on. `done`: so many games are done.
    """
    sums = np.zeros((groups, len(tree.choices)))
    node, hands = tree.opening, tree.game.hands
    prior = tree.prior(node, 0)[None], tree.prior(node, 1)[None]
    ones = np.ones((1, hands))
    numbers = np.arange(games)
    first = Subgames(tree, np.array([node], np.int32), search.depth)
    each = max(1, AT_ONCE // max(1, first.leaves))
    for begin in range(0, games, each):
        some = numbers[begin : begin + each]
        n = len(some)
        roots = _Roots(
            np.full(n, node, np.int32),
            some,
            (np.repeat(prior[0], n, 0), np.repeat(prior[1], n, 0)),
            (np.repeat(ones, n, 0), np.repeat(ones, n, 0)),
        )
        waiting = [roots]
        while waiting:
            roots = waiting.pop()
            if len(roots) > AT_ONCE:
                waiting.append(roots[AT_ONCE:])
            after = _play(tree, roots[:AT_ONCE], leaves, search, seed, sums)
            if len(after):
                waiting.append(after)
        done(n)
    return sums


def _play(
    tree: PublicTree,
    roots: _Roots,
    leaves: Leaves,
    search: PBSSearch,
    seed: int,
    sums: Float64s,
) -> _Roots:
    """Solves some subgames, counts what is played there, and returns where they lead."""
    subgames = Subgames(tree, roots.nodes, search.depth)
    stops = draw_stops(search, seed, roots.games, roots.nodes)
    solution = solve(subgames, roots.beliefs, leaves, search, stops)
    group = roots.games[subgames.subgame] % len(sums)
    places = group * sums.shape[1] + subgames.tree_choice
    counted = np.zeros(subgames.choices)
    reach, beliefs = [], []
    for player in (0, 1):
        at, where = subgames.roots_of(player)
        begun = np.zeros(subgames.hands[player])
        begun[at] = roots.reach[player][where]
        mine = subgames.player == player
        subgames.reach(player, solution.average, begun)
        counted[mine] = begun[subgames.hand_of_choice[mine]] * solution.average[mine]
        subgames.reach(player, solution.played, begun)
        at, where = subgames.leaves_of(player)
        table = np.zeros((subgames.leaves, tree.game.hands))
        table[where] = begun[at]
        reach.append(table)
        beliefs.append(solution.beliefs(player, roots.beliefs[player]))
    flat = sums.reshape(-1)
    flat += np.bincount(places, counted, minlength=flat.size)
    nodes, games = subgames.nodes[subgames.leaf_parts], roots.games[subgames.owner]
    after = _Roots(
        nodes, games[subgames.leaf_parts], (beliefs[0], beliefs[1]), (reach[0], reach[1])
    )
    return after[np.flatnonzero(reach[0].any(1) | reach[1].any(1))]
