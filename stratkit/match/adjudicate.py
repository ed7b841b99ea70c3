"""Ends games early by what the networks that play them expect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bools, Float32s, Int8s, Int64s
from stratkit.errors import UsageError
from stratkit.play.finished import GameNote
from stratkit.play.table import Adjudicator, returns_of_loss

DECISIONS = 8  # in a row, unless the user says otherwise


@dataclass(frozen=True)
class Limit:
    """When values end a game.

    threshold   of the values
    decisions   in how many decisions in a row it must hold
    """

    threshold: float
    decisions: int

    @property
    def text(self) -> str:
        """`T,K`, as records have it."""
        return f"{self.threshold!r},{self.decisions}"


def parse_limit(text: str, option: str) -> Limit:
    """Reads `T[,K]`; `UsageError`."""
    threshold, _, decisions = text.partition(",")
    try:
        limit = Limit(float(threshold), int(decisions or DECISIONS))
    except ValueError:
        raise UsageError("T[,K] is needed, as 0.9,8", where=option, text=text) from None
    if not (0 < limit.threshold <= 1 and 1 <= limit.decisions <= 10_000):
        raise UsageError("T is above 0 and at most 1, K from 1 to 10000", where=option, text=text)
    return limit


class ValueAdjudicator(Adjudicator):
    """Ends games by values, `rows` games at a time with `players` sides.

    `resign`: a side that expects to lose by so much in so many decisions in a row has lost. `draw`:
    a game in which all sides expect next to nothing in so many decisions in a row is drawn. Players
    that return no values never resign and never agree to a draw.
    """

    def __init__(self, rows: int, players: int, resign: Limit | None, draw: Limit | None) -> None:
        self.resign, self.draw, self.players = resign, draw, players
        self._losing = np.zeros((rows, players), np.int64)  # decisions in a row
        self._even = np.zeros((rows, players), np.int64)

    def begin(self, rows: Int64s) -> None:
        """Forgets what was expected in the games that these rows had."""
        self._losing[rows] = self._even[rows] = 0

    def observe(self, rows: Int64s, sides: Int8s, values: Float32s) -> None:
        """What the acting sides expect, [n] each."""
        if self.resign:
            _count(self._losing, rows, sides, values <= -self.resign.threshold)
        if self.draw:
            _count(self._even, rows, sides, np.abs(values) <= self.draw.threshold)

    def adjudicate(self, row: int) -> tuple[Float32s, GameNote] | None:
        """The returns, float32 [players], and why, if the game in `row` is decided."""
        if self.resign and (self._losing[row] >= self.resign.decisions).any():
            loser = int(self._losing[row].argmax())
            note = GameNote("resigned", f"resign {self.resign.text}")
            return returns_of_loss(self.players, loser), note
        if self.draw and (self._even[row] >= self.draw.decisions).all():
            note = GameNote("agreed", f"draw {self.draw.text}")
            return np.zeros(self.players, np.float32), note
        return None


def _count(counts: Int64s, rows: Int64s, sides: Int8s, holds: Bools) -> None:
    """One more in a row where it holds, and none where it does not."""
    counts[rows, sides] = np.where(holds, counts[rows, sides] + 1, 0)
