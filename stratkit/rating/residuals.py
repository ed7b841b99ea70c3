"""Where one number cannot tell the players' strength: games that ended otherwise than expected."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from stratkit.rating.bootstrap import Ratings
from stratkit.rating.elo import davidson_score
from stratkit.rating.pool import DRAWN, Floats, Ints, Pool


@dataclass(frozen=True)
class Residuals:
    """One entry for each two players who met.

    first, second  int64, the players
    expected       float64, the first one's share of the points by the ratings
    deviation      float64, how far its points are from that, in standard deviations
    """

    first: Ints
    second: Ints
    expected: Floats
    deviation: Floats


def residuals(pool: Pool, ratings: Ratings) -> Residuals:
    """The points of each meeting against those that the ratings let expect.

    The variance is that of the pairs around what was expected of them, so that games of a pair may
    be as dependent as they like, and few games are never far off: n pairs deviate by at most the
    root of n. But it is not less than independent games would have: where all ended alike, as was
    nearly certain, they say nothing of it.
    """
    met = pool.met
    starts = met.starts
    ahead = ratings.elo[met.first] - ratings.elo[met.second]
    first_move, draws = ratings.first_move.value, ratings.draws.value
    games = met.counts.sum(2)  # [met, colour of the first]
    scores = np.stack([davidson_score(ahead + sign * first_move, draws) for sign in (1, -1)], 1)
    points = (games * scores).sum(1)
    error = met.points - points
    spread = (games * scores * (1 - scores)).sum(1) - met.counts[:, :, DRAWN].sum(1) / 4

    def of_meetings(each: Floats) -> Floats:
        return np.asarray(np.add.reduceat(met.number * each, starts))

    with np.errstate(invalid="ignore"):
        variance = np.maximum(of_meetings(error**2), of_meetings(spread))
        deviation = of_meetings(error) / np.sqrt(variance)
    expected = of_meetings(points) / of_meetings(games.sum(1))
    return Residuals(met.first[starts], met.second[starts], expected, np.nan_to_num(deviation))


def max_by_chance(meetings: int) -> float:
    """The deviation that the largest of so many exceeds by chance once in twenty pools."""
    return statistics.NormalDist().inv_cdf(1 - 0.025 / meetings)
