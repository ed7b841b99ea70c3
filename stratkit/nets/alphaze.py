"""AlphaZe**'s planes and its head of whole moves, on RISE (Blüml, Czech, Kersting 2023, section 7):
for boards of Stratego.

It reads 29 planes of a position between plies: of both sides the probability of each type, which
pieces are hidden from the other side, what is empty, the lakes, and whose turn it is. Each square
has a logit for each direction and number of steps: 3,600 moves on 10 x 10 squares. The logit of a
piece is that of all its moves together, so both actions of a ply have the policy of whole moves.
The paper does not learn setups: a deployment is uniform here.

The paper's table of planes is a picture. These are those of the code that was published with it.
That lacks the repetitions which the text names, and so does this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad, relu

from stratkit.engine.observation import (
    CELLS,
    ENEMY_PUBLIC,
    LAKES,
    NO_SQUARE,
    OWN_TYPES,
    PHASE,
    PLIES,
    SELECTED,
    STAGE,
)
from stratkit.engine.stratego import BOMB, EMPTY, FLAG, PIECE, REVEALED, SCOUT, SIDE, TYPE, TYPES
from stratkit.nets.expansion import expand
from stratkit.nets.network import MoveNetwork, last_layer
from stratkit.nets.rise import Rise
from stratkit.nets.whole_moves import Moves

SEEN = 2 * len(TYPES) + 5  # planes
DEPLOY, SELECT, TARGET = range(3)
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))  # north, south, east, west: ranks and files


class AlphaZeInputs(NamedTuple):
    """What the network reads of n views.

    planes     float32 [n, 29, H, W]
    head       int64 [n], what is decided
    selected   int64 [n], the square of the piece; 0: none
    possible   bool [n, M, H, W], the moves that no piece or lake bars
    """

    planes: Tensor
    head: Tensor
    selected: Tensor
    possible: Tensor


class AlphaZeEmbedding(NamedTuple):
    """Of n views.

    torso   float32 [n, C, H, W]
    moves   float32 [n, M, H W], logits of the moves from each square
    """

    torso: Tensor
    moves: Tensor


class AlphaZeNet(Rise, MoveNetwork):
    """shape: (82, H, W) of the game's observation; M moves leave each square."""

    numbers: Tensor

    def __init__(self, shape: tuple[int, int, int], channels: int, blocks: int) -> None:
        height, width = shape[1:]
        self.reach = max(height, width) - 1
        moves = len(WAYS) * self.reach
        super().__init__(shape, (height, width), channels, blocks, planes=SEEN, heads=moves)
        self.register_buffer("numbers", torch.from_numpy(_numbers(height, width)), persistent=False)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> AlphaZeInputs:  # type: ignore[override]
        """`pub` as in `expand`."""
        shape = (self.shape[0], *self.board)
        cells = packed[:, CELLS:].view(-1, *self.board)
        selected = packed[:, SELECTED].long()
        return AlphaZeInputs(
            _planes(packed, cells, expand(packed, shape, pub)),
            torch.where(packed[:, PHASE] == 1, DEPLOY, SELECT + packed[:, STAGE].long()),
            torch.where(selected == NO_SQUARE, 0, selected),
            torch.stack(list(_possible(cells, self.reach)), 1),
        )

    def embed(self, inputs: AlphaZeInputs) -> AlphaZeEmbedding:  # type: ignore[override]
        torso = super().embed(inputs)  # type: ignore[arg-type]
        moves = last_layer(self.policy, relu(self.before_policy(torso)))
        return AlphaZeEmbedding(torso, moves.flatten(2))

    def logits(  # type: ignore[override]
        self, embedding: AlphaZeEmbedding, inputs: AlphaZeInputs, legal: Tensor
    ) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        nothing = torch.finfo(torch.float32).min
        moves = embedding.moves.masked_fill(~inputs.possible.flatten(2), nothing)
        piece = moves.logsumexp(1)
        target = embedding.moves.transpose(1, 2)[
            torch.arange(len(moves), device=moves.device), inputs.selected
        ].gather(1, self.numbers[inputs.selected])
        decided = torch.stack([torch.zeros_like(piece), piece, target], 1)
        logits = decided[torch.arange(len(moves), device=moves.device), inputs.head]
        return logits.masked_fill(~legal.bool(), -torch.inf)

    def move_logits(
        self, embedding: AlphaZeEmbedding, inputs: AlphaZeInputs, moves: Moves
    ) -> Tensor:
        """As of `MoveNetwork`."""
        row, source, target = (
            torch.from_numpy(x).to(embedding.moves.device)
            for x in (moves.row, moves.source, moves.target)
        )
        return embedding.moves[row, self.numbers[source, target], source]

    def value(self, embedding: AlphaZeEmbedding, inputs: AlphaZeInputs) -> Tensor:  # type: ignore[override]
        return super().value(embedding.torso, inputs)  # type: ignore[arg-type]


def _planes(packed: Tensor, cells: Tensor, expanded: Tensor) -> Tensor:
    """float32 [n, 29, H, W]."""
    kind = cells & (PIECE | SIDE | REVEALED)
    turn = (packed[:, PLIES] & 1)[:, None, None].expand_as(cells)
    planes = [kind == PIECE, kind == PIECE | SIDE, cells == EMPTY]
    planes += [expanded[:, LAKES], turn]
    types = [expanded[:, OWN_TYPES], expanded[:, ENEMY_PUBLIC]]
    return torch.cat([*types, torch.stack([x.float() for x in planes], 1)], 1)


def _possible(cells: Tensor, reach: int) -> Iterator[Tensor]:
    """bool [n, H, W] of each way and number of steps: whether a piece of the side has this move
    from there, as the board stands."""
    kind = cells & TYPE
    movers = ((cells & (PIECE | SIDE)) == PIECE) & (kind != FLAG) & (kind != BOMB)
    free, enemy = cells == EMPTY, (cells & (PIECE | SIDE)) == PIECE | SIDE
    for rank, file in WAYS:
        passable = movers
        for steps in range(1, reach + 1):
            there = (steps * rank, steps * file)
            yield passable & _from(free | enemy, *there)
            passable = passable & _from(free, *there) & (kind == SCOUT)


def _from(x: Tensor, ranks: int, files: int) -> Tensor:
    """What is so many ranks and files on from each square; False beyond the edge."""
    height, width = x.shape[1:]
    size = max(abs(ranks), abs(files))
    around = pad(x, (size, size, size, size))
    return around[:, size + ranks :, size + files :][:, :height, :width]


def _numbers(height: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """int64 [S, S]: the number of the move from one square to another; 0 where there is none."""
    reach = max(height, width) - 1
    numbers = np.zeros((height * width, height * width), np.int64)
    for source in range(height * width):
        for way, (rank, file) in enumerate(WAYS):
            for steps in range(1, reach + 1):
                to = source // width + steps * rank, source % width + steps * file
                if 0 <= to[0] < height and 0 <= to[1] < width:
                    numbers[source, to[0] * width + to[1]] = way * reach + steps - 1
    return numbers
