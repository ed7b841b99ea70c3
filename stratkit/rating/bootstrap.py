"""Ratings with intervals.

The intervals are percentiles of the Bayesian bootstrap (Rubin 1981) over pairs of games: the
ratings are computed again and again with a random weight for each pair, exponential with mean 1.
Unlike drawing pairs with replacement it never leaves out the only loss of a strong player, so all
these ratings are finite. Loose anchors, too, are drawn anew each time. What pairs that were played
do not tell, one more pair does (onemore.py).

Groups of players who never met are rated each by itself, unless they have a fitted first move or
fitted draws in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.errors import CheckFailed
from stratkit.rating.elo import (
    DavidsonModel,
    Fit,
    GameTally,
    fit,
    information,
    odds_of_draws,
    score,
    spread,
    unit_of,
    with_lost,
    with_won,
)
from stratkit.rating.groups import check_linked, linked, unbeaten
from stratkit.rating.onemore import CONFIDENCE, SEED, between, likelihood
from stratkit.rating.pool import Floats, Pool
from stratkit.rating.tallies import Group, in_groups

RESAMPLES = 1000

_CHUNK = 400_000  # numbers in one array of the bootstrap


@dataclass(frozen=True)
class Estimate:
    """A number (`value`) and the ends of its interval (`low`, `high`)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """Ratings of a pool's players. The sequential method knows no intervals.

    elo          float64 [players]
    low, high    float64 [players], the ends of the intervals
    superiority  float64 [i, j] of each group of players who met, if only by others: the
                 likelihood that its i-th player is stronger than its j-th
    first_move   advantage in Elo
    draws        share of draws between equals
    """

    elo: Floats
    low: Floats | None = None
    high: Floats | None = None
    superiority: Sequence[Floats] | None = None
    first_move: Estimate = Estimate(0, 0, 0)
    draws: Estimate = Estimate(0, 0, 0)


def rate(
    pool: Pool,
    model: DavidsonModel | None = None,
    confidence: float = CONFIDENCE,
    to_mean: bool = False,
) -> Ratings:
    """The ratings of `pool`. The intervals are those of differences from the anchors; with
    `to_mean`, or without anchors, from the mean of all players. A prior also rates groups that
    never met: then "all players" are those of the group, and without an anchor their mean is 0.

    Raises `CheckFailed` when the games do not determine the ratings.
    """
    model = model or DavidsonModel()
    anchored = [anchor.player for anchor in model.anchors]
    if not model.prior:
        check_linked(pool, anchored)
        if why := unbeaten(pool, anchored):
            raise CheckFailed(f"{why}: no rating is finite; --prior 1 makes one up, --exclude"
                              " leaves players out")  # fmt: skip
    groups = in_groups(pool.met, linked(pool, anchored), model)
    fitted = model.first_move is None or model.draws is None
    together = [groups] if fitted else [[group] for group in groups]
    rated = [_rated(some, model, confidence, to_mean) for some in together]
    order = np.argsort(np.concatenate([group.players for group in groups]))
    elo, low, high = (np.concatenate(some)[order] for some in zip(*(
        (one.elo, one.low, one.high) for one in rated), strict=True))  # fmt: skip
    sure = [block for one in rated for block in one.superiority or ()]
    return Ratings(elo, low, high, sure, rated[0].first_move, rated[0].draws)


def _rated(
    groups: Sequence[Group], model: DavidsonModel, confidence: float, to_mean: bool
) -> Ratings:
    """The ratings of groups, whose players follow each other."""
    if len(groups) == 1 and _is_simple(groups[0], model):
        return _of_two(groups[0], confidence, to_mean)
    generator = np.random.Generator(np.random.Philox(SEED))
    best = fit([group.tally() for group in groups], model)
    cells = max(6 * len(group.met.number) + (group.size + 1) ** 2 for group in groups)
    chunk = max(1, _CHUNK // cells)
    samples = _Samples(groups, model, best, to_mean)
    for done in range(0, RESAMPLES, chunk):
        samples.add(min(chunk, RESAMPLES - done), generator)
    return samples.ratings(confidence)


class _Samples:
    """Ratings of `groups` with random weights, as they are if one more pair was lost, and if it was
    won. `best` is without weights."""

    def __init__(
        self, groups: Sequence[Group], model: DavidsonModel, best: Fit, to_mean: bool
    ) -> None:
        self.groups, self.model, self.best = groups, model, best
        self.places = [
            _Place(group, elo[0], to_mean) for group, elo in zip(groups, best.elo, strict=True)
        ]
        self.most = max(int(group.met.counts.sum((1, 2)).max()) for group in groups)
        self.balance = [np.zeros((len(g.players),) * 2) for g in groups]
        self.elo: list[list[tuple[Floats, Floats]]] = [[] for _ in groups]  # lost, won
        self.first_move: list[tuple[Floats, Floats]] = []
        self.draws: list[tuple[Floats, Floats]] = []

    def add(self, samples: int, generator: np.random.Generator) -> None:
        """Adds so many."""
        tallies = [group.tally(samples, generator) for group in self.groups]
        more = self.most * generator.standard_exponential((samples, 1))
        fitted = fit(tallies, self.model, self.best)
        wide = spread(tallies, self.model, fitted)
        v = odds_of_draws(fitted.draws)[:, None]
        unit = unit_of(v)
        for number, place in enumerate(self.places):
            elo, inverse = fitted.elo[number], wide.elo[number]
            zero, ahead, variance = place.ahead(elo, inverse, tallies[number].targets)
            args = ahead / unit, v, variance / unit**2, more
            lost, won = (place.factor * unit * f(*args) + zero for f in (with_lost, with_won))
            self.elo[number].append((lost, won))
            self.balance[number] += _balance(elo, inverse, v, unit, more, len(lost[0]))
        args = fitted.first_move[:, None] / unit, v, wide.common[:, :1, 0] / unit**2, more
        self.first_move.append((unit * with_lost(*args), unit * with_won(*args)))
        self.draws.append(self._draws(tallies, fitted, wide.common[:, 1:, 1], more))

    def _draws(
        self, tallies: Sequence[GameTally], fitted: Fit, variance: Floats, more: Floats
    ) -> tuple[Floats, Floats]:
        """The share of draws between equals if the one more pair was not drawn, and if it was."""
        draws = fitted.draws[:, None]
        if self.model.draws is not None:
            return draws, draws
        if not draws.any():  # how many draws there might be, were they as likely as can be
            chances = sum(
                _chances(t, elo, fitted) for t, elo in zip(tallies, fitted.elo, strict=True)
            )
            return draws, more / (more + np.asarray(chances)[:, None])
        args = np.log(draws / (1 - draws)), np.zeros_like(more), variance, more
        lost, won = (1 / (1 + np.exp(-f(*args))) for f in (with_lost, with_won))
        return lost, won

    def ratings(self, confidence: float) -> Ratings:
        """The most likely ratings, with intervals and likelihoods of superiority."""
        tail = (1 - confidence) / 2

        def ends(value: Floats, parts: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
            lost, won = (np.concatenate(some) for some in zip(*parts, strict=True))
            low, high = np.quantile(lost, tail, axis=0), np.quantile(won, 1 - tail, axis=0)
            return np.minimum(low, value), np.maximum(high, value)

        def estimate(value: Floats, parts: list[tuple[Floats, Floats]]) -> Estimate:
            return Estimate(float(value[0]), *(float(end[0]) for end in ends(value, parts)))

        elo = [place.center for place in self.places]
        low, high = zip(*map(ends, elo, self.elo), strict=True)
        return Ratings(
            np.concatenate(elo),
            np.concatenate(low),
            np.concatenate(high),
            [likelihood(balance, RESAMPLES) for balance in self.balance],
            estimate(self.best.first_move, self.first_move),
            estimate(self.best.draws, self.draws),
        )


class _Place:
    """From what a group's ratings are told apart: its anchors, or the mean of all players. `center`
    [player] are the most likely ratings, whose mean is 0 without an anchor."""

    def __init__(self, group: Group, elo: Floats, to_mean: bool) -> None:
        players = len(group.players)
        self.center = elo[:players]
        if not group.anchors:
            self.center = self.center - self.center.mean()
        self.to_mean = to_mean or not group.anchors
        # A player against the mean of the others: of two, against the other one.
        self.factor = (players - 1) / players if self.to_mean else 1.0
        others = (1 - np.eye(players)) / (players - 1) if self.to_mean else 0
        self.contrast = np.zeros((players, group.size))
        self.contrast[:, :players] = np.eye(players) - others

    def ahead(self, elo: Floats, inverse: Floats, targets: Floats) -> tuple[Floats, Floats, Floats]:
        """Where the zero is [b, 1], how far players are ahead of it [b, player] before `factor`,
        and the variance of that."""
        if self.to_mean:
            zero, ahead = np.full((len(elo), 1), self.center.mean()), elo @ self.contrast.T
        else:
            zero = targets.mean(1, keepdims=True)
            ahead = elo[:, : len(self.center)] - zero
        variance = ((self.contrast @ inverse) * self.contrast).sum(2)
        return zero, ahead, np.maximum(variance, 0)


def _balance(
    elo: Floats, inverse: Floats, v: Floats, unit: Floats, more: Floats, players: int
) -> Floats:
    """[i, j]: the signs of the differences between players if i lost one more pair against j, and
    if it won it; summed."""
    v, unit, more = v[:, None], unit[:, None], more[:, None]
    x = (elo[:, :players, None] - elo[:, None, :players]) / unit
    alone = np.diagonal(inverse, axis1=1, axis2=2)[:, :players]
    variance = alone[:, :, None] + alone[:, None] - 2 * inverse[:, :players, :players]
    missed = more * np.maximum(variance, 0) / unit**2 * information(x, v)
    lead = score(x, v) - score(-x, v)
    return np.asarray((np.sign(lead - missed) + np.sign(lead + missed)).sum(0))


def _chances(tally: GameTally, elo: Floats, fitted: Fit) -> Floats:
    """[b]: how many games between equals would be drawn as often as these."""
    first_move = fitted.first_move[:, None, None]
    x = (elo[:, :, None] - elo[:, None] + first_move) / unit_of(np.zeros(()))
    return np.asarray((tally.games / np.cosh(x / 2)).sum((1, 2)))


def _is_simple(group: Group, model: DavidsonModel) -> bool:
    """Whether two players' points say everything."""
    plain = model.first_move == 0 and model.draws == 0 and not model.prior
    loose = any(anchor.sigma for anchor in group.anchors)
    return plain and len(group.players) == 2 and len(group.anchors) < 2 and not loose


def _of_two(group: Group, confidence: float, to_mean: bool) -> Ratings:
    """The ratings of two players, as `match` has them."""
    met = group.met
    games = met.counts.sum((1, 2))
    units = zip(met.number.tolist(), met.points.tolist(), games.tolist(), strict=True)
    estimate = between(units, confidence)
    sign = np.array([1, -1])
    elo = sign * estimate.elo / 2
    low, high = (
        np.array([estimate.low, -estimate.high]) / 2,
        np.array([estimate.high, -estimate.low]) / 2,
    )
    if group.anchors:
        [anchor] = group.anchors
        shift = anchor.elo - elo[anchor.player]
        if not to_mean:
            low, high = 2 * low - elo, 2 * high - elo
            low[anchor.player] = high[anchor.player] = elo[anchor.player]
        elo, low, high = elo + shift, low + shift, high + shift
    sure = np.array([[0.5, estimate.superiority], [1 - estimate.superiority, 0.5]])
    return Ratings(elo, low, high, [sure])
