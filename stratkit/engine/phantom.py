"""Which phantom games are Hex; and best responses in those of at most nine cells, to policies that
know views only."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from stratkit.arguments import Player, Threads, checked, fitting
from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine.best_response import BothResponses
from stratkit.engine.game import Game
from stratkit.engine.library import lib, pointer, writable

NO_CELL = 255  # in a plan


@checked
def view_numbers(game: Game) -> int:
    """How many numbers of views a phantom game of at most nine cells has; 0: `game` is none."""
    return int(lib.sk_phantom_views(game.handle))


@checked
def joins_borders(game: Game) -> bool:
    """Whether a chain of stones from border to border wins, as in Hex and Dark Hex: player 0 joins
    the first row to the last, player 1 the columns. Views of other phantom games look alike."""
    return game.name.partition(":")[0] in ("hex", "dark_hex")


class PhantomViews:
    """What the players of a phantom game may see: number v has a digit a cell in base 3, 1 for an
    own stone, 2 for a stone of the enemy's that the player knows of.

        legal  uint8 [V, cells]: 1 where the player knows of no stone

    Some numbers come up in no game. `ValueError`: it is no phantom game of at most nine cells.
    """

    @checked
    def __init__(self, game: Game) -> None:
        n = view_numbers(game)
        if not n:
            raise ValueError(f"game must be a phantom game of at most 9 cells, not {game.name}")
        self.game = game
        self._digits = (np.arange(n)[:, None] // 3 ** np.arange(game.actions) % 3).astype(np.uint8)
        self.legal: Bytes = (self._digits == 0).astype(np.uint8)

    def __len__(self) -> int:
        """The number of views, V."""
        return len(self.legal)

    @checked
    def observations(self, player: Player) -> Bytes:
        """uint8 [V, observation_bytes]: how `Batch.observe` has them where `player` acts."""
        out = np.zeros((len(self), self.game.observation_bytes), np.uint8)
        out[:, player] = 1
        for stone in (1, 2):
            out[:, 1 + stone :: 2] = self._digits == stone
        return out

    @checked
    def numbers_of(self, observations: Bytes) -> Int64s:
        """The numbers of the views that look so, int64 [n]."""
        fitting("observations", observations, (None, self.game.observation_bytes))
        digits = (observations[:, 2::2] != 0) + 2 * (observations[:, 3::2] != 0)
        return np.asarray(digits @ 3 ** np.arange(self.game.actions), np.int64)

    def uniform(self) -> Float64s:
        """float64 [V, cells]: all legal cells alike."""
        return np.asarray(self.legal / np.maximum(self.legal.sum(1, keepdims=True), 1), np.float64)


class PhantomResponses(BothResponses):
    """`BothResponses` to `policies` of player 0 and 1, each float64 [V, cells] by the numbers of
    `PhantomViews`; and:

        plans     of each player, uint8 [2 ** cells - 1], its best response: the cell that it tries,
                  the plan after it found that empty, and the plan after it found it taken, which
                  are of one length; NO_CELL: it does not come there
        infosets  of each player, those of perfect recall
        bytes     that it took, beside the policies
    """

    _kind = "phantom"

    @checked
    def __init__(self, game: Game, policies: tuple[Float64s, Float64s], threads: Threads) -> None:
        views = view_numbers(game)
        if not views:
            raise ValueError(f"game must be a phantom game of at most 9 cells, not {game.name}")
        self.game, self._policies = game, policies
        shape = views, game.actions
        of_each = [pointer("policies", policy, "float64", shape) for policy in policies]
        self._plans = np.empty((2, 2**game.actions - 1), np.uint8)
        self._open(game.handle, *of_each, threads)

    @cached_property
    def histories(self) -> int:
        """All histories of the game."""
        n = int(lib.sk_phantom_response_histories(self._handle))
        if n < 0:
            raise MemoryError
        return n

    def _read(self, results: Any) -> None:
        lib.sk_phantom_response_read(self._handle, results, writable(self._plans))

    @property
    def plans(self) -> tuple[Bytes, Bytes]:
        """The best response of each player."""
        assert self._results
        return self._plans[0], self._plans[1]

    @property
    def infosets(self) -> tuple[int, int]:
        """Information sets of each player."""
        return self._results[0].infosets, self._results[1].infosets

    @property
    def bytes(self) -> int:
        """Memory of the walk."""
        return int(self._results[0].bytes)
