"""The first layer of the network `fromto`, for who learns: from a board's features, and back.

Boards are computed one by one, so that none changes another one. Of eight boards gradients are
added up as float32, and these sums as float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratkit.arguments import checked
from stratkit.arrays import Float32s
from stratkit.engine.library import last_size, lib, pointer, writable
from stratkit.engine.observation import COUNTS, FEATURES, MAX_SQUARES
from stratkit.engine.residual import MAX_CHANNELS, Lanes, fitting_lanes


@checked
def entry(
    features: Float32s, counts: Float32s, weights: Float32s, lanes: Lanes | None = None
) -> Float32s:
    """Features float32 [n, H, W, 48] and counts float32 [n, 51] of boards to relu of their weighted
    sums, float32 [n, H, W, c]. weights: float32 [48 + 51 + H * W, c], of features, of counts, and
    what is added on each square. `lanes`: as of `residual_lanes`, or fewer."""
    size = _size(features, last_size("weights", weights, MAX_CHANNELS), lanes)
    rows = FEATURES + COUNTS + size.squares
    inputs = _inputs(features, counts)
    of_weights = pointer("weights", weights, "float32", (rows, size.channels))
    out = np.empty((*features.shape[:3], size.channels), np.float32)
    lib.sk_entry(*size, *inputs, len(features), of_weights, writable(out))
    return out


@checked
def entry_gradient(
    features: Float32s,
    counts: Float32s,
    boards: Float32s,
    gradients: Float32s,
    lanes: Lanes | None = None,
) -> Float32s:
    """From `entry`'s boards, float32 [n, H, W, c], and their `gradients` to those of its weights,
    float32 [48 + 51 + H * W, c]."""
    size = _size(features, last_size("boards", boards, MAX_CHANNELS), lanes)
    inputs = _inputs(features, counts)
    shape = (*features.shape[:3], size.channels)
    outputs = pointer("boards", boards, "float32", shape)
    of_outputs = pointer("gradients", gradients, "float32", shape)
    out = np.zeros((FEATURES + COUNTS + size.squares, size.channels))
    of_all = outputs, of_outputs, writable(out)
    if not lib.sk_entry_gradient(*size, *inputs, len(features), *of_all):
        raise MemoryError(f"boards of {size.channels} channels")
    return out.astype(np.float32)


class _Size(NamedTuple):
    """What the library asks of boards."""

    squares: int
    channels: int
    lanes: int


def _size(features: Float32s, channels: int, lanes: int | None) -> _Size:
    """Of boards [n, H, W, 48]. `ValueError`: they are none, or lanes do not fit."""
    if features.ndim != 4 or not 1 <= features.shape[1] * features.shape[2] <= MAX_SQUARES:
        raise ValueError(f"features must be [n, height, width, {FEATURES}], not {features.shape}")
    squares = features.shape[1] * features.shape[2]
    return _Size(squares, channels, fitting_lanes(channels, lanes))


def _inputs(features: Float32s, counts: Float32s) -> tuple[object, object]:
    """Pointers to what a board is."""
    n, height, width, _ = features.shape
    of_features = pointer("features", features, "float32", (n, height, width, FEATURES))
    return of_features, pointer("counts", counts, "float32", (n, COUNTS))
