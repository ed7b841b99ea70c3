"""Who is told how a run goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Observer:
    """Is told how a run goes, and does nothing about it. Under torchrun only rank 0's is told more
    than `waiting`."""

    def waiting(self) -> None:
        """There is no episode yet. Called again and again."""

    def begin(self, metadata: Mapping[str, Any]) -> None:
        """The run begins, or goes on, with the step, game, rules, network, algorithm, settings and
        seed of this checkpoint (formats/checkpoint.md)."""

    def saved(self, step: int) -> None:
        """There is a checkpoint of this step, which may be 0."""

    def more(self) -> Mapping[str, Any]:
        """What else the line of the present step has to hold."""
        return {}

    def step(self, metrics: Mapping[str, Any]) -> None:
        """A step is done, and its line written."""
