"""The step of MMD search against exact mirror descent on whole trees, and against the tables of
the exact truth."""

from __future__ import annotations

import numpy as np
import pytest

from solve.small_games import tree_of
from stratkit.engine import Tree
from stratkit.search.beliefs import uniform_belief
from stratkit.search.mmd import MMDSearch, MoveReturns, step
from stratkit.solve.exploitability import best_response, evaluate
from stratkit.solve.mmd import TabularMMD, action_values

# NashConv after 5, 20, 100 and 200 steps, leduc's divided by 13.
TABULAR = {
    "kuhn": (0.3352, 0.1600, 0.0583, 0.0304),
    "leduc": (0.2536, 0.1968, 0.1216, 0.0924),
    "dark_hex:2": (0.5267, 0.2654, 0.0605, 0.0410),
}
# One search step with exact values, from the policy after so many steps: NashConv by eta, and the
# gain against the blueprint.
SEARCHED = {
    ("kuhn", 200): {0.3: (0.0299, 0.001), 1: (0.0334, 0.002), 3: (0.0434, 0.005),
                    10: (0.0760, 0.010), 50: (0.1778, 0.014)},
    ("leduc", 200): {0.3: (0.0903, 0.001), 1: (0.0857, 0.004), 3: (0.0749, 0.010),
                     10: (0.0638, 0.023), 50: (0.0719, 0.040)},
    ("dark_hex:2", 20): {0.3: (0.2452, 0.013), 1: (0.2086, 0.035), 3: (0.2367, 0.069),
                         10: (0.6043, 0.105), 50: (0.9951, 0.132)},
}  # fmt: skip


def after(tree: Tree, steps: int) -> TabularMMD:
    solver = TabularMMD(tree)
    for _ in range(steps):
        solver.step()
    return solver


def searched(tree: Tree, policy: np.ndarray, q: np.ndarray, eta: float, tau: float) -> np.ndarray:
    """The step of each information set by itself."""
    ends = zip(tree.first[:-1], tree.first[1:], strict=True)
    return np.concatenate([step(policy[a:b], q[a:b], eta, tau) for a, b in ends])


@pytest.mark.parametrize("name", TABULAR)
def test_tabular_mmd_comes_to_what_is_known(name: str) -> None:
    tree = tree_of(name)
    solver, found = TabularMMD(tree), []
    for number in range(1, 201):
        solver.step()
        if number in (5, 20, 100, 200):
            found.append(evaluate(tree, solver.solution()).nash_conv / tree.game.unit)
    np.testing.assert_allclose(found, TABULAR[name], atol=0.0002)


@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("steps", [0, 3, 50])
def test_the_step_is_one_of_tabular_mmd(name: str, steps: int) -> None:
    tree = tree_of(name)
    solver = after(tree, steps)
    policy = solver.solution()
    q = action_values(tree, policy) / tree.game.unit
    eta = 1 / np.sqrt(steps + 1)
    found = searched(tree, policy, q, eta, eta * eta)
    solver.step()
    np.testing.assert_allclose(found, solver.solution(), atol=1e-9)
    assert abs(found - policy).max() > 1e-4


@pytest.mark.parametrize(("name", "steps"), SEARCHED)
def test_a_search_with_exact_values_comes_to_what_is_known(name: str, steps: int) -> None:
    tree = tree_of(name)
    policy, unit = after(tree, steps).solution(), tree.game.unit
    q, reach = action_values(tree, policy) / unit, tree.reach(policy)
    values = [tree.backup(p, policy, tree.payoffs(p, reach)) for p in (0, 1)]
    for eta, (nash_conv, gain) in SEARCHED[name, steps].items():
        new = searched(tree, policy, q, eta, 0.0)
        assert evaluate(tree, new).nash_conv / unit == pytest.approx(nash_conv, abs=0.0002)
        gains = [tree.backup(p, new, tree.payoffs(p, reach)) - values[p] for p in (0, 1)]
        assert sum(gains) / 2 / unit == pytest.approx(gain, abs=0.0006)  # of either seat
        assert best_response(tree, 0, reach)[0] / unit >= (values[0] + gains[0]) / unit - 1e-9


def objective(
    pi: np.ndarray,
    policy: np.ndarray,
    q: np.ndarray,
    eta: float,
    alpha: float,
) -> float:
    far = pi @ np.log(pi * len(pi)), pi @ np.log(pi / policy)
    return float(pi @ q - alpha * far[0] - far[1] / eta)


def test_the_step_maximises_what_it_says() -> None:
    """<pi', q> - alpha KL(pi' | uniform) - KL(pi' | policy) / eta, among policies nearby."""
    random = np.random.default_rng(1)
    for _ in range(20):
        policy = random.dirichlet(np.ones(5))
        q, eta, alpha = random.normal(size=5), random.uniform(0.1, 9), random.uniform(0, 1)

        found = step(policy, q, eta, eta * alpha)
        others = [found * random.uniform(0.9, 1.1, 5) for _ in range(50)]
        best = objective(found, policy, q, eta, alpha)
        for other in others:
            assert best >= objective(other / other.sum(), policy, q, eta, alpha)


def test_what_the_blueprint_never_plays_can_come_back_and_nothing_overflows() -> None:
    policy, q = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, -1.0])
    assert step(policy, q, 0.0, 0.0) == pytest.approx([1, 0, 0], abs=1e-8)
    assert step(policy, q, 30.0, 0.0)[1] > 0.99
    assert step(policy, q, 1000.0, 0.0).sum() == pytest.approx(1)
    assert step(policy, np.zeros(3), 1.0, 100.0) == pytest.approx([1 / 3] * 3, abs=0.1)


def test_a_move_that_is_never_played_comes_back_by_its_value() -> None:
    policy, q = np.array([1.0, 0.0, 0.0]), np.array([-0.2, 0.0, -0.4])
    assert step(policy, q, 30.0, 0.0)[0] > 0.999
    part = np.exp(30 * q) * np.array([0.98 + 0.02 / 3, 0.02 / 3, 0.02 / 3])
    assert step(policy, q, 30.0, 0.0, 0.02) == pytest.approx(part / part.sum())
    assert step(policy, q, 30.0, 0.0, 0.02)[1] > 0.7


@pytest.mark.parametrize(
    ("rollouts", "worlds", "moves", "budget"),
    [(256, None, 10, (25, 1)), (256, None, 300, (1, 1)), (256, 5, 10, (5, 5)), (8, 9, 4, (9, 1))],
)
def test_the_budget_is_that_of_all_moves_together(
    rollouts: int, worlds: int | None, moves: int, budget: tuple[int, int]
) -> None:
    asked = MMDSearch(rollouts, 4, 1.0, 0.0, uniform_belief, worlds)
    assert asked.budget(moves) == budget


def test_who_lacks_time_leaves_out_what_comes_to_nothing() -> None:
    """By the probability, the values, and how sure they are."""
    draw = np.random.default_rng(1)
    luck = draw.normal(size=(64, 1))  # of a world, the same for all moves
    policy = np.array([0.5, 0.4999, 1e-9, 1e-9, 1e-4])
    mean, noise = np.array([0.0, -0.2, 0.0, 0.7, 0.2]), np.array([0.0, 0.01, 0.0, 0.0, 0.5])
    values = luck + mean + noise * draw.normal(size=(64, 5))
    tried = MoveReturns(np.empty((0, 5)))
    tried.add(values)
    tried.prune(policy, 30.0, 0.0)
    assert tried.active.tolist() == [0, 1, 3, 4]  # 3 is what the network never plays
    tried.add(values[:16, tried.active])
    assert np.isnan(tried.returns[64:]).all(0).tolist() == [False, False, True, False, False]
    # Values alone decide at last: 3 is better by .7, which is worth 42 nats.
    tried.add(np.tile(mean, (4000, 1))[:, tried.active])
    tried.prune(policy, 60.0, 0.0)
    assert not len(tried.active)
    tried.add(np.empty((5, 0)))
    tried.prune(policy, 60.0, 0.0)
    assert len(tried.returns) == 4080
    # A step that is pulled to uniform has less to say.
    for tau, wanted in ((0.0, 0), (9.0, 2)):
        pulled = MoveReturns(np.tile([0.0, -0.4], (4000, 1)))
        pulled.prune(np.array([0.5, 0.5]), 30.0, tau)
        assert len(pulled.active) == wanted
