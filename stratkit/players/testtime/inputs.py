"""What a network is shown: observations with eagerness to attack and without what memory excludes
(Perolat et al. 2022, supplement, "Test Time Improvements")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine import Game, board_planes, observation_dtype
from stratkit.engine.observation import PUBLIC
from stratkit.players.player import Floats
from stratkit.players.side_board import SideBoard
from stratkit.players.testtime import memory
from stratkit.players.testtime.options import PostProcessing


class ObservationEditor:
    """Changes the observations of `game`, which is played on a board, as `options` say."""

    def __init__(self, game: Game, options: PostProcessing) -> None:
        self.planes, self.height, self.width = game.shape
        self.dtype = observation_dtype(self.width * self.height)
        self.options = options

    def board(self, packed: bytes) -> SideBoard:
        """The position of a packed observation of play."""
        return SideBoard.of(self.width, self.height, packed)

    def eager(self, packed: Bytes) -> Bytes:
        """The observations, uint8 [n, B], as `eager` makes them."""
        return eager(packed, self.options.eager, self.dtype)

    def public(
        self,
        packed: Bytes,
        boards: Sequence[SideBoard | None],
        excluded: Sequence[list[int] | None],
    ) -> Floats | None:
        """The public information of observations without what memory excludes by square, as bits:
        float32 [n, 24, H, W] as in `expand`; None: as it is."""
        rows = [row for row, bits in enumerate(excluded) if bits and any(bits)]
        if self.options.memory == "off" or not rows:
            return None
        shape = (self.planes, self.height, self.width)
        public = board_planes(np.ascontiguousarray(packed), shape)[:, PUBLIC].copy()
        some = [(boards[row], excluded[row]) for row in rows]
        allowed = memory.possible([b for b, _ in some if b], [e for _, e in some if e])
        left = public[rows] * allowed
        if self.options.memory == "renormalised":
            left = memory.renormalised(left, public[rows])
        public[rows] = left
        return public


def eager(packed: Bytes, alpha: float, dtype: np.dtype[np.void]) -> Bytes:
    """The observations with less time left until the draw: the no-attack ratio r is replaced by
    1 - (1 - r)^alpha, for all that read it. It is written as so many 65535ths, so it is off by no
    more than 1 / 131070."""
    if alpha == 1:
        return packed
    packed = packed.copy()
    fields = packed.view(dtype)[:, 0]
    limited = fields["max_no_attack"] > 0
    ratio = fields["no_attack"] / np.maximum(fields["max_no_attack"], 1)
    shown = 65535 * (1 - (1 - np.minimum(ratio, 1)) ** alpha)
    fields["no_attack"] = np.where(limited, np.rint(shown), fields["no_attack"])
    fields["max_no_attack"] = np.where(limited, 65535, 0)
    return packed
