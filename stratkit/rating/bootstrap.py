"""Ratings with intervals.

The intervals are percentiles of the Bayesian bootstrap (Rubin 1981) over pairs of games: the
ratings are computed again and again with a random weight for each pair, exponential with mean 1.
Unlike drawing pairs with replacement it never leaves out the only loss of a strong player, so all
these ratings are finite. Loose anchors, too, are drawn anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratkit.errors import CheckFailed
from stratkit.rating.elo import Fit, Model, Tally, fit
from stratkit.rating.groups import check_linked, linked, unbeaten
from stratkit.rating.pool import DRAWN, LOST, WON, Floats, Pairs, Pool, pairs

RESAMPLES = 1000
SEED = 1
CONFIDENCE = 0.95

_CHUNK = 400_000  # numbers in one array of the bootstrap


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """Elo ratings of a pool's players, float64 [players] each, with the ends of their intervals;
    the first-move advantage and the share of draws between equals; and `superiority` [i, j], the
    likelihood that i is the stronger one. The sequential method knows no intervals."""

    elo: Floats
    low: Floats | None = None
    high: Floats | None = None
    superiority: Floats | None = None
    first_move: Estimate = Estimate(0, 0, 0)
    draws: Estimate = Estimate(0, 0, 0)


def rate(
    pool: Pool, model: Model | None = None, confidence: float = CONFIDENCE, to_mean: bool = False
) -> Ratings:
    """The ratings of `pool`. The intervals are those of differences from the anchors; with
    `to_mean`, or without anchors, from the mean of all players. A prior also rates groups that
    never met: then "all players" are those of the group, and without an anchor their mean is 0.

    Raises `CheckFailed` when the games do not determine the ratings.
    """
    model = model or Model()
    anchored = [anchor.player for anchor in model.anchors]
    if not model.prior:
        check_linked(pool, anchored)
        if why := unbeaten(pool, anchored):
            raise CheckFailed(f"{why}: no rating is finite; --prior 1 makes one up, --exclude"
                              " leaves players out")  # fmt: skip
    met = pairs(pool)
    best = _fit(pool, met, model, 1, None, None)
    generator = np.random.Generator(np.random.Philox(SEED))
    cells = max((len(pool.names) + 1) ** 2, 6 * len(met.number))
    chunk = max(1, _CHUNK // cells)
    samples = [
        _fit(pool, met, model, min(chunk, RESAMPLES - done), generator, best)
        for done in range(0, RESAMPLES, chunk)
    ]
    players = slice(len(pool.names))  # without the prior's
    elo = np.concatenate([sample.elo[:, players] for sample in samples])
    center = best.elo[0, players]
    superiority = np.stack([_above(elo[:, i, None], elo) for i in range(elo.shape[1])])
    groups = linked(pool, anchored)
    for group in groups:
        apart = len(groups) > 1 and not set(group) & set(anchored)
        if to_mean or apart:
            elo[:, group] += center[group].mean() - elo[:, group].mean(1, keepdims=True)
        if apart:
            elo[:, group] -= center[group].mean()
            center[group] -= center[group].mean()
    tail = (1 - confidence) / 2
    low, high = np.quantile(elo, [tail, 1 - tail], axis=0)

    def estimate(value: Floats, values: list[Floats]) -> Estimate:
        ends = np.quantile(np.concatenate(values), [tail, 1 - tail])
        return Estimate(float(value[0]), *map(float, ends))

    return Ratings(
        center,
        low,
        high,
        superiority,
        estimate(best.first_move, [sample.first_move for sample in samples]),
        estimate(best.draws, [sample.draws for sample in samples]),
    )


def _above(one: Floats, all_: Floats) -> Floats:
    """How often `one` is above; equals count half."""
    return np.asarray((np.sign(one - all_).mean(0) + 1) / 2)


def _fit(
    pool: Pool,
    met: Pairs,
    model: Model,
    samples: int,
    generator: np.random.Generator | None,
    start: Fit | None,
) -> Fit:
    """Fits of so many samples with random weights; with weights of 1 without a generator."""
    targets = np.tile([anchor.elo for anchor in model.anchors], (samples, 1))
    sigmas = [anchor.sigma for anchor in model.anchors]
    if generator and any(sigmas):
        targets = targets + generator.standard_normal(targets.shape) * sigmas
    found = fit(_tally(pool, met, model.prior, samples, generator), model, targets, start)
    if model.anchors:
        return found
    mean = found.elo[:, : len(pool.names)].mean(1, keepdims=True)
    return Fit(found.elo - mean, found.first_move, found.draws)


def _tally(
    pool: Pool, met: Pairs, prior: int, samples: int, generator: np.random.Generator | None
) -> Tally:
    """The games, each pair with a random weight. The prior's are weighted like them."""
    players = len(pool.names)

    def weights(number: Floats) -> Floats:
        # The sum of n exponential weights has the gamma distribution.
        shape = (samples, len(number))
        return (
            generator.standard_gamma(number, shape) if generator else np.tile(number, (samples, 1))
        )

    weighted = weights(met.number.astype(float))
    starts = met.starts
    first, second = met.first[starts], met.second[starts]
    size = players + (prior > 0)
    games = np.zeros((samples, size, size))
    margin = np.zeros((samples, size, size))
    red, drawn = np.zeros(samples), np.zeros(samples)
    for colour, (i, j) in enumerate(((first, second), (second, first))):
        lost, even, won = (
            np.add.reduceat(weighted * met.counts[:, colour, result], starts, axis=1)
            for result in (LOST, DRAWN, WON)
        )
        games[:, i, j] = lost + even + won
        margin[:, first, second] += (won - lost) / 2
        red += ((won - lost) / 2).sum(1) * (1 - 2 * colour)
        drawn += even.sum(1)
    if prior:
        half = np.full(players, prior / 2)
        games[:, :-1, -1], games[:, -1, :-1] = weights(half), weights(half)
        drawn += games[:, -1].sum(1) + games[:, :, -1].sum(1)
    return Tally(games, margin.sum(2) - margin.sum(1), red, drawn)
