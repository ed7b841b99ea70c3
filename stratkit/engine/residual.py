"""Residual blocks of convolutions on a board, as small networks have them, by the engine.

Winograd's minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray 2016, arXiv 1509.09308) multiplies less
than half as often as a convolution says. Sums differ by rounding. Boards are computed one by one,
so that none changes another one.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from stratkit.arguments import Between, checked
from stratkit.arrays import Float32s
from stratkit.engine.library import filled, length, lib, pointer
from stratkit.engine.observation import MAX_SQUARES

MAX_CHANNELS = 1024
# Of a filter's three weights, those of the four frequencies.
_FORTH = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])

Channels = Annotated[int, Between(1, MAX_CHANNELS)]
Lanes = Annotated[int, Between(1, 16)]


@checked
def residual_lanes(channels: Channels) -> int:
    """How many floats of so many channels this processor computes at a time: 16, 8 or 1. With 1
    others are faster."""
    most = lib.sk_residual_lanes()
    return next(lanes for lanes in (16, 8, 1) if lanes <= most and channels % lanes == 0)


def residual_weights(filters: Float32s) -> Float32s:
    """What `residual` reads of the filters of k convolutions, float32 [k, c, c, 3, 3]: float32
    [k, 16, c, c]."""
    k, c = length("filters", filters), filters.shape[1] if filters.ndim > 1 else 0
    pointer("filters", filters, "float32", (k, c, c, 3, 3))
    plain = np.asarray(filters)  # of a masked array the numbers, as C would have them
    each = plain.reshape(k, c, c, 9).astype(np.float64) @ np.kron(_FORTH, _FORTH).T
    return np.ascontiguousarray(each.transpose(0, 3, 2, 1), np.float32)


@checked
def residual(
    boards: Float32s, weights: Float32s, biases: Float32s, lanes: Lanes | None = None
) -> None:
    """Boards float32 [n, H, W, c], in place, through the blocks of two convolutions each, with
    `residual_weights` [k, 16, c, c] and `biases` float32 [k, c]: x to relu(x + second(relu(first)))
    for each block. `lanes`: as of `residual_lanes`, or fewer."""
    n, convolutions = length("boards", boards), length("weights", weights)
    if boards.ndim != 4 or not 1 <= boards.shape[1] * boards.shape[2] <= MAX_SQUARES:
        raise ValueError(f"boards must be [n, height, width, channels], not {boards.shape}")
    _, height, width, channels = boards.shape
    most = residual_lanes(channels)
    lanes = most if lanes is None else lanes
    if convolutions % 2 or lanes not in (1, 8, 16) or lanes > most:
        raise ValueError(f"no residual blocks of {convolutions} convolutions by {lanes} lanes")
    of_blocks = pointer("weights", weights, "float32", (convolutions, 16, channels, channels))
    bias = pointer("biases", biases, "float32", (convolutions, channels))
    of_boards = filled("boards", boards, "float32", boards.shape)
    board = height, width, channels, lanes, of_boards, n
    if not lib.sk_residual(*board, of_blocks, bias, convolutions // 2):
        raise MemoryError(f"boards of {channels} channels")
