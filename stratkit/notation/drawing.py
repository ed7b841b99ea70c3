"""A position drawn with characters, for a terminal."""

from __future__ import annotations

from stratkit.engine.stratego import BLUE, FILES, LAKE, MOVED, PIECE, REVEALED, SIDE, TYPE, UNKNOWN
from stratkit.notation.fenfs import Fenfs, position, seen_by

# By type: flag, spy, then the ranks by strength, bomb.
RANKS = ("F", "S", "2", "3", "4", "5", "6", "7", "8", "9", "10", "B")
KEY = "F flag, S spy, 2 scout ... 10 marshal, B bomb; * known to both, ? hidden, ! hidden and moved"

_COLOURS = {0: "\x1b[1;31m", 1: "\x1b[1;34m"}
_PLAIN = "\x1b[0m"
_CELL = 5  # characters


def draw(fenfs: Fenfs, view: int | None, colour: bool = False) -> str:
    """The board as `view` sees it, lines ended by a line feed; blue's view is blue's way up.

    Raises `InputError` when `fenfs` is the other side's view.
    """
    seen = seen_by(fenfs, view)
    width, height = seen.variant.width, seen.variant.height
    across, down = range(width), range(height - 1, -1, -1)
    if view == BLUE:
        across, down = across[::-1], down[::-1]
    cells = position(seen).cells
    files = "   " + "".join(f"  {FILES[file]}".ljust(_CELL) for file in across)
    lines = [_heading(seen, view), files.rstrip()]
    for rank in down:
        row = "".join(_cell(int(cells[width * rank + file]), colour) for file in across)
        lines.append(f"{rank + 1:>2} {row} {rank + 1}")
    lines.append(files.rstrip())
    return "".join(f"{line}\n" for line in lines)


def _heading(fenfs: Fenfs, view: int | None) -> str:
    viewer = {None: "the observer", 0: "red", 1: "blue"}[view]
    return f"{('red', 'blue')[fenfs.side]} to move, ply {fenfs.ply}, seen by {viewer}"


def _cell(cell: int, colour: bool) -> str:
    text = _content(cell).ljust(_CELL)
    return f"{_COLOURS[int(bool(cell & SIDE))]}{text}{_PLAIN}" if colour and cell & PIECE else text


def _content(cell: int) -> str:
    if not cell & PIECE:
        return " ~~" if cell == LAKE else "  ."
    side = "rb"[bool(cell & SIDE)]
    if cell & TYPE == UNKNOWN:
        return f" {side}{'!' if cell & MOVED else '?'}"
    return f" {side}{RANKS[cell & TYPE]}{'*' if cell & REVEALED else ''}"
