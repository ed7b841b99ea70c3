"""What few games cannot tell: an estimate's ends are those of one more pair that nobody played.

A bootstrap knows only of pairs that were played, so it is certain after one, and after ten drawn
ones. Gaffke's bound for the mean of bounded values has no such fault: of the Bayesian bootstrap
with one more value, the worst possible one for the lower end, the best possible one for the upper
end. Of wins and losses alone these are the limits of Clopper and Pearson, so the interval is never
too short there; no distribution is known for which it is. One value among many moves nothing.
(N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable", 2005; E. Learned-Miller and P. Thomas, "A new confidence interval for the
mean of a bounded random variable", 2019.)

Between two players the values are the points of pairs. In a pool the estimate is the difference of
a player from others, or of the players' ratings from each other. The bootstrap says what it is, and
the curvature of the likelihood how many games between two players would tell it as well: among
these is the one more pair.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stratkit.rating.pool import Floats
from stratkit.rating.sprt import elo_of

SEED = 1
CONFIDENCE = 0.95
MIN_PAIRS = 10  # pairs of games, of which fewer say little
_SAMPLES = 10_000  # of two players' points


@dataclass(frozen=True)
class PairEstimate:
    """The first one of two players against the other.

    elo          how far it is ahead
    low, high    ends of the interval, which may be infinite
    superiority  how likely it is stronger (LOS)
    """

    elo: float
    low: float
    high: float
    superiority: float


Unit = tuple[int, float, float]  # how many pairs, each with so many points of so many games


def between(units: Iterable[Unit], confidence: float = CONFIDENCE) -> PairEstimate:
    """The Elo of the player who has these points. Without games it is 0, and may be anything."""
    counts: Counter[tuple[float, float]] = Counter()
    for number, points, games in units:
        counts[points, games] += number
    known = tuple(sorted((points, games, n) for (points, games), n in counts.items() if n))
    if not known:
        return PairEstimate(0.0, -math.inf, math.inf, 0.5)
    other = tuple(sorted((games - points, games, n) for points, games, n in known))
    low, better = _lower(known, confidence)
    high, worse = _lower(other, confidence)
    elo = elo_of(sum(p * n for p, _, n in known) / sum(g * n for _, g, n in known))
    sure = likelihood(np.asarray(better - worse), _SAMPLES)
    return PairEstimate(elo, min(elo_of(low), elo), max(-elo_of(high), elo), float(sure))


@lru_cache(1 << 10)
def _lower(units: tuple[tuple[float, float, int], ...], confidence: float) -> tuple[float, float]:
    """The lower end of the score with one more pair that is lost, and the sum of the signs of the
    lead."""
    points, games, number = np.array(units, float).T
    generator = np.random.Generator(np.random.Philox(SEED))
    weights = generator.standard_gamma(number, (_SAMPLES, len(number)))
    more = games.max() * generator.standard_exponential(_SAMPLES)
    won, played = (weights * points).sum(1), (weights * games).sum(1) + more
    low = np.quantile(won / played, (1 - confidence) / 2)
    return float(low), float(np.sign(won - played / 2).sum())


def likelihood(balance: Floats, samples: int) -> Floats:
    """How likely a difference is positive: the mean of how often it is if the one more pair was
    lost, and if it was won. `balance` is the sum of the signs of both; that of `samples` that all
    agree tells that no other sign is to be expected in one more."""
    return np.asarray((balance / 4 + (samples + 1) / 2) / (samples + 1))


def likely_text(likelihood: float, percent: str = "%") -> str:
    """A likelihood for people. What is not certain is not called so."""
    if not 0.001 <= likelihood <= 0.999:
        return f"< 0.1{percent}" if likelihood < 0.5 else f"> 99.9{percent}"
    return f"{100 * likelihood:.1f}{percent}"
