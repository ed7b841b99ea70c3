"""Where one number cannot tell the players' strength: games that ended otherwise than expected."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from stratkit.rating.bootstrap import Ratings
from stratkit.rating.fit import expected_score
from stratkit.rating.pool import Floats, Ints, Pool, units


@dataclass(frozen=True)
class Residuals:
    """One entry for each two players who met: `first` and `second`, int64; float64 `expected`, the
    first one's share of the points by the ratings; `deviation`, how far its points are from that,
    in standard deviations."""

    first: Ints
    second: Ints
    expected: Floats
    deviation: Floats


def residuals(pool: Pool, ratings: Ratings) -> Residuals:
    """The points of each meeting against those that the ratings let expect.

    The variance is that of the units around what was expected of them, so that games of a pair may
    be as dependent as they like, and few games are never far off: n units deviate by at most the
    root of n.
    """
    kinds = units(pool)
    starts = kinds.starts
    ahead = ratings.elo[kinds.first] - ratings.elo[kinds.second]
    help_, draws = ratings.first_move.value, ratings.draws.value
    games = kinds.counts.sum(2)  # [kinds, colour of the first]
    points = sum(
        games[:, colour] * expected_score(ahead + sign * help_, draws)
        for colour, sign in enumerate((1, -1))
    )
    error = kinds.points - points
    with np.errstate(invalid="ignore"):
        deviation = np.add.reduceat(kinds.number * error, starts) / np.sqrt(
            np.add.reduceat(kinds.number * error**2, starts)
        )
    expected = np.add.reduceat(kinds.number * points, starts) / np.add.reduceat(
        kinds.number * games.sum(1), starts
    )
    return Residuals(kinds.first[starts], kinds.second[starts], expected, np.nan_to_num(deviation))


def most_by_chance(meetings: int) -> float:
    """The deviation that the largest of so many exceeds by chance once in twenty pools."""
    return statistics.NormalDist().inv_cdf(1 - 0.025 / meetings)
