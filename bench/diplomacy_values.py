"""How often a search among seven powers takes a living one to be worth nothing.

    python bench/diplomacy_values.py GAMES [SEED]

Plays games of `heuristic` on the standard map. Each turn of moves is valued as by `search=rm` with
`depth=0`: what it leads to in the next phase of moves, by `heuristic` again. Prints, of spring and
of fall moves, how many living powers there were, and how many had a value of exactly 0. A power
lives that has a centre or a unit there, while the game goes on. Some of these would have no centre
if the year ended: others stand on all that they own.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from stratkit.declared import SEED, whole
from stratkit.engine import Batch, Game, sample
from stratkit.engine.diplomacy import (
    FALL_MOVES,
    NONE,
    PHASES,
    POWER,
    SPRING_MOVES,
    map_of,
    views_of,
)
from stratkit.games.table import kit_of
from stratkit.script import Parser, argument
from stratkit.search.joint import values_of_all
from stratkit.search.rollouts import play_to_moves


def living(game: Game, batch: Batch) -> list[int]:
    """The powers that have a centre or a unit in a batch of one row."""
    position = views_of(game, batch.observe())["position"][0]
    units = position["unit"][position["unit"] > 0]
    return sorted({*(units & POWER).tolist(), *(position["owner"][position["owner"] > 0] - 1)})


def holders(game: Game, batch: Batch) -> set[int]:
    """The powers that would have a centre if the year ended in a batch of one row."""
    position, board = views_of(game, batch.observe())["position"][0], map_of(game)
    places = np.flatnonzero(board.centre != NONE)
    unit, owner = position["unit"][places], position["owner"][board.centre[places]]
    held = np.where(unit > 0, unit & POWER, owner.astype(int) - 1)
    return set(held[held >= 0].tolist())


def main(games: int, seed: int) -> None:
    game = Game("diplomacy:standard")
    blueprint = kit_of(game).heuristic
    alive, worthless, bare = Counter[int](), Counter[int](), Counter[int]()
    for number in range(games):
        batch, played = Batch(game, 1), 0
        while batch.actors()[0] >= 0:
            turn = batch.turns()[0]
            phase = int(views_of(game, batch.observe())["position"]["phase"][0])
            while batch.actors()[0] >= 0 and batch.turns()[0] == turn:
                legal = batch.legal()
                policy = blueprint.evaluate(batch.observe(), legal)[0]
                key = np.array([number], np.int64), np.array([played], np.int32)
                batch.apply(sample(policy, legal, seed, *key)[0])
                played += 1
            if phase not in (SPRING_MOVES, FALL_MOVES):
                continue
            ahead = batch.clone()
            play_to_moves(ahead, blueprint, 0, seed, np.array([number], np.int64))
            if ahead.actors()[0] >= 0:
                values = values_of_all(ahead, blueprint)[0]
                some = living(game, ahead)
                alive[phase] += len(some)
                nothing = {power for power in some if values[power] == 0}
                worthless[phase] += len(nothing)
                bare[phase] += len(nothing - holders(game, ahead))
    for phase in alive:
        counts = f"{worthless[phase]} of {alive[phase]} living powers worth 0"
        print(f"{PHASES[phase]}: {counts}, {bare[phase]} of which hold no centre")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("games", metavar="GAMES", type=argument(whole(1)))
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
    main(**vars(parser.parse_args()))
