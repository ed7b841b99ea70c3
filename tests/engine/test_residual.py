"""Residual blocks by the engine are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d

from stratkit.engine import residual as module
from stratkit.engine.residual import (
    residual,
    residual_gradient,
    residual_keep,
    residual_lanes,
    residual_weights,
)


def convolved(x: np.ndarray, filters: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """float64 [n, H, W, c], with a border of zeros; filters [out, in, 3, 3]."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = (
        padded[:, i : i + height, j : j + width] @ filters[:, :, i, j].T
        for i in range(3)
        for j in range(3)
    )
    return sum(parts) + bias


def by_definition(x: np.ndarray, filters: np.ndarray, biases: np.ndarray) -> np.ndarray:
    out = x.astype(np.float64)
    for k in range(0, len(filters), 2):
        first = np.maximum(convolved(out, filters[k], biases[k]), 0)
        out = np.maximum(out + convolved(first, filters[k + 1], biases[k + 1]), 0)
    return out


def drawn(
    shape: tuple[int, int], channels: int, n: int = 3, blocks: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boards as they come out of a relu, filters that keep their size, and biases."""
    rng = np.random.default_rng(channels)
    boards = rng.standard_normal((n, *shape, channels)).clip(0)
    filters = rng.standard_normal((2 * blocks, channels, channels, 3, 3)) / (9 * channels) ** 0.5
    biases = rng.standard_normal((2 * blocks, channels))
    return boards.astype(np.float32), filters.astype(np.float32), biases.astype(np.float32)


@pytest.mark.parametrize("channels", [3, 8, 16, 24, 32])
@pytest.mark.parametrize("shape", [(10, 10), (6, 6), (3, 7), (5, 4), (1, 12)])
def test_they_are_those_of_the_definition(shape: tuple[int, int], channels: int) -> None:
    """With all numbers of lanes that the processor has for so many channels."""
    boards, filters, biases = drawn(shape, channels)
    wanted = by_definition(boards, filters, biases)
    assert wanted.std() > 0.1
    for lanes in (lanes for lanes in (1, 8, 16) if lanes <= residual_lanes(channels)):
        found = boards.copy()
        residual(found, residual_weights(filters), biases, lanes)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("channels", [3, 8, 16])
@pytest.mark.parametrize("shape", [(6, 6), (3, 7), (5, 4)])
def test_gradients_are_those_of_the_definition(shape: tuple[int, int], channels: int) -> None:
    """Of 11 boards, some of which are computed together, and of each alone."""
    boards, filters, biases = drawn(shape, channels, n=11)
    upon = np.random.default_rng(1).standard_normal(boards.shape).astype(np.float32)
    leaves = [torch.from_numpy(x).double().requires_grad_() for x in (boards, filters, biases)]
    x = leaves[0].permute(0, 3, 1, 2)
    for k in range(0, len(filters), 2):
        first = conv2d(x, leaves[1][k], leaves[2][k], padding=1).relu()
        x = (x + conv2d(first, leaves[1][k + 1], leaves[2][k + 1], padding=1)).relu()
    wanted = torch.autograd.grad(x, leaves, torch.from_numpy(upon).double().permute(0, 3, 1, 2))
    for lanes in (lanes for lanes in (1, 8, 16) if lanes <= residual_lanes(channels)):
        kept, gradients = (
            residual_keep(boards, residual_weights(filters), biases, lanes),
            upon.copy(),
        )
        np.testing.assert_array_equal(kept[0], boards)
        np.testing.assert_allclose(kept[-1], x.detach().permute(0, 2, 3, 1), rtol=1e-5, atol=1e-5)
        found = gradients, *residual_gradient(kept, filters, gradients, lanes)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
        alone = upon[9:10].copy()
        residual_gradient(kept[:, 9:10].copy(), filters, alone, lanes)
        np.testing.assert_array_equal(alone[0], gradients[9])


def test_a_board_does_not_depend_on_those_beside_it() -> None:
    boards, filters, biases = drawn((10, 10), 32, n=5)
    weights, alone = residual_weights(filters), boards[3:4].copy()
    residual(alone, weights, biases)
    residual(boards, weights, biases)
    np.testing.assert_array_equal(alone[0], boards[3])
    nothing = np.empty((0, 10, 10, 32), np.float32)
    residual(nothing, weights, biases)


def test_lanes_are_those_of_processor_and_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        sk_residual_lanes = staticmethod(lambda: 16)

    monkeypatch.setattr(module, "lib", Library)
    assert [residual_lanes(channels) for channels in (32, 16, 24, 8, 7)] == [16, 16, 8, 8, 1]
    Library.sk_residual_lanes = staticmethod(lambda: 1)
    assert residual_lanes(32) == 1


def test_others_are_refused() -> None:
    boards, filters, biases = drawn((4, 4), 7)
    weights = residual_weights(filters)
    with pytest.raises(ValueError, match=r"no 7 channels by 8 lanes"):
        residual(boards, weights, biases, 8)
    with pytest.raises(ValueError, match=r"no residual blocks of 3 convolutions by 1 lanes"):
        residual(boards, weights[:3], biases[:3])
    with pytest.raises(ValueError, match=r"boards must be \[n, height, width, channels\]"):
        residual(boards[0], weights, biases)
    with pytest.raises(ValueError, match="weights must be a contiguous array"):
        residual(boards, weights[:, :, :5], biases)
