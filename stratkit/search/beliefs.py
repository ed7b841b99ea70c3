"""Beliefs: worlds as the mover may believe in them.

    uniform   all worlds that public information allows are equally likely
    setups    a world is as likely as the enemy's setup in it is under the blueprint's deployment
    policy    a world is as likely as the enemy's last moves are under the blueprint there
              (policy-based inference, Rebstock et al. 2019, arXiv 1905.10911)
    a network worlds are drawn by it, piece by piece

`setups` and `policy` draw worlds, weigh them, and draw among these: each world's game is played
again. They weigh uniform worlds, or those of another belief, which has to know other things: the
probability of a setup and that of the moves given the setup multiply, by Bayes' rule. `policy` is
for every game whose states tell how they came about, the others are for Stratego.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import (
    Batch,
    Game,
    IllegalAction,
    assign_types,
    uniform_rows,
)
from stratkit.engine.history import Walk, placing_actions
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import variant
from stratkit.errors import InputError
from stratkit.search.blueprint import Blueprint
from stratkit.search.decision import CANDIDATES, Root, worlds_without

if TYPE_CHECKING:
    from stratkit.nets.belief import BeliefEvaluator

Vector = npt.NDArray[np.float64]
Actions = npt.NDArray[np.int32]

HISTORY_PLIES = 8  # of the enemy, by which worlds are weighed
FLOOR = 0.05  # the part of a policy, and of all setups, that is uniform: others play otherwise
EPS = 1e-12  # stands for a probability of 0
GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly, modulo 1
MIN_EFFECTIVE = 0.25  # of the candidates: below this, weights are flattened


@dataclass(frozen=True)
class WorldSample:
    """Worlds that are equally likely by a belief.

    worlds      the batch of them
    effective   effective sample size of the candidates: (sum w)^2 / sum w^2
    candidates  number of the worlds among which they were drawn
    """

    worlds: Batch
    effective: float
    candidates: int


def concat(first: WorldSample | None, more: WorldSample | None) -> WorldSample:
    """The worlds of `first`, then of `more`. One of them may be None."""
    if first is None or more is None:
        either = first or more
        assert either is not None
        return either
    batches = [(one.worlds, range(one.worlds.size)) for one in (first, more)]
    effective, candidates = first.effective + more.effective, first.candidates + more.candidates
    return WorldSample(Batch.gathered(batches), effective, candidates)


class BeliefSampler(Protocol):
    """Gives some worlds of each decision: those with the numbers `parts[i]`, of decision i. Larger
    numbers bring others, but where types are `excluded`, some may come again. The decisions share
    the calls of the blueprint."""

    def __call__(
        self, roots: Sequence[Root], parts: Sequence[range], blueprint: Blueprint, seed: int
    ) -> list[WorldSample]: ...


def uniform_belief(
    roots: Sequence[Root], parts: Sequence[range], blueprint: Blueprint, seed: int
) -> list[WorldSample]:
    """All worlds alike."""
    return [
        WorldSample(_drawn(root, part, seed), float(len(part)), len(part))
        for root, part in zip(roots, parts, strict=True)
    ]


def _drawn(root: Root, part: range, seed: int) -> Batch:
    """Those of the worlds of a decision that have these numbers."""
    worlds = root.draw(part.stop, seed)
    return Batch.gathered([(worlds, part)]) if part.start else worlds


@dataclass(frozen=True)
class ImportanceResampling:
    """Draws worlds by another belief, weighs them by likelihood, and draws among these.

    deployment  the enemy's setup counts
    last        number of the enemy's last plies that count
    floor       the part of a policy that is uniform
    base        the belief that draws the candidates
    """

    deployment: bool
    last: int
    floor: float = FLOOR
    base: BeliefSampler = uniform_belief

    def __call__(
        self, roots: Sequence[Root], parts: Sequence[range], blueprint: Blueprint, seed: int
    ) -> list[WorldSample]:
        """Without a history there is nothing to weigh by."""
        out: list[WorldSample] = []
        candidates_of = [range(CANDIDATES * p.start, CANDIDATES * p.stop) for p in parts]
        samples = self.base(roots, candidates_of, blueprint, seed)
        candidates = [sample.worlds for sample in samples]
        pasts = [past(worlds, root) for worlds, root in zip(candidates, roots, strict=True)]
        known = [p for p in pasts if p is not None]
        log_weights = iter(
            log_likelihoods(known, blueprint, self.deployment, self.last, self.floor)
        )
        for root, part, worlds, one in zip(roots, parts, candidates, pasts, strict=True):
            n = len(part)
            if one is None:
                first = Batch.gathered([(worlds, range(n))])
                out.append(WorldSample(first, float(n), n))
                continue
            weights = tempered(next(log_weights))
            u = (root.random(seed, Stream.BELIEF) + GOLDEN * part.start) % 1
            chosen = np.searchsorted(np.cumsum(weights), (np.arange(n) + u) / n, side="right")
            chosen = np.minimum(chosen, worlds.size - 1)
            kept = Batch.gathered([(worlds, chosen)])
            out.append(WorldSample(kept, effective(weights), worlds.size))
        return out


BELIEFS: dict[str, BeliefSampler] = {
    "uniform": uniform_belief,
    "setups": ImportanceResampling(deployment=True, last=0),
    "policy": ImportanceResampling(deployment=False, last=HISTORY_PLIES),
    "setups+policy": ImportanceResampling(deployment=True, last=HISTORY_PLIES),
}


class NetworkBelief:
    """Draws worlds by a belief network."""

    def __init__(self, evaluator: BeliefEvaluator) -> None:
        self.evaluator = evaluator

    def __call__(
        self, roots: Sequence[Root], parts: Sequence[range], blueprint: Blueprint, seed: int
    ) -> list[WorldSample]:
        """One call of the network serves all decisions."""
        times = [CANDIDATES if root.excluded else 1 for root in roots]
        wide = [range(k * p.start, k * p.stop) for k, p in zip(times, parts, strict=True)]
        drawn = [_drawn(root, part, seed) for root, part in zip(roots, wide, strict=True)]
        sizes = [len(part) for part in wide]
        views = np.concatenate([worlds.observe()[:1] for worlds in drawn])  # alike in all worlds
        of = np.repeat(np.arange(len(roots)), sizes)
        keys = np.concatenate(
            [
                root.key(seed, Stream.BELIEF) + np.array(part)
                for root, part in zip(roots, wide, strict=True)
            ]
        )
        zeros, most = np.zeros(len(keys), np.int32), drawn[0].game.shape[1] * drawn[0].game.shape[2]
        types = self.evaluator.draw(views, of, uniform_rows(seed, keys, zeros, most, Stream.BELIEF))
        out = []
        for root, part, worlds, at in zip(roots, parts, drawn, _parts(sizes), strict=True):
            n = len(part)
            assign_types(worlds, types[at])
            kept = worlds_without(worlds, n, root.excluded) if root.excluded else worlds
            out.append(WorldSample(kept, float(n), n))
        return out


def effective(weights: Vector) -> float:
    """The effective sample size of weights: how many equal ones they are worth."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def tempered(log_weights: Vector, least: float = MIN_EFFECTIVE) -> Vector:
    """Weights that sum to 1, float64 [n]; flattened by the `exponent` that leaves an effective
    sample size of `least` n."""
    return _normalised(log_weights, exponent(log_weights, least))


def exponent(log_weights: Vector, least: float) -> float:
    """The largest one up to 1 that leaves weights an effective sample size of `least` n."""

    def enough(power: float) -> bool:
        return effective(_normalised(log_weights, power)) >= least * len(log_weights)

    low, high = 0.0, 1.0
    if enough(high):
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _normalised(log_weights: Vector, power: float) -> Vector:
    weights = np.exp(power * (log_weights - log_weights.max()))
    return np.asarray(weights / weights.sum(), np.float64)


@dataclass(frozen=True)
class Past:
    """How some worlds came about.

    side        whose worlds they are
    actions     int32 [n, k], of the game in each, chance's included; -1 behind the last
    placements  number of the first actions that place setups
    """

    game: Game
    side: int
    actions: Actions
    placements: int = 0


def past(worlds: Batch, root: Root) -> Past | None:
    """The past of worlds of a decision; None: it is not known. `InputError`: the game's history is
    none of these worlds."""
    histories = worlds.histories()
    if histories is not None:
        return Past(worlds.game, root.side, histories)
    history = root.state.history()
    if history is None:
        return None
    kind = variant(worlds.game.name)  # moves are public, setups are not
    setups = Walk.of(kind, history).setups(worlds, 1 - root.side)
    actions = np.tile(history, (worlds.size, 1))
    first = kind.pieces * (1 - root.side)  # red deploys first
    actions[:, first : first + kind.pieces] = placing_actions(kind, setups)
    return Past(worlds.game, root.side, actions, 2 * kind.pieces)


def log_likelihoods(
    pasts: Sequence[Past],
    blueprint: Blueprint,
    deployment: bool,
    last: int,
    floor: float = FLOOR,
) -> list[Vector]:
    """Of each world of each of these pasts, float64 [n]: the logarithm of the probability of the
    enemy's setup in it (if `deployment`), and of the enemy's `last` plies. It is the blueprint's;
    a part `floor` of it is uniform: in a ply over the actions, in a setup over all setups. A setup
    is placed in one order, equal pieces ascending (`placements`): what the other orders add is
    nearly alike in all. One call of the blueprint serves all.

    `InputError`: what is played again of a past is no game.
    """
    if not pasts:
        return []
    game, sizes = pasts[0].game, [len(p.actions) for p in pasts]
    actions = np.full((sum(sizes), max(p.actions.shape[1] for p in pasts)), -1, np.int32)
    for p, part in zip(pasts, _parts(sizes), strict=True):
        actions[part, : p.actions.shape[1]] = p.actions
    if not last:  # then plies need not be played again
        actions = actions[:, : max(p.placements for p in pasts)]
    enemy = _actors(game, actions)
    enemy = (enemy >= 0) & (enemy != np.repeat([p.side for p in pasts], sizes)[:, None])
    placing = np.arange(actions.shape[1]) < np.repeat([p.placements for p in pasts], sizes)[:, None]
    each = game.actions_per_ply
    later = np.cumsum((enemy & ~placing)[:, ::-1], axis=1)[:, ::-1]  # and this one
    counted = enemy & np.where(placing, deployment, later <= each * last)
    rows, numbers, seen, legal = _views(game, actions, counted)
    out, setups, any_setup = (np.zeros(len(actions)) for _ in range(3))
    if len(rows):
        policy = blueprint.evaluate_distinct(seen, legal)[0]
        chosen = policy[np.arange(len(rows)), actions[rows, numbers]].astype(np.float64)
        uniform, placed = 1 / legal.sum(1), placing[rows, numbers]
        np.add.at(setups, rows[placed], np.log(np.maximum(chosen, EPS))[placed])
        np.add.at(any_setup, rows[placed], np.log(uniform)[placed])
        mixed = (1 - floor) * chosen + floor * uniform
        np.add.at(out, rows[~placed], np.log(np.maximum(mixed, EPS))[~placed])
    if floor:
        setups = np.logaddexp(np.log(1 - floor) + setups, np.log(floor) + any_setup)
    out += setups
    return [out[part] for part in _parts(sizes)]


def _parts(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _actors(game: Game, actions: Actions) -> npt.NDArray[np.int8]:
    """Who acts in each row of games, int8 [n, k]: -1 chance, -2 nobody."""
    replay, out = Batch(game, len(actions)), np.full(actions.shape, -2, np.int8)
    for number, now in enumerate(actions.T):
        out[:, number] = np.where(now >= 0, replay.actors(), -2)
        try:
            replay.apply(np.ascontiguousarray(now))
        except IllegalAction as error:
            what = "no world agrees with the game so far: its record is no legal game"
            raise InputError(what, where=f"action {number}") from error
    return out


def _views(
    game: Game, actions: Actions, selected: npt.NDArray[np.bool_]
) -> tuple[
    npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.uint8]
]:
    """What was seen before the `selected` [n, k] of the actions of games: their rows and numbers
    [m], the observations uint8 [m, observation_bytes] and the legal actions uint8 [m, A]."""
    replay, n = Batch(game, len(actions)), len(actions)
    actors, seen = np.empty(n, np.int8), np.empty((n, game.observation_bytes), np.uint8)
    legal = np.empty((n, game.actions), np.uint8)
    views = [(np.empty(0, np.int64), np.empty(0, np.int64), seen[:0].copy(), legal[:0].copy())]
    for number, now in enumerate(actions.T):
        rows = np.flatnonzero(selected[:, number])
        if len(rows):
            replay.view(actors, legal, seen)
            views.append((rows, np.full(len(rows), number), seen[rows], legal[rows]))
        replay.apply(np.ascontiguousarray(now))
    rows, numbers, seen, legal = (np.concatenate(x) for x in zip(*views, strict=True))
    return rows, numbers, seen, legal
