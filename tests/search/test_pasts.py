"""How worlds of small games came about, and what the enemy's policy says of them."""

from __future__ import annotations

import numpy as np
import pytest

from search.tabular import TabularBlueprint
from search.test_sampled import END, flat, roots_of
from search.test_step import after, searched
from solve.small_games import tree_of
from stratkit.engine import Batch, Game
from stratkit.games.heuristic import UniformBlueprint
from stratkit.search.beliefs import ImportanceResampling, log_likelihoods, past
from stratkit.search.mmd import MMDSearch
from stratkit.solve.exploitability import evaluate
from stratkit.solve.mmd import action_values

GAMES = ["kuhn", "leduc", "liars_dice:1x3", "dark_hex:2"]


@pytest.mark.parametrize("name", [*GAMES, "hex:2", "matrix:formats/samples/modified_rps.matrix"])
def test_a_history_leads_to_its_world(name: str) -> None:
    tree = tree_of(name)
    for root in roots_of(tree, tree.uniform())[:: max(1, len(tree) // 60)]:
        drawn = root.draw(12, 3)
        histories = drawn.histories()
        assert histories is not None and histories.shape[1] == (histories >= 0).sum(1).max()
        again = Batch(tree.game, 12)
        for actions in histories.T:
            again.apply(np.ascontiguousarray(actions))
        for one, other in zip(_seen(drawn), _seen(again), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(again.histories(), histories)


def _seen(batch: Batch) -> list[np.ndarray]:
    """What the mover sees in each world, and the other player after each of two moves."""
    legal = batch.legal()
    out = [batch.actors(), legal, batch.observe()]
    for pick in (legal.argmax(1), legal.shape[1] - 1 - legal[:, ::-1].argmax(1)):
        after = Batch.gathered([(batch, range(batch.size))])
        after.apply(pick.astype(np.int32))
        out += [after.actors(), after.legal(), after.returns()]
    return out


def test_stratego_does_not_tell() -> None:
    assert Batch(Game("nano"), 1).histories() is None
    assert Batch(Game("moves:nano"), 1).histories() is None


@pytest.mark.parametrize("name", GAMES)
def test_likelihoods_are_those_of_the_enemys_actions(name: str) -> None:
    tree = tree_of(name)
    blueprint = Odd()
    roots = roots_of(tree, tree.uniform())[:: max(1, len(tree) // 40)]
    pasts = [past(root.draw(8, 1), root) for root in roots]
    known = [one for one in pasts if one is not None]
    found = log_likelihoods(known, blueprint, deployment=True, last=1, floor=0.0)
    whole = log_likelihoods(known, blueprint, deployment=False, last=99, floor=0.0)
    for one, short, long in zip(known, found, whole, strict=True):
        for row, actions in enumerate(one.actions):
            odds = _odds(tree.game, actions, one.side, blueprint)
            assert long[row] == pytest.approx(sum(odds), abs=1e-5)
            assert short[row] == pytest.approx(sum(odds[-1:]), abs=1e-5)
    assert len(known) == len(roots) and min(map(np.min, whole)) < -0.5


class Odd(UniformBlueprint):
    """Some policy of what is seen."""

    def policy(self, observations: np.ndarray, legal: np.ndarray) -> np.ndarray:
        places = np.arange(observations.shape[1]) % 7
        weights = legal * (1.0 + (observations @ places)[:, None] * np.arange(legal.shape[1]) % 5)
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)


def _odds(game: Game, actions: np.ndarray, side: int, blueprint: Odd) -> list[float]:
    batch, odds = Batch(game, 1), []
    for action in actions[actions >= 0]:
        if batch.actors()[0] == 1 - side:
            policy, _ = blueprint.evaluate_distinct(batch.observe(), batch.legal())
            odds.append(float(np.log(policy[0, action])))
        batch.apply(np.array([action], np.int32))
    return odds


def test_a_search_by_the_posterior_comes_to_what_exact_values_do() -> None:
    """Kuhn poker, where uniform worlds lead to a NashConv of .12 instead of .03."""
    tree = tree_of("kuhn")
    policy = after(tree, 200).solution()
    belief = ImportanceResampling(deployment=False, last=99, floor=0.0)
    asked = MMDSearch(1, END, 1.0, 0.0, belief, 256)
    blueprint, roots = TabularBlueprint(tree, policy), roots_of(tree, policy)
    mean = np.mean([flat(asked(roots, blueprint, seed)) for seed in range(4)], axis=0)
    exact = searched(tree, policy, action_values(tree, policy), 1.0, 0.0)
    found, wanted = evaluate(tree, mean).nash_conv, evaluate(tree, exact).nash_conv
    assert wanted == pytest.approx(0.0334, abs=0.0002) and found == pytest.approx(wanted, abs=0.02)
