"""Blueprints that are no networks: chance, and the heuristic player."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Bytes, Int64s
from stratkit.engine import Game, expand_planes
from stratkit.engine.stratego import FLAG, PIECE, REVEALED, SIDE, TYPE
from stratkit.players.heuristic import NOISE, VALUES, HeuristicPlayer
from stratkit.players.player import Floats

TEMPERATURE = NOISE / 2  # the heuristic's moves differ in worth by a noise of this size
WORTH = np.where(np.arange(len(VALUES)) == FLAG, 0.0, VALUES)


class FunctionBlueprint(ABC):
    """A blueprint that is a function of the observation. `observations` are packed, uint8
    [n, observation_bytes], and `legal` actions uint8 [n, A]."""

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Floats | None = None, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """The policy float32 [n, A], and the values float32 [n], if they are wanted."""
        policy = self._policy(observations, legal)
        return policy, self.values(observations) if values else None

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Floats | None = None
    ) -> Floats:
        """The policy float32 [n, A]; that views are of one turn does not matter."""
        return self._policy(observations, legal)

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As `evaluate`, without public information of another source."""
        return self.evaluate(observations, legal, values=values)

    @abstractmethod
    def values(self, observations: Bytes) -> Floats:
        """float32 [n]: what the acting sides may expect."""

    @abstractmethod
    def _policy(self, observations: Bytes, legal: Bytes) -> Floats:
        """float32 [n, A]: the probability of each action, 0 where illegal."""


class UniformBlueprint(FunctionBlueprint):
    """All legal actions alike; what is not over is worth nothing."""

    def values(self, observations: Bytes) -> Floats:
        return np.zeros(len(observations), np.float32)

    def _policy(self, observations: Bytes, legal: Bytes) -> Floats:
        return np.asarray(legal / legal.sum(1, keepdims=True), np.float32)


class HeuristicBlueprint(FunctionBlueprint):
    """The heuristic player's scores as a policy: their softmax, at the temperature of its noise. A
    position is worth the difference of both sides' pieces, as a share of an army, flags apart."""

    def __init__(self, game: Game, counts: Sequence[int]) -> None:
        """`counts`: pieces of each type in an army."""
        self.game, self.army = game, float(WORTH @ np.array(counts))
        self.rules = HeuristicPlayer(game, 0)

    def values(self, observations: Bytes) -> Floats:
        seen = observations.view(self.rules.dtype)[:, 0]
        cells = seen["cells"]
        worth = np.append(WORTH, np.zeros(4))[cells & TYPE]
        own = np.where((cells & (PIECE | SIDE)) == PIECE, worth, 0).sum(1)
        shown = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE | REVEALED
        enemy = np.where(shown, worth, 0).sum(1) + seen["enemy_unrevealed"] @ WORTH
        values = np.where(seen["phase"] == 1, 0, (own - enemy) / self.army)
        return np.clip(values, -1, 1).astype(np.float32)

    def _policy(self, observations: Bytes, legal: Bytes) -> Floats:
        seen = observations.view(self.rules.dtype)[:, 0]
        policy = np.zeros(legal.shape, np.float32)
        deploying = seen["phase"] == 1
        if deploying.any():
            policy[deploying] = self.rules.placement(seen[deploying], legal[deploying])
        rows = np.flatnonzero(~deploying)
        if len(rows):
            planes = expand_planes(self.game, np.ascontiguousarray(observations[rows]))
            scores = np.where(legal[rows] > 0, self.rules.scores(seen[rows], planes), -np.inf)
            weights = np.exp((scores - scores.max(1, keepdims=True)) / TEMPERATURE)
            policy[rows] = weights / weights.sum(1, keepdims=True)
        return policy
