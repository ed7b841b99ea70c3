"""What a side may do and what it sees never depends on what it cannot know.

Random games are played a second time with one side's unrevealed ranks exchanged, in a way that fits
all that became known by some action: whoever was revealed until then keeps its rank, and who moved
becomes no bomb and no flag. Up to that action the other side must not notice: the same legal
actions, when it selects and for whatever piece it might select, and the same observation to the
last bit.

The suite compares some 30,000 positions. To compare a million, and to see how many they were:

    STRATKIT_TEST_SCALE=60 python -m pytest -s tests/engine/test_hidden_information.py
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from fingerprint import Preferences
from scale import scaled
from slow_stratego import Piece, SlowGame
from stratkit.engine import Batch, Game, sample
from stratkit.engine.stratego import BOMB, FLAG, PLACING_ORDER, VARIANTS

GAMES = 20  # played in lockstep


def play(game: Game, seed: int) -> np.ndarray:
    """int32 [actions, GAMES], -1 after the end: games with shuttling and chases among them."""
    batch, preferences = Batch(game, GAMES), Preferences(game, GAMES)
    games, steps = np.arange(GAMES), []
    while (actors := batch.actors()).max() >= 0:
        numbers = np.full(GAMES, len(steps), np.int32)
        weights = preferences.weights(actors, batch.observe())
        steps.append(sample(weights, batch.legal(), seed, games, numbers)[0])
        batch.apply(steps[-1])
    return np.array(steps)


def exchanged(name: str, actions: list[int], side: int, rng: random.Random) -> list[int]:
    """The same actions, but `side` has placed other ranks on the squares of pieces that are not
    revealed after them."""
    pieces = VARIANTS[name].pieces
    game = SlowGame(VARIANTS[name])
    game.deploy(0, actions[:pieces])
    game.deploy(1, actions[pieces : 2 * pieces])
    at_start = {game.framed(side, at): p for at, p in game.board.items() if p.side == side}
    plies = actions[2 * pieces :]
    for from_, to in zip(plies[::2], plies[1::2], strict=True):
        game.play(game.framed(game.side, from_), game.framed(game.side, to))
    types = other_types(list(at_start.values()), rng)
    placed = [
        square
        for type_ in PLACING_ORDER
        for square, piece in at_start.items()
        if types[piece] == type_
    ]
    start = side * pieces
    return [*actions[:start], *placed, *actions[start + pieces :]]


def other_types(pieces: list[Piece], rng: random.Random) -> dict[Piece, int]:
    """A uniformly random assignment that agrees with what is known of the pieces."""
    hidden = [p for p in pieces if not p.revealed]
    movable = [p.type for p in hidden if p.type not in (FLAG, BOMB)]
    rng.shuffle(movable)
    moved = [p for p in hidden if p.moved]
    others = movable[len(moved) :] + [p.type for p in hidden if p.type in (FLAG, BOMB)]
    rng.shuffle(others)
    unmoved = [p for p in hidden if not p.moved]
    types = movable[: len(moved)] + others
    return {p: p.type for p in pieces} | dict(zip(moved + unmoved, types, strict=True))


def compare_chunk(name: str, seed: int) -> Counter[str]:
    """Plays `GAMES` games and compares them with their doubles."""
    rng = random.Random(seed)
    game, free = Game(name), Game(name, {"two_squares": 0, "more_squares": 0})
    steps = play(game, seed)
    doubles = steps.copy()
    observers = np.arange(GAMES) % 2
    last = np.empty(GAMES, int)  # the last action that is compared: the first of a ply
    for row in range(GAMES):
        actions = [int(a) for a in steps[:, row] if a >= 0]
        last[row] = rng.randrange(2 * VARIANTS[name].pieces, len(actions), 2)
        known = actions[: last[row]]
        doubles[: last[row], row] = exchanged(name, known, 1 - int(observers[row]), rng)
    return lockstep(game, free, seed, steps, doubles, observers, last)


def lockstep(
    game: Game,
    free: Game,
    seed: int,
    steps: np.ndarray,
    doubles: np.ndarray,
    observers: np.ndarray,
    last: np.ndarray,
) -> Counter[str]:
    one, two, unruled = Batch(game, GAMES), Batch(game, GAMES), Batch(free, GAMES)
    aside = [Batch(game, GAMES), Batch(game, GAMES)]
    seen: Counter[str] = Counter()
    for number in range(int(last.max()) + 1):
        alive = number <= last
        mine = np.flatnonzero(alive & (one.actors() == observers))
        theirs = np.flatnonzero(alive & (one.actors() == 1 - observers))
        legal, packed = one.legal(), one.observe()
        np.testing.assert_array_equal(one.actors()[alive], two.actors()[alive])
        np.testing.assert_array_equal(legal[mine], two.legal()[mine])
        np.testing.assert_array_equal(packed[mine], two.observe()[mine])
        seen["positions"] += len(mine)
        seen["the other side sees the difference"] += int(
            (packed[theirs] != two.observe()[theirs]).any(1).sum()
        )
        seen["of the other side"] += len(theirs)
        seen["a repetition rule forbids an action"] += int(
            (legal[mine] != unruled.legal()[mine]).any(1).sum()
        )
        # Another action than the one that is played: after it, all must be the same as well.
        tried = np.full(GAMES, -1, np.int32)
        numbers = np.full(GAMES, number, np.int32)
        tried[mine] = sample(None, legal, seed, np.arange(GAMES), numbers, 1)[0][mine]
        for source, batch in zip((one, two), aside, strict=True):
            for row in mine:
                batch.copy_row(row, source, row)
            batch.apply(tried)
        still = [row for row in mine if aside[0].actors()[row] == observers[row]]
        np.testing.assert_array_equal(*(batch.legal()[still] for batch in aside))
        np.testing.assert_array_equal(*(batch.observe()[still] for batch in aside))
        seen["positions aside"] += len(still)
        actions = np.where(alive & (number < last), steps[number], -1).astype(np.int32)
        one.apply(actions)
        unruled.apply(actions)
        two.apply(np.where(actions < 0, -1, doubles[number]).astype(np.int32))
    return seen


@pytest.mark.parametrize("name", VARIANTS)
def test_unrevealed_ranks_make_no_difference(name: str) -> None:
    seen: Counter[str] = Counter()
    seed = 0
    while seen["positions"] < scaled(3_000):
        seen += compare_chunk(name, seed)
        seed += 1
    print(f"\n{name}: " + ", ".join(f"{what} {n:,}" for what, n in sorted(seen.items())))
    assert seen["the other side sees the difference"] > 0.3 * seen["of the other side"]
    assert seen["a repetition rule forbids an action"] > 0 or VARIANTS[name].max_plies < 20
