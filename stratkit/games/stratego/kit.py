"""The kit of Stratego, on any board."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.arrays import Bytes, Int32s
from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import (
    BLUE,
    EMPTY,
    LAKE,
    TYPE,
    TYPES,
    UNKNOWN,
    Position,
    flip_cells,
    variant,
)
from stratkit.games.kit import Kit, Notation, TurnText
from stratkit.games.stratego.heuristic import StrategoHeuristic
from stratkit.notation.actions import transcript
from stratkit.notation.drawing import draw
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.squares import square_text


class StrategoKit(Kit):
    """Setups, moves by squares, and boards with pieces."""

    notation = Notation.LOG
    draws = True
    stakes = False
    hidden_types = True

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.variant = variant(game.name)

    @property
    def heuristic(self) -> StrategoHeuristic:
        return StrategoHeuristic(self.game)

    def action_names(self) -> npt.NDArray[Any]:
        """Squares."""
        names = super().action_names()
        for side in (0, 1):
            names[side] = [self._square(side, square) for square in range(self.game.actions)]
        return names

    def transcript(self, actions: Int32s) -> tuple[tuple[str, str] | None, list[str]]:
        """A game that ended before both sides had deployed has neither setups nor moves."""
        if len(actions) < 2 * self.variant.pieces:
            return None, []
        return transcript(self.variant, actions)

    def turn(self, side: int, packed: Bytes) -> TurnText:
        """In deployment no board is drawn: a move is the square where the next piece may go."""
        fields: Any = packed.view(observation_dtype(self.variant.squares))[0]
        if fields["phase"]:
            placed = TYPES[fields["to_place"]]
            return TurnText("", "square", lambda move: f"{self._square(side, move[1])} {placed}")
        cells = fields["cells"].copy()
        if side == BLUE:
            cells = flip_cells(cells)
        position = Position(self.variant, cells, side, int(fields["plies"]))

        def name(move: tuple[int, int]) -> str:
            start, end = (int(cells[self.variant.framed(side, square)]) for square in move)
            squares = "".join(self._square(side, square) for square in move)
            return f"{squares} {TYPES[start & TYPE]}{_target(end)}"

        return TurnText(draw(fenfs_of(position, side), side), "move", name)

    def _square(self, side: int, square: int) -> str:
        return square_text(self.variant.framed(side, square), self.variant.width)


def _target(cell: int) -> str:
    if cell in (EMPTY, LAKE):
        return ""
    kind = cell & TYPE
    return " on a hidden piece" if kind == UNKNOWN else f" on a {TYPES[kind]}"
