"""Self-play: one policy on every seat, or on one of each game, the others' being those of frozen
players, by turns; its games as episodes, in the order of their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.play.opponents import ByTurns
from stratkit.play.seating import GameSource, Opening, Seated
from stratkit.play.table import CUT
from stratkit.players.player import Decision, Views, WrappingPlayer, decide


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


class Frozen(WrappingPlayer):
    """An opponent of self-play: nobody learns from what `player` decides, so no probability and no
    target of a search is handed on. `UsageError`: it resigned."""

    def _decide(self, views: Views, values: bool) -> Decision:
        decision = decide(self.player, views, values)
        if decision.resigned is not None and decision.resigned.any():
            raise UsageError("the opponent resigned, but self-play plays games out")
        return Decision(decision.actions, np.full(len(views), np.nan, np.float32))


class SelfplayGames(GameSource):
    """The games `numbers`, begun as soon as there is a slot; `step` is the policy's. Player 0 has
    one seat, the next one in every game, and of the `opponents` one has the others: it may be 0,
    too."""

    def __init__(
        self,
        game: Game,
        numbers: Iterator[int],
        opening: Opening | None,
        step: int = -1,
        opponents: ByTurns | None = None,
    ) -> None:
        self.players, self.opening, self.step = game.players, opening, step
        self.opponents = opponents or ByTurns((0,), game.players)
        self._numbers, self.ended, self._begun = numbers, False, 0

    def take(self, free: int) -> Seated:
        room = self.opponents.room(self._begun)
        free = free if room is None else min(free, room)
        numbers = np.fromiter(itertools.islice(self._numbers, free), np.int64)
        n = len(numbers)
        self._begun += n
        self.ended = self.ended or n < free
        openings = [self.opening(number) for number in numbers.tolist()] if self.opening else ()
        other = self.opponents.met(numbers)[:, None]
        own = np.arange(self.players) == numbers[:, None] % self.players
        seats = np.where(own, np.int32(0), other)
        return Seated(numbers, seats, np.full(n, self.step), openings)

    def worth_playing(self, live: int) -> bool:
        return True

    def wait(self) -> None:
        return
