"""Rules of thumb: a policy and values that are functions of what a player sees."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from stratkit.arrays import Bytes, Float32s, Int32s, Int64s


class Heuristic(ABC):
    """A policy and values by rules of thumb, which can be the blueprint of a search.
    `observations` are packed, uint8 [n, observation_bytes], and `legal` actions uint8 [n, A]."""

    breaks_ties: bool = False  # its player plays what is best, not what the policy draws

    @abstractmethod
    def policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        """float32 [n, A]: the probability of each action, 0 where illegal."""

    @abstractmethod
    def values(self, observations: Bytes) -> Float32s:
        """float32 [n]: what the acting sides may expect."""

    def choice(
        self, observations: Bytes, legal: Bytes, seed: int, games: Int64s, numbers: Int32s
    ) -> Float32s:
        """float32 [n, A]: what its player draws from. `seed`, `games` and `numbers` key what
        breaks ties."""
        return self.policy(observations, legal)

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Float32s | None = None, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """The policy float32 [n, A], and the values float32 [n], if they are wanted."""
        policy = self.policy(observations, legal)
        return policy, self.values(observations) if values else None

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Float32s | None = None
    ) -> Float32s:
        """The policy float32 [n, A]; that views are of one turn does not matter."""
        return self.policy(observations, legal)

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """As `evaluate`, without public information of another source."""
        return self.evaluate(observations, legal, values=values)


class UniformBlueprint(Heuristic):
    """All legal actions alike; what is not over is worth nothing."""

    def policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        return np.asarray(legal / legal.sum(1, keepdims=True), np.float32)

    def values(self, observations: Bytes) -> Float32s:
        return np.zeros(len(observations), np.float32)
