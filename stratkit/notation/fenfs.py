"""FENfS: a position of Stratego in one line (AlphaZe**, 2023, section 6.1.1).

formats/fenfs.md is the contract. A position is kept as its text, with `a` for every empty square,
so parsing and printing undo each other; `position` and `fenfs_of` lead to the engine's cells and
back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from stratkit.engine.stratego import (
    BLUE,
    EMPTY,
    FLAG,
    LAKE,
    MOVED,
    PIECE,
    RED,
    REVEALED,
    SIDE,
    TYPE,
    UNKNOWN,
    VARIANTS,
    Position,
    Variant,
)
from stratkit.errors import InputError
from stratkit.notation.lines import text_lines
from stratkit.notation.squares import (
    EMPTY_LETTER,
    LAKE_LETTER,
    letter,
    move_text,
    piece,
    square_text,
)

OBSERVER = None  # who sees every rank, as RED and BLUE see their own and the public ones
STILL, HAS_MOVED = "?", "!"  # hidden pieces of the other side
SIDES = "rb"

_PLY = re.compile("0|[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True)
class Fenfs:
    """`board` as in the text, A1 first; `side` to move; `ply` from 0; `view` of whom."""

    variant: Variant
    board: str
    side: int
    ply: int
    view: int | None

    def __str__(self) -> str:
        return f"{self.board} {SIDES[self.side]} {self.ply}"


def parse_fenfs(text: str) -> Fenfs:
    """Reads one FENfS; raises `InputError`. The board's length and lakes tell its shape."""
    words = text.split(" ")
    if len(words) != 3:
        raise InputError("a FENfS has a board, a side and a ply number", text=text)
    board, side, ply = words[0].replace(EMPTY_LETTER, "a"), words[1], words[2]
    variant = _variant_of(board)
    for square, content in enumerate(board):
        _check_content(content, square_text(square, variant.width))
    if side not in SIDES or len(side) != 1:
        raise InputError("the side to move is r or b", text=side)
    if not _PLY.fullmatch(ply):
        raise InputError("the ply number is a whole number from 0", text=ply)
    to_move = SIDES.index(side)
    return Fenfs(variant, board, to_move, int(ply), _view_of(board, to_move))


def read_fenfs(stream: BinaryIO, name: str) -> Iterator[tuple[int, Fenfs | InputError]]:
    """(line number, position) of each line of `stream`; faulty lines give their error instead.

    Empty lines are skipped. Memory is bounded.
    """
    for number, line in text_lines(stream, name):
        if isinstance(line, InputError):
            yield number, line
        elif line:
            try:
                yield number, parse_fenfs(line)
            except InputError as error:
                error.file, error.where = name, f"line {number}"
                yield number, error


def _variant_of(board: str) -> Variant:
    """The first variant with a board like this; raises `InputError`."""
    like = [v for v in VARIANTS.values() if v.squares == len(board)]
    if not like:
        sizes = ", ".join(str(n) for n in sorted({v.squares for v in VARIANTS.values()}))
        raise InputError(f"no board has {len(board)} squares (known: {sizes})", text=board)
    lakes = tuple(i for i, content in enumerate(board) if content == LAKE_LETTER)
    for variant in like:
        if variant.lakes == tuple(sorted(lakes)):
            return variant
    odd = min(set(lakes) ^ set(like[0].lakes))
    raise InputError(f"square {square_text(odd, like[0].width)}: lakes are not where they belong")


def _check_content(content: str, where: str) -> None:
    known = content.isascii() and piece(content.upper()) is not None
    if not known and content not in ("a", LAKE_LETTER, STILL, HAS_MOVED):
        raise InputError(f"square {where}: unknown letter", text=content)


def _view_of(board: str, to_move: int) -> int | None:
    """Who sees `board` like this; raises `InputError` when nobody does.

    Hidden ranks of one's own are capitals, so capitals tell whose view it is. A view without
    capitals can only be a loser's after its flag was taken (an own flag is hidden as long as it
    stands), and the loser is the side to move.
    """
    if STILL not in board and HAS_MOVED not in board:
        return OBSERVER
    sides = {owner[0] for content in board if content.isupper() and (owner := piece(content))}
    if len(sides) > 1:
        raise InputError("? and ! beside hidden ranks of both sides: nobody sees that", text=board)
    return sides.pop() if sides else to_move


def position(fenfs: Fenfs) -> Position:
    """The cells of a FENfS. Hidden pieces of the other side have the type `UNKNOWN`.

    Of known pieces the text does not say whether they have moved, so they have no bit `MOVED`.
    """
    cells = np.array([_cell(content, fenfs.view) for content in fenfs.board], np.uint8)
    return Position(fenfs.variant, cells, fenfs.side, fenfs.ply)


def _cell(content: str, view: int | None) -> int:
    if content == "a":
        return EMPTY
    if content == LAKE_LETTER:
        return LAKE
    if content in (STILL, HAS_MOVED):
        other = RED if view == BLUE else BLUE
        return PIECE | other * SIDE | UNKNOWN | (MOVED if content == HAS_MOVED else 0)
    owner = piece(content.upper())
    assert owner is not None  # the letters were checked when the text was parsed
    side, type_ = owner
    return PIECE | side * SIDE | type_ | (REVEALED if content.islower() else 0)


def fenfs_of(position: Position, view: int | None = OBSERVER) -> Fenfs:
    """A position as `view` sees it; the observer's text does not say which pieces have moved."""
    board = "".join(_content(int(cell), view) for cell in position.cells)
    # With nothing hidden, a player's text is the observer's: what the text shows is what counts.
    return Fenfs(
        position.variant, board, position.side, position.plies, _view_of(board, position.side)
    )


def _content(cell: int, view: int | None) -> str:
    if not cell & PIECE:
        return LAKE_LETTER if cell == LAKE else "a"
    side, type_ = int(bool(cell & SIDE)), cell & TYPE
    if type_ == UNKNOWN or (view not in (OBSERVER, side) and not cell & REVEALED):
        return HAS_MOVED if cell & MOVED else STILL
    return letter(side, type_).lower() if cell & REVEALED else letter(side, type_)


def seen_by(fenfs: Fenfs, view: int | None) -> Fenfs:
    """The same position from another view; raises `InputError` when `fenfs` does not tell it.

    From an observer's text every hidden piece becomes `?`: it does not tell which have moved.
    """
    if fenfs.view not in (OBSERVER, view):
        raise InputError(
            f"this is the position as {('red', 'blue')[fenfs.view]} sees it", text=str(fenfs)
        )
    return fenfs_of(position(fenfs), view)


def legal_moves(fenfs: Fenfs) -> list[str]:
    """The legal moves, `A4A5` and so on, in the order of their squares; repetition rules off.

    Empty when the game is over: a side has lost its flag, or has no move. Raises `InputError` when
    the side to move does not know its own pieces.
    """
    if fenfs.view not in (OBSERVER, fenfs.side):
        what = f"{('red', 'blue')[fenfs.side]} is to move and its pieces are hidden (? or !)"
        raise InputError(what, text=fenfs.board)
    before = position(fenfs)
    if not all(_has_flag(before, side) for side in (RED, BLUE)):
        return []
    cells = before.cells.copy()
    # Moves do not depend on what the hidden pieces of the other side are: any type will do.
    unknown = (cells & PIECE != 0) & (cells & TYPE == UNKNOWN)
    cells[unknown] = PIECE | (BLUE - fenfs.side) * SIDE | FLAG
    known = Position(fenfs.variant, cells, fenfs.side)
    return [move_text(from_, to, fenfs.variant.width) for from_, to in known.legal()]


def _has_flag(position: Position, side: int) -> bool:
    """Whether the flag of `side` stands, or may stand among its unknown pieces."""
    own = position.cells[(position.cells & (PIECE | SIDE)) == PIECE | side * SIDE] & TYPE
    return bool(np.isin(own, (FLAG, UNKNOWN)).any())
