"""The networks `graph` as a whole, by the engine: packed observations in, policies, values and
shares out.

Views are computed one by one, so that none changes another one; the last positions are kept for the
next views.
"""

from __future__ import annotations

import threading
from typing import Annotated, Any, NamedTuple

import numpy as np

from stratkit.arguments import Between, checked
from stratkit.arrays import Bytes, Float32s
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, length, lib, optional, pointer, writable

LANES = int(lib.SK_MLP_LANES)  # channels come in multiples of these
HIDDEN = int(lib.SK_GRAPH_HIDDEN)  # of a location and what it is compared with
MAX_CHANNELS, MAX_BLOCKS = int(lib.SK_GRAPH_CHANNELS), 100
MOST_BYTES = 2**25  # of the positions that a thread keeps

Channels = Annotated[int, Between(1, MAX_CHANNELS)]
Blocks = Annotated[int, Between(0, MAX_BLOCKS)]
Lanes = Annotated[int, Between(1, 16)]


class Outputs(NamedTuple):
    """What was asked of n views, else None.

    policy   float32 [n, A]
    values   float32 [n], for who acts
    shares   float32 [n, powers], which sum to 1: of who acts, and of those who follow it
    """

    policy: Float32s | None
    values: Float32s | None
    shares: Float32s | None


class WholeGraph:
    """A network `graph` for a `game` of Diplomacy, with these weights, float32 [graph_floats], in
    the order of cengine/diplomacy/graph.h: layer by layer, each [inputs, outputs]. Threads may
    share it. `ValueError`: the game is another one, or sizes do not fit.

        channels  a multiple of `LANES`
        shares    whether it tells those
        lanes     floats in a vector: 16, 8 or 1; None: what the processor has at most
    """

    @checked
    def __init__(
        self,
        game: Game,
        channels: Channels,
        blocks: Blocks,
        weights: Float32s,
        shares: bool = False,
        lanes: Lanes | None = None,
    ) -> None:
        size, most = _size(game, channels, blocks, shares), int(lib.sk_residual_lanes())
        lanes = most if lanes is None else lanes
        if lanes not in (1, 8, 16) or lanes > most:
            raise ValueError(f"lanes: this processor has {most}, not {lanes}")
        floats = (int(lib.sk_graph_floats(game.handle, size)),)
        at = pointer("weights", weights, "float32", floats)
        handle = lib.sk_graph_open(game.handle, size, lanes, at)
        if not handle:
            raise MemoryError(f"a network of {channels} channels")
        self._handle = ffi.gc(handle, lib.sk_graph_close)
        self.game, self.tells_shares = game, shares  # whose map the handle reads
        self._kept = threading.local()

    @checked
    def evaluate(
        self,
        packed: Bytes,
        legal: Bytes | None = None,
        values: bool = False,
        shares: bool = False,
    ) -> Outputs:
        """Of n views, uint8 [n, observation_bytes]: the policy, if their `legal` actions, uint8
        [n, A], are given; values and shares if they are wanted. `ValueError`: it tells no shares.
        """
        if shares and not self.tells_shares:
            raise ValueError("shares: the network tells none")
        game, n = self.game, length("packed", packed)
        seen = pointer("packed", packed, "uint8", (n, game.observation_bytes))
        may = optional("legal", legal, "uint8", (n, game.actions))
        out = Outputs(
            None if legal is None else np.empty((n, game.actions), np.float32),
            np.empty(n, np.float32) if values else None,
            np.empty((n, game.players), np.float32) if shares else None,
        )
        at = [ffi.NULL if array is None else writable(array) for array in out]
        lib.sk_graph_evaluate(self._positions(), seen, may, n, *at)
        return out

    def _positions(self) -> object:
        """The calling thread's."""
        if not (found := getattr(self._kept, "positions", None)):
            handle = lib.sk_graph_positions_open(self._handle, MOST_BYTES)
            if not handle:
                raise MemoryError(f"{MOST_BYTES} bytes of positions")
            found = self._kept.positions = ffi.gc(handle, lib.sk_graph_positions_close)
        return found


@checked
def has_map(game: Game) -> bool:
    """Whether the game has a map, which such a network reads."""
    return game.name.startswith("diplomacy:")


@checked
def graph_floats(game: Game, channels: Channels, blocks: Blocks, shares: bool = False) -> int:
    """How many weights such a network has. `ValueError` as there."""
    return int(lib.sk_graph_floats(game.handle, _size(game, channels, blocks, shares)))


def _size(game: Game, channels: int, blocks: int, shares: bool) -> Any:
    if not has_map(game):
        raise ValueError(f"game: {game.name} is no game of Diplomacy")
    if channels % LANES:
        raise ValueError(f"channels must be a multiple of {LANES}, not {channels}")
    return ffi.new("sk_graph_size *", (channels, blocks, shares))
