"""A position drawn with characters, for a terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.stratego import (
    BLUE,
    FILES,
    LAKE,
    MOVED,
    NO_PIECE,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    UNKNOWN,
    Variant,
)
from stratkit.notation.fenfs import Fenfs, position, seen_by
from stratkit.notation.squares import RANKS, move_text

_COLOURS = {0: "\x1b[1;31m", 1: "\x1b[1;34m"}
_INVERSE = "\x1b[7m"  # the squares of the last move
_PLAIN = "\x1b[0m"
_CELL = 5  # characters


@dataclass(frozen=True)
class Style:
    """The characters of a board.

    ranks    by type
    empty    an empty square
    lake     a lake
    hidden   a piece that is not known
    moved    one that is not known, but has moved
    known    after the rank of one that both sides know
    frame    of the board; "": none
    """

    ranks: tuple[str, ...]
    empty: str
    lake: str
    hidden: str
    moved: str
    known: str
    frame: str = ""

    @property
    def key(self) -> str:
        """What the characters mean."""
        flag, spy, scout, *_, marshal, bomb = self.ranks
        return (
            f"{flag} flag, {spy} spy, {scout} scout ... {marshal} marshal, {bomb} bomb; "
            f"{self.known} known to both, {self.hidden} hidden, {self.moved} hidden and moved"
        )


ASCII = Style(RANKS, ".", "~~", "?", "!", "*")
UNICODE = Style(("⚑", *RANKS[1:-1], "✹"), "·", "≈≈", "□", "■", "°", "─│┌┐└┘")
STYLES: Mapping[str, Style] = {"ascii": ASCII, "unicode": UNICODE}


def squares_seen(width: int, height: int, view: int | None) -> list[list[int]]:
    """The squares as `view` has them before it, row by row from the top; blue's way up for blue."""
    rows = [list(range(width * rank, width * (rank + 1))) for rank in range(height - 1, -1, -1)]
    return [row[::-1] for row in rows[::-1]] if view == BLUE else rows


def draw(
    fenfs: Fenfs,
    view: int | None,
    colour: bool = False,
    style: Style = ASCII,
    last: tuple[int, int] | None = None,
    title: str = "",
    below: int | None = None,
) -> str:
    """The board as `view` sees it under a `title`, or else a heading, lines ended by a line feed.
    The side `below` is nearer: the viewer's own, unless another one is given.

    With `colour` the squares of the `last` move are marked. Without it the heading names the move.
    Raises `InputError` when `fenfs` is the other side's view.
    """
    seen = seen_by(fenfs, view)
    width = seen.variant.width
    rows = squares_seen(width, seen.variant.height, view if below is None else below)
    named = f", last move {move_text(*last, width)}" if last and not colour else ""
    lines = _board(position(seen).cells, rows, colour, style, last)
    return _text([title or heading(seen, view) + named, *lines])


def draw_setup(
    variant: Variant, setup: Bytes, title: str, colour: bool = False, style: Style = ASCII
) -> str:
    """The own ranks of a setup, uint8 [zone], under its `title`; lines ended by a line feed."""
    rows = squares_seen(variant.width, variant.ranks, None)
    return _text([title, *_board(setup_cells(variant, setup), rows, colour, style)])


def setup_cells(variant: Variant, setup: Bytes) -> Bytes:
    """The cells of the own ranks of a setup, uint8 [zone], as red sees them."""
    cells = np.where(setup == NO_PIECE, 0, PIECE | setup).astype(np.uint8)
    cells[~variant.places] = LAKE
    return cells


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _board(
    cells: Bytes,
    rows: list[list[int]],
    colour: bool,
    style: Style,
    last: tuple[int, int] | None = None,
) -> list[str]:
    """The lines of a board with the names of files and ranks around it."""
    width = len(rows[0])
    files = "   " + "".join(f"  {FILES[square % width]}".ljust(_CELL) for square in rows[0])
    lines = []
    for row in rows:
        marked = {square for square in row if last and square in last}
        drawn = "".join(_cell(int(cells[s]), colour, style, s in marked) for s in row)
        side = style.frame[1] if style.frame else " "
        rank = row[0] // width + 1
        lines.append(f"{rank:>2}{side}{drawn}{side}{rank}")
    if style.frame:
        across, corners = style.frame[0], style.frame[2:]
        bars = [f"  {corners[i]}{across * _CELL * width}{corners[i + 1]}" for i in (0, 2)]
        lines = [bars[0], *lines, bars[1]]
    return [files.rstrip(), *lines, files.rstrip()]


def in_colour(colour: str, terminal: bool) -> bool:
    """Whether `colour`, which is always, never or auto, asks for colours on a `terminal` or
    elsewhere."""
    return colour == "always" or (colour == "auto" and terminal and "NO_COLOR" not in os.environ)


def heading(fenfs: Fenfs, view: int | None) -> str:
    """Who is to move, when, and who looks."""
    viewer = {None: "the observer", 0: "red", 1: "blue"}[view]
    return f"{('red', 'blue')[fenfs.side]} to move, ply {fenfs.ply}, seen by {viewer}"


def _cell(cell: int, colour: bool, style: Style, marked: bool) -> str:
    text = _content(cell, style).ljust(_CELL)
    codes = (_COLOURS[int(bool(cell & SIDE))] if cell & PIECE else "") + _INVERSE * marked
    return f"{codes}{text}{_PLAIN}" if colour and codes else text


def _content(cell: int, style: Style) -> str:
    if not cell & PIECE:
        return f" {style.lake}" if cell == LAKE else f"  {style.empty}"
    side = "rb"[bool(cell & SIDE)]
    if cell & TYPE == UNKNOWN:
        return f" {side}{style.moved if cell & MOVED else style.hidden}"
    return f" {side}{style.ranks[cell & TYPE]}{style.known if cell & REVEALED else ''}"
