"""How setups scored, and flags on each square."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Int64s
from stratkit.engine.stratego import FLAG, Variant
from stratkit.notation.setups import Setup, setup_text

WON, DRAWN, LOST = range(3)
MAX_SETUPS = 1 << 20  # that are remembered; later ones count for their flag's square only
CERTAINTY = 1.96  # standard deviations of an interval of 95 %


@dataclass
class Scores:
    """Games won, drawn and lost by setups of one variant.

    variant   the board
    setups    by the setup's bytes, int64 [3]
    flags     int64 [3, zone], by the flag's square in its owner's view
    """

    variant: Variant
    setups: dict[bytes, Int64s] = field(default_factory=dict)
    flags: Int64s = field(default_factory=lambda: np.zeros((3, 0), np.int64))

    def __post_init__(self) -> None:
        if not self.flags.size:
            self.flags = np.zeros((3, self.variant.zone), np.int64)

    def add(self, setup: Setup, outcome: int) -> None:
        """Adds a game of a regular setup, uint8 [zone]."""
        self.flags[outcome, int(np.flatnonzero(setup == FLAG)[0])] += 1
        self._meet(setup.tobytes(), np.eye(3, dtype=np.int64)[outcome])

    def merge(self, other: Scores) -> None:
        """Adds the counts of other games."""
        self.flags += other.flags
        for setup, counts in other.setups.items():
            self._meet(setup, counts)

    def _meet(self, setup: bytes, counts: Int64s) -> None:
        if setup in self.setups or len(self.setups) < MAX_SETUPS:
            self.setups[setup] = self.setups.get(setup, 0) + counts

    def ordered(self) -> list[tuple[str, list[int]]]:
        """The setups' letters with their numbers, those with most games first."""
        rows = [
            (setup_text(np.frombuffer(setup, np.uint8)), counts.tolist())
            for setup, counts in self.setups.items()
        ]
        return sorted(rows, key=lambda one: (-sum(one[1]), one[0]))

    def json(self) -> dict[str, object]:
        """All numbers; of flags rank by rank from the back."""
        names = ("won", "drawn", "lost")
        shape = self.variant.ranks, self.variant.width
        return {
            "setups": [
                {"setup": text, **dict(zip(names, counts, strict=True))}
                for text, counts in self.ordered()
            ],
            "flags": {
                name: counts.reshape(shape).tolist()
                for name, counts in zip(names, self.flags, strict=True)
            },
        }


def score(counts: Sequence[int]) -> tuple[float, float, float]:
    """The share of games won, a draw being half a win, and its interval of 95 % (Wilson 1927). It
    is never too narrow: draws make a score vary less. At least one game."""
    games = sum(counts)
    share = (counts[WON] + counts[DRAWN] / 2) / games
    z = CERTAINTY**2 / games
    middle = (share + z / 2) / (1 + z)
    half = math.sqrt(z * share * (1 - share) + z * z / 4) / (1 + z)
    return share, max(0.0, middle - half), min(1.0, middle + half)
