"""The network `fromto` as a whole, by the engine: packed observations in, policies and values out.

`residual.py` says on which processors that is fast. Views are computed one by one, so that none
changes another one; the last positions are kept for the next views.
"""

from __future__ import annotations

import threading
from typing import Annotated

import numpy as np

from stratkit.arguments import Between, checked
from stratkit.arrays import Bytes, Float32s
from stratkit.engine.library import ffi, length, lib, optional, pointer, writable
from stratkit.engine.observation import CELLS, _squares
from stratkit.engine.residual import MAX_CHANNELS, residual_lanes

MAX_BLOCKS = 100
MOST_BYTES = 2**25  # of the positions that a thread keeps

Channels = Annotated[int, Between(1, MAX_CHANNELS)]
Blocks = Annotated[int, Between(0, MAX_BLOCKS)]


@checked
def fromto_floats(shape: tuple[int, int, int], channels: Channels, blocks: Blocks) -> int:
    """How many weights there are, for boards whose planes have this shape, (82, H, W)."""
    _squares(shape)
    return int(lib.sk_fromto_floats(shape[2], shape[1], channels, blocks))


class WholeFromTo:
    """A network `fromto` with these weights, float32 [fromto_floats], in the order of
    cengine/fromto.c: layer by layer, each [inputs, outputs]. If it `mirrors`, it sees the own flag
    always on the right. Threads may share it."""

    @checked
    def __init__(
        self,
        shape: tuple[int, int, int],
        channels: Channels,
        blocks: Blocks,
        weights: Float32s,
        mirrors: bool = False,
    ) -> None:
        floats = pointer("weights", weights, "float32", (fromto_floats(shape, channels, blocks),))
        self.squares = _squares(shape)
        size = shape[2], shape[1], channels, blocks, residual_lanes(channels), mirrors
        handle = lib.sk_fromto_open(*size, floats)
        if not handle:
            raise MemoryError(f"a network of {channels} channels")
        self._handle = ffi.gc(handle, lib.sk_fromto_close)
        self._most = max(1, MOST_BYTES // (4 * self.squares * channels))
        self._kept = threading.local()

    @checked
    def evaluate(
        self, packed: Bytes, legal: Bytes | None = None, values: bool = False
    ) -> tuple[Float32s | None, Float32s | None]:
        """Of n views, uint8 [n, 172 + S]: if their `legal` actions, uint8 [n, S], are given, the
        policy float32 [n, S]; and if they are wanted, the values float32 [n] for who acts."""
        n = length("packed", packed)
        seen = pointer("packed", packed, "uint8", (n, CELLS + self.squares))
        may = optional("legal", legal, "uint8", (n, self.squares))
        policy = None if legal is None else np.empty((n, self.squares), np.float32)
        expected = np.empty(n, np.float32) if values else None
        out = [ffi.NULL if array is None else writable(array) for array in (policy, expected)]
        lib.sk_fromto_evaluate(self._positions(), seen, may, n, *out)
        return policy, expected

    def _positions(self) -> object:
        """The calling thread's."""
        if not (found := getattr(self._kept, "positions", None)):
            handle = lib.sk_positions_open(self._handle, self._most)
            if not handle:
                raise MemoryError(f"{self._most} positions")
            found = self._kept.positions = ffi.gc(handle, lib.sk_positions_close)
        return found
