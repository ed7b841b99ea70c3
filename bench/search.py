"""CPU seconds of the turns of a player that searches, and how much of it is not its network's:

    python bench/search.py [KEYS [PLAYER [GAME [TURNS]]]]

Plays a PLAYER against itself, one game at a time on one core, until it has had TURNS turns.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch

from command_line import Parser
from stratkit.engine import Game
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.open import open_player
from stratkit.players.searching.stage import SearchStage
from stratkit.players.spec import parse_player
from stratkit.players.testtime.pipeline import PostprocessedPlayer

KEYS = "search=mmd,rollouts=256,depth=4"


def timed(of: Any, method: str) -> list[float]:
    """CPU seconds of each call of a method from now on."""
    found, original = [], getattr(of, method)

    def call(*arguments: Any, **more: Any) -> Any:
        begun = time.process_time()
        out = original(*arguments, **more)
        found.append(time.process_time() - begun)
        return out

    setattr(of, method, call)
    return found


def main(keys: str, player: str, game: str, turns: int) -> None:
    torch.set_num_threads(1)
    opened = open_player(parse_player(f"{keys},{player}"), Game(game), 1, 1).player
    assert isinstance(opened, PostprocessedPlayer) and isinstance(opened.search, SearchStage)
    network = timed(opened.search.blueprint, "_in_parts")
    searches = timed(SearchStage, "__call__")
    seatings = (Seating(number, (0, 0)) for number in itertools.count())
    for _ in Table(Game(game), [opened], Seatings(seatings), 1).rounds():
        if len(searches) >= turns:
            break
    rest = 1 - sum(network) / sum(searches)
    print(f"{keys}, {player}, {game}: {len(searches)} turns of play")
    each = sum(searches) / len(searches)
    print(f"{each:.3f} CPU seconds each, {1 / each:.2f} a second; {rest:.1%} not the network's")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument(
        "keys", metavar="KEYS", nargs="?", default="search=mmd,rollouts=256,depth=4"
    )
    parser.add_argument("player", metavar="PLAYER", nargs="?", default="barrage-v0")
    parser.add_argument("game", metavar="GAME", nargs="?", default="barrage")
    parser.add_argument("turns", metavar="TURNS", nargs="?", default=200, type=int)
    main(**vars(parser.parse_args()))
