"""Maximum-likelihood Elo: the model, and the ratings under which games are most likely.

Davidson's model (1970): between players whose ratings differ by d, the one who moves first being
helped by h, a win, a draw and a loss are as likely as

    exp(x / 2) : v : exp(-x / 2),    x = c (d + h)

to each other. v says how often equals draw: v / (2 + v). Without draws (v = 0) this is the model of
Bradley and Terry, and with c = log(10) / 400 the formula of Elo. With draws c is (2 + v) / 2 times
that, so that between near equals a point of Elo is always worth the same score; when equals draw
half their games the expected score is exactly Elo's again, 1 / (1 + 10^(-(d + h) / 400)).

All that the likelihood asks of the games is each player's points, the first movers' points and the
number of draws: where v is given and not fitted, a draw is half a win and half a loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.errors import CheckFailed
from stratkit.rating.pool import Floats

ELO = 400 / np.log(10)  # Elo points of a factor e in the odds
_STEPS = 300
_FAR = 50.0  # an x that no games make likely


@dataclass(frozen=True)
class Anchor:
    """A player whose rating is given: exactly, or with a standard deviation `sigma`. `player` is
    its index, `name` what reports call it."""

    player: int
    elo: float
    sigma: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class Model:
    """What is not asked of the games. `first_move` in Elo, and `draws`, the share of draws between
    equals: None to be fitted. `prior`: each player drew so many games with one more player, who is
    in no table, half of them with each colour. Without anchors the mean rating is 0."""

    first_move: float | None = 0.0
    draws: float | None = 0.0
    anchors: Sequence[Anchor] = ()
    prior: int = 0


@dataclass(frozen=True)
class Tally:
    """What the model asks of games: float64, `games` [b, i, j] of i as red against j; half of wins
    minus losses, of each player, `margin` [b, i], and of all who were red, `red` [b]; `drawn`
    [b]."""

    games: Floats
    margin: Floats
    red: Floats
    drawn: Floats


@dataclass(frozen=True)
class Fit:
    """Elo ratings [b, player], the first-move advantage in Elo [b], the share of draws between
    equals [b]; float64."""

    elo: Floats
    first_move: Floats
    draws: Floats


def fit(tally: Tally, model: Model, targets: Floats, start: Fit | None = None) -> Fit:
    """The most likely parameters for each of a batch of tallies, by Newton's method.

    `targets` [b, anchor], in Elo. The likelihood is concave; steps are kept so short that it is
    nearly quadratic along them. Raises `CheckFailed` when it has no maximum.
    """
    players = tally.margin.shape[1]
    free_draws = model.draws is None and bool(tally.drawn.any())
    state = _start(tally, model, targets, start, free_draws)
    fixed = np.zeros(players + 2, bool)
    fixed[[a.player for a in model.anchors if not a.sigma]] = True
    fixed[-2:] = model.first_move is not None, not free_draws
    for _ in range(_STEPS):
        slope, curvature = _derivatives(state, tally)
        _add_loose(state, model, targets, slope, curvature)
        if not model.anchors:
            curvature[:, :players, :players] += 1 / ELO**2  # the mean stays where it is
        slope[:, fixed] = curvature[:, fixed] = curvature[:, :, fixed] = 0
        curvature[:, fixed, fixed] = 1
        try:
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            break
        unit = _elo(np.exp(state[:, -1:]))
        length = np.maximum.reduce(
            [
                np.ptp(step[:, :-2], axis=1, keepdims=True) / unit,
                abs(step[:, -2:-1]) / unit,
                abs(step[:, -1:]),
            ]
        )
        state += step / np.maximum(length, 1)
        if length.max() < 1e-6:  # what is left is about its square
            return Fit(state[:, :-2], state[:, -2], _rate(np.exp(state[:, -1])))
        apart = np.maximum(np.ptp(state[:, :-2], axis=1, keepdims=True), abs(state[:, -2:-1]))
        if (apart / unit).max() > _FAR:
            break
    raise CheckFailed("the games do not determine the ratings" + _hint(model))


def davidson_score(difference: Floats | float, draws: float = 0.0) -> Floats:
    """The score per game that a player is expected to reach who is `difference` points stronger,
    by Davidson's model; `draws` is the share of draws between equals."""
    v = _v(np.asarray(draws))
    odds = np.exp(np.asarray(difference) / _elo(v) / 2)
    return np.asarray((odds + v / 2) / (odds + v + 1 / odds))


def _v(draws: Floats) -> Floats:
    return np.asarray(2 * draws / (1 - draws))


def _rate(v: Floats) -> Floats:
    return np.asarray(v / (2 + v))


def _elo(v: Floats) -> Floats:
    """Elo points of one unit of x."""
    return np.asarray(ELO * 2 / (2 + v))


def _hint(model: Model) -> str:
    if model.draws is None:
        return ", nor how often equals draw: --draws 0 does not ask for that"
    if model.first_move is None:
        return ", nor the first-move advantage: --first-move 0 does not ask for that"
    return ""


# state [b, players + 2]: Elo of each player, of the first move, and log v


def _start(
    tally: Tally, model: Model, targets: Floats, start: Fit | None, free_draws: bool
) -> Floats:
    state = np.zeros((len(tally.margin), tally.margin.shape[1] + 2))
    if start:
        state[:, :-2], state[:, -2] = start.elo, start.first_move
    elif model.anchors:
        state[:, :-2] = targets.mean(1, keepdims=True)
    for anchor, target in zip(model.anchors, targets.T, strict=True):
        if not anchor.sigma:
            state[:, anchor.player] = target
    if model.first_move is not None:
        state[:, -2] = model.first_move
    draws = start.draws if start else np.asarray(0.3 if free_draws else model.draws or 0)
    with np.errstate(divide="ignore"):
        state[:, -1] = np.log(_v(draws))
    return state


def _derivatives(state: Floats, tally: Tally) -> tuple[Floats, Floats]:
    """First derivatives [b, k] of the log likelihood, second ones [b, k, k] with a minus; of the
    latter what vanishes with the former is left out."""
    v = np.exp(state[:, -1])
    x = state[:, :-1] / _elo(v)[:, None]
    x[:, :-1] -= x[:, :-1].mean(1, keepdims=True)  # only differences matter
    half, help_ = np.exp(x[:, :-1] / 2), np.exp(x[:, -1] / 2)
    odds = half[:, :, None] / half[:, None, :] * help_[:, None, None]
    scale = 1 / (odds + v[:, None, None] + 1 / odds)
    win, loss = odds * scale, scale / odds
    draw = 1 - win - loss
    mean = tally.games * (win - loss) / 2
    spread = tally.games * (win + loss) / 4 - mean * (win - loss) / 2
    mixed = -mean * draw

    players = state.shape[1] - 2
    slope = np.empty_like(state)
    slope[:, :players] = tally.margin - mean.sum(2) + mean.sum(1)
    slope[:, -2] = tally.red - mean.sum((1, 2))
    slope[:, -1] = tally.drawn - (tally.games * draw).sum((1, 2))

    both = spread + spread.transpose(0, 2, 1)
    curvature = np.empty((len(state), players + 2, players + 2))
    curvature[:, :players, :players] = np.eye(players) * both.sum(2)[:, :, None] - both
    curvature[:, :players, -2] = spread.sum(2) - spread.sum(1)
    curvature[:, :players, -1] = mixed.sum(2) - mixed.sum(1)
    curvature[:, -2, -2] = spread.sum((1, 2))
    curvature[:, -2, -1] = mixed.sum((1, 2))
    curvature[:, -1, -1] = (tally.games * draw * (1 - draw)).sum((1, 2))
    curvature[:, -2, :players] = curvature[:, :players, -2]

    # So far by x and log v. In Elo a change of v changes every x, by `lean`.
    lean = x * (v / (2 + v))[:, None]
    pull = (curvature[:, :-1, :-1] @ lean[:, :, None])[:, :, 0]
    slope[:, -1] += (slope[:, :-1] * lean).sum(1)
    curvature[:, -1, -1] += (lean * (2 * curvature[:, :-1, -1] + pull)).sum(1)
    curvature[:, :-1, -1] += pull
    curvature[:, -1, :-1] = curvature[:, :-1, -1]
    unit = _elo(v)[:, None]
    slope[:, :-1] /= unit
    curvature[:, :-1] /= unit[:, :, None]
    curvature[:, :, :-1] /= unit[:, :, None]
    return slope, curvature


def _add_loose(
    state: Floats, model: Model, targets: Floats, slope: Floats, curvature: Floats
) -> None:
    """The normal densities of loose anchors."""
    for anchor, target in zip(model.anchors, targets.T, strict=True):
        if anchor.sigma:
            weight = anchor.sigma**-2
            slope[:, anchor.player] += weight * (target - state[:, anchor.player])
            curvature[:, anchor.player, anchor.player] += weight
