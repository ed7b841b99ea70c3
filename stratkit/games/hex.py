"""Boards of Hex and Dark Hex, drawn with characters as a player sees them.

Columns are letters and rows are numbers from the top, so `b3` is the second cell of the third row,
action 2 * size + 1. Each row stands half a cell further to the right. Player 0, X, joins top and
bottom, player 1, O, left and right.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.games.kit import Kit, TurnText

COLUMNS = "abcdefghijk"
STONES = "XO"


class HexKit(Kit):
    """Boards of cells that are called like `b3`."""

    draws = True

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        names[:] = [cell_text(self._size, cell) for cell in range(self.game.actions)]
        return names

    @property
    def _size(self) -> int:
        assert self.game.board
        return self.game.board[0]

    def turn(self, side: int, packed: Bytes) -> TurnText:
        board = draw_hex(self._size, side, packed)
        return TurnText(board, "cell", lambda move: cell_text(self._size, move[0]))


def cell_text(size: int, cell: int) -> str:
    """A cell as people call it."""
    return f"{COLUMNS[cell % size]}{cell // size + 1}"


def draw_hex(size: int, player: int, packed: Bytes) -> str:
    """What `player` sees, lines ended by a line feed. `packed` is its observation, uint8 [2 + 2
    size^2]; a stone that it does not see is an empty cell."""
    cells = packed[2 : 2 + 2 * size * size].reshape(size, size, 2)
    columns = " ".join(COLUMNS[:size])
    lines = [f"{STONES[player]} to move, as it sees the board", f"    {columns}"]
    for row in range(size):
        drawn = (
            STONES[player] if own else STONES[1 - player] if enemy else "."
            for own, enemy in cells[row].tolist()
        )
        lines.append(f"{' ' * row}{row + 1:>3} {' '.join(drawn)}")
    return "".join(f"{line}\n" for line in lines)
