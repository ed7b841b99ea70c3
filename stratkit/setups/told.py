"""The setup that a PLAYER names, `setup=FILE[#NAME]`, and who begins from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import placements, variant
from stratkit.errors import InputError, error_context
from stratkit.notation.setups import Setup, file_and_name, setups_called
from stratkit.players.player import Decision, Player, Rows, Views, WrappingPlayer, decide
from stratkit.players.spec import Contestant


def read_setup(file: str, game: Game) -> Setup:
    """The first setup of a `.setups` file, or of `FILE#NAME`."""
    file, name = file_and_name(file)
    with error_context(file, only=OSError), open(file, "rb") as stream:
        for setup in setups_called(stream, file, variant(game.name), name):
            return setup
    raise InputError("no setup in it", file=file)


class ToldSetup(WrappingPlayer):
    """A player who was told its setup, uint8 [zone]: it decides on all but that."""

    def __init__(self, player: Player, game: str, setup: Setup) -> None:
        super().__init__(player)
        self._actions = placements(variant(game), setup)
        self._dtype = observation_dtype(variant(game).squares)

    def _decide(self, views: Views, values: bool) -> Decision:
        phases = np.ascontiguousarray(views.observations).view(self._dtype)["phase"].reshape(-1)
        told, rest = np.flatnonzero(phases), np.flatnonzero(phases == 0)
        n, parts = len(told), list[tuple[Rows, Decision]]()
        if n:
            actions = self._actions[views.numbers[told] % len(self._actions)].astype(np.int32)
            value = np.full(n, np.inf, np.float32)  # by which nobody gives up or draws
            parts.append((told, Decision(actions, np.ones(n, np.float32), value)))
        if len(rest):
            parts.append((rest, decide(self.player, views.take(rest), values)))
        return Decision.merged(len(views), parts)


def told_player(contestant: Contestant[Any], game: str) -> Any:
    """The player of a contestant, who begins from the setup that it was told, if any."""
    player = contestant.player
    return player if contestant.setup is None else ToldSetup(player, game, contestant.setup)
