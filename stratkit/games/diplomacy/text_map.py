"""A position of Diplomacy as a map of characters, for a terminal."""

from __future__ import annotations

import numpy as np

from stratkit.engine.diplomacy import FLEET, NONE, POWER, DiplomacyMap
from stratkit.games.diplomacy.svg import HEIGHT, WIDTH, layout

COLUMNS, ROWS = 110, 38
KEY = "PAR*f fA: PAR, a centre of France, with its army; * alone: nobody's; !fA: dislodged"
_NEAR = [  # rows and columns away, the nearest first
    (row, column)
    for _, row, column in sorted(
        (4 * abs(row) + abs(column), row, column)
        for row in range(-4, 5)
        for column in range(-12, 13)
    )
]


def text_map(map_: DiplomacyMap, position: np.ndarray) -> str:
    """The map, lines ended by a line feed; no two provinces overlap."""
    rows = [[" "] * COLUMNS for _ in range(ROWS)]
    places = layout(map_)
    order = np.lexsort((places[:, 0], places[:, 1])).tolist()
    for province in order:
        label = _label(map_, position, province)
        at_row = round(places[province, 1] / HEIGHT * (ROWS - 1))
        at_column = round(places[province, 0] / WIDTH * COLUMNS) - len(label) // 2
        for row, column in _NEAR:
            y, x = at_row + row, max(0, min(at_column + column, COLUMNS - len(label)))
            if 0 <= y < ROWS and not "".join(rows[y][max(x - 1, 0) : x + len(label) + 1]).strip():
                rows[y][x : x + len(label)] = label
                break
    lines = ["".join(row).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in [*filter(None, lines), KEY])


def _label(map_: DiplomacyMap, position: np.ndarray, province: int) -> str:
    text = map_.locations[province]
    if map_.centre[province] != NONE:
        owner = int(position["owner"][0, map_.centre[province]])
        text += "*" + (_letter(map_, owner - 1) if owner else "")
    for field, mark in (("unit", " "), ("dislodged", "!")):
        unit = int(position[field][0, province])
        if unit:
            text += f"{mark}{_letter(map_, unit & POWER)}{'F' if unit & FLEET else 'A'}"
    return text


def _letter(map_: DiplomacyMap, power: int) -> str:
    """A power's first letter, or its number from 1 on where several begin alike."""
    letters = [name[0].lower() for name in map_.powers]
    return letters[power] if len(set(letters)) == len(letters) else str(power + 1)
