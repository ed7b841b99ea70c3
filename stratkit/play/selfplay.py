"""Self-play: one policy on every seat, its games as episodes, in the order of their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.play.table import CUT, Finished, Seating, Table, in_order
from stratkit.storage.columns import Episodes

if TYPE_CHECKING:
    from stratkit.play.backpressure import Pace
    from stratkit.play.groups import Groups

Opening = Callable[[int], npt.NDArray[np.int32]]  # game number -> actions that begin the game


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


def seatings(game: Game, numbers: Iterable[int], opening: Opening | None) -> Iterator[Seating]:
    """The games `numbers`, the same player on every seat."""
    seats = (0,) * game.players
    for number in numbers:
        yield Seating(number, seats, opening(number)) if opening else Seating(number, seats)


def play_episodes(
    table: Table | Groups, numbers: Iterable[int], pace: Pace | None = None
) -> Iterator[Episodes | None]:
    """Plays all games of a table; yields, after every round, the episodes whose turn it is, or
    None. None while the table is waiting means: for the learner."""

    def rounds() -> Iterator[Finished | None]:
        for finished in table.rounds():
            yield finished
            if pace is not None:
                pace.follower.refresh()
                table.policy_step = pace.follower.step

    for ready in in_order(rounds(), iter(numbers)):
        if pace is not None and ready is not None:
            pace.delivered += len(ready)
        yield None if ready is None else ready.episodes


def numbers_of(first: int, count: int | None) -> Iterable[int]:
    """The game numbers from `first` on, without end when `count` is None."""
    return itertools.count(first) if count is None else range(first, first + count)


def part_of(games: int, part: int, parts: int) -> tuple[int, int]:
    """The first game and the number of games of part `part` (from 1) when `games` games are divided
    into `parts` runs of neighbours."""
    first = games * (part - 1) // parts
    return first, games * part // parts - first
