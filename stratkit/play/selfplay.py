"""Self-play: one policy on every seat, its games as episodes, in the order of their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from stratkit.engine import Game
from stratkit.play.seating import GameSource, Opening, Seated
from stratkit.play.table import CUT


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


class SelfplayGames(GameSource):
    """The games `numbers`, the same player on every seat, begun as soon as there is a slot; `step`
    is its policy's."""

    def __init__(
        self, game: Game, numbers: Iterator[int], opening: Opening | None, step: int = -1
    ) -> None:
        self.players, self.opening, self.step = game.players, opening, step
        self._numbers, self.ended = numbers, False

    def take(self, free: int) -> Seated:
        numbers = np.fromiter(itertools.islice(self._numbers, free), np.int64)
        n = len(numbers)
        self.ended = self.ended or n < free
        openings = [self.opening(number) for number in numbers.tolist()] if self.opening else ()
        seats = np.zeros((n, self.players), np.int32)
        return Seated(numbers, seats, np.full(n, self.step), openings)

    def worth_playing(self, live: int) -> bool:
        return True

    def wait(self) -> None:
        return
