"""What a side has seen of its game: moves and fights, who fell, and what the enemy still hides.

All of it is made from the views that the side had, one at each of its turns, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.engine.observation import NO_SQUARE
from stratkit.engine.stratego import (
    BLUE,
    BOTH_FALL,
    FLAG,
    PIECE,
    RED,
    REVEALED,
    SIDE,
    TYPE,
    TYPES,
    UNKNOWN,
    WINS,
    Position,
    Variant,
    fight,
    flip_cells,
)
from stratkit.notation.play import Played
from stratkit.notation.squares import ply_text, square_text
from stratkit.players.side_board import SideBoard
from stratkit.players.side_history import SideHistory

Counts = npt.NDArray[np.int64]  # pieces of each type, [12]


@dataclass(frozen=True)
class Ply:
    """A move of `side` from square to square; `piece` is its type, or `UNKNOWN`. `enemy` is the
    type that it attacked; None: nobody."""

    side: int
    start: int
    end: int
    piece: int
    enemy: int | None = None

    @property
    def outcome(self) -> int:
        """How the attack ended, for the attacker."""
        assert self.enemy is not None
        return fight(self.piece, self.enemy)

    def text(self, variant: Variant) -> str:
        """The move as `ply_text` writes it."""
        met = None if self.enemy is None else (self.piece, self.enemy)
        return ply_text(self.start, self.end, variant.width, met)

    def told(self, side: int | None, variant: Variant) -> str:
        """The move in words, to a person who plays `side`; None: who plays neither."""
        whose, other = ("your", "their") if self.side == side else ("their", "your")
        if side is None:
            whose, other = ("red's", "blue's") if self.side == RED else ("blue's", "red's")
        name = "piece" if self.piece == UNKNOWN else TYPES[self.piece]
        start, end = (square_text(square, variant.width) for square in (self.start, self.end))
        if self.enemy is None:
            return f"{whose} {name} went from {start} to {end}"
        mine, theirs = f"{whose} {name}", f"{other} {TYPES[self.enemy]}"
        if self.enemy == FLAG:
            return f"{mine} took {theirs} on {end}"
        lost = mine if self.outcome != WINS else theirs
        fallen = "both are lost" if self.outcome == BOTH_FALL else f"{lost} is lost"
        return f"{mine} met {theirs} on {end}: {fallen}"


def played_ply(played: Played, at: int) -> Ply:
    """Ply `at` (from 0) of a game with its boards that is over: all is known of it."""
    start, end = played.log.moves[2 * at : 2 * at + 2]
    piece, enemy = (played.boards[at][square] for square in (start, end))
    return Ply(
        played.log.mover(at), start, end, piece & TYPE, enemy & TYPE if enemy & PIECE else None
    )


@dataclass(frozen=True)
class Turn:
    """What the side that is to move knows of a game, on absolute squares.

    game      its number
    side      who is to move
    position  as it looks
    plies     so far
    new       how many of them, the last ones, came since its turn before
    lost      the pieces that red and blue have lost
    hidden    those that the enemy still hides
    moves     the legal ones
    draw      whose offer of one stands, `mine` or `theirs`; or mine was `declined`; or ""
    """

    game: int
    side: int
    position: Position
    plies: Sequence[Ply]
    new: int
    lost: tuple[Counts, Counts]
    hidden: Counts
    moves: Sequence[tuple[int, int]]
    draw: str = ""

    @property
    def last(self) -> tuple[int, int] | None:
        """The last move."""
        return (self.plies[-1].start, self.plies[-1].end) if self.plies else None


@dataclass(frozen=True)
class Offer:
    """A setup that the side may take, uint8 [zone] in its own view; `favourites` are the names of
    others."""

    game: int
    side: int
    variant: Variant
    setup: npt.NDArray[np.uint8]
    favourites: Sequence[str] = ()

    @property
    def position(self) -> Position:
        """The board with these pieces only."""
        nobody = np.full_like(self.setup, 255)
        both = (nobody, self.setup) if self.side == BLUE else (self.setup, nobody)
        return Position.of_setups(self.variant, *both)


class ObservedGame:
    """Follows one game by the views of one side, from the beginning of play: after the setups, or
    at the position `start`."""

    def __init__(
        self, variant: Variant, game: int, side: int, start: Position | None = None
    ) -> None:
        self.variant, self.game, self.side = variant, game, side
        self._army = np.array(variant.counts)  # of the side, when play begins
        if start is not None:
            own = start.cells[start.cells & (PIECE | SIDE) == PIECE | side * SIDE]
            self._army = _count(own)
        self._plies: list[Ply] = []
        self._history: SideHistory | None = None

    def look(self, seen: Any, moves: Sequence[tuple[int, int]]) -> Turn:
        """The turn at which the side has this view (`observation_dtype`), and may make these moves
        (in its own frame)."""
        new = self._new_plies(seen)
        self._plies += new
        own, enemy = _armies(seen["cells"])
        counts = np.array(self.variant.counts)
        hidden = seen["enemy_unrevealed"].astype(np.int64)
        lost = counts - _count(own), counts - _count(enemy[enemy & REVEALED != 0]) - hidden
        cells = flip_cells(seen["cells"]) if self.side == BLUE else seen["cells"].copy()
        return Turn(
            self.game,
            self.side,
            Position(self.variant, cells, self.side, int(seen["plies"])),
            tuple(self._plies),
            len(new),
            lost[::-1] if self.side == BLUE else lost,
            hidden,
            [self._turned(*move) for move in moves],
        )

    def _turned(self, start: int, end: int) -> tuple[int, int]:
        return self.variant.framed(self.side, start), self.variant.framed(self.side, end)

    def _new_plies(self, seen: Any) -> list[Ply]:
        """What happened since the view before: an own move and an enemy's, or, at the first turn,
        at most an enemy's."""
        packed, size = seen.tobytes(), (self.variant.width, self.variant.height)
        if self._history is None:
            self._history = SideHistory(int(seen["plies"]), SideBoard.of(*size, packed))
            return self._first_ply(seen)
        return [
            Ply(abs(self.side - ply.side), *self._turned(ply.start, ply.end), ply.piece, ply.enemy)
            for ply in self._history.follow(packed)
        ]

    def _first_ply(self, seen: Any) -> list[Ply]:
        """The enemy's ply before the first turn, if there was one."""
        start, end, attacker = (int(x) for x in seen["moves"][0])
        if start == NO_SQUARE:
            return []
        cell, enemy = int(seen["cells"][end]), None
        piece = cell & TYPE if attacker == NO_SQUARE else attacker
        if attacker != NO_SQUARE:
            lost = self._army - _count(_armies(seen["cells"])[0])
            enemy = int(lost.argmax()) if lost.any() else cell & TYPE
        return [Ply(1 - self.side, *self._turned(start, end), piece, enemy)]


def _armies(cells: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The own and the enemy's pieces among cells in a side's frame."""
    of = cells & (PIECE | SIDE)
    return cells[of == PIECE], cells[of == PIECE | SIDE]


def _count(pieces: npt.NDArray[np.uint8]) -> Counts:
    return np.bincount(pieces & TYPE, minlength=len(TYPES))
