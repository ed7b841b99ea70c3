"""Search trees: against exact minimax, and against a slow twin that plays by the same rules."""

from __future__ import annotations

import re
import runpy

import numpy as np
import pytest

from running import ROOT
from search.slow_mcts import HashedBlueprint, HashedMoves, SlowTree, outcomes
from stratkit.engine import Batch, Game, sample
from stratkit.engine.batch import CHANCE
from stratkit.engine.mcts import SearchTrees
from stratkit.games.heuristic import UniformBlueprint
from stratkit.search.pimc import grow

ENOUGH = 100_000


def positions(name: str, actions: int, n: int, rules: dict | None = None, seed: int = 1) -> Batch:
    """Positions after so many random actions, of which a player is to act in each."""
    batch = Batch(Game(name, rules), n)
    games = np.arange(n, dtype=np.int64)
    for number in range(actions):
        numbers = np.full(n, number, np.int32)
        chosen = sample(None, batch.legal(), seed, games, numbers)[0]
        batch.draw_chance(seed, games, numbers, chosen)
        batch.apply(chosen)
    rows = np.flatnonzero(batch.actors() >= 0)
    assert len(rows) > n / 2
    return Batch.gathered([(batch, rows)])


def moves_of(batch: Batch, row: int) -> list[tuple[int, ...]]:
    if len(batch.game.shape) == 3:
        return list(batch.moves(row, int(batch.actors()[row])))
    return [(int(action),) for action in np.flatnonzero(batch.legal()[row])]


def begun(
    batch: Batch, nodes: int, unit: float = 1.0, threads: int = 1, whole: bool = False
) -> SearchTrees:
    """Trees of all rows, with uniform priors at their roots."""
    actions = len(moves_of(batch, 0)[0])
    trees = SearchTrees(batch, actions, nodes, 2.5, unit, threads=threads, whole=whole)
    for row in range(batch.size):
        moves = moves_of(batch, row)
        trees.begin(row, moves, np.full((1, len(moves)), 1 / len(moves), np.float32))
    return trees


def minimax(batch: Batch) -> np.ndarray:
    """What player 0 gets of each row, float64 [n], if both see everything: all games are played to
    the end, level by level."""
    actors, legal = batch.actors(), batch.legal()
    values = batch.returns()[:, 0].astype(np.float64)
    rows, actions = np.nonzero(legal)
    if not len(rows):
        return values
    below = Batch.gathered([(batch, rows)])
    below.apply(actions.astype(np.int32))
    found = minimax(below)
    sign = 1.0 - 2.0 * (actors == 1)
    best = np.full(batch.size, -np.inf)
    np.maximum.at(best, rows, sign[rows] * found)
    if (actors == CHANCE).any():
        means = np.bincount(rows, found * outcomes(batch)[rows, actions], batch.size)
    else:
        means = best
    over = actors == -2
    return np.where(over, values, np.where(actors == CHANCE, means, sign * best))


def exact(batch: Batch, row: int) -> np.ndarray:
    """What each move of a row is worth to the side that acts."""
    moves = np.array(moves_of(batch, row), np.int32)
    after = Batch.gathered([(batch, [row] * len(moves))])
    for column in moves.T:
        after.apply(np.ascontiguousarray(column))
    return minimax(after) * (1 - 2 * int(batch.actors()[row]))


@pytest.mark.parametrize(
    ("name", "played", "rules"),
    [
        ("hex:3", 2, None),
        ("nano", 6, None),
        ("nano", 8, {"max_plies": 4}),
        ("nano", 12, {"max_plies": 6}),
        ("moves:nano", 10, {"max_plies": 6}),
        ("dark_hex:2", 1, None),
        ("leduc", 2, None),
        ("kuhn", 2, None),
    ],
)
def test_with_all_nodes_it_is_minimax(name: str, played: int, rules: dict | None) -> None:
    batch = positions(name, played, 6, rules)
    unit = batch.game.unit
    trees = begun(batch, ENOUGH, unit)
    grow(trees, UniformBlueprint())
    for row in range(batch.size):
        truth, found = exact(batch, row) / unit, trees.root(row)
        best = truth > truth.max() - 1e-6
        np.testing.assert_allclose(found.low[best], truth.max(), atol=1e-6)
        np.testing.assert_allclose(found.high[best], truth.max(), atol=1e-6)
        assert (found.high[~best] < truth.max() - 1e-6).all()
        assert (found.low <= truth + 1e-6).all() and (truth <= found.high + 1e-6).all()
        np.testing.assert_allclose(found.q[best], truth.max(), atol=1e-6)


def test_the_first_player_wins_hex_and_it_is_known_how() -> None:
    trees = begun(Batch(Game("hex:3"), 1), ENOUGH)
    grow(trees, UniformBlueprint())
    root = trees.root(0)
    assert (np.flatnonzero(root.low == 1) == [2, 3, 4, 5, 6]).all()  # by OpenSpiel's minimax
    assert (root.high[[0, 1, 7, 8]] < 1).all()


@pytest.mark.parametrize(
    ("name", "played", "nodes", "rules"),
    [
        ("barrage", 32, 120, None),
        ("nano", 8, 150, None),
        ("hex:4", 3, 200, None),
        ("dark_hex:3", 3, 150, None),
        ("leduc", 3, 300, None),
        ("liars_dice:1x4", 3, 150, None),
    ],
)
def test_it_visits_what_its_slow_twin_visits(
    name: str, played: int, nodes: int, rules: dict | None
) -> None:
    batch = positions(name, played, 3, rules, seed=2)
    blueprint, unit = HashedBlueprint(), batch.game.unit
    trees = begun(batch, nodes, unit)
    grow(trees, blueprint)
    for row in range(batch.size):
        moves, alone = moves_of(batch, row), Batch.gathered([(batch, [row])])
        slow = SlowTree(alone, len(moves[0]), blueprint, 2.5, unit)
        slow.root.moves, slow.root.priors = moves, [1 / len(moves)] * len(moves)
        for _ in range(nodes):
            if not slow.simulate():
                break
        found = trees.root(row)
        children = slow.root.children
        assert found.visits.tolist() == [c.visits if c else 0 for c in children]
        q = [c.mean(slow.root.actor) if c else -1.0 for c in children]
        np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-10)  # of sums in float64
        bounds = [slow.bounds(slow.root, at) for at in range(len(moves))]
        np.testing.assert_allclose(np.stack([found.low, found.high], 1), bounds, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "played", "rules"),
    [("nano", 8, None), ("nano", 12, {"max_plies": 6}), ("mini", 40, None), ("barrage", 40, None)],
)
def test_whole_moves_come_to_the_trees_of_pieces_that_are_asked_one_by_one(
    name: str, played: int, rules: dict | None
) -> None:
    batch = positions(name, played, 6, rules, seed=3)
    found = []
    for whole in (False, True):
        blueprint, trees = HashedMoves(sharpness=2.0), begun(batch, 150, whole=whole)
        grow(trees, blueprint)
        simulations, evaluations, _ = trees.counts()
        assert blueprint.rows == evaluations and (evaluations <= simulations or not whole)
        found.append([trees.root(row) for row in range(batch.size)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.visits, other.visits)
        np.testing.assert_allclose(one.q, other.q, atol=1e-5)
        np.testing.assert_array_equal([one.low, one.high], [other.low, other.high])


@pytest.mark.parametrize("whole", [False, True])
def test_neither_company_nor_threads_change_a_tree(whole: bool) -> None:
    batch = positions("barrage", 40, 40)
    blueprint = HashedMoves()
    nodes = 12 if whole else 40
    together, *threaded = (begun(batch, nodes, threads=n, whole=whole) for n in (1, 2, 4))
    grow(together, blueprint)
    for trees in threaded:
        grow(trees, blueprint)
        for row in range(batch.size):
            np.testing.assert_array_equal(together.root(row).visits, trees.root(row).visits)
            np.testing.assert_array_equal(together.root(row).q, trees.root(row).q)
    alone = begun(Batch.gathered([(batch, [5])]), nodes, whole=whole)
    grow(alone, blueprint)
    np.testing.assert_array_equal(alone.root(0).visits, together.root(5).visits)


def test_one_call_a_round_serves_all_trees_and_a_node_is_small() -> None:
    """Some evaluations a node: of the leaf, and of the pieces of a node that are worth a look."""
    batch, blueprint = positions("barrage", 20, 8), HashedBlueprint(sharpness=3.0)
    trees = begun(batch, 100)
    grow(trees, blueprint)
    simulations, evaluations, size = trees.counts()
    assert simulations == 100 * batch.size and blueprint.rows == evaluations
    assert blueprint.calls < 400
    assert evaluations < 3 * simulations
    assert size < 240 * simulations  # a network's policy has fewer pieces that matter


def test_what_a_node_of_barrage_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In worlds of games that a network has played, where it leads the trees."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as the script does, but not for other tests
    script = runpy.run_path(str(ROOT / "bench/trees.py"))
    script["main"](16, 100, 10, ["barrage-easy"], 1)
    told = re.findall(r"([.0-9]+) evaluations and (\d+) bytes a node", capsys.readouterr().out)
    pieces, whole = ((float(asked), int(size)) for asked, size in told)
    assert 1.5 < pieces[0] < 2.5 and 50 < pieces[1] < 200
    assert whole[0] <= 1 and 50 < whole[1] < 400


def test_priors_lead_and_a_budget_of_one_is_one_visit() -> None:
    batch = Batch(Game("hex:4"), 2)
    trees = SearchTrees(batch, 1, 1)
    priors = np.full((2, 16), 0.01, np.float32)
    priors[0, 5] = priors[1, 9] = 0.85
    trees.begin(0, moves_of(batch, 0), priors)
    grow(trees, UniformBlueprint())
    assert trees.root(0).visits.tolist() == [int(at == 5) for at in range(16)]
    assert trees.root(1).visits.argmax() == 9
    assert (trees.root(0).q[:5] == -1).all()


def test_a_time_limit_stops_it_after_a_round() -> None:
    trees, blueprint = begun(Batch(Game("hex:5"), 3), 1000), HashedBlueprint()
    grow(trees, blueprint, until=0.0)
    assert blueprint.calls == 1 and trees.counts()[0] == 3


def test_values_beyond_what_a_game_returns_do_not_count() -> None:
    class Bold(UniformBlueprint):
        def evaluate_distinct(self, observations, legal, values=False):  # type: ignore
            return self.policy(observations, legal), np.full(len(legal), 9.0, np.float32)

    batch = Batch(Game("hex:3"), 1)
    trees = SearchTrees(batch, 1, 1, largest_return=0.5)
    trees.begin(0, moves_of(batch, 0), np.full((1, 9), 1 / 9, np.float32))
    grow(trees, Bold())
    root = trees.root(0)
    np.testing.assert_allclose(root.q[root.visits > 0], -0.5)


def test_what_is_no_search_is_refused() -> None:
    batch = positions("nano", 8, 3)
    moves = moves_of(batch, 0)
    even = np.full((1, len(moves)), 1 / len(moves), np.float32)
    trees = SearchTrees(batch, 2, 10)
    with pytest.raises(ValueError, match="a move that is not legal"):
        trees.begin(0, [(0, 0)], np.ones((1, 1), np.float32))
    with pytest.raises(ValueError, match="priors"):
        trees.begin(0, moves, even * np.nan)
    with pytest.raises(ValueError, match="tree must be a number from 0 to 2"):
        trees.begin(batch.size, moves, even)
    for wrong in ({"actions": 3}, {"nodes": 0}, {"unit": 0.0}, {"threads": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SearchTrees(batch, **{"actions": 2, "nodes": 10, **wrong})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not for whole moves"):
        trees.moves()
    with pytest.raises(ValueError, match="actions must be 2"):
        SearchTrees(batch, 1, 10, whole=True)
    whole = SearchTrees(batch, 2, 10, whole=True)
    for wrong_moves in ([(0, 0), *moves[1:]], [*moves[:-1], moves[0]]):
        with pytest.raises(ValueError, match="not legal, or is there twice"):
            whole.begin(0, wrong_moves, even)
    trees.begin(0, moves, even)
    packed, legal = trees.ask()
    with pytest.raises(ValueError, match="a policy that is none"):
        trees.tell(np.full(legal.shape, np.nan, np.float32), np.zeros(len(packed), np.float32))
    trees = begun(positions("hex:3", 1, 2), 10)
    packed, legal = trees.ask()
    with pytest.raises(ValueError, match="no number"):
        trees.tell(legal / np.float32(8), np.full(len(packed), np.nan, np.float32))
