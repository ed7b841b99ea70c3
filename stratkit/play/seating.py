"""Which games are played, who sits where, and when."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

NO_ACTIONS = np.empty(0, np.int32)
Opening = Callable[[int], npt.NDArray[np.int32]]  # number -> actions that begin the game


@dataclass(frozen=True)
class Seating:
    """A game to be played.

    number    of the game
    seats     who plays each side, as indices of players
    opening   int32 [k], actions that begin it and that nobody chooses (given setups)
    step      of the policy, which the episode keeps; -1: none
    """

    number: int
    seats: tuple[int, ...]
    opening: npt.NDArray[np.int32] = field(default_factory=lambda: NO_ACTIONS)
    step: int = -1


class Seated(NamedTuple):
    """n games to be played, as columns, for thousands of short ones a second. The fields are as in
    `Seating`.

        numbers    int64 [n]
        seats      int32 [n, players]
        steps      int64 [n]
        openings   int32 [k] each; () where there are none at all
    """

    numbers: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int64]
    openings: Sequence[npt.NDArray[np.int32]] = ()

    @classmethod
    def of(cls, games: Sequence[Seating]) -> Self:
        """The games as columns."""
        return cls(
            np.array([game.number for game in games], np.int64),
            np.array([game.seats for game in games], np.int32),
            np.array([game.step for game in games], np.int64),
            [game.opening for game in games] if any(len(game.opening) for game in games) else (),
        )


class GameSource(Protocol):
    """Says to a table which games to begin, and whether to play."""

    ended: bool
    """Whether there are no more games to begin."""

    def take(self, free: int) -> Seated:
        """At most `free` games to begin now. Called before every round."""

    def worth_playing(self, live: int) -> bool:
        """Whether to play a round of `live` games now, and not to wait for more."""

    def wait(self) -> None:
        """Called when no round is played now; returns a moment later."""

    def go_on(self, games: int) -> int | None:
        """Slices of so many games were handed on. The step of the policy that plays them on; None:
        that of before."""
        return None


class Seatings(GameSource):
    """The games of an iterator, each begun as soon as there is a slot for it."""

    def __init__(self, games: Iterator[Seating]) -> None:
        self._games, self.ended = games, False

    def take(self, free: int) -> Seated:
        games = list(itertools.islice(self._games, free))
        self.ended = self.ended or len(games) < free
        return Seated.of(games)

    def worth_playing(self, live: int) -> bool:
        return True

    def wait(self) -> None:
        return
