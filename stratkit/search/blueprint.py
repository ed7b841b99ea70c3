"""What search needs of the policy that it improves."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from stratkit.arrays import Bytes, Int64s
from stratkit.arrays import Float32s as Floats


class Blueprint(Protocol):
    """A policy of single actions with a value, such as a network's evaluator.

    Observations are packed, uint8 [n, observation_bytes], and `legal` actions uint8 [n, A].
    """

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """The probability of each action, float32 [n, A], 0 where illegal; and the values, if they
        are wanted."""
        ...

    def values(self, observations: Bytes) -> Floats:
        """float32 [n]: what the acting sides may expect."""
        ...


class Remembered:
    """A blueprint that is asked for the value of each view once: rollouts that differ in nothing
    but what stays hidden end in the same view."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.known: dict[bytes, np.float32] = {}

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As the blueprint; policies are not remembered."""
        return self.blueprint.evaluate_distinct(observations, legal, values)

    def values(self, observations: Bytes) -> Floats:
        """float32 [n]: only views that are new are evaluated."""
        keys = [row.tobytes() for row in observations]
        new = {key: row for row, key in enumerate(keys) if key not in self.known}
        if new:
            values = self.blueprint.values(observations[list(new.values())])
            self.known.update(zip(new, values, strict=True))
        return np.array([self.known[key] for key in keys], np.float32)


class PlayableBlueprint(Blueprint, Protocol):
    """A blueprint by which a player can play, with a search or without."""

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Floats | None = None, values: bool = False
    ) -> tuple[Floats, Floats | None]:
        """As `evaluate_distinct`. `pub`: the two blocks of public information that a network is
        shown instead of the observation's, as in `nets.expansion`; others do not look at them."""
        ...

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Floats | None = None
    ) -> Floats:
        """The policy, where views of one `turn`, int64 [n] and in order, are one position but for
        the piece that is selected."""
        ...
