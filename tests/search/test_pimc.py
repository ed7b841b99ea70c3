"""PIMC and PC-PIMC: against their limits, and what each part of them does."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from search.slow_mcts import HashedBlueprint
from search.test_sampled import roots_of
from solve.small_games import tree_of
from stratkit.engine import Batch, Game, Tree, uniform
from stratkit.engine.mcts import RootMoves
from stratkit.engine.random_streams import Stream
from stratkit.engine.sampling import dirichlet
from stratkit.games.heuristic import UniformBlueprint
from stratkit.search.beliefs import uniform_belief
from stratkit.search.decision import Root
from stratkit.search.pimc import PIMC, best, world_policy
from stratkit.search.side_state import SideState
from stratkit.solve.determinized import DETERMINIZED
from stratkit.threads import use_threads


def asked(n: int, nodes: int = 2000, unit: float = 1.0, **more: object) -> PIMC:
    return PIMC(n, nodes, uniform_belief, unit=unit, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("combine", "draw", "limit"),
    [(False, False, "pimc"), (True, False, "pc-pimc"), (True, True, "pc-pimc-drawn")],
)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "dark_hex:2"])
def test_many_worlds_with_all_nodes_come_to_the_limit(
    name: str, combine: bool, draw: bool, limit: str
) -> None:
    tree = tree_of(name)
    n, unit = 100 if name != "leduc" else 40, tree.game.unit
    search = asked(n, 2000, unit, combine=combine, draw=draw)
    found = search(roots_of(tree, tree.uniform()), UniformBlueprint(), 1)
    policy = np.concatenate([one.policy for one in found])
    exact = DETERMINIZED[limit](tree).solution()
    values, often = tree.world_values
    if draw:  # a share is known up to the noise of the worlds
        assert abs(policy - exact).max() < 4.5 * np.sqrt(0.25 / n) + 1e-6
        return
    score = often if combine else values / unit
    gap = _gap(tree, score)[tree.owner]
    sure = (gap > 4.5 / np.sqrt(n)) | (gap == 0) & (_all_alike(tree, score)[tree.owner])
    assert sure.mean() > 0.2
    np.testing.assert_allclose(policy[sure & (gap > 0)], exact[sure & (gap > 0)], atol=1e-9)


def _gap(tree: Tree, score: np.ndarray) -> np.ndarray:
    """How far the best action of each set is ahead of the next one; 0 where they are equal."""
    ends = zip(tree.first[:-1], tree.first[1:], strict=True)
    ordered = [np.sort(score[a:b]) for a, b in ends]
    return np.array([x[-1] - x[-2] if len(x) > 1 else 0.0 for x in ordered])


def _all_alike(tree: Tree, score: np.ndarray) -> np.ndarray:
    ends = zip(tree.first[:-1], tree.first[1:], strict=True)
    return np.array([np.ptp(score[a:b]) < 1e-9 for a, b in ends])


def test_the_values_of_moves_are_means_over_worlds_with_errors() -> None:
    tree = tree_of("kuhn")
    found = asked(400, 100, tree.game.unit)(roots_of(tree, tree.uniform()), UniformBlueprint(), 3)
    q = np.concatenate([one.q for one in found])
    error = np.concatenate([one.error for one in found])
    exact = tree.world_values[0] / tree.game.unit
    assert (abs(q - exact) < 4.5 * error + 0.02).mean() > 0.9  # of the moves that were explored
    assert all(one.worlds == one.candidates == one.effective == 400 for one in found)
    assert all(one.visits is not None and one.visits.sum() > 0 for one in found)
    alone = asked(1, 10)(roots_of(tree, tree.uniform())[:1], UniformBlueprint(), 3)
    assert np.isnan(alone[0].error).all()


def a_root(batch: Batch, number: int) -> Root:
    state = SideState(batch, 0, 0, 4, number)
    return Root(state, [(action,) for action in range(9)], np.full(9, 1 / 9))


def test_company_does_not_change_what_is_found() -> None:
    batch, blueprint = Batch(Game("dark_hex:3"), 1), HashedBlueprint()
    roots = [a_root(batch, number) for number in range(3)]
    search = asked(3, 30, noise=0.25)
    together = search(roots, blueprint, 5)
    for root, one in zip(roots, together, strict=True):
        (alone,) = search([root], blueprint, 5)
        np.testing.assert_array_equal(one.policy, alone.policy)
        np.testing.assert_array_equal(one.q, alone.q)
    others = search(roots, blueprint, 6)
    assert any((a.q != b.q).any() for a, b in zip(together, others, strict=True))


def test_threads_grow_a_decision_s_trees_and_change_nothing() -> None:
    class Shared(HashedBlueprint):
        by_threads = True
        its: set[int]

        def evaluate_distinct(self, *arguments, **more):  # type: ignore[no-untyped-def]
            self.its.add(threading.get_ident())
            return super().evaluate_distinct(*arguments, **more)

    root, blueprint, found = a_root(Batch(Game("dark_hex:3"), 1), 0), Shared(), []
    for threads, worlds in ((1, 7), (2, 7), (2, 3)):
        use_threads(threads)
        blueprint.its = set()
        found.append(asked(worlds, 30, noise=0.25)([root], blueprint, 5)[0])
        many = threads > 1 and worlds > 3  # a call for few trees costs as much as for more
        assert (threading.get_ident() not in blueprint.its) == many
    np.testing.assert_array_equal(found[0].policy, found[1].policy)
    np.testing.assert_array_equal(found[0].q, found[1].q)


def test_a_worlds_policy() -> None:
    def found(visits: list[int], low: list[float], high: list[float]) -> RootMoves:
        q = np.array([0.1, 0.2, -0.3])
        return RootMoves(
            np.array(visits, np.int32), q, np.array(low, np.float32), np.array(high, np.float32)
        )

    unknown = found([6, 3, 1], [-1, -1, -1], [1, 1, 1])
    np.testing.assert_allclose(world_policy(unknown), [0.6, 0.3, 0.1])
    worse = found([6, 3, 1], [-1, 0.5, -1], [0.2, 1, 1])
    np.testing.assert_allclose(world_policy(worse), [0, 0.75, 0.25])
    proven = found([6, 3, 1], [0.5, -1, 0.5], [0.5, 0.4, 0.5])
    np.testing.assert_allclose(world_policy(proven), [0.5, 0, 0.5])
    none = found([0, 0, 0], [-1, -1, -1], [1, 1, 1])
    np.testing.assert_allclose(world_policy(none), [0, 1, 0])
    np.testing.assert_allclose(best(np.array([0.3, 0.3 + 1e-9, 0.1])), [0.5, 0.5, 0])


def test_pimc_adds_up_values_and_pc_pimc_policies() -> None:
    search, q = asked(2), np.array([[1.0, 0.4], [-1.0, 0.4]])
    free = [np.full(2, -1, np.float32), np.ones(2, np.float32)]
    each = [
        RootMoves(np.array(v, np.int32), x, *free) for v, x in zip([[9, 1], [5, 5]], q, strict=True)
    ]
    mean, values = np.mean([world_policy(one) for one in each], axis=0), q.mean(0)
    np.testing.assert_allclose(search._policy(mean, values), [1, 0])
    np.testing.assert_allclose(asked(2, draw=True)._policy(mean, values), [0.7, 0.3])
    np.testing.assert_allclose(asked(2, combine=False)._policy(mean, values), [0, 1])


def test_noise_is_dirichlet_and_a_function_of_its_key() -> None:
    for shape, n in ((0.3, 4), (2.0, 3)):
        drawn = dirichlet(1, 2, 3, shape, 20_000, n)
        np.testing.assert_allclose(drawn.sum(1), 1, atol=1e-12)
        assert (drawn >= 0).all()
        a = shape * n
        np.testing.assert_allclose(drawn.mean(0), 1 / n, atol=0.01)
        np.testing.assert_allclose(drawn.var(0), (1 / n) * (1 - 1 / n) / (a + 1), rtol=0.06)
    np.testing.assert_array_equal(dirichlet(1, 2, 3, 0.3, 5, 4), dirichlet(1, 2, 3, 0.3, 9, 4)[:5])
    assert (dirichlet(1, 2, 4, 0.3, 5, 4) != dirichlet(1, 2, 3, 0.3, 5, 4)).all()
    assert uniform(1, np.array([2]), np.array([3], np.int32), Stream.NOISE) < 1
    with pytest.raises(ValueError, match="shape must be a finite number above 0"):
        dirichlet(1, 2, 3, 0.0, 5, 4)
