"""RISEv2-mobile, AlphaZe**'s network (Blüml, Czech, Kersting 2023; Czech, Korus, Kersting 2021),
for boards of Stratego and of Hex.

An entry convolution; bottleneck blocks with a depthwise convolution, which widen from block to
block; squeeze-excitation before the last five of them. So most of its arithmetic is in layers of
1 x 1. Here are stratkit's heads and inputs. Two things differ otherwise: groups are normalised
instead of batches, since what a position is worth must not depend on its company; and the value is
linear, without a tanh, as those of all networks here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from stratkit.engine import Game
from stratkit.engine.observation import PHASE, STAGE
from stratkit.nets.expansion import expand
from stratkit.nets.network import Network, last_layer, value_layer

GROUPS = 8  # that are normalised
EXCITED = 5  # of the last blocks
VALUE_CHANNELS, VALUE_HIDDEN = 8, 256
HEADS = 3  # deploy, select, target
SEES_PLAYER = 2  # the first bytes of a vector: who acts, one-hot


class RiseInputs(NamedTuple):
    """What the network reads of n views.

    planes   float32 [n, P, H, W]
    head     int64 [n], which of the policy's heads decides
    """

    planes: Tensor
    head: Tensor


class Rise(Network):
    """shape: (82, H, W) of Stratego, or that of a game that `sees_stones`, whose actions are the
    cells. board: rows and columns. `channels`: of the torso. Block i of `blocks` has channels / 2 +
    i * channels / 4 inner ones, as 128, 192, ... of 256 in the paper. `planes` and `heads`: other
    numbers of them, for whoever makes planes and reads heads otherwise.
    """

    same_for_all = True

    def __init__(
        self,
        shape: tuple[int, ...],
        board: tuple[int, int],
        channels: int,
        blocks: int,
        planes: int | None = None,
        heads: int | None = None,
    ) -> None:
        super().__init__()
        self.shape, self.board = shape, board
        planes = planes or (shape[0] if len(shape) == 3 else SEES_PLAYER + 2)
        self.entry = _conv(planes, channels, 3)
        self.blocks = nn.ModuleList(
            BottleneckBlock(channels, channels // 2 + i * channels // 4, i >= blocks - EXCITED)
            for i in range(blocks)
        )
        self.before_policy = _conv(channels, channels, 3)
        heads = heads or (HEADS if len(shape) == 3 else 1)
        self.policy = nn.Conv2d(channels, heads, 3, padding=1, bias=False)
        self.before_value = _conv(channels, VALUE_CHANNELS, 1)
        self.critic = nn.Sequential(
            nn.Linear(VALUE_CHANNELS * math.prod(board), VALUE_HIDDEN),
            nn.ReLU(),
            value_layer(VALUE_HIDDEN),
        )

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> RiseInputs:
        """`pub` as in `expand`; Hex has no such."""
        if len(self.shape) == 1:
            planes = stone_planes(packed, self.board)
            return RiseInputs(planes, torch.zeros_like(packed[:, 0]).long())
        shape = (self.shape[0], self.shape[1], self.shape[2])
        head = torch.where(packed[:, PHASE] == 1, 0, 1 + packed[:, STAGE].long())
        return RiseInputs(expand(packed, shape, pub), head)

    def embed(self, inputs: RiseInputs) -> Tensor:
        """float32 [n, C, H, W]."""
        x = relu(self.entry(inputs.planes))
        for block in self.blocks:
            x = block(x)
        return x

    def logits(self, embedding: Tensor, inputs: RiseInputs, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        every = last_layer(self.policy, relu(self.before_policy(embedding))).flatten(2)
        logits = every[torch.arange(len(every), device=every.device), inputs.head]
        return logits.masked_fill(~legal.bool(), -torch.inf)

    def value(self, embedding: Tensor, inputs: RiseInputs) -> Tensor:
        """Values float32 [n] for the acting side."""
        return last_layer(self.critic, relu(self.before_value(embedding)).flatten(1))[:, 0]


class BottleneckBlock(nn.Module):
    """1 x 1, depthwise 3 x 3, 1 x 1, beside the identity; `excited`: squeeze-excitation first."""

    def __init__(self, channels: int, inner: int, excited: bool) -> None:
        super().__init__()
        self.excitation = Excitation(channels) if excited else nn.Identity()
        self.widen = _conv(channels, inner, 1)
        self.depthwise = _conv(inner, inner, 3, groups=inner)
        self.narrow = _conv(inner, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """[n, C, H, W] -> [n, C, H, W]."""
        x = self.excitation(x)
        return x + self.narrow(relu(self.depthwise(relu(self.widen(x)))))  # type: ignore[no-any-return]


class Excitation(nn.Module):
    """Weighs the channels by what the whole board is like (Hu, Shen, Sun 2018), with ratio 2."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = max(1, channels // 2)
        self.squeeze, self.excite = nn.Linear(channels, half), nn.Linear(half, channels)

    def forward(self, x: Tensor) -> Tensor:
        """[n, C, H, W] -> [n, C, H, W], each channel weighted."""
        weight = torch.sigmoid(self.excite(relu(self.squeeze(x.mean((2, 3))))))
        return x * weight[:, :, None, None]


def _conv(channels_in: int, channels: int, kernel: int, groups: int = 1) -> nn.Sequential:
    """A convolution, and its groups of channels normalised."""
    convolution = nn.Conv2d(
        channels_in, channels, kernel, padding=kernel // 2, groups=groups, bias=False
    )
    return nn.Sequential(convolution, nn.GroupNorm(math.gcd(GROUPS, channels), channels))


def sees_stones(game: Game) -> bool:
    """Whether an observation is a vector of who acts and of both sides' stones on each cell of a
    board, as that of Hex is."""
    return game.board is not None and game.shape == (SEES_PLAYER + 2 * math.prod(game.board),)


def stone_planes(packed: Tensor, board: tuple[int, int]) -> Tensor:
    """float32 [n, 4, H, W]: whose turn it is, one-hot, on every cell; own stones; the enemy's."""
    player = packed[:, :SEES_PLAYER, None, None].expand(-1, -1, *board)
    stones = packed[:, SEES_PLAYER:].reshape(-1, *board, 2).permute(0, 3, 1, 2)
    return torch.cat([player, stones], 1).float()
