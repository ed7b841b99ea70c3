"""The setups that a player makes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.stratego import setup_of, variant
from stratkit.players.player import Player, Views


def deploy(game: Game, player: Player, first: int, n: int) -> npt.NDArray[np.uint8]:
    """uint8 [n, zone]: the setups with which `player` would begin the games `first`, `first` +
    1, ... as red. A uniformly random player makes every setup with the same probability: each type
    takes its squares at random among those that are left."""
    kind = variant(game.name)
    batch = Batch(game, n)
    games = np.arange(first, first + n)
    actions = np.empty((n, kind.pieces), np.int32)
    for number in range(kind.pieces):
        numbers = np.full(n, number, np.int32)
        decision = player.act(Views(games, numbers, batch.legal(), batch.observe()))
        actions[:, number] = decision.actions
        batch.apply(decision.actions)
    return np.stack([setup_of(kind, row) for row in actions])
