"""The interface of sources of setups, and what works with any of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stratkit.arrays import Bytes, Float64s
from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.errors import InputError, UsageError
from stratkit.setups.constraints import Constraints, mirror

Setups = Bytes  # [n, zone]: types as in `setup_text`

ROWS = 256  # setups that are made at a time
MAX_IDLE_DRAWS = 20_000  # draws in a row that bring nothing new before `--unique` gives up


class SetupSource(Protocol):
    """Makes setups. Setup number i depends on the seed and on i alone."""

    @property
    def size(self) -> int | None:
        """The number of different setups; None: unknown."""
        ...

    @property
    def draws(self) -> int | None:
        """The number of draws until it has no more; None: it never ends."""
        ...

    def draw(self, first: int, n: int) -> Setups:
        """uint8 [n, zone]: the setups number `first`, `first` + 1, ...; fewer rows at its end."""
        ...

    def logprobs(self, setups: Setups) -> Float64s:
        """float64 [n]: the natural logarithm of the probability of each setup, uint8 [n, zone].
        Raises `UsageError` for a source that does not know it."""
        ...


def setups_of(source: SetupSource, count: int | None, unique: bool) -> Iterator[Setups]:
    """Yields `count` setups (None: all) in arrays uint8 [n, zone]. `unique`: no setup comes twice.

    Raises `InputError` when the source has fewer: before the first setup where that is known.
    """
    most, kind = (source.size, "different setup") if unique else (source.draws, "setup")
    if count is not None and most is not None and most < count:
        raise _too_few(most, kind, count)
    seen: set[bytes] = set()
    first = made = idle = 0
    while count is None or made < count:
        n = ROWS if unique or count is None else min(ROWS, count - made)
        setups = source.draw(first, n)
        first += len(setups)
        ended = len(setups) < n
        if unique:
            setups = _new(setups, seen)
            idle = 0 if len(setups) else idle + n
        setups = setups[: None if count is None else count - made]
        made += len(setups)
        if len(setups):
            yield setups
        if ended and count is not None and made < count:
            raise _too_few(made, kind, count)
        if ended:
            return
        if unique and most is None and idle >= MAX_IDLE_DRAWS:
            raise InputError(f"{idle} draws brought nothing new: {made} different setups so far")


def _too_few(available: int, kind: str, count: int) -> InputError:
    are = f"is only 1 {kind}" if available == 1 else f"are only {available} {kind}s"
    return InputError(f"there {are}, not {count}")


def _new(setups: Setups, seen: set[bytes]) -> Setups:
    """The setups that are not in `seen`, to which they are added."""
    keep = []
    for row, setup in enumerate(setups):
        if (key := setup.tobytes()) not in seen:
            seen.add(key)
            keep.append(row)
    return setups[keep]


class MirroredSource:
    """The source that `make` makes of constraints, but half of its setups are mirrored: those are
    made under the mirrored constraints, left and right exchanged."""

    size = draws = None

    def __init__(
        self, constraints: Constraints, seed: int, make: Callable[[Constraints], SetupSource]
    ) -> None:
        symmetric = (constraints.allowed == constraints.mirrored.allowed).all()
        self.variant, self.seed, self.source = constraints.variant, seed, make(constraints)
        self.turned = None if symmetric else make(constraints.mirrored)

    def draw(self, first: int, n: int) -> Setups:
        """Half of the setups mirrored, by chance."""
        straight = self.source.draw(first, n)
        turned = mirror(self.variant, self.turned.draw(first, n) if self.turned else straight)
        games = np.arange(first, first + n)
        heads = uniform(self.seed, games, np.zeros(n, np.int32), Stream.MIRROR) < 0.5
        return np.where(heads[:, None], straight, turned)

    def logprobs(self, setups: Setups) -> Float64s:
        """Raises `UsageError`: those of the mixture are not known."""
        raise UsageError("--logprob is of the source itself: not with --mirror")


@dataclass
class Entropy:
    """An estimate of the entropy in nats: the mean of -log p over draws.

    draws    number of them
    total    sum of -log p
    squares  sum of squared differences from the mean
    """

    draws: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, logprobs: Float64s) -> None:
        """Adds draws by their log-probabilities, float64 [n]."""
        for value in (-logprobs).tolist():
            before = value - self.mean
            self.draws += 1
            self.total += value
            self.squares += before * (value - self.mean)

    @property
    def mean(self) -> float:
        """The estimate; 0 before the first draw."""
        return self.total / self.draws if self.draws else 0.0

    @property
    def error(self) -> float | None:
        """The standard error of the mean; None: too few draws."""
        if self.draws < 2:
            return None
        return math.sqrt(self.squares / (self.draws - 1) / self.draws)

    def text(self) -> str:
        """The estimate in words, with its standard error."""
        error = "" if self.error is None else f" ± {self.error:.3g}"
        alike = f"{math.exp(self.mean):.4g}" if self.mean < 700 else f"e^{self.mean:.4g}"
        return (
            f"entropy {self.mean:.4f}{error} nats, from {self.draws} draws:"
            f" as many as {alike} equally probable setups"
        )

    def json(self) -> dict[str, object]:
        """The estimate as JSON values."""
        mean = self.mean if self.draws else None
        return {"draws": self.draws, "entropy": mean, "error": self.error}
