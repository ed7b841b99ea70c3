"""Playing whole games by search at public belief states (Brown et al. 2020, ReBeL, section 6).

At each subgame's root the search stops after a random number of iterations, drawn with the weights
of the average. What was found then is played in the subgame, and both players are believed to play
it: so the next root's beliefs follow. That is *safe*: in expectation an equilibrium is played.
*Average* play takes the average policies for both, and can be exploited by who knows that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine import PublicTree, Subgames, uniform
from stratkit.engine.random_streams import Stream
from stratkit.search.leaves import NetworkLeaves
from stratkit.search.regret_matching import inverse_cdf
from stratkit.search.subgame import CFRD, SOLVERS, Leaves, SubgameSolver

AT_ONCE = 512  # subgames that are solved together, at most
TOGETHER = 40_960  # nodes of subgames that are solved together, unless one alone has more
ROOTS, CHOICES = 1 << 14, 1 << 21  # behind, and in, the first subgames of games played together


@dataclass(frozen=True)
class PBSSearch:
    """How a subgame is searched.

    kind     the algorithm, of `SOLVERS`
    updates  number of them, of one player each
    depth    in decisions; 0: to the end of the game; None: as `Depths` says, by the nodes
    safe     play a random iteration, not the average
    nodes    of a subgame, at most, if they say its depth
    warm     of how many iterations the network's policy stands at the begin (of `cfr` alone); 0 and
             None: it begins at uniform play, but with 0 self-play has examples of policies, too
    opening  updates of the game's first subgame; None: as many as of others
    leaves   at most so many of a subgame behind the opening from which self-play goes on
    """

    kind: str = "cfr"
    updates: int = 1024
    depth: int | None = 2
    safe: bool = True
    nodes: int = 5000
    warm: int | None = None
    opening: int | None = None
    leaves: int = 1

    def at(self, root: int, tree: PublicTree) -> PBSSearch:
        """How the subgame that begins at a node is searched."""
        if self.opening is None or root != tree.opening:
            return self
        return replace(self, updates=self.opening)

    def weights(self) -> Float64s:
        """What the policies with k = 0 .. updates / 2 updates count in the average, [k]."""
        if not self.warm:
            return SOLVERS[self.kind].weights(self.updates)
        later = self.warm + np.arange(1.0, self.updates // 2)
        return np.array([self.warm * (self.warm + 1) / 2, *later, 0])


class Depths:
    """How many decisions a `search` looks ahead from each node of `tree`, and how many nodes that
    is. If the nodes say it, it is the largest even number of decisions with at most so many, or
    two; 0 where these reach to the end of the game. Even, since few updates bias values against who
    acts last before the leaves, and more so to depth 3 than to depth 2."""

    def __init__(self, tree: PublicTree, search: PBSSearch) -> None:
        self.tree, self.search = tree, search
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, node: int) -> tuple[int, int]:
        """The depth, and the number of nodes."""
        if node not in self._known:
            self._known[node] = self._found(np.array([node], np.int32))
        return self._known[node]

    def alone(self, nodes: Int32s) -> Int64s:
        """The depth of each node, int64 [n]."""
        if self.search.depth is not None:
            return np.full(len(nodes), self.search.depth)
        return np.array([self.of(node)[0] for node in nodes.tolist()], np.int64)

    def together(
        self, nodes: Int32s, beliefs: tuple[Float64s, Float64s]
    ) -> Iterator[tuple[int, Int64s]]:
        """Which of some roots, int64, are solved together, and to which depth. Equal ones are
        one."""
        found = np.array([self.of(node) for node in nodes.tolist()]).reshape(-1, 2)
        first, which = distinct_states(nodes, beliefs)
        size = np.zeros(len(nodes), np.int64)
        size[first] = found[first, 1]
        order = np.lexsort((which, found[:, 1], found[:, 0]))
        for depth in np.unique(found[:, 0]).tolist():
            some = order[found[order, 0] == depth]
            part = np.cumsum(np.maximum(size[some], TOGETHER // AT_ONCE)) // TOGETHER
            yield from ((depth, some[part == one]) for one in np.unique(part))

    def _found(self, root: Int32s) -> tuple[int, int]:
        if self.search.depth is not None:
            return self.search.depth, len(Subgames(self.tree, root, self.search.depth).nodes)
        found = Subgames(self.tree, root, 2)
        while found.leaves:
            deeper = Subgames(self.tree, root, found.depth + 2)
            if len(deeper.nodes) > self.search.nodes:
                return found.depth, len(found.nodes)
            found = deeper
        return 0, len(found.nodes)


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


def distinct_states(nodes: Int32s, beliefs: tuple[Float64s, Float64s]) -> tuple[Int64s, Int64s]:
    """Which of some public belief states are to be solved, and of each which of these it is: equal
    ones are one. All games share their opening, and those that stopped alike what follows."""
    rows = np.column_stack([nodes, *beliefs])
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which]


def begun(
    search: PBSSearch, subgames: Subgames, beliefs: tuple[Float64s, Float64s], leaves: Leaves
) -> SubgameSolver:
    """A search from some beliefs at the roots, of which nothing is done yet."""
    solver = SOLVERS[search.kind](subgames, beliefs, leaves)
    if search.warm:
        assert isinstance(solver, CFRD) and isinstance(leaves, NetworkLeaves)
        solver.warm_start(leaves.policy(subgames, beliefs), search.warm)
    return solver


def solve(
    subgames: Subgames,
    beliefs: tuple[Float64s, Float64s],
    leaves: Leaves,
    search: PBSSearch,
    stops: Int64s,
) -> SolvedSubgames:
    """Solves `subgames` from `beliefs`, equal ones once; of subgame i what is played after stops[i]
    updates of either player is kept (of average play: nothing but the average)."""
    roots, which = distinct_states(subgames.roots, beliefs)
    solved = subgames
    if len(roots) < len(which):
        solved = Subgames(subgames.tree, subgames.roots[roots], subgames.depth)
    solver = begun(search, solved, (beliefs[0][roots], beliefs[1][roots]), leaves)
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
    u = uniform(seed, games, nodes, Stream.STOP)
    return inverse_cdf(search.weights(), u)


class Places(Protocol):
    """Where choices are counted, since many ways may lead to one of a tree's.

    choices  int, of all places, E
    """

    choices: int

    def of(self, subgames: Subgames, ways: Int64s) -> tuple[Int64s, Int64s]:
        """The places of all choices of `subgames`, int64 [choices], and the ways to their leaves,
        int64 [L]; `ways` int64 [subgames] are those to the roots, 0 to the opening."""
        ...


class TreePlaces(Places):
    """The choices of a tree in which one way leads to each."""

    def __init__(self, tree: PublicTree) -> None:
        self.choices = len(tree.choices)

    def of(self, subgames: Subgames, ways: Int64s) -> tuple[Int64s, Int64s]:
        return subgames.tree_choice, np.zeros(subgames.leaves, np.int64)


@dataclass(frozen=True)
class _Roots:
    """Subgames still to be played.

    nodes    int32 [n], their roots
    ways     int64 [n], how each was come to, as `Places` tells ways apart
    games    int64 [n], the game of each
    beliefs  float64 [n, hands], of both players
    reach    float64 [n, hands], of both players: how often each hand gets there
    """

    nodes: Int32s
    ways: Int64s
    games: Int64s
    beliefs: tuple[Float64s, Float64s]
    reach: tuple[Float64s, Float64s]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, rows: slice | Int64s) -> _Roots:
        beliefs, reach = self.beliefs, self.reach
        return _Roots(
            self.nodes[rows],
            self.ways[rows],
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
    *,
    iterate: bool = False,
    places: Places | None = None,
) -> Float64s:
    """How often each choice of `places` (None: of `tree`) is made by its player alone, over `games`
    games that are each played through the whole tree: float64 [groups, E], game g being of group
    g mod `groups`. The sum over the groups, normalised in each information set, is the policy.

    Inside a subgame the average policy is counted, since it is what the random iteration plays in
    expectation, or, as in the paper, the `iterate` that was drawn. That decides how the game goes
    on. `done`: so many games are done.
    """
    places = places or TreePlaces(tree)
    sums = np.zeros((groups, places.choices))
    node, hands = tree.opening, tree.game.hands
    prior = tree.prior(node, 0)[None], tree.prior(node, 1)[None]
    ones = np.ones((1, hands))
    every, opening = np.arange(games), np.full(games, node, np.int32)
    stops = draw_stops(search.at(node, tree), seed, every, opening)
    numbers = np.argsort(stops, kind="stable")  # equal ones together, which are solved once
    depths = Depths(tree, search)
    first = Subgames(tree, np.array([node], np.int32), depths.of(node)[0])
    each = max(1, min(ROOTS // max(1, first.leaves), CHOICES // first.choices))
    for begin in range(0, games, each):
        some = numbers[begin : begin + each]
        n = len(some)
        roots = _Roots(
            np.full(n, node, np.int32),
            np.zeros(n, np.int64),
            some,
            (np.repeat(prior[0], n, 0), np.repeat(prior[1], n, 0)),
            (np.repeat(ones, n, 0), np.repeat(ones, n, 0)),
        )
        waiting = [(first.depth, roots)]
        while waiting:
            depth, roots = waiting.pop()
            subgames = Subgames(tree, roots.nodes, depth)
            how = search.at(int(roots.nodes[0]), tree)  # the opening is alone
            after = _play(subgames, roots, leaves, how, seed, (sums, places), iterate)
            waiting += [
                (depth, after[rows]) for depth, rows in depths.together(after.nodes, after.beliefs)
            ]
        done(n)
    return sums


def _play(
    subgames: Subgames,
    roots: _Roots,
    leaves: Leaves,
    search: PBSSearch,
    seed: int,
    count: tuple[Float64s, Places],
    iterate: bool,
) -> _Roots:
    """Solves the subgames of some roots, counts what is played there, and returns where they
    lead."""
    sums, places = count
    stops = draw_stops(search, seed, roots.games, roots.nodes)
    solution = solve(subgames, roots.beliefs, leaves, search, stops)
    inside = solution.played if iterate else solution.average
    group = roots.games[subgames.subgame] % len(sums)
    where, ways = places.of(subgames, roots.ways)
    counted = np.zeros(subgames.choices)
    reach, beliefs = [], []
    for player in (0, 1):
        at, row = subgames.roots_of(player)
        begun = np.zeros(subgames.hands[player])
        begun[at] = roots.reach[player][row]
        mine = subgames.player == player
        subgames.reach(player, inside, begun)
        counted[mine] = begun[subgames.hand_of_choice[mine]] * inside[mine]
        subgames.reach(player, solution.played, begun)
        at, row = subgames.leaves_of(player)
        table = np.zeros((subgames.leaves, subgames.tree.game.hands))
        table[row] = begun[at]
        reach.append(table)
        beliefs.append(solution.beliefs(player, roots.beliefs[player]))
    np.add.at(sums, (group, where), counted)  # few of all places
    nodes, games = subgames.nodes[subgames.leaf_parts], roots.games[subgames.owner]
    after = _Roots(
        nodes, ways, games[subgames.leaf_parts], (beliefs[0], beliefs[1]), (reach[0], reach[1])
    )
    return after[np.flatnonzero(reach[0].any(1) | reach[1].any(1))]
