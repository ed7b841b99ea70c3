"""Adjudicates random phases twice: here, and by the package `diplomacy` of PyPI (1.1.2, AGPL).

    python bench/diplomacy_differential.py PYTHON PHASES [SEED]

PYTHON is an interpreter that has the package: it runs in a process of its own and is asked in JSON.
The project neither imports nor needs it. Prints every phase whose results differ.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import numpy as np

from stratkit.declared import SEED, whole
from stratkit.engine.diplomacy import (
    FALL_MOVES,
    HOLD,
    NONE,
    POWER,
    SPRING_MOVES,
    UNIT,
    DiplomacyMap,
    map_text,
)
from stratkit.games.diplomacy.orders import order_text, phase_text, unit_text
from stratkit.script import Parser, argument

YEARS = 12  # of a random game

OTHER = """
import json, sys
from diplomacy import Game
for line in sys.stdin:
    asked = json.loads(line)
    game = Game()
    game.clear_units(); game.clear_centers()
    game.set_current_phase(asked["phase"])
    for power, units in asked["units"].items():
        game.set_units(power, units)
    for power, orders in asked["orders"].items():
        game.set_orders(power, orders)
    game.process()
    print(json.dumps({
        "units": {name: sorted(u for u in power.units if u[0] != "*")
                  for name, power in game.powers.items()},
        "dislodged": {name: {u: sorted(to) for u, to in power.retreats.items() if to}
                      for name, power in game.powers.items()},
    }), flush=True)
"""


def ours(board: DiplomacyMap, position: np.ndarray, orders: np.ndarray) -> dict[str, Any]:
    """What comes of a phase of moves: units and, of those dislodged, where they may retreat."""
    after, _ = board.adjudicate(position, orders)
    units: dict[str, list[str]] = {name: [] for name in board.powers}
    dislodged: dict[str, dict[str, list[str]]] = {name: {} for name in board.powers}
    retreating = after.copy()
    retreating["phase"] += 1
    for p in range(board.provinces):
        unit, gone = int(after["unit"][0, p]), int(after["dislodged"][0, p])
        if unit:
            units[board.powers[unit & POWER]].append(unit_text(board, p, unit))
        places = [board.locations[o[2]] for o in board.legal(retreating, p) if o[2] != NONE]
        if gone and places:  # others are disbanded
            name = unit_text(board, p, gone)
            dislodged[board.powers[gone & POWER]][name] = sorted(places)
    return {"units": {k: sorted(v) for k, v in units.items()}, "dislodged": dislodged}


def drawn(board: DiplomacyMap, position: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Legal orders, every verb of a unit as likely as each other."""
    orders = np.full((1, board.provinces, 3), (HOLD, NONE, NONE), np.uint8)
    for p in range(board.provinces):
        legal = board.legal(position, p)
        if len(legal):
            verb = rng.choice(np.unique(legal[:, 0]))
            some = legal[legal[:, 0] == verb]
            orders[0, p] = some[rng.integers(len(some))]
    return orders


def asked(board: DiplomacyMap, position: np.ndarray, orders: np.ndarray) -> dict[str, Any]:
    units: dict[str, list[str]] = {name: [] for name in board.powers}
    texts: dict[str, list[str]] = {name: [] for name in board.powers}
    for p in range(board.provinces):
        unit = int(position["unit"][0, p])
        if unit & UNIT:
            units[board.powers[unit & POWER]].append(unit_text(board, p, unit))
            order = tuple(int(x) for x in orders[0, p])
            texts[board.powers[unit & POWER]].append(order_text(board, position, p, order))
    return {"phase": phase_text(board, position), "units": units, "orders": texts}


def main(python: str, phases: int, seed: int) -> None:
    text = map_text("standard")
    assert text is not None
    board, rng = DiplomacyMap(text), np.random.default_rng(seed)
    other = subprocess.Popen(
        [python, "-I", "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None and other.stdout is not None
    position, compared, differences = board.start(), 0, 0
    while compared < phases:
        if position["year"][0] >= YEARS:
            position = board.start()
        orders = drawn(board, position, rng)
        if position["phase"][0] in (SPRING_MOVES, FALL_MOVES):
            question = asked(board, position, orders)
            other.stdin.write(json.dumps(question) + "\n")
            other.stdin.flush()
            theirs, mine = json.loads(other.stdout.readline()), ours(board, position, orders)
            compared += 1
            if theirs != mine:
                differences += 1
                print(json.dumps({"asked": question, "ours": mine, "theirs": theirs}))
        position = board.resolve(position, orders)
    other.stdin.close()
    print(f"{compared} phases of moves, {differences} differ")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("phases", metavar="PHASES", type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    main(**vars(parser.parse_args()))
