"""The marginals of the hidden pieces against all assignments that fit, one by one, as exact
fractions; and the paper's Eq. 6 beside them."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import torch

from stratkit.engine import Batch, Game, expand_planes
from stratkit.engine.stratego import (
    BOMB,
    EMPTY,
    FLAG,
    MOVED,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    VARIANTS,
    Position,
)
from stratkit.nets import expand
from stratkit.nets.expansion import expand_in_torch

GAME, VARIANT = Game("mini"), VARIANTS["mini"]
ENEMY_PUBLIC, OWN_PUBLIC = 13, 25
# Flag, spy, scout, miner, general, marshal, bomb: some more often, so that equal pieces are about.
KINDS = (0, 1, 2, 2, 3, 9, 10, 11, 11)
MOST_HIDDEN = 6


def army(side: int, rng: random.Random) -> list[int]:
    """Cells of a few pieces: hidden ones that moved or not, and revealed ones."""
    hidden = [rng.choice(KINDS) for _ in range(rng.randint(1, MOST_HIDDEN))]
    cells = [t | MOVED * (t not in (FLAG, BOMB) and rng.random() < 0.5) for t in hidden]
    cells += [rng.choice(KINDS) | REVEALED for _ in range(rng.randrange(3))]
    movable = 10 | REVEALED | MOVED  # so that the game goes on
    return [PIECE | side | cell for cell in [*cells, movable]]


def small_position(rng: random.Random) -> Position:
    cells = np.full(VARIANT.squares, EMPTY, np.uint8)
    # Whole files stay empty, so that somebody can move.
    free = [s for s in range(VARIANT.squares) if s % 6 in (0, 1, 3, 4)]
    pieces = army(0, rng) + army(SIDE, rng)
    cells[rng.sample(free, len(pieces))] = pieces
    return Position(VARIANT, cells, rng.randrange(2))


def fitting(cells: list[int]) -> list[tuple[int, ...]]:
    """All different ways to give the hidden pieces their types, if those that moved can move."""
    types = [cell & TYPE for cell in cells]
    return [
        given
        for given in set(itertools.permutations(types))
        if all(
            not (cell & MOVED and t in (FLAG, BOMB)) for cell, t in zip(cells, given, strict=True)
        )
    ]


def counted(position: Position, side: int) -> dict[tuple[int, int], Fraction]:
    """(type, square) -> the share of the assignments in which that piece is of that type."""
    own = [s for s in range(VARIANT.squares) if position.cells[s] & (PIECE | SIDE) == PIECE | side]
    hidden = [s for s in own if not position.cells[s] & REVEALED]
    ways = fitting([int(position.cells[s]) for s in hidden])
    shares = {
        (t, s): Fraction(sum(way[i] == t for way in ways), len(ways))
        for i, s in enumerate(hidden)
        for t in range(12)
    }
    revealed = {(int(position.cells[s]) & TYPE, s): Fraction(1) for s in set(own) - set(hidden)}
    return shares | revealed


def observed(position: Position) -> np.ndarray:
    batch = Batch(GAME, 1)
    batch.start(0, position.to_bytes())
    assert batch.actors()[0] == position.side
    return batch.observe()


def planes_of(shares: dict[tuple[int, int], Fraction], rotated: bool) -> np.ndarray:
    out = np.zeros((12, VARIANT.squares), np.float32)
    for (t, square), share in shares.items():
        # One float32 division of whole numbers has only one right result.
        out[t, square] = np.float32(share.numerator) / np.float32(share.denominator)
    return out[:, ::-1] if rotated else out


def test_marginals_are_shares_of_all_assignments() -> None:
    rng = random.Random(1)
    mixed = 0
    for _ in range(150):
        position = small_position(rng)
        packed = observed(position)
        for planes in (
            expand_planes(GAME, packed)[0],
            expand_in_torch(torch.from_numpy(packed), GAME.shape, None)[0].numpy(),
        ):
            for first, mine in ((ENEMY_PUBLIC, False), (OWN_PUBLIC, True)):
                side = SIDE * (position.side if mine else 1 - position.side)
                shares = counted(position, side)
                expected = planes_of(shares, rotated=position.side == 1)
                ours = planes[first : first + 12].reshape(12, -1)
                np.testing.assert_array_equal(ours, expected)
                mixed += any(0 < share < 1 for share in shares.values())
    assert mixed > 300  # of 600: the others knew all


def eq6(position: Position, side: int) -> dict[tuple[int, int], Fraction]:
    """The paper's formula, word for word."""
    own = {s: int(c) for s, c in enumerate(position.cells) if c & (PIECE | SIDE) == PIECE | side}
    unrevealed = [sum(c & (TYPE | REVEALED) == t for c in own.values()) for t in range(12)]
    movable = sum(n for t, n in enumerate(unrevealed) if t not in (FLAG, BOMB))
    out = {}
    for s, cell in own.items():
        for t in range(12):
            if cell & REVEALED:
                out[t, s] = Fraction(int(cell & TYPE == t))
            elif cell & MOVED:
                out[t, s] = Fraction(0 if t in (FLAG, BOMB) else unrevealed[t], movable)
            else:
                out[t, s] = Fraction(unrevealed[t], sum(unrevealed))
    return out


def test_eq6_is_the_papers_and_goes_wrong_when_pieces_have_moved() -> None:
    rng = random.Random(2)
    differed = 0
    for _ in range(100):
        position = small_position(rng)
        packed, public = torch.from_numpy(observed(position)), torch.empty(1, 24, *GAME.shape[1:])
        for first, mine in ((0, False), (12, True)):
            side = SIDE * (position.side if mine else 1 - position.side)
            formula, exact = eq6(position, side), counted(position, side)
            planes = planes_of(formula, position.side == 1)
            public[0, first : first + 12] = torch.from_numpy(
                planes.reshape(12, *GAME.shape[1:]).copy()
            )
            squares = {s for _, s in formula}
            hidden = [int(position.cells[s]) for s in squares]
            hidden = [cell for cell in hidden if not cell & REVEALED]
            total = [sum(exact.get((t, s), Fraction(0)) for s in squares) for t in range(12)]
            sums = [sum(formula[t, s] for s in squares) for t in range(12)]
            types = [int(position.cells[s]) & TYPE for s in squares]
            assert total == [types.count(t) for t in range(12)]  # the exact shares always do
            # Eq. 6 does so as long as nobody moved, or if nobody is hidden that cannot move.
            bombs = any(cell & TYPE in (FLAG, BOMB) for cell in hidden)
            wrong = bombs and any(cell & MOVED for cell in hidden)
            assert (sums != total) == wrong
            differed += wrong
        assert torch.equal(expand(packed, GAME.shape, pub=public)[:, 13:37], public)
    assert 50 < differed < 150
