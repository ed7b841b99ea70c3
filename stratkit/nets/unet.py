"""DeepNash's network: a U-Net torso, three policy heads by phase of the game, and a value head
(Perolat et al. 2022, supplement, "Network Architecture" and figure 8).

Where the text leaves something open, this is what is built:

* The skip-out connection is a block's input, as the order of the text has it, so that the fine
  board of before the stride reaches the block that restores it; its 1x1 layer then needs no stride.
* The text ends all heads with a relu. A relu on logits kills gradients: the policy heads have none;
  the value head keeps it before its linear layer.
* A deconvolution has the weights of the convolution with the mirrored kernel that it is. With a
  stride that would be one over the board with zeros put between its squares.
* Where a block changes the number of channels, its residual connection has the 1x1 layer too.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import conv_transpose2d, relu

from stratkit.engine.observation import PHASE, STAGE
from stratkit.nets.expansion import (
    expand,
    no_attack_ratio,
    public_as_written,
    selected_type,
)
from stratkit.nets.network import Network, last_layer, on_cpu, value_layer

MOVABLE_TYPES = 10  # spy to marshal
ROWS = 32  # the heads see a multiple of this


class Size(NamedTuple):
    """Of a pyramid.

    outer, inner                 channels of its outer and inner blocks
    outer_blocks, inner_blocks   how many of each it has
    """

    outer: int
    inner: int
    outer_blocks: int
    inner_blocks: int


class ConvBlock(nn.Module):
    """A convolution resblock; stride 2 halves the board, rounding up."""

    def __init__(self, channels_in: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        half = channels // 2
        self.first = nn.Conv2d(channels_in, half, 3, stride, padding=1)
        self.second = nn.Conv2d(half, channels, 3, padding=1)
        same = stride == 1 and channels_in == channels
        self.residual = nn.Identity() if same else nn.Conv2d(channels_in, channels, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """[n, channels_in, H, W] -> [n, channels, H / stride, W / stride], rounded up."""
        inner = relu(self.second(relu(self.first(x))))
        return inner + self.residual(x)  # type: ignore[no-any-return]


class DeconvBlock(nn.Module):
    """A deconvolution resblock, which is also given the input of its symmetric convolution
    resblock."""

    def __init__(self, channels_in: int, channels: int, skip: int, stride: int = 1) -> None:
        super().__init__()
        half = channels // 2
        self.stride = stride
        self.first = _conv(channels_in, half)
        self.skip = nn.Conv2d(skip, half, 1)
        self.second = _conv(half, channels)
        same = stride == 1 and channels_in == channels
        self.residual = nn.Identity() if same else nn.Conv2d(channels_in, channels, 1)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        """x: [n, channels_in, h, w] -> [n, channels, H, W].

        skip: [n, skip, H, W], the input of the symmetric block; H is h, or about 2 h for stride 2.
        """
        if self.stride == 2:
            board = (skip.shape[2], skip.shape[3])
            first, residual = (strided(layer, x, board) for layer in (self.first, self.residual))
        else:
            first, residual = self.first(x), self.residual(x)
        inner = relu(self.second(relu(first) + self.skip(skip)))
        return inner + residual


def strided(layer: nn.Module, x: Tensor, board: tuple[int, int]) -> Tensor:
    """What a convolution makes of `spread(x, *board)`, without its multiplications by zero."""
    if not isinstance(layer, nn.Conv2d):
        return spread(x, *board)
    kernel, padding = layer.kernel_size[0], int(layer.padding[0])
    missing = [
        size - (2 * (small - 1) + kernel - 2 * padding)
        for size, small in zip(board, x.shape[2:], strict=True)
    ]
    mirrored = layer.weight.transpose(0, 1).flip(2, 3)
    return conv_transpose2d(
        x, mirrored, layer.bias, stride=2, padding=padding, output_padding=missing
    )


def spread(x: Tensor, height: int, width: int) -> Tensor:
    """[n, C, h, w] -> [n, C, height, width]: the squares of x at even places, zeros between.

    A convolution of this is a deconvolution of x with stride 2.
    """
    n, channels = x.shape[:2]
    out = x.new_zeros((n, height, width, channels))
    out[:, ::2, ::2] = x.permute(0, 2, 3, 1)
    return out.permute(0, 3, 1, 2)


def _conv(channels_in: int, channels: int) -> nn.Conv2d:
    return nn.Conv2d(channels_in, channels, 3, padding=1)


class Pyramid(nn.Module):
    """The module that the torso and every head are made of: [n, channels_in, H, W] ->
    [n, size.outer, H, W]."""

    def __init__(self, channels_in: int, size: Size) -> None:
        super().__init__()
        self.entry = _conv(channels_in, size.outer)
        # (channels in, channels, stride) of the way down; the way up mirrors it.
        plan = [(size.outer, size.outer, 1)] * size.outer_blocks + [(size.outer, size.outer, 2)]
        for _ in range(size.inner_blocks):
            plan.append((plan[-1][1], size.inner, 1))
        self.down = nn.ModuleList(ConvBlock(*step) for step in plan)
        self.up = nn.ModuleList()
        channels = plan[-1][1]
        for skip, out, stride in reversed(plan):
            self.up.append(DeconvBlock(channels, out, skip, stride))
            channels = out

    def forward(self, x: Tensor) -> Tensor:
        """[n, channels_in, H, W] -> [n, size.outer, H, W]."""
        x = relu(self.entry(x))
        skips = []
        for block in self.down:
            skips.append(x)
            x = block(x)
        for block in self.up:
            x = block(x, skips.pop())
        return x


class PolicyHead(nn.Module):
    """Board embedding and whatever else the phase knows -> logits [n, H * W]."""

    def __init__(self, channels_in: int, size: Size) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels_in, size._replace(outer_blocks=1, inner_blocks=0))
        self.last = _conv(size.outer, 1)

    def forward(self, x: Tensor) -> Tensor:
        """[n, channels_in, H, W] -> logits [n, H * W]."""
        return last_layer(self.last, self.pyramid(x)).flatten(1)


class ValueHead(nn.Module):
    """Board embedding, no-attack ratio and selected piece -> value [n]."""

    def __init__(self, channels_in: int, size: Size, squares: int) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels_in, size._replace(outer_blocks=0, inner_blocks=0))
        self.last = _conv(size.outer, 1)
        self.value = value_layer(squares)

    def forward(self, x: Tensor) -> Tensor:
        """[n, channels_in, H, W] -> values [n]."""
        squares = relu(last_layer(self.last, self.pyramid(x))).flatten(1)
        return last_layer(self.value, squares)[:, 0]


class UNetInputs(NamedTuple):
    """What a network reads of a batch; made once, given to every network that looks at the batch.
    Off the CPU each of `rows` may be all of them."""

    planes: Tensor  # float32 [n, 82, H, W]
    no_attack: Tensor  # float32 [n, 1, H, W]: the no-attack ratio, tiled
    selected: Tensor  # float32 [n, 10, H, W]: the selected piece by square and movable type
    rows: tuple[Tensor, Tensor, Tensor]  # int64: those that deploy, select, choose the target
    place: Tensor  # int64 [n]: where among these rows, one after the other, each row is


class UNet(Network):
    """DeepNash's network for boards of any size.

    shape: (82, H, W) of the game's observation; actions are the H * W squares. as_written: public
    information is that of the text's Eq. 6, unless a player brings its own.
    """

    shape: tuple[int, int, int]
    same_for_all = True

    def __init__(self, shape: tuple[int, int, int], size: Size, as_written: bool = False) -> None:
        super().__init__()
        self.shape, self.as_written = shape, as_written
        squares = shape[1] * shape[2]
        self.torso = Pyramid(shape[0], size)
        self.deployment = PolicyHead(size.outer, size)
        self.selection = PolicyHead(size.outer + 1, size)
        self.target = PolicyHead(size.outer + 1 + MOVABLE_TYPES, size)
        self.critic = ValueHead(size.outer + 1 + MOVABLE_TYPES, size, squares)
        self.apply(_begin)
        # The value's one channel before its relu begins alive, or it may never wake up.
        nn.init.normal_(self.critic.last.weight, std=0.1)
        assert self.critic.last.bias is not None
        nn.init.constant_(self.critic.last.bias, 0.5)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> UNetInputs:
        """What the network reads; `pub` as in `expand`.

        In inference mode off the CPU all heads read all rows, so that nothing waits for the device.
        Whoever learns waits once a chunk, and is spared half as much work again.
        """
        playing = torch.is_inference_mode_enabled() and not on_cpu(packed)
        by_phase = _every(packed) if playing else _by_phase(packed)
        no_attack = no_attack_ratio(packed)[:, None, None, None].expand(-1, -1, *self.shape[1:])
        if pub is None and self.as_written:
            pub = public_as_written(packed, self.shape)
        planes = expand(packed, self.shape, pub)
        return UNetInputs(planes, no_attack, self._selected(packed), *by_phase)

    def _selected(self, packed: Tensor) -> Tensor:
        _, height, width = self.shape
        tiled = torch.zeros((len(packed), height * width * MOVABLE_TYPES), device=packed.device)
        squares, kinds = (x[:, None] for x in selected_type(packed))
        # Where none is selected, 0 is written in the first place.
        place = (squares * MOVABLE_TYPES + kinds - 1).clamp_min(0)
        tiled.scatter_(1, place, (kinds > 0).float())
        return tiled.view(-1, height, width, MOVABLE_TYPES).permute(0, 3, 1, 2)

    def embed(self, inputs: UNetInputs) -> Tensor:
        """The torso: float32 [n, C, H, W]."""
        return self.torso(inputs.planes)  # type: ignore[no-any-return]

    def logits(self, embedding: Tensor, inputs: UNetInputs, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal: of each row those of its phase's head."""
        deploy, select, choose = inputs.rows
        parts = [
            self.deployment(_rows(deploy, embedding)),
            self.selection(_rows(select, embedding, inputs.no_attack)),
            self.target(_rows(choose, embedding, inputs.no_attack, inputs.selected)),
        ]
        logits = torch.cat(parts).index_select(0, inputs.place)
        return logits.masked_fill(~legal.bool(), -torch.inf)

    def value(self, embedding: Tensor, inputs: UNetInputs) -> Tensor:
        """Values float32 [n] for the acting side."""
        blocks = [x.to(embedding.dtype) for x in (inputs.no_attack, inputs.selected)]
        together = torch.cat([embedding, *blocks], 1)
        together = together.contiguous(memory_format=torch.channels_last)
        return self.critic(together)  # type: ignore[no-any-return]


def _begin(module: nn.Module) -> None:
    """Begins with planes that are about as large at the end of a pyramid as at its beginning (He et
    al. 2015; each block adds its part of a whole), else the deepest ones would hardly say anything.
    There is no bias, which would drown planes that are mostly empty, and play is uniform."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        assert module.bias is not None
        nn.init.zeros_(module.bias)
    elif isinstance(module, Pyramid):
        blocks = [*module.down, *module.up]
        for block in blocks:
            if isinstance(block.residual, nn.Conv2d):
                nn.init.kaiming_normal_(block.residual.weight, nonlinearity="linear")
            block.second.weight.data /= len(blocks) ** 0.5
    elif isinstance(module, PolicyHead):
        nn.init.zeros_(module.last.weight)


def _rows(rows: Tensor, *blocks: Tensor) -> Tensor:
    """These rows of [n, C, H, W] blocks, with the channels one after the other, channels last, and
    numbers like the first block's."""
    alike = [block.to(blocks[0].dtype) for block in blocks]
    picked = [block.permute(0, 2, 3, 1).index_select(0, rows) for block in alike]
    return torch.cat(picked, 3).permute(0, 3, 1, 2)


def _phase(packed: Tensor) -> Tensor:
    """uint8 [n]: 0 deployment, 1 and 2 the parts of a move."""
    return (2 * packed[:, PHASE] + packed[:, STAGE] + 1) % 3


def _every(packed: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """`UNetInputs.rows` and `.place` without a look at how many rows a phase has: the device need
    not be waited for, and what it does can be recorded."""
    every = torch.arange(len(packed), device=packed.device)
    return (every, every, every), _phase(packed).long() * len(packed) + every


def _by_phase(packed: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """`UNetInputs.rows` and `.place`.

    Each phase's rows are padded (with row 0) to a multiple: for a number of rows that it has not
    met, the convolution library takes longer to prepare than to compute.
    """
    phase = _phase(packed)
    counts = torch.stack([(phase == code).sum() for code in range(3)])
    place = torch.empty_like(phase, dtype=torch.int64)
    rows, before = [], 0
    for mine in torch.split(phase.argsort(stable=True), counts.tolist()):
        place[mine] = torch.arange(before, before + len(mine), device=packed.device)
        rows.append(torch.cat([mine, mine.new_zeros(-len(mine) % ROWS)]))
        before += len(rows[-1])
    return (rows[0], rows[1], rows[2]), place
