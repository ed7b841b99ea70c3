"""Self-play: one policy on every seat, its games as episodes, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stratkit.engine import Game
from stratkit.play.seating import NO_ACTIONS, Opening, Seating
from stratkit.play.table import CUT


def ending_names(game: Game) -> tuple[str, ...]:
    """The endings of self-play episodes: the game's, and `cut`."""
    return (*game.endings, CUT)


def seatings(
    game: Game, numbers: Iterable[int], opening: Opening | None, step: int = -1
) -> Iterator[Seating]:
    """The games `numbers`, the same player on every seat; `step` is its policy's."""
    seats = (0,) * game.players
    for number in numbers:
        yield Seating(number, seats, opening(number) if opening else NO_ACTIONS, step)
