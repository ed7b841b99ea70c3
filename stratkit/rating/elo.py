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
from stratkit.rating.pool import Floats, Mask, Pool
from stratkit.rating.sprt import expected_score

ELO = 400 / np.log(10)  # Elo points of a factor e in the odds
_STEPS = 300
_FAR = 50.0  # an x that no games make likely


@dataclass(frozen=True)
class Anchor:
    """A player whose rating is given.

    player  its index
    elo     the rating
    sigma   standard deviation of the rating; 0: it is exact
    name    what reports call it
    """

    player: int
    elo: float
    sigma: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class DavidsonModel:
    """The parameters that are given. Without anchors the mean rating is 0.

    first_move  its advantage in Elo; None: fitted
    draws       share of draws between equals; None: fitted
    anchors     players whose ratings are given
    prior       draws of each player with one more player, who is in no table; half of them with
                each colour
    """

    first_move: float | None = 0.0
    draws: float | None = 0.0
    anchors: Sequence[Anchor] = ()
    prior: int = 0


@dataclass(frozen=True)
class GameTally:
    """The sufficient statistics of the games of players who met, if only by others; b samples.

    games    float64 [b, i, j], games of i as red against j
    margin   float64 [b, i], half of wins minus losses of each player
    red      float64 [b], the same of all who were red
    drawn    float64 [b], drawn games
    anchors  those among the players
    targets  float64 [b, anchor], Elo of the anchors
    """

    games: Floats
    margin: Floats
    red: Floats
    drawn: Floats
    anchors: Sequence[Anchor]
    targets: Floats

    @property
    def fixed(self) -> list[int]:
        """The players whose ratings are exact."""
        return [anchor.player for anchor in self.anchors if not anchor.sigma]


@dataclass(frozen=True)
class Fit:
    """Fitted parameters of b samples.

    elo         float64 [b, player] of each tally
    first_move  float64 [b], its advantage in Elo
    draws       float64 [b], share of draws between equals
    """

    elo: Sequence[Floats]
    first_move: Floats
    draws: Floats


@dataclass(frozen=True)
class Spread:
    """How little a batch of fits is determined: the inverse curvature of the likelihood. It is 0
    for what is given, of loose anchors, too: games say how far the others are from them.

        elo     float64 [b, player, player], between the ratings of each tally
        common  float64 [b, 2, 2], between the first move and log v
    """

    elo: Sequence[Floats]
    common: Floats


def fit(tallies: Sequence[GameTally], model: DavidsonModel, start: Fit | None = None) -> Fit:
    """The most likely parameters for each of a batch of tallies, by Newton's method. The tallies
    have the first move and the draws in common, and no players.

    The likelihood is concave; steps are kept so short that it is nearly quadratic along them.
    Raises `CheckFailed` when it has no maximum.
    """
    free = _free(tallies, model)
    state = _start(tallies, model, start, free)
    elo, common = state
    for _ in range(_STEPS):
        try:
            steps, shared = _steps(*_all_derivatives(tallies, state, free))
        except np.linalg.LinAlgError:
            break
        unit = unit_of(np.exp(common[:, 1:]))
        wide = [np.ptp(step, axis=1, keepdims=True) / unit for step in steps]
        length = np.maximum.reduce([*wide, abs(shared[:, :1]) / unit, abs(shared[:, 1:])])
        short = np.maximum(length, 1)
        for ratings, step in zip(elo, steps, strict=True):
            ratings += step / short
        common += shared / short
        if length.max() < 1e-6:  # what is left is about its square
            return Fit(elo, common[:, 0], share_of_draws(np.exp(common[:, 1])))
        wide = [np.ptp(ratings, axis=1, keepdims=True) for ratings in elo]
        if (np.maximum.reduce([*wide, abs(common[:, :1])]) / unit).max() > _FAR:
            break
    raise CheckFailed("the games do not determine the ratings" + _hint(model))


def spread(tallies: Sequence[GameTally], model: DavidsonModel, best: Fit) -> Spread:
    """The spread at the most likely parameters."""
    free = _free(tallies, model)
    _, curvatures = _all_derivatives(tallies, _start(tallies, model, best, free), free)
    for tally, curvature in zip(tallies, curvatures, strict=True):
        given = [anchor.player for anchor in tally.anchors]
        curvature[:, given] = curvature[:, :, given] = 0
        curvature[:, given, given] = 1
    inverse = [np.linalg.inv(c[:, :-2, :-2]) for c in curvatures]
    response = [one @ c[:, :-2, -2:] for one, c in zip(inverse, curvatures, strict=True)]
    schur = _schur_complement(curvatures, response)
    common = np.asarray(np.linalg.inv(schur) * (free[:, None] & free))
    elo = [
        one + x @ common @ x.transpose(0, 2, 1) for one, x in zip(inverse, response, strict=True)
    ]
    for tally, one in zip(tallies, elo, strict=True):
        given = [anchor.player for anchor in tally.anchors]
        one[:, given] = one[:, :, given] = 0
    return Spread(elo, common)


def davidson_score(difference: Floats | float, draws: float = 0.0) -> Floats:
    """The score per game that a player is expected to reach who is `difference` points stronger,
    by Davidson's model; `draws` is the share of draws between equals."""
    v = odds_of_draws(np.asarray(draws))
    return score(np.asarray(difference) / unit_of(v), v)


def score(x: Floats, v: Floats) -> Floats:
    """The score that a difference lets expect."""
    odds = np.exp(x / 2)
    return np.asarray((odds + v / 2) / (odds + v + 1 / odds))


def information(x: Floats, v: Floats) -> Floats:
    """How much a game tells of the difference: the slope of the score."""
    odds = np.exp(x / 2)
    scale = 1 / (odds + v + 1 / odds)
    win, loss = odds * scale, scale / odds
    return np.asarray((win + loss) / 4 - (win - loss) ** 2 / 4)


def difference(won: Floats, lost: Floats, v: Floats) -> Floats:
    """The difference for which so many points are expected to so many of the other."""
    better = np.maximum(won, lost)
    half_draws = v * abs(won - lost) / 2
    odds = (half_draws + np.sqrt(half_draws**2 + 4 * won * lost)) / (2 * (won + lost - better))
    return np.asarray(2 * np.log(odds) * np.where(won < lost, -1, 1))


def with_lost(x: Floats, v: Floats, variance: Floats, more: Floats) -> Floats:
    """The differences `x`, which have such a `variance`, if so many `more` games were lost. All in
    the units of the model, with its v."""
    missed = more * variance * information(x, v)  # each in games that tell as much
    return difference(score(x, v), score(-x, v) + missed, v)


def with_won(x: Floats, v: Floats, variance: Floats, more: Floats) -> Floats:
    """The differences if the games were won."""
    return -with_lost(-x, v, variance, more)


def odds_of_draws(draws: Floats) -> Floats:
    """v."""
    return np.asarray(2 * draws / (1 - draws))


def share_of_draws(v: Floats) -> Floats:
    """Between equals."""
    return np.asarray(v / (2 + v))


def unit_of(v: Floats) -> Floats:
    """Elo points of one unit of x."""
    return np.asarray(ELO * 2 / (2 + v))


def _hint(model: DavidsonModel) -> str:
    if model.draws is None:
        return ", nor how often equals draw: --draws 0 does not ask for that"
    if model.first_move is None:
        return ", nor the first-move advantage: --first-move 0 does not ask for that"
    return ""


State = tuple[list[Floats], Floats]  # Elo of each tally's players; Elo of the first move, log v


def _free(tallies: Sequence[GameTally], model: DavidsonModel) -> Mask:
    """Whether the first move and the draws are fitted. Where nothing was drawn, v is 0."""
    drawn = any(tally.drawn.any() for tally in tallies)
    return np.array([model.first_move is None, model.draws is None and drawn])


def _start(
    tallies: Sequence[GameTally], model: DavidsonModel, start: Fit | None, free: Mask
) -> State:
    samples = len(tallies[0].margin)
    elo = []
    for number, tally in enumerate(tallies):
        ratings = np.zeros_like(tally.margin)
        if start:
            ratings[:] = start.elo[number]
        elif tally.anchors:
            ratings[:] = tally.targets.mean(1, keepdims=True)
        for anchor, target in zip(tally.anchors, tally.targets.T, strict=True):
            if not anchor.sigma:
                ratings[:, anchor.player] = target
        elo.append(ratings)
    common = np.zeros((samples, 2))
    common[:, 0] = start.first_move if start else model.first_move or 0
    draws = start.draws if start else np.asarray(0.3 if free[1] else model.draws or 0)
    with np.errstate(divide="ignore"):
        common[:, 1] = np.log(odds_of_draws(draws))
    return elo, common


def _all_derivatives(
    tallies: Sequence[GameTally], state: State, free: Mask
) -> tuple[list[Floats], list[Floats]]:
    """Of each tally the first derivatives [b, k] of the log likelihood, second ones [b, k, k] with
    a minus, of its players and what is common; they are none, and 1, of what is given."""
    slopes, curvatures = [], []
    for tally, elo in zip(tallies, state[0], strict=True):
        slope, curvature = _derivatives(np.concatenate([elo, state[1]], axis=1), tally)
        for anchor, target in zip(tally.anchors, tally.targets.T, strict=True):
            if anchor.sigma:  # the normal density of a loose one
                weight = anchor.sigma**-2
                slope[:, anchor.player] += weight * (target - elo[:, anchor.player])
                curvature[:, anchor.player, anchor.player] += weight
        players = elo.shape[1]
        if not tally.anchors:
            curvature[:, :players, :players] += 1 / ELO**2  # the mean stays where it is
        fixed = np.zeros(players + 2, bool)
        fixed[tally.fixed], fixed[players:] = True, ~free
        slope[:, fixed] = curvature[:, fixed] = curvature[:, :, fixed] = 0
        curvature[:, fixed, fixed] = 1
        slopes.append(slope)
        curvatures.append(curvature)
    return slopes, curvatures


def _steps(slopes: list[Floats], curvatures: list[Floats]) -> tuple[list[Floats], Floats]:
    """Newton's steps, of each tally and of what is common. The tallies know of each other by that
    alone, so each is solved by itself and leaves two equations."""
    solutions = []
    for slope, curvature in zip(slopes, curvatures, strict=True):
        right = np.concatenate([slope[:, :-2, None], curvature[:, :-2, -2:]], axis=2)
        solutions.append(np.linalg.solve(curvature[:, :-2, :-2], right))
    right = np.zeros_like(slopes[0][:, -2:, None])
    for slope, curvature, x in zip(slopes, curvatures, solutions, strict=True):
        right += slope[:, -2:, None] - curvature[:, -2:, :-2] @ x[:, :, :1]
    schur = _schur_complement(curvatures, [x[:, :, 1:] for x in solutions])
    common = np.linalg.solve(schur, right)
    return [(x[:, :, :1] - x[:, :, 1:] @ common)[:, :, 0] for x in solutions], common[:, :, 0]


def _schur_complement(curvatures: Sequence[Floats], response: Sequence[Floats]) -> Floats:
    """The curvature [b, 2, 2] of what is common, the players following it by `response`."""
    parts = [c[:, -2:, -2:] - c[:, -2:, :-2] @ x for c, x in zip(curvatures, response, strict=True)]
    return np.asarray(sum(parts))


def _derivatives(state: Floats, tally: GameTally) -> tuple[Floats, Floats]:
    """First derivatives [b, k] of the log likelihood of games, second ones [b, k, k] with a minus;
    of the latter what vanishes with the former is left out. `state` [b, k]: players, common."""
    v = np.exp(state[:, -1])
    x = state[:, :-1] / unit_of(v)[:, None]
    x[:, :-1] -= x[:, :-1].mean(1, keepdims=True)  # only differences matter
    sqrt_strength, first_move_odds = np.exp(x[:, :-1] / 2), np.exp(x[:, -1] / 2)
    odds = sqrt_strength[:, :, None] / sqrt_strength[:, None, :] * first_move_odds[:, None, None]
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

    # So far by x and log v. In Elo a change of v changes every x, by `dx_dlogv`.
    dx_dlogv = x * (v / (2 + v))[:, None]
    cross_term = (curvature[:, :-1, :-1] @ dx_dlogv[:, :, None])[:, :, 0]
    slope[:, -1] += (slope[:, :-1] * dx_dlogv).sum(1)
    curvature[:, -1, -1] += (dx_dlogv * (2 * curvature[:, :-1, -1] + cross_term)).sum(1)
    curvature[:, :-1, -1] += cross_term
    curvature[:, -1, :-1] = curvature[:, :-1, -1]
    unit = unit_of(v)[:, None]
    slope[:, :-1] /= unit
    curvature[:, :-1] /= unit[:, :, None]
    curvature[:, :, :-1] /= unit[:, :, None]
    return slope, curvature


def sequential(pool: Pool, k: float = 1.0) -> Floats:
    """Elo game by game (AlphaZe** paper, equations 7 and 8): after each game R_A becomes
    R_A + K (S_A - E_A), with E_A = 1 / (1 + 10^((R_B - R_A) / 400)).

    Ratings float64 [players], 0 at the beginning, after all games in the order of the pool, on
    which they depend.
    """
    ratings = [0.0] * len(pool.names)
    for red, blue, result in zip(
        pool.red.tolist(), pool.blue.tolist(), pool.result.tolist(), strict=True
    ):
        change = k * (result / 2 - expected_score(ratings[red] - ratings[blue]))
        ratings[red] += change
        ratings[blue] -= change
    return np.array(ratings)
