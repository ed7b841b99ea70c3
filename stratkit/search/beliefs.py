"""Beliefs: worlds as the mover may believe in them.

    uniform   all worlds that public information allows are equally likely
    setups    a world is as likely as the enemy's setup in it is under the blueprint's deployment
    policy    a world is as likely as the enemy's last moves are under the blueprint there
              (policy-based inference, Rebstock et al. 2019, arXiv 1905.10911)

The last two draw uniform worlds, weigh them, and draw among these. They are for Stratego, where all
that is hidden is a setup: the game is played again from each world's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, IllegalAction, uniform
from stratkit.engine.history import Walk, placing_actions
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import variant
from stratkit.errors import InputError
from stratkit.search.blueprint import Blueprint

Vector = npt.NDArray[np.float64]

LAST = 8  # of the enemy's plies
FLOOR = 0.05  # the part of a policy that is uniform, since others play otherwise
CANDIDATES = 4  # drawn for each world that is kept
LEAST_EFFECTIVE = 0.25  # of the candidates: below this, weights are flattened


@dataclass(frozen=True)
class Root:
    """A decision: the number of the game, of the action in it, and the side that acts; its moves,
    each of equally many actions; their policy, float64 [m]; `draw(n, seed)`, worlds of the side;
    `history`, the game's actions as the side knows them (`Views.history`)."""

    game: int
    number: int
    side: int
    moves: Sequence[tuple[int, ...]]
    policy: Vector
    draw: Callable[[int, int], Batch]
    history: Callable[[], npt.NDArray[np.int32] | None] = lambda: None


@dataclass(frozen=True)
class Believed:
    """Worlds that are equally likely by a belief. They were drawn among `candidates` worlds whose
    weights are worth an `effective` number of equal ones, (sum w)^2 / sum w^2."""

    worlds: Batch
    effective: float
    candidates: int


class Belief(Protocol):
    """Gives `n` worlds of a decision."""

    def __call__(self, root: Root, n: int, blueprint: Blueprint, seed: int) -> Believed: ...


def uniform_belief(root: Root, n: int, blueprint: Blueprint, seed: int) -> Believed:
    """All worlds alike."""
    return Believed(root.draw(n, seed), float(n), n)


def setups_belief(root: Root, n: int, blueprint: Blueprint, seed: int) -> Believed:
    """By the exact probability of the enemy's setup under the blueprint's deployment."""
    return _weighed(root, n, blueprint, seed, deployment=True, last=0)


def policy_belief(root: Root, n: int, blueprint: Blueprint, seed: int) -> Believed:
    """By the likelihood of the enemy's last plies under the blueprint."""
    return _weighed(root, n, blueprint, seed, deployment=False, last=LAST)


BELIEFS: dict[str, Belief] = {
    "uniform": uniform_belief,
    "setups": setups_belief,
    "policy": policy_belief,
}


def _weighed(
    root: Root, n: int, blueprint: Blueprint, seed: int, deployment: bool, last: int
) -> Believed:
    """Draws among candidates, by weight. Without a history there is nothing to weigh by."""
    history = root.history()
    if history is None:
        return uniform_belief(root, n, blueprint, seed)
    candidates = root.draw(CANDIDATES * n, seed)
    likelihoods = log_likelihoods(candidates, history, root.side, blueprint, deployment, last)
    weights = tempered(likelihoods)
    game, number = np.array([root.game], np.int64), np.array([root.number], np.int32)
    u = uniform(seed, game, number, Stream.BELIEF)[0]
    chosen = np.searchsorted(np.cumsum(weights), (np.arange(n) + u) / n, side="right")
    chosen = np.minimum(chosen, candidates.size - 1)
    return Believed(Batch.gathered([(candidates, chosen)]), effective(weights), candidates.size)


def effective(weights: Vector) -> float:
    """The effective sample size of weights: how many equal ones they are worth."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def tempered(log_weights: Vector, least: float = LEAST_EFFECTIVE) -> Vector:
    """Weights that sum to 1, float64 [n]; flattened by an exponent below 1 as far as is needed for
    an effective sample size of `least` n."""

    def normalised(exponent: float) -> Vector:
        weights = np.exp(exponent * (log_weights - log_weights.max()))
        return np.asarray(weights / weights.sum(), np.float64)

    low, high = 0.0, 1.0
    if effective(normalised(high)) >= least * len(log_weights):
        return normalised(high)
    for _ in range(30):
        middle = (low + high) / 2
        enough = effective(normalised(middle)) >= least * len(log_weights)
        low, high = (middle, high) if enough else (low, middle)
    return normalised(low)


def log_likelihoods(
    worlds: Batch,
    history: npt.NDArray[np.int32],
    side: int,
    blueprint: Blueprint,
    deployment: bool,
    last: int,
    floor: float = FLOOR,
) -> Vector:
    """Of each world of `side`, float64 [n], where `history` was played: the logarithm of the
    probability of the enemy's setup in it (if `deployment`), and of the enemy's `last` plies. It is
    the blueprint's; in plies a part `floor` of it is uniform over the actions.

    `InputError`: the history is no game of these worlds.
    """
    kind = variant(worlds.game.name)
    setups = Walk.of(kind, history).setups(worlds, 1 - side)
    placed = placing_actions(kind, setups)
    first = kind.pieces * (1 - side)  # red deploys first
    plies = 2 * kind.pieces
    theirs = [k for k in range(plies, len(history)) if (k - plies) // 2 % 2 != side]
    counted = set(theirs[len(theirs) - 2 * last :] if last else [])
    if deployment:
        counted |= set(range(first, first + kind.pieces))
    replay, n = Batch(worlds.game, worlds.size), worlds.size
    out = np.zeros(n)
    for number, known in enumerate(history.tolist()):
        actions = np.full(n, known, np.int32)
        if first <= number < first + kind.pieces:
            actions = np.ascontiguousarray(placed[:, number - first])
        if number in counted:
            legal = replay.legal()
            policy = blueprint.evaluate_distinct(replay.observe(), legal)[0]
            share = 0.0 if number < plies else floor
            chosen = policy[np.arange(n), actions].astype(np.float64)
            chosen = (1 - share) * chosen + share / np.maximum(legal.sum(1), 1)
            out += np.log(np.maximum(chosen, 1e-12))
        try:
            replay.apply(actions)
        except IllegalAction as error:
            what = "no world agrees with the game so far: its record is no legal game"
            raise InputError(what, where=f"action {number}") from error
    return out
