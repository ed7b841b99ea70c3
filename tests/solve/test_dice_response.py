"""Best responses in Liar's Dice, for all hands at once, against the whole tree."""

from __future__ import annotations

import numpy as np
import pytest

from solve.small_games import tree_of
from stratkit.engine import Game
from stratkit.engine.dice import DiceResponses, DiceSets, dice_bids
from stratkit.solve.exploitability import evaluate


def drawn(sets: DiceSets, seed: int) -> np.ndarray:
    """float64 [sets, actions]: a random policy."""
    legal = sets.views(0, len(sets))[1]
    x = np.random.default_rng(seed).random(legal.shape) ** 4 * legal
    return np.asarray(x / x.sum(1, keepdims=True))


def responses(sets: DiceSets, dense: np.ndarray) -> DiceResponses:
    legal = sets.views(0, len(sets))[1].astype(bool)
    found = DiceResponses(sets, np.ascontiguousarray(dense[legal]), 2)
    while found.step(50):
        pass
    return found


@pytest.mark.parametrize("name", ["1x2", "1x4", "2x2", "2x3", "1x7"])
def test_it_is_the_whole_trees(name: str) -> None:
    """1x7 has 14 bids: its walk has parts."""
    tree, sets = tree_of(f"liars_dice:{name}"), DiceSets(Game(f"liars_dice:{name}"))
    seen, legal = sets.views(0, len(sets))
    at = {row.tobytes(): number for number, row in enumerate(seen)}
    which = np.array([at[row.tobytes()] for row in tree.observations()])
    assert (legal[which] == tree.legal()).all()
    assert (sets.histories, len(sets)) == (tree.histories, len(tree))
    uniform = legal / legal.sum(1, keepdims=True)
    assert sets.uniform() == pytest.approx(uniform[legal.astype(bool)])
    for dense in (uniform, drawn(sets, 1)):
        expected, found = evaluate(tree, tree.flat(dense[which])), responses(sets, dense)
        assert found.best == pytest.approx(expected.best, abs=1e-9)
        assert found.values == pytest.approx((expected.value, -expected.value), abs=1e-9)


def test_a_fault_in_one_information_set_shows() -> None:
    """Two probabilities of a hand's first bid change places: the value is another one."""
    sets = DiceSets(Game("liars_dice:1x4"))
    dense = drawn(sets, 2)
    right = responses(sets, dense)
    dense[0, :2] = dense[0, 1::-1].copy()
    found = responses(sets, dense)
    assert abs(found.values[0] - right.values[0]) > 1e-4
    assert abs(found.best[1] - right.best[1]) > 1e-4


def test_other_games_have_no_bids() -> None:
    assert dice_bids(Game("kuhn")) == dice_bids(Game("liars_dice:1x13")) == 0
    with pytest.raises(ValueError, match="game must be Liar's Dice, not kuhn"):
        DiceSets(Game("kuhn"))
    sets = DiceSets(Game("liars_dice:1x2"))
    with pytest.raises(ValueError, match="2 pieces are left"):
        _ = DiceResponses(sets, sets.uniform(), 1).best
