"""Packed observations: their layout, the layout of their planes, and the plain encoder of these.

Everybody else asks this module where something stands; tests compare it with the C engine and with
formats/observation.md. A cell byte has the bits of a position's (`stratkit.engine.stratego`), but
`SIDE` says that the piece is the enemy's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from stratkit.arrays import Bytes, Float32s, Int64s
from stratkit.engine.game import Game
from stratkit.engine.library import lib, pointer

SHOWN_PLIES = 40
NO_SQUARE = 255  # no such square, no such move, no attack

# Which planes are which (Perolat et al. 2022, supplement, table 4); there are 82.
LAKES, OWN_TYPES, ENEMY_PUBLIC, OWN_PUBLIC = 0, slice(1, 13), slice(13, 25), slice(25, 37)
LAST_MOVES, RATIOS, PHASE_AND_STAGE = slice(37, 77), slice(77, 79), slice(79, 81)
SELECTED_PIECE = 81
PUBLIC = slice(ENEMY_PUBLIC.start, OWN_PUBLIC.stop)
PLANES = 82
FEATURES, COUNTS, OUTCOMES = 48, 51, 3  # of `board_features` and `attack_outcomes`


def observation_dtype(squares: int) -> np.dtype[np.void]:
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


def number(packed: bytes, at: int) -> int:
    """The 16-bit number of a packed observation that begins there: `PLIES` and the three after
    it."""
    return packed[at] | packed[at + 1] << 8


def expand_planes(game: Game, packed: Bytes) -> Float32s:
    """uint8 [n, observation_bytes] to float32 [n, planes, height, width], channels last in memory;
    [n, planes] where the observation is a vector.

    DeepNash's observation (Perolat et al. 2022, supplement, table 4), planes in that table's order.
    """
    write = functools.partial(lib.sk_expand, game.handle)
    return _expanded(write, packed, game.observation_bytes, game.shape)


def board_planes(packed: Bytes, shape: tuple[int, int, int]) -> Float32s:
    """The same for whatever game is played on a board of this shape, (82, H, W)."""
    squares = shape[1] * shape[2]
    write = functools.partial(lib.sk_planes, squares)
    return _expanded(write, packed, observation_dtype(squares).itemsize, shape)


def _expanded(
    write: Callable[..., None], packed: Bytes, size: int, shape: Sequence[int]
) -> Float32s:
    planes, *board = shape
    out = np.empty((len(packed), *board, planes), np.float32)
    observations = pointer(packed, "uint8", (len(packed), size))
    write(observations, len(packed), pointer(out, "float32", out.shape, writable=True))
    return np.moveaxis(out, -1, 1)


def board_features(packed: Bytes, shape: tuple[int, int, int]) -> tuple[Float32s, Float32s]:
    """What small networks read of positions: float32 [n, 48, H, W], channels last in memory, and
    counts [n, 51]. formats/observation.md tells which. Arguments as of `board_planes`."""
    _, height, width = shape
    out = np.empty((len(packed), height, width, FEATURES), np.float32)
    counts = np.empty((len(packed), COUNTS), np.float32)
    lib.sk_features(
        width,
        height,
        pointer(packed, "uint8", (len(packed), CELLS + height * width)),
        len(packed),
        pointer(out, "float32", out.shape, writable=True),
        pointer(counts, "float32", counts.shape, writable=True),
    )
    return np.moveaxis(out, -1, 1), counts


def attack_outcomes(packed: Bytes, shape: tuple[int, int, int]) -> Float32s:
    """Of the selected piece, on each square: the probabilities that its attack there wins, that it
    loses, and that a neighbour could take it there. Where nothing is selected, of each own piece
    that can only attack: the highest probability that an attack on a neighbour wins, the lowest
    that it loses, and 0. float32 [n, H * W, 3]."""
    _, height, width = shape
    out = np.empty((len(packed), height * width, OUTCOMES), np.float32)
    lib.sk_outcomes(
        width,
        height,
        pointer(packed, "uint8", (len(packed), CELLS + height * width)),
        len(packed),
        pointer(out, "float32", out.shape, writable=True),
    )
    return out


def distinct_views(observations: Bytes, legal: Bytes) -> tuple[Int64s, Int64s]:
    """Which views are different: what a side sees, uint8 [n, observation_bytes], and what it may
    do, uint8 [n, A], which on a board depends on moves longer ago than those that are seen.

    Returns the index of the first of each kind, int64 [m], in their order, and of every view which
    of the m kinds it is, int64 [n].
    """
    n = len(observations)
    first, each = np.empty(n, np.int64), np.empty(n, np.int64)
    table = np.zeros(2 << n.bit_length(), np.int32)
    found = lib.sk_distinct_rows(
        pointer(observations, "uint8", (n, observations.shape[1])),
        observations.shape[1],
        pointer(legal, "uint8", (n, legal.shape[1])),
        legal.shape[1],
        n,
        pointer(table, "int32", table.shape, writable=True),
        len(table),
        pointer(first, "int64", (n,), writable=True),
        pointer(each, "int64", (n,), writable=True),
    )
    return first[:found], each
