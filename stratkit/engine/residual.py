"""Residual blocks of convolutions on a board, as small networks have them, by the engine.

Winograd's minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray 2016, arXiv 1509.09308) multiplies less
than half as often as a convolution says. Sums differ by rounding. Boards are computed one by one,
so that none changes another one.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from stratkit.arguments import Between, checked
from stratkit.arrays import Float32s
from stratkit.engine.library import filled, length, lib, pointer, writable
from stratkit.engine.observation import MAX_SQUARES

MAX_CHANNELS = 1024
LANES = (16, 8, 1)  # floats at a time
# Of a filter's three weights, those of the four frequencies.
_FORTH = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])

Channels = Annotated[int, Between(1, MAX_CHANNELS)]
Lanes = Annotated[int, Between(1, 16)]


@checked
def residual_lanes(channels: Channels) -> int:
    """How many floats of so many channels this processor computes at a time: 16, 8 or 1. With 1
    others are faster."""
    most = lib.sk_residual_lanes()
    return next(lanes for lanes in LANES if lanes <= most and channels % lanes == 0)


def fitting_lanes(channels: int, lanes: int | None) -> int:
    """The lanes asked for, or as many as there are. `ValueError`: these channels have none such."""
    most = residual_lanes(channels)
    if lanes is None or (lanes in LANES and lanes <= most):
        return lanes or most
    raise ValueError(f"no {channels} channels by {lanes} lanes")


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
    board = _board("boards", boards, convolutions, lanes)
    channels = board.channels
    of_blocks = pointer("weights", weights, "float32", (convolutions, 16, channels, channels))
    bias = pointer("biases", biases, "float32", (convolutions, channels))
    of_boards = filled("boards", boards, "float32", boards.shape)
    if not lib.sk_residual(*board, of_boards, n, of_blocks, bias, convolutions // 2):
        raise MemoryError(f"boards of {channels} channels")


@checked
def residual_keep(
    boards: Float32s, weights: Float32s, biases: Float32s, lanes: Lanes | None = None
) -> Float32s:
    """The same for `residual_gradient`, of boards that stay as they are: float32
    [k + 1, n, H, W, c], what each convolution reads, and the outputs."""
    n, convolutions = length("boards", boards), length("weights", weights)
    board = _board("boards", boards, convolutions, lanes)
    channels = board.channels
    of_blocks = pointer("weights", weights, "float32", (convolutions, 16, channels, channels))
    bias = pointer("biases", biases, "float32", (convolutions, channels))
    pointer("boards", boards, "float32", boards.shape)
    kept = np.empty((convolutions + 1, *boards.shape), np.float32)
    kept[0] = boards
    if not lib.sk_residual_keep(*board, writable(kept), n, of_blocks, bias, convolutions // 2):
        raise MemoryError(f"boards of {channels} channels")
    return kept


@checked
def residual_gradient(
    kept: Float32s, filters: Float32s, gradients: Float32s, lanes: Lanes | None = None
) -> tuple[Float32s, Float32s]:
    """From what was `kept` and the `gradients` of the outputs, float32 [n, H, W, c], to those of
    the inputs, in place. Returns those of the filters, float32 [k, c, c, 3, 3], and of biases."""
    n, convolutions = length("gradients", gradients), length("filters", filters)
    board = _board("gradients", gradients, convolutions, lanes)
    channels, blocks = board.channels, convolutions // 2
    pointer("filters", filters, "float32", (convolutions, channels, channels, 3, 3))
    plain = np.asarray(filters)
    turned = residual_weights(np.ascontiguousarray(plain[..., ::-1, ::-1].swapaxes(1, 2)))
    inputs = pointer("kept", kept, "float32", (convolutions + 1, *gradients.shape))
    outputs = filled("gradients", gradients, "float32", gradients.shape)
    weights = np.zeros((convolutions, 16, channels, channels), np.float32)
    biases = np.zeros((convolutions, channels), np.float32)
    of_all = outputs, writable(weights), writable(biases)
    if not lib.sk_residual_gradient(*board, inputs, n, writable(turned), blocks, *of_all):
        raise MemoryError(f"boards of {channels} channels")
    each = weights.transpose(0, 3, 2, 1) @ np.kron(_FORTH, _FORTH).astype(np.float32)
    return each.reshape(plain.shape), biases


class _Board(NamedTuple):
    """What the library asks of boards."""

    height: int
    width: int
    channels: int
    lanes: int


def _board(name: str, boards: Float32s, convolutions: int, lanes: int | None) -> _Board:
    """Of boards [n, H, W, c]. `ValueError`: they are none, or the rest does not fit."""
    if boards.ndim != 4 or not 1 <= boards.shape[1] * boards.shape[2] <= MAX_SQUARES:
        raise ValueError(f"{name} must be [n, height, width, channels], not {boards.shape}")
    _, height, width, channels = boards.shape
    lanes = fitting_lanes(channels, lanes)
    if convolutions % 2:
        raise ValueError(f"no residual blocks of {convolutions} convolutions by {lanes} lanes")
    return _Board(height, width, channels, lanes)
