"""Ratings of a whole pool by maximum likelihood, with intervals.

The model is Bradley and Terry's: between ratings a and b the first is expected to score
1 / (1 + 10^((b - a) / 400)) a game, a draw being half a win and half a loss. The ratings are those
under which all scores together are most likely; only their differences mean something.

The intervals are percentiles of the Bayesian bootstrap (Rubin 1981) over pairs of games: the
ratings are computed again and again with a random weight for each pair, exponential with mean 1.
Unlike drawing pairs with replacement it never leaves out the only loss of a strong player, so all
these ratings are finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.errors import CheckFailed
from stratkit.rating.pool import Meeting, Pool

RESAMPLES = 1000
SEED = 1
CONFIDENCE = 0.95
ELO = 400 / np.log(10)  # Elo points of a factor e in the odds

Floats = npt.NDArray[np.float64]

_CHUNK = 4_000_000  # numbers in one array of the bootstrap
_STEPS = 200


@dataclass(frozen=True)
class Ratings:
    """Elo ratings of a pool's players, float64 [players] each, with the ends of their intervals."""

    elo: Floats
    low: Floats
    high: Floats


def rate(pool: Pool, anchor: int | None = None, anchor_elo: float = 0, prior: int = 0) -> Ratings:
    """The ratings of `pool`: the player `anchor` has `anchor_elo`, or, without, their mean is 0.

    `prior` draws are added to each two players who met, so that nobody's rating is infinite. Raises
    `CheckFailed` when the games do not determine the ratings.
    """
    why = unbeaten(pool)
    if why and not prior:
        raise CheckFailed(f"{why}: no rating is finite without a prior")
    (elo,) = _fit(_weighted(pool, prior, 1, None), anchor)
    generator = np.random.Generator(np.random.Philox(SEED))
    chunk = max(1, _CHUNK // len(pool.names) ** 2)
    samples = [
        _fit(_weighted(pool, prior, min(chunk, RESAMPLES - done), generator), anchor)
        for done in range(0, RESAMPLES, chunk)
    ]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(samples), [tail, 1 - tail], axis=0)
    shift = 0 if anchor is None else anchor_elo
    return Ratings(elo + shift, low + shift, high + shift)


def expected_score(difference: Floats | float) -> Floats | float:
    """What a player is expected to score a game who is `difference` Elo stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


def _weighted(
    pool: Pool, prior: int, samples: int, generator: np.random.Generator | None
) -> Floats:
    """[sample, i, j]: the points of i against j, each unit with a random weight (1 without a
    generator). The prior's draws are weighted like games."""
    points = np.zeros((samples, len(pool.names), len(pool.names)))
    for (i, j), units in sorted(pool.meetings.items()):
        for (won, drawn, lost), number in [*sorted(units.items()), ((0, 1, 0), prior)]:
            # The sum of n exponential weights has the gamma distribution.
            weight = generator.standard_gamma(number, samples) if generator else number
            points[:, i, j] += weight * (won + drawn / 2)
            points[:, j, i] += weight * (lost + drawn / 2)
    return points


def _fit(points: Floats, anchor: int | None) -> Floats:
    """The most likely Elo ratings [b, i] for each matrix of `points` [b, i, j], by Newton's method.

    The likelihood is concave; steps are kept so short that it is nearly quadratic along them.
    """
    batch, players, _ = points.shape
    ratings = np.zeros((batch, players))
    games = points + points.transpose(0, 2, 1)
    everywhere = np.full((players, players), 1 / players)  # keeps the mean at 0
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(ratings[:, None, :] - ratings[:, :, None]))
        slope = (points - games * expected).sum(2)
        curvature = games * expected * (1 - expected)
        laplacian = np.eye(players) * curvature.sum(2)[:, :, None] - curvature
        step = np.linalg.solve(laplacian + everywhere, slope[:, :, None])[:, :, 0]
        spread = np.ptp(step, axis=1, keepdims=True)
        ratings += step / np.maximum(spread, 1)
        if spread.max() < 1e-6:  # what is left is about its square
            break
    else:
        raise ArithmeticError("the ratings do not converge")
    reference = ratings.mean(1) if anchor is None else ratings[:, anchor]
    return np.asarray((ratings - reference[:, None]) * ELO)


def _check_linked(pool: Pool) -> None:
    """All players must be linked by games."""
    groups = _groups(len(pool.names), set(pool.meetings) | {(j, i) for i, j in pool.meetings})
    if len(groups) > 1:
        parts = "; ".join(_listed(pool, group) for group in groups)
        raise CheckFailed(f"groups that never met cannot be compared: {parts}")


def unbeaten(pool: Pool) -> str | None:
    """`A won every game against B`, if there are such groups of players: the most likely difference
    between them is infinite. Raises `CheckFailed` for groups that never met."""
    _check_linked(pool)
    points = pool.points()
    scored = {(int(i), int(j)) for i, j in np.argwhere(points > 0)}
    groups = _groups(len(pool.names), scored)
    for group in groups:
        rest = [i for i in range(len(pool.names)) if i not in group]
        if rest and not points[np.ix_(rest, group)].any():
            return f"{_listed(pool, group)} won every game against {_listed(pool, rest)}"
    return None


def _groups(players: int, links: set[Meeting]) -> list[list[int]]:
    """The players in groups within which links lead from each to each."""
    reach = np.eye(players, dtype=bool)
    for i, j in links:
        reach[i, j] = True
    for k in range(players):
        reach |= reach[:, k, None] & reach[k]
    mutual = reach & reach.T
    return [np.flatnonzero(mutual[i]).tolist() for i in range(players) if i == mutual[i].argmax()]


def _listed(pool: Pool, players: list[int]) -> str:
    """Names for a message; a few of them if there are many."""
    names = [pool.names[i] for i in players]
    return (
        ", ".join(names) if len(names) <= 5 else f"{', '.join(names[:4])} and {len(names) - 4} more"
    )
