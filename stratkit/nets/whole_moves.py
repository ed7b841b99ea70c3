"""Policies of whole moves: a piece and its destination, from one look at a position."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratkit.arrays import Bytes, Float32s, Int32s, Int64s
from stratkit.engine.observation import move_outcomes


class Moves(NamedTuple):
    """k whole moves of n positions, row by row, those of one piece side by side.

    row        int64 [k], their positions
    source     int64 [k], where from
    target     int64 [k], where to
    piece      int64 [k], a number of each position and source, from 0 on
    outcomes   float32 [k, 3], as of `move_outcomes`
    """

    row: Int64s
    source: Int64s
    target: Int64s
    piece: Int64s
    outcomes: Float32s


def moves_of(packed: Bytes, shape: tuple[int, ...], moves: Int32s) -> Moves:
    """From int32 [k, 3]: the row in `packed`, from and to."""
    planes, height, width = shape
    row, source, target = moves.astype(np.int64).T
    begins = np.diff(row, prepend=-1) | np.diff(source, prepend=-1)
    outcomes = move_outcomes(packed, (planes, height, width), moves)
    return Moves(row, source, target, np.cumsum(begins != 0) - 1, outcomes)


def move_policy(policy: Float32s, logits: Float32s, moves: Moves) -> Float32s:
    """The probability of each move, float32 [k]: that of its piece, by a policy float32 [n, A],
    and that of its destination, by logits float32 [k] among the moves of a piece."""
    begins = np.flatnonzero(np.diff(moves.piece, prepend=-1))
    weights = np.exp(logits - np.maximum.reduceat(logits, begins)[moves.piece])
    weights /= np.add.reduceat(weights, begins)[moves.piece]
    return np.asarray(policy[moves.row, moves.source] * weights, np.float32)
