"""Packed observations: their layout, the layout of their planes, and the plain encoder of these.

Everybody else asks this module where something stands; tests compare it with the C engine and with
formats/observation.md. A cell byte has the bits of a position's (`stratkit.engine.stratego`), but
`SIDE` says that the piece is the enemy's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from stratkit.arguments import Between, checked, integer, within
from stratkit.arrays import Bytes, Float32s, Int32s, Int64s
from stratkit.engine.game import Game
from stratkit.engine.library import length, lib, pointer, writable

SHOWN_PLIES = 40
NO_SQUARE = 255  # no such square, no such move, no attack

# Which planes are which (Perolat et al. 2022, supplement, table 4); there are 82.
LAKES, OWN_TYPES, ENEMY_PUBLIC, OWN_PUBLIC = 0, slice(1, 13), slice(13, 25), slice(25, 37)
LAST_MOVES, RATIOS, PHASE_AND_STAGE = slice(37, 77), slice(77, 79), slice(79, 81)
SELECTED_PIECE = 81
PUBLIC = slice(ENEMY_PUBLIC.start, OWN_PUBLIC.stop)
PLANES = 82
MIN_SQUARES, MAX_SQUARES = 12, 100  # of a board
FEATURES, COUNTS, OUTCOMES = 48, 51, 3  # of `board_features` and `attack_outcomes`


@checked
def observation_dtype(squares: Annotated[int, Between(1, MAX_SQUARES)]) -> np.dtype[np.void]:
    """The packed observation of a board of `squares` squares; formats/observation.md explains
    it."""
    ply = np.dtype([("from", "u1"), ("to", "u1"), ("attacker", "u1")])
    return np.dtype(
        [
            ("plies", "<u2"),
            ("max_plies", "<u2"),
            ("no_attack", "<u2"),
            ("max_no_attack", "<u2"),
            ("phase", "u1"),
            ("stage", "u1"),
            ("selected", "u1"),
            ("to_place", "u1"),
            ("own_unrevealed", "u1", (12,)),
            ("enemy_unrevealed", "u1", (12,)),
            ("only_attacks", "u1", (16,)),
            ("moves", ply, (SHOWN_PLIES,)),
            ("cells", "u1", (squares,)),
        ]
    )


# Where each field begins, in bytes; on every board the same.
_OFFSETS = [offset for _, offset, *_ in dict(observation_dtype(1).fields or {}).values()]
PLIES, MAX_PLIES, NO_ATTACK, MAX_NO_ATTACK, PHASE, STAGE, SELECTED, TO_PLACE = _OFFSETS[:8]
OWN_UNREVEALED, ENEMY_UNREVEALED, ONLY_ATTACKS, MOVES, CELLS = _OFFSETS[8:]


@checked
def number(packed: bytes, at: int) -> int:
    """The 16-bit number of a packed observation that begins there: `PLIES` and the three after
    it."""
    at = integer("at", at, 0, len(packed) - 2)
    return packed[at] | packed[at + 1] << 8


def expand_planes(game: Game, packed: Bytes) -> Float32s:
    """uint8 [n, observation_bytes] to float32 [n, planes, height, width], channels last in memory;
    [n, planes] where the observation is a vector.

    DeepNash's observation (Perolat et al. 2022, supplement, table 4), planes in that table's order.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must be a Game, not {type(game).__name__}")
    write = functools.partial(lib.sk_expand, game.handle)
    return _expanded(write, packed, game.observation_bytes, game.shape)


def board_planes(packed: Bytes, shape: tuple[int, int, int]) -> Float32s:
    """The same for whatever game is played on a board of this shape, (82, H, W)."""
    squares = _squares(shape)
    write = functools.partial(lib.sk_planes, squares)
    return _expanded(write, packed, observation_dtype(squares).itemsize, shape)


def _expanded(
    write: Callable[..., None], packed: Bytes, size: int, shape: Sequence[int]
) -> Float32s:
    planes, *board = shape
    n = length("packed", packed)
    observations = pointer("packed", packed, "uint8", (n, size))
    out = np.empty((n, *board, planes), np.float32)
    write(observations, n, writable(out))
    return np.moveaxis(out, -1, 1)


def _squares(shape: Any) -> int:
    """Of a board whose planes have this shape."""
    if not isinstance(shape, tuple | list) or len(shape) != 3:
        raise TypeError("shape must be (82, height, width)")
    _, height, width = (integer("shape", n, 1, MAX_SQUARES) for n in shape)
    if shape[0] != PLANES or not MIN_SQUARES <= height * width <= MAX_SQUARES:
        what = f"(82, height, width) of {MIN_SQUARES} to {MAX_SQUARES} squares"
        raise ValueError(f"shape must be {what}, not {tuple(shape)}")
    return height * width


def board_features(packed: Bytes, shape: tuple[int, int, int]) -> tuple[Float32s, Float32s]:
    """What small networks read of positions: float32 [n, 48, H, W], channels last in memory, and
    counts [n, 51]. formats/observation.md tells which. Arguments as of `board_planes`."""
    squares, n = _squares(shape), length("packed", packed)
    _, height, width = shape
    observations = pointer("packed", packed, "uint8", (n, CELLS + squares))
    out = np.empty((n, height, width, FEATURES), np.float32)
    counts = np.empty((n, COUNTS), np.float32)
    lib.sk_features(width, height, observations, n, writable(out), writable(counts))
    return np.moveaxis(out, -1, 1), counts


def attack_outcomes(packed: Bytes, shape: tuple[int, int, int]) -> Float32s:
    """Of the selected piece, on each square: the probabilities that its attack there wins, that it
    loses, and that a neighbour could take it there. Where nothing is selected, of each own piece
    that can only attack: the highest probability that an attack on a neighbour wins, the lowest
    that it loses, and 0. float32 [n, H * W, 3]."""
    squares, n = _squares(shape), length("packed", packed)
    _, height, width = shape
    observations = pointer("packed", packed, "uint8", (n, CELLS + squares))
    out = np.empty((n, squares, OUTCOMES), np.float32)
    lib.sk_outcomes(width, height, observations, n, writable(out))
    return out


def move_outcomes(packed: Bytes, shape: tuple[int, int, int], moves: Int32s) -> Float32s:
    """What `attack_outcomes` says of moves, int32 [k, 3], each the row of its position, from and
    to: float32 [k, 3]."""
    squares, n, k = _squares(shape), length("packed", packed), length("moves", moves)
    _, height, width = shape
    observations = pointer("packed", packed, "uint8", (n, CELLS + squares))
    given = pointer("moves", moves, "int32", (k, 3))
    within("the rows of moves", moves[:, 0], 0, n - 1)
    within("the squares of moves", moves[:, 1:], 0, squares - 1)
    out = np.empty((k, OUTCOMES), np.float32)
    lib.sk_move_outcomes(width, height, observations, given, k, writable(out))
    return out


def distinct_views(observations: Bytes, legal: Bytes) -> tuple[Int64s, Int64s]:
    """Which views are different: what a side sees, uint8 [n, observation_bytes], and what it may
    do, uint8 [n, A], which on a board depends on moves longer ago than those that are seen.

    Returns the index of the first of each kind, int64 [m], in their order, and of every view which
    of the m kinds it is, int64 [n].
    """
    n = length("observations", observations)
    sizes = [a.shape[1] if getattr(a, "ndim", 0) == 2 else 0 for a in (observations, legal)]
    first, each = np.empty(n, np.int64), np.empty(n, np.int64)
    table = np.zeros(2 << n.bit_length(), np.int32)
    count = lib.sk_distinct_rows(
        pointer("observations", observations, "uint8", (n, sizes[0])),
        sizes[0],
        pointer("legal", legal, "uint8", (n, sizes[1])),
        sizes[1],
        n,
        writable(table),
        len(table),
        writable(first),
        writable(each),
    )
    return first[:count], each
