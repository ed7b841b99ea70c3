"""The heads of the network `fromto`, for who learns: from boards to logits and values, and back.

Views are computed one by one, so that none changes another one. Gradients are added up as float32,
and the sums of 32 views as float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stratkit.arguments import checked, within
from stratkit.arrays import Bytes, Float32s, Int64s
from stratkit.engine.library import ffi, last_size, length, lib, pointer, writable
from stratkit.engine.observation import COUNTS, MAX_SQUARES, OUTCOMES
from stratkit.engine.residual import MAX_CHANNELS, Lanes, fitting_lanes
from stratkit.engine.stratego import TYPES

PARTS = 3  # what is decided: a setup, a piece, its destination


class HeadViews(NamedTuple):
    """n views of m boards of S squares.

    boards     float32 [m, S, c], as the last block leaves them
    counts     float32 [m, 51], as of `board_features`
    position   int64 [n], each view's board
    part       int64 [n], what is decided: 0 a setup, 1 a piece, 2 its destination
    square     int64 [n], the chosen piece's
    to_place   int64 [n], the type to be placed; 0: none
    outcomes   float32 [n, S, 3], as of `attack_outcomes`
    legal      uint8 [n, S]
    """

    boards: Float32s
    counts: Float32s
    position: Int64s
    part: Int64s
    square: Int64s
    to_place: Int64s
    outcomes: Float32s
    legal: Bytes


class Heads(NamedTuple):
    """What heads say of n views.

    logits   float32 [n, S], -inf where illegal
    values   float32 [n]
    read     float32 [m, 3, c], what `heads_gradient` asks of the boards
    """

    logits: Float32s
    values: Float32s
    read: Float32s


@checked
def heads(views: HeadViews, weights: Float32s, lanes: Lanes | None = None) -> Heads:
    """What they say by these weights, float32 [k], in the order of cengine/heads.c: layer by layer,
    each [inputs, outputs]. `lanes`: as of `residual_lanes`, or fewer."""
    given, squares, channels = _views(views, lanes)
    n, m = len(views.position), len(views.boards)
    of_weights = _weights(weights, squares, channels)
    out = Heads(
        np.empty((n, squares), np.float32),
        np.empty(n, np.float32),
        np.empty((m, 3, channels), np.float32),
    )
    given.read = writable(out.read)
    lib.sk_heads(given, of_weights, given.read, writable(out.logits), writable(out.values))
    return out


@checked
def heads_gradient(
    views: HeadViews,
    weights: Float32s,
    read: Float32s,
    of_logits: Float32s,
    of_values: Float32s,
    lanes: Lanes | None = None,
) -> tuple[Float32s, Float32s]:
    """From gradients of logits, float32 [n, S], and values, float32 [n], to those of boards,
    float32 [m, S, c], and weights, float32 [k]. `read`: as of `heads`."""
    given, squares, channels = _views(views, lanes)
    n, m = len(views.position), len(views.boards)
    given.read = pointer("read", read, "float32", (m, 3, channels))
    of_weights = _weights(weights, squares, channels)
    logits = pointer("of_logits", of_logits, "float32", (n, squares))
    values = pointer("of_values", of_values, "float32", (n,))
    boards, out = np.empty(views.boards.shape, np.float32), np.zeros(len(weights))
    filled = writable(boards), writable(out)
    if not lib.sk_heads_gradient(given, of_weights, logits, values, *filled):
        raise MemoryError(f"{m} boards of {channels} channels")
    return boards, out.astype(np.float32)


def _views(views: HeadViews, lanes: int | None) -> tuple[Any, int, int]:
    """What the library asks, squares and channels. The caller keeps the arrays alive."""
    m, n = length("boards", views.boards), length("position", views.position)
    if views.boards.ndim != 3 or not 1 <= views.boards.shape[1] <= MAX_SQUARES:
        raise ValueError(f"boards must be [m, squares, channels], not {views.boards.shape}")
    squares, channels = views.boards.shape[1], last_size("boards", views.boards, MAX_CHANNELS)
    out = ffi.new("sk_views *")
    out.squares, out.channels, out.lanes = squares, channels, fitting_lanes(channels, lanes)
    out.m, out.n = m, n
    out.boards = pointer("boards", views.boards, "float32", (m, squares, channels))
    out.counts = pointer("counts", views.counts, "float32", (m, COUNTS))
    most = {"position": m, "part": PARTS, "square": squares, "to_place": len(TYPES)}
    for name, size in most.items():
        array = getattr(views, name)
        setattr(out, name, pointer(name, array, "int64", (n,)))
        within(name, array, 0, size - 1)
    out.outcomes = pointer("outcomes", views.outcomes, "float32", (n, squares, OUTCOMES))
    out.legal = pointer("legal", views.legal, "uint8", (n, squares))
    return out, squares, channels


def _weights(weights: Float32s, squares: int, channels: int) -> Any:
    shape = (int(lib.sk_heads_floats(squares, channels)),)
    return pointer("weights", weights, "float32", shape)
