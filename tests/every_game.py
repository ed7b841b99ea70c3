"""Every game of the engine by a whole name."""

from __future__ import annotations

from running import ROOT
from stratkit.engine import game_names

MATRIX = f"matrix:{ROOT / 'formats/samples/modified_rps.matrix'}"
# Of a name that ends in a colon, what may follow.
PARAMETERS = {
    "leduc:": "3x2",
    "liars_dice:": "1x3",
    "hex:": "3",
    "dark_hex:": "3",
    "phantom_ttt:": "classical",
    "matrix:": MATRIX.removeprefix("matrix:"),
    "moves:": "nano",
    "diplomacy:": "tiny",
}
GAMES = [name + PARAMETERS.get(name, "") for name in game_names()]
