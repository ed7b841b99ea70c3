"""Intervals, and who is likely stronger."""

from __future__ import annotations

import numpy as np
import pytest

from rating_games import both, pool_of, simulated
from stratkit.rating import bootstrap
from stratkit.rating.bootstrap import Ratings, rate
from stratkit.rating.elo import Anchor, DavidsonModel
from stratkit.rating.pool import Floats, Pool


def widths(found: Ratings) -> Floats:
    assert found.low is not None and found.high is not None
    return found.high - found.low


@pytest.mark.parametrize("alike", [False, True])
def test_the_intervals_hold_the_truth_as_often_as_they_say(
    alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "RESAMPLES", 200)
    rng = np.random.default_rng(11)
    truth = np.array([0.0, 100.0, -80.0])
    model = DavidsonModel(draws=None, first_move=0 if alike else None, anchors=[Anchor(0, 0)])
    inside, helped, drawn = [], [], []
    for _ in range(100):
        pool = simulated(list(truth), 80, rng, first_move=20 * (not alike), draws=0.2, alike=alike)
        found = rate(pool, model)
        assert found.low is not None and found.high is not None
        inside += list((found.low <= truth) & (truth <= found.high))[1:]
        helped.append(found.first_move.low <= 20 <= found.first_move.high)
        drawn.append(found.draws.low <= 0.2 <= found.draws.high)
    # 200 intervals that are not independent, and 100: 95 % and three standard errors.
    assert 0.895 < np.mean(inside) < 0.99
    assert np.mean(drawn) > 0.89
    if not alike:
        assert np.mean(helped) > 0.89


def test_the_games_of_a_pair_are_not_independent() -> None:
    pair = (30, both("a", "b", "won")), (20, both("a", "b", "lost"))
    alone = [(n, [game]) for n, games in pair for game in games]
    model = DavidsonModel(anchors=[Anchor(1, 0)])
    one, other = rate(pool_of(*alone), model), rate(pool_of(*pair), model)
    assert one.elo == pytest.approx(other.elo)
    assert widths(other)[0] / widths(one)[0] == pytest.approx(np.sqrt(2), rel=0.1)


def some() -> Pool:
    return simulated([0.0, 50.0, 20.0], 100, np.random.default_rng(1))


def test_differences_from_anchors_and_from_the_mean() -> None:
    """The ratings are the same; the anchor's interval is a point only if it is the reference."""
    anchored = rate(some(), DavidsonModel(anchors=[Anchor(0, 1500)]))
    mean = rate(some(), DavidsonModel(anchors=[Anchor(0, 1500)]), to_mean=True)
    free = rate(some())
    assert (anchored.elo == mean.elo).all() and anchored.elo[0] == 1500
    assert widths(anchored)[0] == 0
    assert widths(mean) == pytest.approx(widths(free), rel=1e-4)
    narrow = rate(some(), confidence=0.5)
    assert widths(narrow) / widths(free) == pytest.approx([0.674 / 1.96] * 3, rel=0.2)


def test_the_likelihood_of_superiority() -> None:
    pool = pool_of((60, both("a", "b", "won")), (50, both("a", "b", "lost")),
                   (20, both("b", "c", "even")), (20, both("a", "c", "even")))  # fmt: skip
    [found] = rate(pool).superiority or ()
    assert found + found.T == pytest.approx(np.ones((3, 3)))
    assert 0.7 < found[0, 1] < 0.95
    # Ten more pairs won of 110: the difference is 0.95 standard deviations, which a normal
    # distribution exceeds with 83 %; what c tells changes it by little.
    assert found[0, 1] == pytest.approx(0.83, abs=0.05)


def test_the_same_games_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = rate(some()), rate(some())
    monkeypatch.setattr(bootstrap, "SEED", bootstrap.SEED + 1)
    other = rate(some())
    assert (widths(first) == widths(again)).all() and (first.elo == other.elo).all()
    assert (widths(first) != widths(other)).all()


def test_a_large_pool_is_rated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rate(some())
    monkeypatch.setattr(bootstrap, "_CHUNK", 64 * 16)
    parts = rate(some())
    assert (whole.elo == parts.elo).all()
    assert widths(parts) == pytest.approx(widths(whole), rel=0.15)  # other weights
