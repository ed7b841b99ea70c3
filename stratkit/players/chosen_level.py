"""The level that a person chooses before each game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Int64s
from stratkit.errors import UsageError
from stratkit.players.player import Decision, Games, Player, Sides, Views, decide, watch


class ChosenLevel(Player):
    """One of `levels`, the weakest first, plays a game: that which was chosen before its first
    turn."""

    def __init__(self, levels: Sequence[Player]) -> None:
        self.levels = levels
        self._chosen: int | None = None  # from 1
        self._begun: tuple[Games, Sides] | None = None  # a game that the level has not begun

    def choose(self, level: int) -> None:
        """This level, from 1, plays from now on."""
        self._chosen = level

    def drawn(self, games: Games, sides: Sides) -> Int64s:
        """int64 [n]: which level plays, as `MixturePlayer.drawn`."""
        return np.full(len(games), (self._chosen or 1) - 1, np.int64)

    def begin(self, games: Games, sides: Sides) -> None:
        self._begun = games, sides

    def act(self, views: Views) -> Decision:
        return self._level().act(views)

    def act_with_values(self, views: Views) -> Decision:
        """`ValuePlayer.act_with_values`: without values, where the level has none."""
        return decide(self._level(), views, values=True)

    def watch(self, views: Views) -> None:
        """`Watcher.watch`."""
        watch(self._level(), views)

    def end(self, games: Games, sides: Sides) -> None:
        if self._begun is None:
            self._level().end(games, sides)
        self._begun = None

    def _level(self) -> Player:
        if self._chosen is None:
            raise UsageError("level=any is for a match with a person, who chooses the level")
        level = self.levels[self._chosen - 1]
        if self._begun is not None:
            level.begin(*self._begun)
            self._begun = None
        return level
