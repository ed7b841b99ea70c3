"""What the searches of a game teach, until the game is an episode."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float32s
from stratkit.storage.columns import PolicyTargets


class SearchLog:
    """Targets and values of one game, by the number of the action."""

    def __init__(self) -> None:
        self._by_action: dict[int, tuple[PolicyTargets, float]] = {}

    def note(self, number: int, target: PolicyTargets, value: float) -> None:
        """The target of one action, and the value of its state for who acts."""
        self._by_action[number] = target, float(value)

    def columns(self, actions: int) -> tuple[PolicyTargets, Float32s]:
        """Of a game of so many actions: targets, and values float32, NaN where none was found."""
        values = np.full(actions, np.nan, np.float32)
        for number, (_, value) in self._by_action.items():
            values[number] = value
        none = PolicyTargets.none(1)
        parts = [self._by_action.get(number, (none, 0.0))[0] for number in range(actions)]
        return PolicyTargets.concat(parts), values
