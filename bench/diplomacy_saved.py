"""Saved games of the package `diplomacy` of PyPI (1.1.2, AGPL), read here and read there.

    python bench/diplomacy_saved.py PYTHON GAMES [SEED]

PYTHON is an interpreter that has the package: it runs in a process of its own. The project neither
imports nor needs it. So many random games of twelve years, made there, are read here: every phase
must have the same units, and the game that is written again must be read as the same actions. So
many random games, made here, are loaded there: every phase, processed there, must lead to the units
and centres that the next one has. Prints each game that is not so.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import numpy as np

from stratkit.declared import SEED, whole
from stratkit.engine import Batch, Game, sample
from stratkit.errors import InputError
from stratkit.games.diplomacy.games import actions_of, game_json, game_of
from stratkit.script import Parser, argument

MAPS = ("standard", "fva", "gvi", "pure")  # of games made here

MAKE = """
import json, random, sys
from diplomacy import Game
from diplomacy.utils.export import to_saved_game_format
for number in range(int(sys.argv[1])):
    random.seed(f"{sys.argv[2]} {number}")
    game = Game()
    while not game.is_game_done and int(game.get_current_phase()[1:5]) < 1913:
        possible = game.get_all_possible_orders()
        for power in game.powers:
            places = game.get_orderable_locations(power)
            some = [sorted(possible[place]) for place in places if possible[place]]
            game.set_orders(power, [random.choice(orders) for orders in some])
        game.process()
    print(json.dumps(to_saved_game_format(game)), flush=True)
"""

LOAD = """
import json, sys
from diplomacy import Game
from diplomacy.utils.export import from_saved_game_format
from diplomacy.utils.game_phase_data import GamePhaseData

answers, sys.stdout = sys.stdout, sys.stderr  # the package prints, too

def sorted_units(state):
    return [sorted((p, u) for p, some in state[key].items() for u in some)
            for key in ("units", "centers")]

for line in sys.stdin:
    saved = json.loads(line)
    wrong = []
    assert from_saved_game_format(saved).map_name == saved["map"]
    for phase, after in zip(saved["phases"], saved["phases"][1:]):
        game = Game(map_name=saved["map"], rules=["SOLITAIRE", *saved["rules"]])
        game.set_phase_data(GamePhaseData.from_dict(phase))
        for power in game.powers.values():  # those without a retreat are gone already
            power.retreats = {unit: to for unit, to in power.retreats.items() if to}
        game.clear_orders()
        for power, orders in phase["orders"].items():
            game.set_orders(power, orders)
        game.process()
        there, here = sorted_units(game.get_state()), sorted_units(after["state"])
        gone = {(p, "*" + u) for p, some in after["state"]["retreats"].items()
                for u, to in some.items() if not to}
        here[0] = [unit for unit in here[0] if unit not in gone]
        if there != here:
            wrong.append([phase["name"], phase["orders"], there, here])
    print(json.dumps(wrong), file=answers, flush=True)
"""


def read_theirs(text: str) -> list[str]:
    """What is wrong with a game made there, as it is read and written here."""
    data = json.loads(text)
    try:
        game = game_of(data)
        actions = actions_of(game, data)
    except InputError as error:
        return [str(error)]
    again = game_json(game, actions)
    if actions_of(game_of(again), again).tolist() != actions.tolist():
        return ["another game when it was written and read again"]
    mine = {phase["name"]: _units(phase) for phase in again["phases"]}
    return [
        f"{phase['name']}: other units"
        for phase in data["phases"]
        if phase["name"] in mine
        and phase["name"][-1] != "R"
        and _units(phase) != mine[phase["name"]]
    ]


def _units(phase: dict[str, Any]) -> dict[str, list[str]]:
    return {power: sorted(some) for power, some in phase["state"]["units"].items()}


def made_here(name: str, seed: int) -> dict[str, Any]:
    """A random game."""
    game = Game(f"diplomacy:{name}")
    batch, actions = Batch(game, 1), []
    while batch.actors()[0] >= 0:
        number = np.array([len(actions)], np.int32)
        actions.append(sample(None, batch.legal(), seed, np.zeros(1, np.int64), number)[0])
        batch.apply(actions[-1])
    return game_json(game, np.concatenate(actions))


def main(python: str, games: int, seed: int) -> None:
    make = [python, "-I", "-c", MAKE, str(games), str(seed)]
    theirs = subprocess.run(make, check=True, capture_output=True, text=True).stdout.splitlines()
    faults = [read_theirs(line) for line in theirs]
    for number, fault in enumerate(faults):
        for one in fault:
            print(f"made there, game {number}: {one}")
    phases = sum(len(json.loads(line)["phases"]) - 1 for line in theirs)
    print(f"made there: {sum(not fault for fault in faults)} of {len(theirs)}, {phases} phases")
    mine = [made_here(MAPS[at % len(MAPS)], seed + at) for at in range(games)]
    asked = "".join(json.dumps(one) + "\n" for one in mine)
    load = [python, "-I", "-c", LOAD]
    done = subprocess.run(load, check=True, input=asked, stdout=subprocess.PIPE, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for number, wrong in enumerate(answers):
        for one in wrong:
            print(f"made here, game {number}: {json.dumps(one)}")
    phases = sum(len(one["phases"]) - 1 for one in mine)
    differ = sum(map(len, answers))
    print(f"made here: {sum(not w for w in answers)} of {games}, {phases} phases, {differ} differ")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("games", metavar="GAMES", type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    main(**vars(parser.parse_args()))
