"""The sequential test: against a slow computation, and by how often it errs."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratkit.errors import UsageError
from stratkit.rating.sprt import (
    RARE,
    Sprt,
    expected_score,
    most_likely,
    parse_sprt,
)

COUNTS = st.lists(st.integers(0, 400), min_size=5, max_size=5)


@given(COUNTS.filter(any), st.integers(-100, 100))
def test_the_most_likely_distribution_is_the_most_likely(counts: list[int], elo: int) -> None:
    """It is one, has the mean, and no step that keeps sum and mean makes the counts more likely:
    the likelihood is concave, so that is enough."""
    total, mean = sum(n or RARE for n in counts), expected_score(elo)
    shares = [(n or RARE) / total for n in counts]
    found = most_likely([0, 0.25, 0.5, 0.75, 1], shares, mean)
    assert min(found) > 0 and sum(found) == pytest.approx(1, abs=1e-6)
    assert sum(i / 4 * q for i, q in enumerate(found)) == pytest.approx(mean, abs=1e-6)
    slopes = [p / q for p, q in zip(shares, found, strict=True)]
    for i in range(3):
        terms = slopes[i], -2 * slopes[i + 1], slopes[i + 2]
        assert sum(terms) == pytest.approx(0, abs=1e-6 * max(map(abs, terms)))


def test_the_ratio_is_that_of_the_likelihoods() -> None:
    counts, parts = [10, 20, 30, 25, 15], []
    for elo in (5, 30):
        found = most_likely([0, 0.25, 0.5, 0.75, 1], [n / 100 for n in counts], expected_score(elo))
        parts.append(sum(n * math.log(q) for n, q in zip(counts, found, strict=True)))
    assert Sprt(5, 30).ratio(counts) == pytest.approx(parts[1] - parts[0], rel=1e-9)


@given(COUNTS, st.integers(1, 60))
def test_whoever_is_swapped_gets_the_opposite(counts: list[int], elo: int) -> None:
    ratio = Sprt(-elo, elo).ratio(counts)
    assert ratio == pytest.approx(-Sprt(-elo, elo).ratio(counts[::-1]), rel=1e-6, abs=1e-6)
    assert Sprt(-elo, elo).ratio([0] * 5) == 0


def test_two_outcomes_give_the_ratio_that_a_hand_computes() -> None:
    """Of wins and losses alone the mean says everything: 60 won, 40 lost, 0 against 100 Elo."""
    p = 1 / (1 + 10 ** (-100 / 400))
    expected = 60 * math.log(p / 0.5) + 40 * math.log((1 - p) / 0.5)
    assert Sprt(0, 100).ratio([40, 60]) == pytest.approx(expected, rel=1e-9)


def test_the_bounds() -> None:
    low, high = Sprt(0, 10).bounds
    assert (low, high) == (pytest.approx(-2.944, abs=1e-3), pytest.approx(2.944, abs=1e-3))


@pytest.mark.parametrize(("elo", "hypothesis"), [(0, 0), (100, 1)])
def test_it_errs_as_seldom_as_it_says(elo: float, hypothesis: int) -> None:
    """100 tests of simulated pairs; alpha = beta = 0.1: at most 10 + 3 standard deviations err."""
    rng = random.Random(1)
    test = Sprt(0, 100, 0.1, 0.1)
    won = expected_score(elo) - 0.1
    weights = [0.8 - won, 0.2, won]  # a fifth of the games are drawn
    wrong = 0
    for _ in range(100):
        counts = [0] * 5
        while (decided := test.decision(counts)) is None:
            counts[sum(rng.choices((0, 1, 2), weights, k=2))] += 1
        wrong += decided != hypothesis
    assert wrong <= 10 + 9


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("elo0=0", "elo0 and elo1"),
        ("elo0=0,elo2=3", "did you mean 'elo"),
        ("elo0=0,elo0=3", "once"),
        ("elo0=5,elo1=5", "less than"),
        ("elo0=nan,elo1=5", "less than"),
        ("elo0=0,elo1=x", "no number"),
        ("elo0=0,elo1=5,alpha=.6", "between 0 and 0.5"),
        ("", "key=value"),
    ],
)
def test_what_is_no_test(text: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_sprt(text)
    assert what in str(caught.value)


def test_reading_a_test() -> None:
    assert parse_sprt("elo0=0,elo1=20") == Sprt(0, 20, 0.05, 0.05)
    assert parse_sprt("beta=.2,elo1=20,alpha=.1,elo0=-3") == Sprt(-3, 20, 0.1, 0.2)
