"""AlphaZe**'s planes of Hex and Dark Hex, on RISE (Blüml, Czech, Kersting 2023, section 7).

Each side's stones have three planes: those joined to its first border, those joined to its last,
and those joined to neither. A plane tells who acts. The side to move comes first, as in all inputs
here; player 0 joins the first row to the last one, player 1 the columns.

Whether the table of planes, a picture, has more is not known. One is added: the enemy's stones that
a world only assumes, which the text keeps for Stratego. Own stones that the enemy has not met have
none, since no player of Dark Hex knows which these are.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from stratkit.nets.network import on_cpu
from stratkit.nets.rise import SEES_PLAYER, Rise, RiseInputs

SEEN = 8  # planes
ASSUMED = 2  # what stands for a stone that is hidden from the side to move
BESIDE = ((0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 1.0, 0.0))  # a cell and its neighbours


class AlphaZeHex(Rise):
    """shape: that of a game that `joins_borders`, on a board of these rows and columns."""

    def __init__(
        self, shape: tuple[int, ...], board: tuple[int, int], channels: int, blocks: int
    ) -> None:
        super().__init__(shape, board, channels, blocks, planes=SEEN)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> RiseInputs:
        """There is no `pub`."""
        planes = joined_planes(packed, self.board)
        return RiseInputs(planes, torch.zeros_like(packed[:, 0]).long())


def joined_planes(packed: Tensor, board: tuple[int, int]) -> Tensor:
    """float32 [n, 8, H, W]: own stones joined to the first border, to the last one, to neither; the
    enemy's; 1 everywhere where player 1 acts; the enemy's stones that are only assumed."""
    cells = packed[:, SEES_PLAYER:].view(-1, *board, 2).permute(0, 3, 1, 2)
    stones, acts = (cells > 0)[:, :, None], packed[:, 1].long()
    sides = torch.stack([acts, 1 - acts], 1)
    joined = _reached(stones & _borders(board, packed.device)[sides], stones)
    neither = stones & ~joined.any(2, keepdim=True)
    by_side = torch.cat([joined, neither], 2).flatten(1, 2)
    player = acts.bool()[:, None, None].expand(-1, *board)
    more = torch.stack([player, cells[:, 1] == ASSUMED], 1)
    return torch.cat([by_side, more], 1).float()


def _borders(board: tuple[int, int], device: torch.device) -> Tensor:
    """bool [2, 2, H, W]: the first and the last line of each player."""
    height, width = board
    row = torch.arange(height, device=device)[:, None].expand(board)
    column = torch.arange(width, device=device).expand(board)
    lines = [row == 0, row == height - 1, column == 0, column == width - 1]
    return torch.stack(lines).view(2, 2, *board)


def _reached(begin: Tensor, stones: Tensor) -> Tensor:
    """bool [n, 2, 2, H, W]: the stones that chains join to those of `begin`, which are some."""
    kernel = _beside(begin.device)
    height, width = begin.shape[-2:]
    reached = begin
    # Off the CPU nobody asks whether it is done: no chain has more stones than the board.
    for _ in range(height * width - 1):
        beside = conv2d(reached.float().view(-1, 1, height, width), kernel, padding=1) > 0.5
        grown = beside.view_as(reached) & stones
        if on_cpu(begin) and torch.equal(grown, reached):
            break
        reached = grown
    return reached


@cache
def _beside(device: torch.device) -> Tensor:
    """`BESIDE` as the weight of a convolution, copied once: a recorded launch copies nothing."""
    return torch.tensor(BESIDE, device=device)[None, None]
