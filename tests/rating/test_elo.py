from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratkit.errors import CheckFailed
from stratkit.rating import elo
from stratkit.rating.elo import expected_score, rate
from stratkit.rating.pool import Pool

THREE_TO_ONE = 400 * np.log10(3)  # 190.85 Elo: three points for each of the other


def pool_of(*results: tuple[str, str, tuple[int, int, int], int]) -> Pool:
    pool = Pool()
    for first, second, score, units in results:
        pool.add(first, second, score, units)
    return pool


def elos(pool: Pool, **settings: int) -> dict[str, float]:
    return dict(zip(pool.names, rate(pool, **settings).elo, strict=True))


def test_two_players_by_hand() -> None:
    pool = pool_of(("a", "b", (2, 0, 0), 30), ("b", "a", (2, 0, 0), 10))
    assert elos(pool) == pytest.approx({"a": THREE_TO_ONE / 2, "b": -THREE_TO_ONE / 2})
    assert elos(pool, anchor=1) == pytest.approx({"a": THREE_TO_ONE, "b": 0})
    assert elos(pool, anchor=1, anchor_elo=1500) == pytest.approx(
        {"a": 1500 + THREE_TO_ONE, "b": 1500}
    )


def test_a_draw_is_half_a_win() -> None:
    drawn = pool_of(("a", "b", (1, 1, 0), 40))  # three points of four
    assert elos(drawn, anchor=1)["a"] == pytest.approx(THREE_TO_ONE)


def test_a_chain_adds_up() -> None:
    pool = pool_of(("a", "b", (2, 0, 0), 30), ("b", "a", (2, 0, 0), 10), ("b", "c", (3, 0, 1), 20))
    assert elos(pool, anchor=2) == pytest.approx({"a": 2 * THREE_TO_ONE, "b": THREE_TO_ONE, "c": 0})


def test_a_circle_is_level() -> None:
    pool = pool_of(("a", "b", (3, 0, 1), 5), ("b", "c", (3, 0, 1), 5), ("c", "a", (3, 0, 1), 5))
    assert elos(pool) == pytest.approx({"a": 0, "b": 0, "c": 0}, abs=1e-6)


def test_a_prior_by_hand() -> None:
    pool = pool_of(("a", "b", (2, 0, 0), 4))  # 8 games won, and the prior's draw
    assert elos(pool, anchor=1, prior=1)["a"] == pytest.approx(400 * np.log10(8.5 / 0.5))


results = st.lists(st.integers(0, 4), min_size=12, max_size=12)


@settings(max_examples=30, deadline=None)
@given(results)
def test_everyone_scores_what_is_expected(counts: list[int]) -> None:
    """At the maximum each player's expected points are its points: the likelihood equations."""
    pool = Pool()
    for (a, b), n in zip(itertools.permutations("abcd", 2), counts, strict=True):
        pool.add(a, b, (1, 1, 0), n + 1)  # each scores against each
    found, points = rate(pool).elo, pool.points()
    games = points + points.T
    expected = games * expected_score(found[:, None] - found[None, :])
    assert np.allclose(expected.sum(1), points.sum(1), atol=1e-6)
    assert found.mean() == pytest.approx(0, abs=1e-6)


def simulated(
    strengths: list[float], pairs: int, rng: np.random.Generator, draws: float = 0.2
) -> Pool:
    """Pairs of games whose two games have the same result: as dependent as they can be."""
    pool = Pool([str(i) for i in range(len(strengths))])
    for i, j in itertools.combinations(range(len(strengths)), 2):
        score = float(expected_score(strengths[i] - strengths[j]))
        drawn = draws * 2 * min(score, 1 - score)
        chances = [score - drawn / 2, drawn, 1 - score - drawn / 2]
        won, even, lost = rng.multinomial(pairs, chances)
        for score_, number in (((2, 0, 0), won), ((0, 2, 0), even), ((0, 0, 2), lost)):
            if number:
                pool.add(str(i), str(j), score_, int(number))
    return pool


def test_known_strengths_are_found() -> None:
    strengths = [0.0, 120.0, -200.0, 350.0]
    found = rate(simulated(strengths, 4000, np.random.default_rng(3)), anchor=0).elo
    assert np.abs(found - strengths).max() < 25


def test_the_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    truth = np.array([0.0, 100.0, -80.0])
    inside = []
    for _ in range(200):
        found = rate(simulated(list(truth), 60, rng), anchor=0)
        inside += list((found.low <= truth) & (truth <= found.high))[1:]
    # 400 intervals that are not independent: 95 % and three standard errors.
    assert 0.91 < np.mean(inside) < 0.985


def test_intervals_know_that_the_games_of_a_pair_are_not_independent() -> None:
    alone = rate(pool_of(("a", "b", (1, 0, 0), 60), ("b", "a", (1, 0, 0), 40)), anchor=1)
    paired = rate(pool_of(("a", "b", (2, 0, 0), 30), ("b", "a", (2, 0, 0), 20)), anchor=1)
    assert alone.elo == pytest.approx(paired.elo)
    ratio = (paired.high[0] - paired.low[0]) / (alone.high[0] - alone.low[0])
    assert ratio == pytest.approx(np.sqrt(2), rel=0.1)


def test_the_same_games_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(("a", "b", (1, 1, 0), 9), ("a", "b", (0, 0, 2), 4))
    first = rate(pool)
    monkeypatch.setattr(elo, "SEED", elo.SEED + 1)
    other = rate(pool)
    monkeypatch.undo()
    again = rate(pool)
    assert (first.low == again.low).all() and (first.high == again.high).all()
    assert (first.low != other.low).all()


def test_a_large_pool_is_rated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = simulated([0.0, 50.0, 20.0], 100, np.random.default_rng(1))
    whole = rate(pool)
    monkeypatch.setattr(elo, "_CHUNK", 64 * 9)
    parts = rate(pool)
    assert (whole.elo == parts.elo).all()
    assert np.abs(whole.low - parts.low).max() < 10  # other weights, the same distribution


def test_groups_that_never_met_are_named() -> None:
    pool = pool_of(("a", "b", (1, 0, 1), 5), ("c", "d", (1, 0, 1), 5))
    with pytest.raises(CheckFailed, match=r"never met.*: a, b; c, d"):
        rate(pool)
    with pytest.raises(CheckFailed, match="never met"):
        rate(pool, prior=3)


@pytest.mark.parametrize("strong", [("a",), ("a", "b")])
def test_who_won_every_game_is_named(strong: tuple[str, ...]) -> None:
    pool = Pool()
    for first, second in itertools.combinations("abcd", 2):
        apart = (first in strong) != (second in strong)
        pool.add(first, second, (2, 0, 0) if apart else (1, 0, 1), 5)
    weak = [name for name in "abcd" if name not in strong]
    with pytest.raises(CheckFailed, match=f"^{', '.join(strong)} won every .* {', '.join(weak)}: "):
        rate(pool)
    found = rate(pool, prior=1)
    assert np.isfinite([found.elo, found.low, found.high]).all()
    assert (found.low < found.elo).all() and (found.elo < found.high).all()
