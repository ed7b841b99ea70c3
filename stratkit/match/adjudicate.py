"""Ends games early by what the networks that play them expect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.errors import UsageError
from stratkit.play.table import Note

DECISIONS = 8  # in a row, unless the user says otherwise


@dataclass(frozen=True)
class Limit:
    """A threshold for values, and in how many decisions in a row it must hold."""

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


class Adjudicator:
    """Decides games by values, of `rows` games at a time with `players` sides.

    `resign`: who expects to lose by so much in so many decisions in a row has lost. `draw`: a game
    in which all sides expected next to nothing in their last decisions is drawn. Players without
    values never resign and never agree.
    """

    def __init__(self, rows: int, players: int, resign: Limit | None, draw: Limit | None) -> None:
        self.resign, self.draw = resign, draw
        self._lost = np.zeros((rows, players), np.int64)
        self._even = np.zeros((rows, players), np.int64)

    def begin(self, rows: npt.NDArray[np.int64]) -> None:
        """Forgets what was expected in the games that these rows had."""
        self._lost[rows] = self._even[rows] = 0

    def note(
        self,
        rows: npt.NDArray[np.int64],
        sides: npt.NDArray[np.int8],
        values: npt.NDArray[np.float32],
    ) -> None:
        """What the sides on turn expect, [n] each."""
        if self.resign:
            _count(self._lost, rows, sides, values <= -self.resign.threshold)
        if self.draw:
            _count(self._even, rows, sides, np.abs(values) <= self.draw.threshold)

    def verdict(self, row: int) -> tuple[npt.NDArray[np.float32], Note] | None:
        """Returns float32 [players] and why, if the game in `row` is decided."""
        if self.resign and (self._lost[row] >= self.resign.decisions).any():
            lost = self._lost[row].argmax()
            returns = np.ones(self._lost.shape[1], np.float32)
            returns[lost] = -1
            return returns, Note("resigned", f"resign {self.resign.text}")
        if self.draw and (self._even[row] >= self.draw.decisions).all():
            nothing = np.zeros(self._even.shape[1], np.float32)
            return nothing, Note("agreed", f"draw {self.draw.text}")
        return None


def _count(
    counts: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int8],
    holds: npt.NDArray[np.bool_],
) -> None:
    """One more in a row where it holds, and none where it does not."""
    counts[rows, sides] = np.where(holds, counts[rows, sides] + 1, 0)
