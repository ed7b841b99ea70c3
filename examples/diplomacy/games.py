"""Games of Diplomacy out of a record, as JSON and as pictures, and back.

    python examples/diplomacy/games.py GAMES.jsonl FOLDER [NUMBER]

Writes FOLDER/game.json, a picture of each phase, FOLDER/S1901M.svg and so on, and checks that the
JSON gives the same game again.
"""

import json
import pathlib

import numpy as np

from stratkit import Game, read_games
from stratkit.declared import whole
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError
from stratkit.games.diplomacy.games import actions_of, game_json, phases
from stratkit.games.diplomacy.orders import phase_text
from stratkit.games.diplomacy.svg import picture
from stratkit.script import Parser, argument


def main(record: str, folder: str, number: int = 0) -> None:
    games = read_games(record)
    rows = np.flatnonzero(games["number"] == number)
    if not len(rows):
        raise InputError(f"no game {number}", file=record)
    row = rows[0]
    game = Game.stored(games["game"][row])
    if not game.name.startswith("diplomacy"):
        raise InputError(f"games of {game.name}, not of Diplomacy", file=record)
    actions = np.array(games["moves"][row].split(), np.int32)
    data = game_json(game, actions)
    assert actions_of(game, data).tolist() == actions.tolist()
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / "game.json").write_text(json.dumps(data, indent=1) + "\n")
    board = map_of(game)
    for position, orders in phases(game, actions):
        name = phase_text(board, position)
        (out / f"{name}.svg").write_text(picture(board, position, orders))
    print(f"{len(data['phases']) - 1} phases in {folder}")


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("record", metavar="GAMES.jsonl")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("number", metavar="NUMBER", nargs="?", default=0, type=argument(whole(0)))
    with parser.telling():
        main(**vars(parser.parse_args()))
