"""Adjudication by values, and what a lost game gives to each player."""

from __future__ import annotations

import numpy as np
import pytest

from stratkit.match.adjudicate import Limit, ValueAdjudicator
from stratkit.play.finished import GameNote
from stratkit.play.table import returns_of_loss

ROW = np.zeros(1, np.int64)


def observe(adjudicator: ValueAdjudicator, side: int, value: float) -> None:
    adjudicator.observe(ROW, np.array([side], np.int8), np.array([value], np.float32))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_loss_is_shared_by_the_others(players: int) -> None:
    for loser in range(players):
        returns = returns_of_loss(players, loser)
        assert returns.dtype == np.float32 and returns.shape == (players,)
        assert returns[loser] == -1 and abs(returns.sum()) < 1e-6
        assert (np.delete(returns, loser) > 0).all()
    assert returns_of_loss(2, 0).tolist() == [-1, 1]
    assert returns_of_loss(2, 1, 13).tolist() == [13, -13]


@pytest.mark.parametrize("players", [2, 3])
def test_every_side_is_counted_by_itself(players: int) -> None:
    adjudicator = ValueAdjudicator(1, players, Limit(0.9, 2), Limit(0.1, 1))
    last = players - 1
    for side, value in ((last, -0.95), (0, -0.95), (last, -0.5), (0, 0.0)):
        observe(adjudicator, side, value)
        assert adjudicator.adjudicate(0) is None
    for _ in range(2):
        observe(adjudicator, last, -0.9)
    found = adjudicator.adjudicate(0)
    assert found is not None
    returns, note = found
    assert note == GameNote("resigned", "resign 0.9,2")
    assert returns.tolist() == returns_of_loss(players, last).tolist()
    adjudicator.begin(ROW)  # another game in the same row
    for side in range(players):
        assert adjudicator.adjudicate(0) is None
        observe(adjudicator, side, 0.05)
    found = adjudicator.adjudicate(0)
    assert found is not None and found[0].tolist() == [0] * players
    assert found[1] == GameNote("agreed", "draw 0.1,1")
