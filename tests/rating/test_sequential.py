"""Elo game by game."""

from __future__ import annotations

import numpy as np
import pytest

from rating_games import both, pool_of, simulated
from stratkit.rating.elo import sequential


def test_two_games_by_hand() -> None:
    """Equations 7 and 8 with K = 32, as a textbook does it."""
    pool = pool_of([("a", "b", "won")], [("c", "a", "drawn")])
    expected = 1 / (1 + 10 ** (16 / 400))  # of c against a, who is at 16
    change = 32 * (0.5 - expected)
    assert sequential(pool, k=32) == pytest.approx([16 - change, -16, change])


def test_one_game_with_k_of_one() -> None:
    assert sequential(pool_of([("a", "b", "won")])) == pytest.approx([0.5, -0.5])


def test_the_order_matters_and_the_sum_does_not() -> None:
    units = (20, both("a", "b", "won")), (20, both("a", "b", "lost"))
    one, other = sequential(pool_of(*units)), sequential(pool_of(*units[::-1]))
    assert one[0] < 0 < other[0]  # the last games count most
    assert one.sum() == pytest.approx(0) and other.sum() == pytest.approx(0)


def test_it_finds_known_strengths() -> None:
    pool = simulated([100.0, -100.0], 20_000, np.random.default_rng(2))
    assert sequential(pool) == pytest.approx([100, -100], abs=25)
