"""The kit of a game: what people read and see of it, rules of thumb, and what is hidden in it.

The engine says how a game is played (`Game`); a kit says how it is written, drawn and judged. The
base class is the plain kit: actions are numbers, and nothing is drawn. A game's own kit overrides
what the game has; `stratkit.games.table` lists the kits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes, Int32s
from stratkit.engine import Game
from stratkit.games.heuristic import Heuristic


class Notation(Enum):
    """How the games of a game are written."""

    NUMBERS = "numbers"  # of actions
    LOG = "log"  # two setups, and moves by squares: FENfS, Gravon's logs and UCC write them, too
    ORDERS = "orders"  # of every phase: in JSON, too


@dataclass(frozen=True)
class Cells:
    """A square board of `size` rows, whose cell `a` is chosen by action `a`: of each the stone, or
    `.`. Each row of a `slanted` one stands half a cell further to the right."""

    size: int
    stones: str
    slanted: bool


@dataclass(frozen=True)
class TurnText:
    """A turn as its player reads it.

    board   what the player sees, lines ended by a line feed; "": nothing is drawn
    column  what moves are called, as the head of their column
    name    what a move is called, a tuple (start, end) in the player's frame
    facts   what the player knows in words, lines ended by a line feed
    cells   the board, for who draws it otherwise; None: it has no cells
    """

    board: str
    column: str
    name: Callable[[tuple[int, int]], str]
    facts: str = ""
    cells: Cells | None = None


class Kit:
    """The kit of a `game`.

    notation      how its games are written
    draws         whether `turn` draws a board
    stakes        whether more or less than 1 may be won and lost, as nobody knows beforehand
    hidden_types  whether what is hidden are types of pieces by square (`engine.hidden_types`)
    dealt         what chance deals: first to player 0, then to player 1, then to all; "": its draws
                  have no names
    """

    notation: ClassVar[Notation] = Notation.NUMBERS
    draws: ClassVar[bool] = False
    stakes: ClassVar[bool] = True
    hidden_types: ClassVar[bool] = False
    dealt: ClassVar[str] = ""

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def seats(self) -> tuple[str, ...] | None:
        """The names of the players' seats; None: they have none."""
        return None

    @property
    def heuristic(self) -> Heuristic | None:
        """Rules of thumb; None: nobody has written any."""
        return None

    def heuristic_called(self, name: str) -> Heuristic | None:
        """The rules of thumb of this name; None: the game has none."""
        return self.heuristic if name == "heuristic" else None

    def action_names(self) -> npt.NDArray[Any]:
        """What actions are called, str [players + 1, actions]: each player's, and chance's."""
        names = [str(action) for action in range(self.game.actions)]
        return np.array([names] * (self.game.players + 1), object)

    def transcript(self, actions: Int32s) -> tuple[tuple[str, str] | None, list[str]]:
        """A whole game, int32 [T]: its setups, if it has any, and its moves, as records have
        them."""
        return None, [str(action) for action in actions.tolist()]

    def turn(self, side: int, packed: Bytes) -> TurnText:
        """The turn of `side`, whose observation is `packed`, uint8 [observation_bytes]."""
        names = self.action_names()[side]
        return TurnText("", "action", lambda move: str(names[move[0]]))
