"""Legal moves, endings and returns against the slow twin, ply by ply, over many kinds of games.

The suite compares some 100,000 plies. To compare millions, and to see how many they were and how
often each rule forbade a move:

    STRATKIT_TEST_SCALE=50 python -m pytest -s tests/engine/test_legality.py
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from scale import scaled
from slow_players import Player, any_move, chase, run_away, scout_along, shuttle, strike
from slow_stratego import SlowGame
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LAKE,
    PIECE,
    SCOUT,
    SIDE,
    VARIANTS,
    Position,
)
from twins import Twins

RULES = [
    {"two_squares": two, "more_squares": more}
    for two, more in ((3, 1), (5, 1), (0, 1), (3, 0), (0, 0), (1, 1))
]
RULES += [{**RULES[0], "waived": 1}, {**RULES[0], "waived": 2}]  # for one side
MOST_PLIES = 160  # of one game


def whole_game(name: str, rng: random.Random) -> Position | None:
    return None  # from deployment


def few_pieces(name: str, rng: random.Random, types: list[int]) -> Position:
    """One or two movable pieces a side close together, some bombs about them, flags anywhere."""
    variant = VARIANTS[name]
    w, h = variant.width, variant.height
    left, low = rng.randrange(max(1, w - 3)), rng.randrange(max(1, h - 3))
    window = [w * y + x for y in range(low, min(h, low + 4)) for x in range(left, min(w, left + 4))]
    land = [s for s in window if s not in variant.lakes]
    rng.shuffle(land)
    pieces = [
        side | rng.choice(types) for side in (0, SIDE) for _ in range(1 + (rng.random() < 0.5))
    ]
    if variant.squares > 12:
        pieces += [rng.choice((0, SIDE)) | BOMB for _ in range(rng.randrange(4))]
    cells = np.zeros(variant.squares, np.uint8)
    cells[list(variant.lakes)] = LAKE
    for square, piece in zip(land, pieces, strict=False):
        cells[square] = PIECE | piece
    free = np.flatnonzero(cells == 0).tolist()
    cells[rng.sample(free, 2)] = PIECE | FLAG, PIECE | SIDE | FLAG
    return Position(variant, cells, rng.randrange(2))


def runners_and_chasers(name: str, rng: random.Random) -> Position:
    return few_pieces(name, rng, [SCOUT, 3, 3, 10])


def prey(name: str, rng: random.Random) -> Position:
    """As `few_pieces`, with some that do not run: a chase can begin with taking one."""
    position = few_pieces(name, rng, [3, 10, 10])
    free = np.flatnonzero(position.cells == 0).tolist()
    for square in rng.sample(free, min(4, len(free) // 3)):
        position.cells[square] = PIECE | rng.choice((0, SIDE)) | rng.choice((4, BOMB))
    return position


def scouts(name: str, rng: random.Random) -> Position:
    return few_pieces(name, rng, [SCOUT])


def count_game(
    name: str,
    rules: dict[str, int],
    start: Position | None,
    players: tuple[Player, Player],
    rng: random.Random,
) -> Counter[str]:
    """Plays and compares one game; what happened in it."""
    rules = rules | {"max_plies": 200} if VARIANTS[name].max_plies < 20 else rules
    twins = Twins(name, rules, start)
    if start is None:
        twins.deploy(rng)
    seen = Counter({"games": 1})
    while twins.compare() and seen["plies"] < MOST_PLIES:
        move = players[twins.slow.side](twins.slow, rng)
        seen.update(["plies", *occasions(twins.slow, move)])
        twins.ply(*move)
    seen[twins.slow.ending()[0] or "stopped"] += 1
    return seen + twins.slow.forbidden


def occasions(game: SlowGame, move: tuple[int, int]) -> list[str]:
    """What is worth counting about a move in a chase."""
    if game.chase is None:
        return []
    names = ["chasing"]
    if game.history[game.chase.begun].attack:
        names.append("chase begun by an attack")
    chasers = {ply.piece for ply in game.history[game.chase.begun :: 2]}
    if len(chasers) > 1 and len(game.chase.evaded) > 1:
        names.append("two chasing two")
    if move[1] in game.board:
        names.append("attack in a chase")
    elif not any(game.board.get(at) in game.chase.evaded for at in game.neighbours(move[1])):
        names.append("free move in a chase")
    return names


KINDS: dict[str, tuple[Callable[..., Position | None], list[tuple[Player, Player]], int]] = {
    "random": (whole_game, [(any_move, any_move)], 10_000),
    "shuttling": (whole_game, [(shuttle, shuttle), (shuttle, any_move)], 8_000),
    "scouts": (scouts, [(scout_along, scout_along), (scout_along, shuttle)], 8_000),
    "chases": (runners_and_chasers, [(chase, run_away), (run_away, chase), (chase, chase)], 20_000),
    "strikes": (prey, [(strike, run_away), (run_away, strike)], 20_000),
}
# What must have happened how often, at least, in 1,000 plies of that kind.
LEAST: dict[str, dict[str, float]] = {
    "random": {},
    "shuttling": {"two_squares": 100},
    "scouts": {"two_squares": 300},
    "chases": {
        "two_squares": 10,
        "more_squares": 4,
        "two chasing two": 4,
        "attack in a chase": 1,
        "free move in a chase": 5,
    },
    "strikes": {
        "chase begun by an attack": 10,
        "more_squares, a chase that began with an attack": 0.2,
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_engine_and_twin_agree(kind: str) -> None:
    board, pairs, plies = KINDS[kind]
    rng = random.Random(kind)
    seen: Counter[str] = Counter()
    for name, rules, players in itertools.cycle(itertools.product(VARIANTS, RULES, pairs)):
        seen += count_game(name, rules, board(name, rng), players, rng)
        if seen["plies"] >= scaled(plies):
            break
    print(f"\n{kind}: " + ", ".join(f"{what} {n:,}" for what, n in sorted(seen.items())))
    for what, least in LEAST[kind].items():
        assert seen[what] >= least * seen["plies"] / 1000, what
