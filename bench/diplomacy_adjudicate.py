"""How many phases of moves a CPU second adjudicates, with what each of their orders comes to.

    selfplay --game diplomacy --policy random -n 100 --seed 1 -o random.eps
    python bench/diplomacy_adjudicate.py random.eps [ROUNDS]

Prints how many phases the games have, their units on average, and the rate.
"""

from __future__ import annotations

import time

import numpy as np

from stratkit.declared import whole
from stratkit.engine import Game
from stratkit.engine.diplomacy import FALL_MOVES, SPRING_MOVES, map_of
from stratkit.errors import InputError
from stratkit.games.diplomacy.games import phases
from stratkit.script import Parser, argument
from stratkit.storage.episodes import EpisodeReader


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("episodes", metavar="EPISODES")
    parser.add_argument("rounds", type=argument(whole(1)), nargs="?", default=10)
    asked = parser.parse_args()
    with parser.telling(), open(asked.episodes, "rb") as stream:
        reader = EpisodeReader(stream, asked.episodes)
        header = reader.open()
        game = Game.stored(header.game, header.rules)
        board = map_of(game)
        played = [one for episode in reader for one in phases(game, episode.actions)]
        moves = [one for one in played if one[0]["phase"][0] in (SPRING_MOVES, FALL_MOVES)]
        if not moves:
            raise InputError("no phase of moves", file=asked.episodes)
    positions, orders = (np.concatenate(some) for some in zip(*moves, strict=True))
    begin = time.process_time()
    for _ in range(asked.rounds):
        board.adjudicate(positions, orders)
    rate = len(moves) * asked.rounds / (time.process_time() - begin)
    units = (positions["unit"] > 0).sum() / len(moves)
    print(f"{len(moves)} phases of {units:.1f} units, {rate:.0f} a CPU second")


if __name__ == "__main__":
    main()
