"""A small residual network for small boards.

On a board of 6 x 6 a U-Net has little to pool, and a machine without a GPU learns from several
times more games with this network than with the smallest U-Net. It reads the same 82 planes; one
policy head serves all phases of the game, since the planes tell them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, relu_
from torch.autograd.function import once_differentiable
from torch.nn.functional import relu

from stratkit.engine.observation import MAX_SQUARES
from stratkit.engine.residual import (
    residual,
    residual_gradient,
    residual_keep,
    residual_lanes,
    residual_weights,
)
from stratkit.nets.expansion import expand
from stratkit.nets.network import Network, last_layer, on_cpu, value_layer


class PlainNet(Network):
    """An entry convolution, residual blocks, and heads of one layer and two.

    shape: (82, H, W) of the game's observation; actions are the H * W squares.
    """

    shape: tuple[int, int, int]
    same_for_all = True

    def __init__(self, shape: tuple[int, int, int], channels: int, blocks: int) -> None:
        super().__init__()
        self.shape = shape
        self.entry = nn.Conv2d(shape[0], channels, 3, padding=1)
        self.blocks = nn.ModuleList(ResidualBlock(channels) for _ in range(blocks))
        self.policy = nn.Conv2d(channels, 1, 1)
        self.critic = nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), value_layer(channels))

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Tensor:
        """The planes, float32 [n, 82, H, W]; `pub` as in `expand`."""
        return expand(packed, self.shape, pub)

    def embed(self, inputs: Tensor) -> Tensor:
        """float32 [n, C, H, W]."""
        return through(self.blocks, relu(self.entry(inputs)))

    def logits(self, embedding: Tensor, inputs: Tensor, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        logits = last_layer(self.policy, embedding).flatten(1)
        return logits.masked_fill(~legal.bool(), -torch.inf)

    def value(self, embedding: Tensor, inputs: Tensor) -> Tensor:
        """Values float32 [n] for the acting side, from the mean over the board."""
        return last_layer(self.critic, embedding.mean((2, 3)))[:, 0]


class ResidualBlock(nn.Module):
    """Two convolutions beside the identity, then a relu."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """[n, C, H, W] -> [n, C, H, W]."""
        return relu_(x + self.second(relu_(self.first(x))))


def through(blocks: nn.ModuleList, x: Tensor) -> Tensor:
    """[n, C, H, W] through residual blocks. If a gradient is wanted, by the engine where it is
    faster: its sums differ by rounding."""
    if len(blocks) and x.requires_grad and torch.is_grad_enabled() and engine_is_faster(x):
        return _Through.apply(x, *blocks.parameters())  # type: ignore[no-any-return, no-untyped-call]
    for block in blocks:
        x = block(x)
    return x


def through_without_graph(blocks: nn.ModuleList, x: Tensor) -> Tensor:
    """The same without a graph, by the engine where it is faster; `x` may be overwritten. Its sums
    differ by rounding. Weights are made ready each time, since a learner moves them."""
    if not engine_is_faster(x):
        return through(blocks, x)
    each = [parameter.detach().numpy() for parameter in blocks.parameters()]
    filters, biases = np.stack(each[::2]), np.stack(each[1::2])
    boards = x.detach().permute(0, 2, 3, 1).contiguous()
    residual(boards.numpy(), residual_weights(filters), biases)
    return boards.permute(0, 3, 1, 2)


class _Through(torch.autograd.Function):
    """Residual blocks by the engine, forth and back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *parameters: Tensor) -> Tensor:
        each = [parameter.detach().numpy() for parameter in parameters]
        filters, biases = np.stack(each[::2]), np.stack(each[1::2])
        boards = x.detach().permute(0, 2, 3, 1).contiguous().numpy()
        ctx.kept, ctx.filters = residual_keep(boards, residual_weights(filters), biases), filters
        return torch.from_numpy(ctx.kept[-1]).permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
        boards = gradient.permute(0, 2, 3, 1).contiguous()
        if boards.data_ptr() == gradient.data_ptr():  # which is not ours
            boards = boards.clone()
        each = zip(*residual_gradient(ctx.kept, ctx.filters, boards.numpy()), strict=True)
        of_parameters = (torch.from_numpy(x) for pair in each for x in pair)
        return boards.permute(0, 3, 1, 2), *of_parameters


def engine_is_faster(x: Tensor) -> bool:
    """For boards [n, C, H, W]. Of many channels on a small board it would mostly read weights, anew
    for each board."""
    if not on_cpu(x) or torch.is_autocast_enabled("cpu") or x.dtype != torch.float32:
        return False
    _, channels, height, width = x.shape
    return channels <= height * width <= MAX_SQUARES and residual_lanes(channels) > 1
