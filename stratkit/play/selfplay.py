"""Self-play: one policy on every seat, its games as episodes, in the order of their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.play.seating import Seating
from stratkit.play.table import CUT

Opening = Callable[[int], npt.NDArray[np.int32]]  # game number -> actions that begin the game


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


def seatings(
    game: Game, numbers: Iterable[int], opening: Opening | None, step: int = -1
) -> Iterator[Seating]:
    """The games `numbers`, the same player on every seat; `step` is its policy's."""
    seats = (0,) * game.players
    for number in numbers:
        if opening:
            yield Seating(number, seats, opening(number), step)
        else:
            yield Seating(number, seats, step=step)


def numbers_of(first: int, count: int | None) -> Iterable[int]:
    """The game numbers from `first` on, without end when `count` is None."""
    return itertools.count(first) if count is None else range(first, first + count)


def part_of(games: int, part: int, parts: int) -> tuple[int, int]:
    """The first game and the number of games of part `part` (from 1) when `games` games are divided
    into `parts` runs of neighbours."""
    first = games * (part - 1) // parts
    return first, games * part // parts - first
