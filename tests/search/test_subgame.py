"""Subgames of public belief states: the solvers beside the tabular ones, oracles, safe play."""

from __future__ import annotations

import numpy as np
import pytest

from engine.public import Pair, pair_of
from stratkit.arrays import Float32s
from stratkit.engine import Subgames
from stratkit.search.leaves import ExactLeaves
from stratkit.search.safe import Depths, PBSSearch, draw_stops, play_through, solve
from stratkit.search.subgame import CFRD, SOLVERS, Reach, nothing
from stratkit.solve.exploitability import evaluate
from stratkit.solve.solver import open_solver

RPS = "matrix:formats/samples/modified_rps.matrix"


def solved(pair: Pair, kind: str, updates: int) -> tuple[np.ndarray, tuple[float, float]]:
    """The average policy of the whole game, of the tree's actions, and what the root is worth."""
    subgames, beliefs = pair.whole()
    solver = SOLVERS[kind](subgames, beliefs)
    solver.solve(updates)
    policy = np.empty(subgames.choices)
    policy[subgames.tree_choice] = solver.averaged()
    worth = [float(np.nan_to_num(solver.values(p)[0]) @ beliefs[p][0]) for p in (0, 1)]
    return pair.to_tree(policy), (worth[0], worth[1])


# Beyond this many updates rounding errors grow: a regret that is 0 is a policy's choice.
@pytest.mark.parametrize("kind", ["cfr", "cfr-avg"])
@pytest.mark.parametrize("name, updates", [("kuhn", 1024), ("leduc", 64), ("liars_dice:1x3", 64)])
def test_to_the_end_of_the_game_cfr_is_tabular_linear_cfr(
    name: str, updates: int, kind: str
) -> None:
    pair = pair_of(name)
    tabular = open_solver("linear-cfr", pair.tree)
    for _ in range(updates // 2):
        tabular.step()
    policy, _ = solved(pair, kind, updates)
    assert policy == pytest.approx(tabular.solution(), abs=1e-9)


# Where no two actions are equally good: ties are broken alike, but rounded otherwise.
@pytest.mark.parametrize("kind, bound", [("fp", 0.02), ("linear-fp", 0.02), ("flop", 1e-3)])
def test_to_the_end_of_the_game_fictitious_play_is_tabular(kind: str, bound: float) -> None:
    pair = pair_of("matrix:formats/samples/random5.matrix")
    tabular = open_solver(kind, pair.tree)
    for _ in range(512):
        tabular.step()
    assert solved(pair, kind, 1024)[0] == pytest.approx(tabular.solution(), abs=1e-9)
    assert evaluate(pair.tree, tabular.solution()).exploitability < bound


@pytest.mark.parametrize(
    ("name", "search", "depth", "nodes"),
    [
        ("liars_dice:1x4", PBSSearch(depth=None), 0, 511),
        ("liars_dice:1x4", PBSSearch(depth=None, nodes=510), 6, 486),
        ("liars_dice:1x4", PBSSearch(depth=None, nodes=290), 4, 290),
        ("liars_dice:1x4", PBSSearch(depth=None, nodes=289), 2, 52),
        ("liars_dice:1x4", PBSSearch(depth=None, nodes=1), 2, 52),
        ("liars_dice:1x4", PBSSearch(depth=3), 3, 150),
        ("liars_dice:1x4", PBSSearch(depth=2000), 2000, 511),
        ("kuhn", PBSSearch(depth=None), 0, 9),
    ],
)
def test_a_search_is_as_deep_as_its_nodes_allow(
    name: str, search: PBSSearch, depth: int, nodes: int
) -> None:
    public = pair_of(name).public
    assert Depths(public, search).of(public.opening) == (depth, nodes)


def test_what_is_solved_together_has_one_depth() -> None:
    public = pair_of("liars_dice:1x4").public
    nodes = np.arange(public.opening, len(public), dtype=np.int32)[public.actors[2:] >= 0]
    depths = Depths(public, PBSSearch(depth=None, nodes=100))
    alike = np.ones((len(nodes), 4))
    found = list(depths.together(nodes, (alike, alike)))
    assert sorted(np.concatenate([rows for _, rows in found])) == list(range(len(nodes)))
    for depth, rows in found:
        assert {depths.of(node)[0] for node in nodes[rows].tolist()} == {depth}
    assert {depth for depth, _ in found} == {0, 2}


@pytest.mark.parametrize("dice", ["1x4", "1x5", "1x6", "2x3"])
def test_1024_updates_come_close_to_an_equilibrium(dice: str) -> None:
    pair = pair_of(f"liars_dice:{dice}")
    policy, worth = solved(pair, "cfr", 1024)
    found = evaluate(pair.tree, policy)
    assert found.exploitability < 0.003
    assert worth == pytest.approx((found.value, -found.value), abs=0.006)
    assert dice != "1x4" or found.value == pytest.approx(1 / 16, abs=0.001)


def at_root(name: str, depth: int, kind: str = "cfr", updates: int = 512) -> tuple[float, float]:
    """What the game is worth to both, by a search to this depth with an oracle."""
    public = pair_of(name).public
    beliefs = public.prior(public.opening, 0)[None], public.prior(public.opening, 1)[None]
    subgames = Subgames(public, np.array([public.opening], np.int32), depth)
    assert subgames.leaves
    solver = SOLVERS[kind](subgames, beliefs, ExactLeaves(64))
    solver.solve(updates)
    return tuple(float(solver.values(p)[0] @ beliefs[p][0]) for p in (0, 1))  # type: ignore


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_with_an_oracle_the_depth_does_not_matter(depth: int) -> None:
    assert at_root("liars_dice:1x3", depth) == pytest.approx((1 / 9, -1 / 9), abs=0.005)


def test_with_an_oracle_flop_finds_the_value_too() -> None:
    assert at_root("liars_dice:1x3", 2, "flop")[0] == pytest.approx(1 / 9, abs=0.02)


def test_infostate_values_are_the_supergradient_of_the_value() -> None:
    """Theorem 1: moving the belief towards a hand changes the value by that hand's value."""
    public = pair_of("liars_dice:1x3").public
    node = int(public.child[public.opening])  # after a bid of one 1
    other = np.array([[0.2, 0.5, 0.3]])

    def solve(belief: np.ndarray) -> tuple[float, np.ndarray]:
        solver = CFRD(Subgames(public, np.array([node], np.int32), 0), (belief[None], other))
        solver.solve(4096)
        return float(solver.values(0)[0] @ belief), solver.values(0)[0]

    belief, step = np.array([0.3, 0.3, 0.4]), 0.02
    value, each = solve(belief)
    for hand in range(3):
        towards = belief + step * (np.eye(3)[hand] - belief)
        back = belief - step * (np.eye(3)[hand] - belief)
        slope = (solve(towards)[0] - solve(back)[0]) / (2 * step)
        assert slope == pytest.approx(each[hand] - value, abs=1e-3)


def policy_of(pair: Pair, sums: np.ndarray) -> np.ndarray:
    return pair.to_tree(pair.public.normalised(sums.sum(0)))


def test_safe_search_plays_the_equilibrium_that_average_search_misses() -> None:
    """Modified rock-paper-scissors, .4 / .4 / .2: Figure 1 and section 6 of the paper."""
    pair = pair_of(RPS)
    safe = play_through(pair.public, ExactLeaves(32), PBSSearch(updates=512, depth=1), 400, 1, 4)
    policy = policy_of(pair, safe)
    assert policy[:3] == pytest.approx([0.4, 0.4, 0.2], abs=0.02)
    assert policy[3:] == pytest.approx([0.4, 0.4, 0.2], abs=0.08)
    search = PBSSearch(updates=512, depth=1, safe=False)
    average = policy_of(pair, play_through(pair.public, ExactLeaves(32), search, 1, 1, 1))
    assert average[:3] == pytest.approx([0.4, 0.4, 0.2], abs=0.02)
    assert average[3:].max() > 0.95
    assert evaluate(pair.tree, average).exploitability > 0.4


def test_with_an_oracle_safe_play_comes_close_to_cfr_the_more_games_are_played() -> None:
    pair = pair_of("liars_dice:1x4")
    sums = play_through(pair.public, ExactLeaves(8), PBSSearch(updates=32), 64, 1, 64)

    def mean(games: int) -> float:
        some = [sums[at : at + games] for at in range(0, 64, games)]
        return float(
            np.mean([evaluate(pair.tree, policy_of(pair, s)).exploitability for s in some])
        )

    assert mean(1) > 1.5 * mean(4) > 2 * mean(16) > 2 * mean(64)
    assert mean(64) < 0.085  # linear-cfr:16, the same work to the end of the game: .0725


def test_to_the_end_of_the_game_what_is_played_is_the_average() -> None:
    pair = pair_of("leduc")
    sums = play_through(pair.public, ExactLeaves(), PBSSearch(updates=32, depth=0), 5, 3, 2)
    assert sums[0] == pytest.approx(1.5 * sums[1])  # three games and two
    assert policy_of(pair, sums) == pytest.approx(solved(pair, "cfr", 32)[0], abs=1e-12)
    longer = PBSSearch(updates=8, depth=0, opening=32)  # of the only subgame there is
    sums = play_through(pair.public, ExactLeaves(), longer, 5, 3, 2)
    assert policy_of(pair, sums) == pytest.approx(solved(pair, "cfr", 32)[0], abs=1e-12)


def test_only_the_opening_has_its_own_number_of_updates() -> None:
    pair = pair_of("liars_dice:1x3")
    few, many, mixed = (
        play_through(pair.public, ExactLeaves(4), PBSSearch(updates=n, opening=first), 4, 7, 1)[0]
        for n, first in ((8, None), (24, None), (8, 24))
    )
    choices = slice(*pair.public.first[[0, 1]])
    assert mixed[choices] == pytest.approx(many[choices]) != pytest.approx(few[choices])
    assert abs(mixed - many).max() > 0.01


def test_both_estimators_come_to_the_same() -> None:
    """Every iteration of Leduc's whole tree, counted as often as it weighs, is their average."""
    pair, search = pair_of("leduc"), PBSSearch(updates=8, depth=0)
    average, drawn = (
        play_through(pair.public, nothing, search, n, 3, n, iterate=n > 1) for n in (1, 4000)
    )
    mixed = pair.public.normalised(drawn.sum(0))
    assert mixed == pytest.approx(pair.public.normalised(average[0]), abs=0.03)
    assert abs(drawn[1] - average[0]).max() > 0.1


def test_games_do_not_depend_on_each_other() -> None:
    """Equal seeds, equal games, however many are played together."""
    pair = pair_of("liars_dice:1x3")
    two, four = (
        play_through(pair.public, ExactLeaves(4), PBSSearch(updates=8), n, 7, n) for n in (2, 4)
    )
    assert four[:2] == pytest.approx(two, abs=1e-12)
    assert abs(four[3] - four[2]).max() > 1e-3


def test_equal_states_are_solved_once_and_each_game_stops_where_it_will() -> None:
    public, solved = pair_of("liars_dice:1x3").public, []

    def leaves(subgames: Subgames, player: int, reach: Reach) -> Float32s:
        solved.append((subgames.roots - public.opening).tolist())
        return nothing(subgames, player, reach)

    roots = public.opening + np.array([0, 1, 0, 1, 1], np.int32)
    beliefs = np.full((5, 3), 1 / 3), np.full((5, 3), 1 / 3)
    beliefs[1][4] = 0.5, 0.5, 0
    search, stops = PBSSearch(updates=8), np.array([3, 2, 1, 0, 2])
    found = solve(Subgames(public, roots, 2), beliefs, leaves, search, stops)
    assert solved == [[0, 1, 1]] * len(solved)
    for i in range(5):
        alone, some = Subgames(public, roots[i : i + 1], 2), slice(i, i + 1)
        one = solve(alone, (beliefs[0][some], beliefs[1][some]), nothing, search, stops[some])
        mine = found.subgames.subgame == i
        assert (found.played[mine] == one.played).all()
        assert (found.average[mine] == one.average).all()


@pytest.mark.parametrize(
    "kind, weights", [("cfr", [1, 2, 3, 4, 0]), ("flop", [0, 1, 2, 3, 4]), ("fp", [1] * 5)]
)
def test_iterations_are_drawn_with_their_weights(kind: str, weights: list[int]) -> None:
    games, node = np.arange(40_000), np.zeros(40_000, np.int32)
    stops = draw_stops(PBSSearch(kind, 8), 5, games, node)
    share = np.bincount(stops, minlength=5) / len(games)
    assert share == pytest.approx(np.array(weights) / sum(weights), abs=0.01)


@pytest.mark.parametrize(
    "search", [*(PBSSearch(kind, 20) for kind in SOLVERS), PBSSearch("cfr", 20, warm=7)]
)
def test_what_is_drawn_is_the_average_in_expectation(search: PBSSearch) -> None:
    """The policies of all iterations, with their weights and reach, are the average policy."""
    subgames, beliefs = pair_of("leduc").whole()
    solver, sums = SOLVERS[search.kind](subgames, beliefs), np.zeros(subgames.choices)
    weights = search.weights()
    if search.warm:
        assert isinstance(solver, CFRD)
        x = np.random.default_rng(1).random(subgames.choices)
        solver.warm_start(subgames.normalised(x), search.warm)

    def add() -> None:
        for player in (0, 1):
            sums[:] += weights[solver.updates // 2] * solver.played(player)

    solver.solve(20, add)
    assert subgames.normalised(sums) == pytest.approx(solver.averaged(), abs=1e-9)


def test_a_search_that_begins_at_an_equilibrium_stays_there() -> None:
    """By 16 updates: its policy, and its values, are nearer to the truth than from uniform play."""
    pair = pair_of("liars_dice:1x3")
    subgames, beliefs = pair.whole()
    before, found, worth = CFRD(subgames, beliefs), [], []
    before.solve(2048)
    for warm in (False, True):
        solver = CFRD(subgames, beliefs)
        if warm:
            solver.warm_start(before.averaged(), 256)
        solver.solve(16)
        policy = np.empty(subgames.choices)
        policy[subgames.tree_choice] = solver.averaged()
        found.append(evaluate(pair.tree, pair.to_tree(policy)).exploitability)
        worth.append([abs(solver.values(p)[0] @ beliefs[p][0]) for p in (0, 1)])
    assert found[1] < 0.01 < 0.05 < found[0]
    assert worth[1] == pytest.approx([1 / 9, 1 / 9], abs=0.003)


def test_beliefs_follow_the_policy_and_fall_back_to_what_was_believed() -> None:
    public = pair_of("liars_dice:1x3").public
    subgames = Subgames(public, np.array([public.opening], np.int32), 1)
    policy = subgames.uniform()
    first = subgames.first[:4]
    for hand, bid in enumerate((0, 0, 2)):  # of six bids each hand makes one
        policy[first[hand] : first[hand + 1]] = np.eye(6)[bid]
    reach = subgames.begin(0, np.array([[0.5, 0.25, 0.25]]))
    subgames.reach(0, policy, reach)
    found = subgames.beliefs(0, reach, subgames.leaf_parts)
    nodes = public.seen[public.look[subgames.nodes[subgames.leaf_parts]]].argmax(1)
    expected = {0: [2 / 3, 1 / 3, 0], 2: [0, 0, 1]}
    for bid, belief in zip(nodes.tolist(), found, strict=True):
        assert belief == pytest.approx(expected.get(bid, [0.5, 0.25, 0.25]))
    rows = np.zeros((subgames.leaves, subgames.tree.game.pbs_inputs), np.float32)
    other = subgames.begin(1, np.array([[0.2, 0.3, 0.5]]))
    subgames.reach(1, policy, other)
    assert (subgames.inputs(0, (reach, other), rows) == np.arange(subgames.leaves)).all()
    assert (rows[:, 0] == 0).all()  # player 1 acts, and player 0 is asked
    assert rows[:, 7:10] == pytest.approx(found)
    leaves = subgames.inputs(1, (reach, other), rows)
    assert sorted(nodes[leaves]) == [0, 2]  # player 0 bids nothing else
    rows = rows[: len(leaves)]
    assert (rows[:, 0] == 1).all()  # player 1 acts, and is asked
    assert (rows[:, 1:7].argmax(1) == nodes[leaves]).all()
    assert rows[:, 7:10] == pytest.approx(np.tile([0.2, 0.3, 0.5], (len(rows), 1)))
    assert rows[:, 10:] == pytest.approx(found[leaves])


def test_leaves_where_the_opponent_does_not_get_count_nothing() -> None:
    """So a network need not be asked about them: whatever it said, all values are the same."""
    public = pair_of("liars_dice:2x3").public
    rng = np.random.default_rng(5)
    beliefs = public.prior(public.opening, 0)[None], public.prior(public.opening, 1)[None]
    subgames = Subgames(public, np.array([public.opening], np.int32), 2)
    policy = subgames.normalised(np.where(rng.random(subgames.choices) < 0.3, 1.0, 0))
    reach = subgames.begin(0, beliefs[0]), subgames.begin(1, beliefs[1])
    for player in (0, 1):
        subgames.reach(player, policy, reach[player])
    rows = np.zeros((subgames.leaves, public.game.pbs_inputs), np.float32)
    for player in (0, 1):
        asked = subgames.inputs(player, reach, rows)
        assert 0 < len(asked) < subgames.leaves
        some = np.zeros((subgames.leaves, public.game.hands), np.float32)
        some[asked] = rng.random((len(asked), public.game.hands))
        every = rng.random(some.shape, np.float32)
        every[asked] = some[asked]
        found, other = (np.zeros(subgames.hands[player]) for _ in range(2))
        subgames.ends(player, reach[1 - player], some, found)
        subgames.ends(player, reach[1 - player], every, other)
        assert found.any() and (found == other).all()


def test_a_belief_in_a_hand_that_is_not_there_is_refused() -> None:
    """In leduc:3x1 nobody holds the public card."""
    public = pair_of("leduc:3x1").public
    node = next(n for n in range(len(public)) if public.seen[public.look[n], 0])
    subgames = Subgames(public, np.array([node, node], np.int32), 1)
    good = np.array([[0, 0.5, 0.5], [0, 1, 0]])
    for player in (0, 1):
        assert subgames.begin(player, good).any()
        for belief in ([1 / 3, 1 / 3, 1 / 3], [np.nan, 0.5, 0.5]):
            with pytest.raises(ValueError, match="beliefs in a hand that is not there"):
                subgames.begin(player, np.array([good[0], belief]))
