"""A player and the views it plays from.

A player never sees the true state: a view holds what the acting side may know and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch

Games = npt.NDArray[np.int64]  # numbers of games, [n]
Sides = npt.NDArray[np.int8]  # sides of games, [n]: the player's place in the game, from 0 on
Moves = list[tuple[int, int]]


def _no_moves(row: int) -> Moves:
    return []


@dataclass(frozen=True)
class Views:
    """What the acting sides of n games may know, one row a decision.

    `games` int64 and `sides` int8: the game's number and the side that acts. `numbers` int32: the
    number of the action in its game; together with a seed, game and number key every random choice.
    `legal` uint8 [n, actions] and `observations` uint8 [n, observation_bytes] are in the acting
    side's frame.

    `moves(row)`: of a game where a move is several actions, the legal moves of a row (square,
    destination) in the same frame, if a move begins there; asked during `act` only. They depend on
    what the acting side knows and on nothing else.
    """

    games: Games
    sides: Sides
    numbers: npt.NDArray[np.int32]
    legal: npt.NDArray[np.uint8]
    observations: npt.NDArray[np.uint8]
    moves: Callable[[int], Moves] = _no_moves

    def __len__(self) -> int:
        return len(self.games)

    @classmethod
    def of_one(cls, batch: Batch, game: int, number: int) -> Views:
        """The acting side's view of the only game in `batch`, which has had `number` actions."""
        return cls(
            np.array([game], np.int64),
            batch.actors(),
            np.array([number], np.int32),
            batch.legal(),
            batch.observe(),
            lambda row: batch.moves(row, int(batch.actors()[row])),
        )


@dataclass(frozen=True)
class Decision:
    """The chosen actions int32 [n] and `mu` float32 [n], the probability with which each was
    chosen; `values` float32 [n], what the player expects to get, if it was asked for that;
    `resigned` bool [n], the games that it gives up instead, if any."""

    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32] | None = None
    resigned: npt.NDArray[np.bool_] | None = None


class Player(Protocol):
    """Chooses an action for each of many views at once.

    A player may sit on several sides of one game. What it remembers of a game belongs to a side of
    it, from `begin` to `end`, and no other side may profit from it. Different games may be played
    in different threads.
    """

    def begin(self, games: Games, sides: Sides) -> None:
        """These games begin for the player, on these sides. Nothing to do, unless overridden."""
        return

    def act(self, views: Views) -> Decision:
        """One legal action for each view."""
        ...

    def end(self, games: Games, sides: Sides) -> None:
        """These games are over for the player, played out or not. Nothing to do, unless
        overridden."""
        return


def take_seat(player: Player, game: int, side: int) -> tuple[Games, Sides]:
    """Begins one game; returns what `end` is to be called with."""
    seats = np.array([game], np.int64), np.array([side], np.int8)
    player.begin(*seats)
    return seats
