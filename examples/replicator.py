"""R-NaD on a matrix game by replicator dynamics (DeepNash paper, section 2.2).

Transform the rewards, follow the replicator dynamics to their fixed point, make that the
regularisation policy, repeat. `figure3.py` and `cycling.py` draw it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Profile = tuple[Vector, Vector]  # the policies of both players

MOST_STEPS = 100_000  # of the dynamics; without regularisation they never come to rest
MATCHING_PENNIES = np.array([[1.0, -1.0], [-1.0, 1.0]])  # +1 to player 0 when the pennies match


@dataclass(frozen=True)
class Iteration:
    """One iteration: the regularisation policies, the path to the fixed point (float64 [T, A] of
    each player, `fixed` last), and the Lyapunov function along it, float64 [T]."""

    regularisation: Profile
    path: Profile
    lyapunov: Vector

    @property
    def fixed(self) -> Profile:
        """The fixed point."""
        return self.path[0][-1], self.path[1][-1]


def iterate(
    payoffs: Vector,
    start: Profile,
    iterations: int,
    eta: float = 0.2,
    dt: float = 0.2,
    tolerance: float = 1e-8,
) -> list[Iteration]:
    """R-NaD on the game whose player 0 gets `payoffs` [A, B] and player 1 their negative.

    `start`: the first regularisation policies, from which the dynamics start too. The time step is
    `dt`, and a point is fixed when the regularised advantages of actions are below `tolerance`.
    Raises `ValueError` when `MOST_STEPS` do not lead there.
    """
    done = []
    regularisation = start
    for _ in range(iterations):
        path = _follow(payoffs, regularisation, eta, dt, tolerance)
        fixed = path[0][-1], path[1][-1]
        done.append(Iteration(regularisation, path, _lyapunov(fixed, path)))
        regularisation = fixed
    return done


def orbit(
    payoffs: Vector, start: Profile, steps: int, eta: float = 0.0, dt: float = 0.2
) -> Profile:
    """So many steps of the dynamics from `start`, which is also what they are regularised towards:
    float64 [steps + 1, A] of each player. With eta 0 they never come to rest."""
    points = [point for point, _ in itertools.islice(_dynamics(payoffs, start, eta, dt), steps + 1)]
    return np.array([p for p, _ in points]), np.array([q for _, q in points])


def nash_conv(payoffs: Vector, profile: Profile) -> float:
    """The sum of what both players gain by best responses."""
    return float((payoffs @ profile[1]).max() - (profile[0] @ payoffs).min())


def _follow(
    payoffs: Vector, regularisation: Profile, eta: float, dt: float, tolerance: float
) -> Profile:
    """The replicator dynamics from the regularisation policies to the fixed point."""
    points = []
    for point, slope in _dynamics(payoffs, regularisation, eta, dt):
        points.append(point)
        if np.abs(slope).max() <= tolerance:
            break
        if len(points) > MOST_STEPS:
            raise ValueError(f"no fixed point within {MOST_STEPS} steps")
    return np.array([p for p, _ in points]), np.array([q for _, q in points])


def _dynamics(
    payoffs: Vector, regularisation: Profile, eta: float, dt: float
) -> Iterator[tuple[Profile, Vector]]:
    """The points that the dynamics come through, without end, each with its slope.

    In logits y, of which the policy is the softmax, replicator dynamics are dy/dt = advantage; they
    are followed by the method of Runge and Kutta.
    """
    size = len(regularisation[0])  # of the first player's part
    logits = np.log(np.concatenate(regularisation))
    reference = logits.copy()

    def policies(y: Vector) -> Profile:
        return _softmax(y[:size]), _softmax(y[size:])

    def advantage(y: Vector) -> Vector:
        p, q = policies(y)
        change = _centred(y - reference, size, p, q)  # log pi / pi_reg, but for a constant
        values = np.concatenate([payoffs @ q, -(p @ payoffs)])
        return _centred(values - eta * change, size, p, q)

    while True:
        slope = advantage(logits)
        yield policies(logits), slope
        second = advantage(logits + dt / 2 * slope)
        third = advantage(logits + dt / 2 * second)
        fourth = advantage(logits + dt * third)
        logits = logits + dt / 6 * (slope + 2 * second + 2 * third + fourth)


def _lyapunov(fixed: Profile, path: Profile) -> Vector:
    """KL divergence of each point x of the path from the fixed point, over both players, [T]: the
    sum of f log(f / x), here with x - f added, which sums to 0 and keeps small numbers exact."""
    off = [x / f - 1 for f, x in zip(fixed, path, strict=True)]
    parts = [(f * (d - np.log1p(d))).sum(1) for f, d in zip(fixed, off, strict=True)]
    return np.asarray(parts[0] + parts[1], np.float64)


def _softmax(y: Vector) -> Vector:
    weights = np.exp(y - y.max())
    return np.asarray(weights / weights.sum(), np.float64)


def _centred(x: Vector, first: int, p: Vector, q: Vector) -> Vector:
    """x of both players, each less its mean under that player's policy."""
    return np.concatenate([x[:first] - p @ x[:first], x[first:] - q @ x[first:]])
