"""The setup that a PLAYER names, `setup=FILE[#NAME]`, and who begins from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import placements, variant
from stratkit.errors import InputError, error_context
from stratkit.notation.setups import Setup, file_and_name, setups_called
from stratkit.players.player import Decision, Games, Player, Sides, Views, Watcher, decide
from stratkit.players.spec import Contestant


def read_setup(file: str, game: Game) -> Setup:
    """The first setup of a `.setups` file, or of `FILE#NAME`."""
    file, name = file_and_name(file)
    with error_context(file, only=OSError), open(file, "rb") as stream:
        for setup in setups_called(stream, file, variant(game.name), name):
            return setup
    raise InputError("no setup in it", file=file)


class ToldSetup(Player):
    """A player who was told its setup, uint8 [zone]: it decides on all but that."""

    def __init__(self, player: Player, game: str, setup: Setup) -> None:
        self.player, self._actions = player, placements(variant(game), setup)
        self._dtype = observation_dtype(variant(game).squares)

    def begin(self, games: Games, sides: Sides) -> None:
        self.player.begin(games, sides)

    def act(self, views: Views) -> Decision:
        return self._act(views, values=False)

    def act_with_values(self, views: Views) -> Decision:
        """`ValuePlayer.act_with_values`."""
        return self._act(views, values=True)

    def watch(self, views: Views) -> None:
        """`Watcher.watch`."""
        if isinstance(self.player, Watcher):
            self.player.watch(views)
        else:
            self.player.act(views)

    def end(self, games: Games, sides: Sides) -> None:
        self.player.end(games, sides)

    def _act(self, views: Views, values: bool) -> Decision:
        phases = np.ascontiguousarray(views.observations).view(self._dtype)["phase"].reshape(-1)
        rest = np.flatnonzero(phases == 0)
        if len(rest) == len(views):
            return decide(self.player, views, values)
        actions = self._actions[views.numbers % len(self._actions)].astype(np.int32)
        mu, ends = np.ones(len(views), np.float32), np.zeros((3, len(views)), bool)
        value = np.full(len(views), np.inf, np.float32)  # by which nobody gives up or draws
        if len(rest):
            theirs = decide(self.player, views.take(rest), values)
            actions[rest], mu[rest] = theirs.actions, theirs.mu
            if theirs.values is not None:
                value[rest] = theirs.values
            for end, found in zip(
                ends, (theirs.resigned, theirs.agreed, theirs.out_of_time), strict=True
            ):
                end[rest] = False if found is None else found
        resigned, agreed, late = ends
        return Decision(actions, mu, value, resigned, agreed=agreed, out_of_time=late)


def told_player(contestant: Contestant[Any], game: str) -> Any:
    """The player of a contestant, who begins from the setup that it was told, if any."""
    player = contestant.player
    return player if contestant.setup is None else ToldSetup(player, game, contestant.setup)
