"""Reads datc.txt."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field

Line = tuple[str, str, str]  # result, power, order or units

COUNTS = {"A": 12, "B": 14, "C": 7, "D": 34, "E": 15, "F": 24, "G": 18, "H": 16, "I": 7, "J": 11}


@dataclass
class Case:
    """A case: its name, the lines of moves, of retreats, and of adjustments."""

    name: str
    moves: list[Line] = field(default_factory=list)
    retreats: list[Line] = field(default_factory=list)
    adjustments: list[Line] = field(default_factory=list)


def cases() -> list[Case]:
    """All cases of the file, in its order."""
    found: list[Case] = []
    part: list[Line] = []
    for line in pathlib.Path(__file__).with_name("datc.txt").read_text().splitlines():
        if line.startswith("= "):
            found.append(Case(line[2:]))
            part = found[-1].moves
        elif line == "retreats":
            part = found[-1].retreats
        elif line and not line.startswith("#"):
            result, power, rest = line.split(" ", 2)
            if result == "centres":
                part = found[-1].adjustments
            part.append((result, power, rest))
    return found
