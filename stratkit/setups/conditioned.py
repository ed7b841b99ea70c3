"""Setups of a placer, given that they meet constraints."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float64s
from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.errors import UsageError
from stratkit.setups.constraints import Constraints
from stratkit.setups.placing import PlacedSetups, Placer, Squares, empty_squares
from stratkit.setups.source import Setups

CANDIDATES = 64


class ConditionedSetups(PlacedSetups):
    """Draws from the placer's own distribution over setups, conditioned on the constraints.

    Placing the pieces on legal squares alone is biased: the first pieces do not know where the last
    ones will have to stand. Sampling importance resampling corrects this. It keeps one of
    `CANDIDATES` setups that were placed so. The weight of a setup is the product over its pieces of
    the policy's mass on legal squares. The result is exact as `CANDIDATES` grows.
    """

    def __init__(self, placer: Placer, constraints: Constraints, seed: int) -> None:
        super().__init__(placer, constraints)
        self.seed = seed

    def draw(self, first: int, n: int) -> Setups:
        """One of `CANDIDATES` placed setups each, by its weight."""
        if self.constraints.free:
            return super().draw(first, n)
        placed = self.place(first * CANDIDATES, n * CANDIDATES)
        left = self._left(placed).reshape(n, CANDIDATES)
        chances = np.exp(left - left.max(axis=1, keepdims=True)).cumsum(axis=1)
        games = np.arange(first, first + n)
        drawn = uniform(self.seed, games, np.zeros(n, np.int32), Stream.RESAMPLING) * chances[:, -1]
        chosen = (chances <= drawn[:, None]).sum(axis=1)
        return self.setups(placed[np.arange(n) * CANDIDATES + chosen])

    def _left(self, placed: Squares) -> Float64s:
        """float64 [n]: the logarithm of each setup's weight, from the squares int32 [n, pieces]."""
        total = np.zeros(len(placed))
        for k in range(placed.shape[1]):
            before = placed[:, :k]
            policy = self.placer.policy(before, empty_squares(self.constraints.variant, before))
            left = (policy * self.legal(before)).sum(axis=1, dtype=np.float64)
            total += np.log(np.maximum(left, 1e-300))
        return total

    def logprobs(self, setups: Setups) -> Float64s:
        """Those of the placer; `UsageError` under constraints."""
        if not self.constraints.free:
            raise UsageError("--logprob: a model's are not known under --fix and --forbid")
        return super().logprobs(setups)
