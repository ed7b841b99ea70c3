"""Observations as a network sees them that meets every game with its own flag on the right
(`mirrored.py`), as arrays."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Bools, Bytes
from stratkit.engine.observation import (
    CELLS,
    MOVES,
    ONLY_ATTACKS,
    SELECTED,
    SHOWN_PLIES,
)
from stratkit.engine.stratego import FLAG, PIECE, SIDE, TYPE


class MirrorImages:
    """Of boards (82, H, W), for a network that `mirrors` them or does not.

    mirrors   bool
    squares   int, of a board: S
    image     int64 [S], each square's in the mirror image
    left      bool [S], which squares are on the left
    """

    def __init__(self, shape: tuple[int, int, int], mirrors: bool) -> None:
        _, self.height, self.width = shape
        self.mirrors, self.squares = mirrors, self.height * self.width
        square = np.arange(self.squares)
        self.image = square + self.width - 1 - 2 * (square % self.width)
        self.left: Bools = self.image > square

    def see(self, packed: Bytes) -> tuple[Bytes, Bools]:
        """Observations uint8 [n, 172 + S] as the network sees them, and bool [n], which of them are
        mirror images."""
        if not self.mirrors:
            return packed, np.zeros(len(packed), bool)
        left = packed[:, CELLS:].reshape(-1, self.height, self.width)[:, :, : self.width // 2]
        own_flag = (left & (PIECE | SIDE | TYPE)) == PIECE | FLAG
        mirrored: Bools = own_flag.any((1, 2))
        seen = packed.copy()
        seen[mirrored] = self.reflected(packed[mirrored])
        return seen, mirrored

    def reflected(self, packed: Bytes) -> Bytes:
        """The observations of the mirror images, uint8 [n, 172 + S]."""
        other = np.arange(256, dtype=np.uint8)
        other[: self.squares] = self.image  # and what is no square stays as it is
        mirrored = packed.copy()
        files = packed[:, CELLS:].reshape(-1, self.height, self.width)[:, :, ::-1]
        mirrored[:, CELLS:] = files.reshape(len(packed), self.squares)
        mirrored[:, SELECTED] = other[packed[:, SELECTED]]
        plies = mirrored[:, MOVES:CELLS].reshape(-1, SHOWN_PLIES, 3)
        plies[:, :, :2] = other[plies[:, :, :2]]
        mirrored[:, MOVES:CELLS] = plies.reshape(len(packed), CELLS - MOVES)
        if packed[:, ONLY_ATTACKS:MOVES].any():
            bits = np.unpackbits(packed[:, ONLY_ATTACKS:MOVES], axis=1, bitorder="little")
            turned = bits[:, other[: bits.shape[1]]]
            mirrored[:, ONLY_ATTACKS:MOVES] = np.packbits(turned, axis=1, bitorder="little")
        return mirrored
