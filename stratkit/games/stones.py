"""Games of stones on cells, as players see them: Hex, Dark Hex and phantom tic-tac-toe.

Columns are letters and rows are numbers from the top, so `b3` is the second cell of the third row,
action 2 * size + 1. Player 0 is X, player 1 is O.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.games.kit import Cells, Kit, TurnText

COLUMNS = "abcdefghijk"
STONES = "XO"


class StonesKit(Kit):
    """Square boards of cells that are called like `b3`."""

    draws = True
    stakes = False
    slanted = False

    def action_names(self) -> npt.NDArray[Any]:
        names = super().action_names()
        names[:] = [cell_text(self._size, cell) for cell in range(self.game.actions)]
        return names

    @property
    def _size(self) -> int:
        assert self.game.board
        return self.game.board[0]

    def turn(self, side: int, packed: Bytes) -> TurnText:
        cells = Cells(self._size, _stones(self._size, side, packed), self.slanted)
        board = draw_stones(cells, side)
        return TurnText(
            board, "cell", lambda move: cell_text(self._size, move[0]), self._facts(side), cells
        )

    def _facts(self, side: int) -> str:
        """Whose stones are whose, what wins, and in games where stones are hidden what is seen."""
        aim = "X joins top and bottom, O left and right" if self.slanted else "three in a line win"
        facts = f"you are {STONES[side]}\n{aim}\n"
        if not self.game.name.startswith("hex"):
            then = "tries again" if self.game.name.endswith(":classical") else "has had the turn"
            facts += f"their stones are hidden: who tries a taken cell sees its stone, and {then}\n"
        return facts


class HexKit(StonesKit):
    """Boards of Hex, where each row stands half a cell further to the right: X joins top and
    bottom, and O left and right."""

    slanted = True


def cell_text(size: int, cell: int) -> str:
    """A cell as people call it."""
    return f"{COLUMNS[cell % size]}{cell // size + 1}"


def _stones(size: int, player: int, packed: Bytes) -> str:
    """The stones that `player` sees. `packed` is its observation, uint8 [2 + 2 size^2]; a stone
    that it does not see is an empty cell."""
    cells = packed[2 : 2 + 2 * size * size].reshape(-1, 2).tolist()
    mine, theirs = STONES[player], STONES[1 - player]
    return "".join(mine if own else theirs if enemy else "." for own, enemy in cells)


def draw_stones(cells: Cells, player: int) -> str:
    """What `player` sees, lines ended by a line feed."""
    size = cells.size
    columns = " ".join(COLUMNS[:size])
    lines = [f"{STONES[player]} to move, as it sees the board", f"    {columns}"]
    for row in range(size):
        drawn = " ".join(cells.stones[size * row : size * (row + 1)])
        lines.append(f"{' ' * row * cells.slanted}{row + 1:>3} {drawn}")
    return "".join(f"{line}\n" for line in lines)
