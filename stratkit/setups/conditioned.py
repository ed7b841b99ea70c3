"""Setups of a placer under the condition that they meet constraints."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.errors import UsageError
from stratkit.setups.constraints import Constraints
from stratkit.setups.placing import Placed, Placer, Placing, empty_squares
from stratkit.setups.source import Setups

CANDIDATES = 64


class Conditioned(Placing):
    """What `placer` would make without constraints, if what does not meet them were thrown away.

    Placing pieces on squares that are left to them is not that: the first pieces do not know where
    the last ones will have to stand. So of each `CANDIDATES` setups that were placed so, one is
    kept, with a chance proportional to the product of the probabilities that the constraints have
    left to its pieces (sampling, importance, resampling): exact as their number grows.
    """

    def __init__(self, placer: Placer, asked: Constraints, seed: int) -> None:
        super().__init__(placer, asked)
        self.seed = seed

    def draw(self, first: int, n: int) -> Setups:
        if self.asked.free:
            return super().draw(first, n)
        placed = self.place(first * CANDIDATES, n * CANDIDATES)
        left = self._left(placed).reshape(n, CANDIDATES)
        chances = np.exp(left - left.max(axis=1, keepdims=True)).cumsum(axis=1)
        games = np.arange(first, first + n)
        drawn = uniform(self.seed, games, np.zeros(n, np.int32), Stream.RESAMPLING) * chances[:, -1]
        chosen = (chances <= drawn[:, None]).sum(axis=1)
        return self.setups(placed[np.arange(n) * CANDIDATES + chosen])

    def _left(self, placed: Placed) -> npt.NDArray[np.float64]:
        """float64 [n]: the logarithm of what the constraints have left of the placer's policy, when
        these pieces were placed."""
        total = np.zeros(len(placed))
        for k in range(placed.shape[1]):
            before = placed[:, :k]
            policy = self.placer.policy(before, empty_squares(self.asked.variant.zone, before))
            left = (policy * self.legal(before)).sum(axis=1, dtype=np.float64)
            total += np.log(np.maximum(left, 1e-300))
        return total

    def logprobs(self, setups: Setups) -> npt.NDArray[np.float64]:
        if not self.asked.free:
            raise UsageError("--logprob: a model's are not known under --fix and --forbid")
        return super().logprobs(setups)
