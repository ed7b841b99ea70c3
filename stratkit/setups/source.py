"""What all sources of setups have in common."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.errors import InputError

Setups = npt.NDArray[np.uint8]  # [n, zone]: types as in `setup_text`


class Source(Protocol):
    """Whoever makes setups. Setup i depends on the seed and on i alone."""

    size: int | None  # how many different setups it has; None: nobody knows

    def draw(self, first: int, n: int) -> Setups:
        """The setups `first`, `first` + 1, ...: uint8 [n, zone]; fewer, if it has no more."""
        ...

    def logprobs(self, setups: Setups) -> npt.NDArray[np.float64]:
        """float64 [n]: the natural logarithm of the probability of each setup at every draw.

        Raises `UsageError` where that is not known."""
        ...


def nothing_meets() -> InputError:
    """What is said of constraints that contradict each other, or the pieces."""
    return InputError("no setup meets all of --fix and --forbid")
