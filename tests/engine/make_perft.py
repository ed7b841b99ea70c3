"""Writes perft.txt: positions of every variant with the number of sequences of 1, 2, 3, ... plies.

    PYTHONPATH=.:tests python tests/engine/make_perft.py > perft.txt

The engine counts; the slow twin counts again as far as it can, and any difference stops the
program.
"""

from __future__ import annotations

import random

from slow_players import any_move
from slow_stratego import SlowGame
from stratkit.engine.stratego import VARIANTS, Position, perft
from stratkit.notation.fenfs import fenfs_of
from test_legality import runners_and_chasers, scouts
from test_perft import Entry
from twins import Twins

MOST_LEAVES, MOST_SLOW_LEAVES, DEEPEST = 1_000_000, 2_000, 12
PLIES = (0, 10, 30, 60, 120, 180)  # of the random games' positions
HEADING = """\
# Perft: how many sequences of 1, 2, 3, ... legal plies a position has.
# Variant, rules other than the usual ones (or -), FENfS, and after the colon the numbers.
# Made by make_perft.py, where the slow twin checked all numbers up to 2,000.
"""


def from_a_game(name: str, plies: int, rng: random.Random) -> Position:
    """A position of a random game after so many plies."""
    while True:
        twins = Twins(name, {})
        twins.deploy(rng)
        for _ in range(plies):
            if not twins.compare():
                break
            twins.ply(*any_move(twins.slow, rng))
        if twins.compare():
            return Position.from_bytes(VARIANTS[name], twins.batch.save(0))


def slow_perft(twins: Twins, start: Position, played: list[tuple[int, int]], depth: int) -> int:
    """By playing every sequence from its beginning."""
    slow = twins.slow
    game = SlowGame(slow.variant, slow.two_squares, slow.more_squares)
    game.begin(start)
    for move in played:
        game.play(*move)
    if game.ending()[0]:
        return 0
    moves = [(a, b) for a, targets in game.moves().items() for b in targets]
    if depth == 1:
        return len(moves)
    return sum(slow_perft(twins, start, [*played, move], depth - 1) for move in moves)


def counts(entry: Entry) -> list[int]:
    twins = Twins(entry.variant.name, entry.rules, entry.start())
    numbers: list[int] = []
    for depth in range(1, DEEPEST + 1):
        leaves = perft(twins.batch, 0, depth)
        if leaves > MOST_LEAVES:
            break
        if leaves <= MOST_SLOW_LEAVES:
            assert leaves == slow_perft(twins, entry.start(), [], depth), entry
        numbers.append(leaves)
        if not leaves:
            break
    return numbers


def entries(name: str, rng: random.Random) -> list[Entry]:
    most = VARIANTS[name].max_plies
    short = most < 20
    positions = [from_a_game(name, plies % most if short else plies, rng) for plies in PLIES]
    positions += [board(name, rng) for board in (scouts, runners_and_chasers) for _ in range(2)]
    found = []
    for number, position in enumerate(positions):
        rules = {"max_plies": 200} if short and number >= len(PLIES) else {}
        if number % 3 == 2:
            rules["two_squares"] = 1  # so that the rule bites within a few plies
        found.append(Entry(VARIANTS[name], rules, str(fenfs_of(position)), []))
    return found


def main() -> None:
    rng = random.Random("perft")
    print(HEADING, end="")
    for name in VARIANTS:
        for entry in entries(name, rng):
            numbers = counts(entry)
            print(Entry(entry.variant, entry.rules, entry.fenfs, numbers))


if __name__ == "__main__":
    main()
