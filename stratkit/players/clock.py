"""A clock for all moves of a game, of a program or a person.

This module imports neither torch nor numpy: `--help` needs it too."""

from __future__ import annotations

import math

from stratkit.declared import Kind
from stratkit.frozen import frozen


@frozen()
class Clock:
    """A player's clock. The setup takes no time.

    seconds    for all moves of a game
    increment  seconds more after each move
    """

    seconds: float
    increment: float = 0.0

    @classmethod
    def read(cls, text: str) -> Clock:
        """Reads `SECONDS[+INCREMENT]`; `ValueError`."""
        seconds, plus, increment = text.partition("+")
        clock = cls(_number(seconds), _number(increment) if plus else 0.0)
        if not (0 < clock.seconds <= DAY and 0 <= clock.increment <= DAY):
            raise ValueError
        return clock

    def __str__(self) -> str:
        return f"{self.seconds:g}" + (f"+{self.increment:g}" if self.increment else "")


DAY = 86_400.0  # seconds


def _number(text: str) -> float:
    """The number, or NaN."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


CLOCK = Kind(
    "SECONDS[+INCREMENT]",
    "SECONDS above 0, or SECONDS+INCREMENT",
    Clock.read,
    lambda clock: clock,
)
