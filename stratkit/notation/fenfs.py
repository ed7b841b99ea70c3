"""FENfS: a position of Stratego in one line (AlphaZe**, 2023, section 6.1.1).

formats/fenfs.md is the contract. A position is kept as its text, with `a` for every empty square,
so parsing and printing undo each other; `position` and `fenfs_of` lead to the engine's cells and
back. `fenfs_lines` writes whole games at once.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from stratkit.engine.stratego import (
    BLUE,
    BOMB,
    EMPTY,
    FLAG,
    LAKE,
    MOVED,
    PIECE,
    RED,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    TYPES,
    UNKNOWN,
    VARIANTS,
    Position,
    Variant,
    with_lakes,
)
from stratkit.errors import InputError
from stratkit.notation.lines import parsed_lines
from stratkit.notation.setups import Setup
from stratkit.notation.squares import (
    EMPTY_LETTER,
    LAKE_LETTER,
    letter,
    move_text,
    piece,
    square_bytes,
    square_text,
)

OBSERVER = None  # who sees every rank, as RED and BLUE see their own and the public ones
STILL, HAS_MOVED = "?", "!"  # hidden pieces of the other side
SIDES = "rb"

_PLY = re.compile("0|[1-9][0-9]{0,8}", re.ASCII)
_MOVED = re.compile("[A-K][1-9][0-9]?", re.ASCII)
NONE_MOVED = "-"


@dataclass(frozen=True)
class Fenfs:
    """A position as a side, or an observer, sees it.

    variant   the board
    board     letters, A1 first
    side      to move
    ply       from 0
    view      who sees it: RED, BLUE or `OBSERVER`
    moved     squares of the pieces that have moved, ascending, which the extension tells; None:
              the text does not say
    """

    variant: Variant
    board: str
    side: int
    ply: int
    view: int | None
    moved: tuple[int, ...] | None = None

    def __str__(self) -> str:
        text = f"{self.board} {SIDES[self.side]} {self.ply}"
        if self.moved is None:
            return text
        squares = (square_text(square, self.variant.width) for square in self.moved)
        return f"{text} {''.join(squares) or NONE_MOVED}"


def parse_fenfs(text: str) -> Fenfs:
    """Reads one FENfS; raises `InputError`. The board's length and lakes tell its shape."""
    words = text.split(" ")
    if len(words) not in (3, 4):
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
    moved = _parse_moved(words[3], board, variant) if len(words) == 4 else None
    return Fenfs(variant, board, to_move, int(ply), _view_of(board, to_move), moved)


def _parse_moved(text: str, board: str, variant: Variant) -> tuple[int, ...]:
    """The squares of the fourth word, which must be pieces that can have moved, and all `!`."""
    names = [] if text == NONE_MOVED else _MOVED.findall(text)
    known = square_bytes(variant.width, variant.height)
    if "".join(names or [NONE_MOVED]) != text or not all(name in known for name in names):
        raise InputError("the pieces that have moved are their squares, or -", text=text)
    moved = tuple(known[name][0] for name in names)
    if any(a >= b for a, b in itertools.pairwise(moved)):
        raise InputError("the squares of pieces that have moved must ascend", text=text)
    for square, content in enumerate(board):
        if (square in moved) < (content == HAS_MOVED) or (
            square in moved and content in _CANNOT_HAVE_MOVED
        ):
            where = square_text(square, variant.width)
            raise InputError(f"square {where}: {content} and the fourth word disagree", text=text)
    return moved


# No piece, a piece that has not moved, flags and bombs.
_CANNOT_HAVE_MOVED = frozenset("a_?BMNYbmny")


def read_fenfs(stream: BinaryIO, name: str) -> Iterator[tuple[int, Fenfs | InputError]]:
    """The positions of `stream`, as `parsed_lines`."""
    return parsed_lines(stream, name, parse_fenfs)


def _variant_of(board: str) -> Variant:
    """The first variant with a board like this, or the first that has room for setups beside its
    lakes. Raises `InputError`."""
    like = [v for v in VARIANTS.values() if v.squares == len(board)]
    if not like:
        sizes = ", ".join(str(n) for n in sorted({v.squares for v in VARIANTS.values()}))
        raise InputError(f"no board has {len(board)} squares (known: {sizes})", text=board)
    lakes = tuple(i for i, content in enumerate(board) if content == LAKE_LETTER)
    known = (variant for variant in like if variant.lakes == lakes)
    others = [with_lakes(variant, lakes) for variant in like]
    fits = (variant for variant in others if variant.places.sum() >= variant.pieces)
    return next(known, None) or next(fits, others[0])


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

    Of known pieces only the extension says whether they have moved: without it they have no bit
    `MOVED`.
    """
    cells = np.array([_cell(content, fenfs.view) for content in fenfs.board], np.uint8)
    cells[list(fenfs.moved or ())] |= MOVED
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


def fenfs_of(position: Position, view: int | None = OBSERVER, extended: bool = False) -> Fenfs:
    """A position as `view` sees it; only if `extended` does the observer's text say which pieces
    have moved."""
    cells = position.cells.tobytes()
    board = cells.translate(_contents(view)).decode("ascii")
    moved = tuple(square for square, cell in enumerate(cells) if cell & _HAS_MOVED == _HAS_MOVED)
    # With nothing hidden, a player's text is the observer's: what the text shows is what counts.
    whose = _view_of(board, position.side)
    return Fenfs(
        position.variant, board, position.side, position.plies, whose, moved if extended else None
    )


_HAS_MOVED = PIECE | MOVED


def fenfs_lines(
    boards: Sequence[bytes], width: int, first: int, view: int | None, extended: bool
) -> str:
    """The text of positions one after the other in a game: cells, bytes [squares] each.

    `first` is the ply number of the first of them. The same as `fenfs_of` of each, at once.
    """
    if not boards:
        return ""
    size = len(boards[0])
    text = b"".join(boards).translate(_contents(view)).decode("ascii")
    lines = [
        f"{text[at : at + size]} {SIDES[ply % 2]} {ply}"
        for ply, at in enumerate(range(0, len(text), size), first)
    ]
    if extended:
        lines = list(map(" ".join, zip(lines, _moved_words(boards, width), strict=True)))
    return "\n".join([*lines, ""])


def _moved_words(boards: Sequence[bytes], width: int) -> list[str]:
    cells = np.frombuffer(b"".join(boards), np.uint8).reshape(len(boards), -1)
    moved = cells & _HAS_MOVED == _HAS_MOVED
    names = [square_text(square, width) for square in range(cells.shape[1])]
    words = [NONE_MOVED] * len(boards)
    for row in np.flatnonzero(moved.any(axis=1)).tolist():
        words[row] = "".join([names[square] for square in np.flatnonzero(moved[row]).tolist()])
    return words


@functools.cache
def _contents(view: int | None) -> bytes:
    """For every cell what a FENfS has for it."""
    return "".join(_content(cell, view) for cell in range(256)).encode("ascii")


def _content(cell: int, view: int | None) -> str:
    if not cell & PIECE:
        return LAKE_LETTER if cell == LAKE else "a"
    side, type_ = int(bool(cell & SIDE)), cell & TYPE
    if type_ >= len(TYPES) or (view not in (OBSERVER, side) and not cell & REVEALED):
        return HAS_MOVED if cell & MOVED else STILL
    return letter(side, type_).lower() if cell & REVEALED else letter(side, type_)


def seen_by(fenfs: Fenfs, view: int | None) -> Fenfs:
    """The same position from another view; raises `InputError` when `fenfs` does not tell it.

    From an observer's text every hidden piece becomes `?`, unless its extension tells which have
    moved.
    """
    if fenfs.view not in (OBSERVER, view):
        whose, other = (("red", "blue")[side] for side in (fenfs.view, BLUE - fenfs.view))
        letters = ("B to M", "N to Y")[BLUE - fenfs.view]
        what = f"this is the position as {whose} sees it: it hides {letters}, which are {other}'s"
        raise InputError(what, text=str(fenfs))
    return fenfs_of(position(fenfs), view, extended=fenfs.moved is not None)


def start_setups(fenfs: Fenfs, anywhere: bool = False) -> list[Setup]:
    """The setups, uint8 [zone], of the sides whose pieces the start of a game shows, red's first.

    Raises `InputError` when it is no start: a piece is known, or, unless free setups are allowed
    `anywhere` (uint8 [squares] then), outside its side's ranks.
    """
    start = position(fenfs)
    setups = [start.setup(side) for side in (RED, BLUE)]
    outside = any(len(setup) > fenfs.variant.zone for setup in setups)
    if (start.cells & (REVEALED | MOVED)).any() or (outside and not anywhere):
        raise InputError("ply 0 is not the start of a game here", text=str(fenfs))
    return [setup for side, setup in enumerate(setups) if fenfs.view in (OBSERVER, side)]


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


def check_last(fenfs: Fenfs, from_: int, to: int) -> None:
    """Raises `InputError` for a move that cannot have led to this position.

    The side that is not to move has moved. If it attacked, either piece or both may be gone, and
    the one that is left is known.
    """
    width, cells = fenfs.variant.width, position(fenfs).cells
    start, end = square_text(from_, width), square_text(to, width)
    step = 1 if from_ // width == to // width else width
    way = cells[min(from_, to) + step : max(from_, to) : step]
    cell = int(cells[to])
    kind, stayed = cell & TYPE, bool(cell & PIECE) and bool(cell & SIDE) != fenfs.side
    wrong = ""
    if from_ == to or (to - from_) % step:
        wrong = "a piece moves along a file or a rank"
    elif LAKE in (cells[from_], cell):
        wrong = f"{start if cells[from_] == LAKE else end} is a lake"
    elif cells[from_] != EMPTY:
        wrong = f"the position is the one after the move, and a piece stands on {start}"
    elif (way != EMPTY).any():
        wrong = f"the way from {start} to {end} is not free"
    elif stayed and (kind in (FLAG, BOMB) or (len(way) and kind not in (SCOUT, UNKNOWN))):
        wrong = f"the {TYPES[kind]} on {end} cannot move like that"
    elif stayed and fenfs.moved is not None and to not in fenfs.moved:
        wrong = f"the piece on {end} has not moved"
    elif cell & PIECE and not stayed and (kind == FLAG or not cell & REVEALED):
        wrong = f"{('red', 'blue')[fenfs.side]}, whose piece on {end} met no attack, is to move"
    if wrong:
        raise InputError(wrong, text=move_text(from_, to, width))


def complete(fenfs: Fenfs) -> Position:
    """A position in which every piece has a type, for who plays it as the side to move.

    The types of pieces that are hidden to that side are arbitrary: nothing that it may know depends
    on which of them stands where. Raises `InputError` when the text does not tell what they are:
    it is the other side's view, or pieces that were captured are missing in it.
    """
    known = position(fenfs)
    if fenfs.view not in (OBSERVER, fenfs.side):
        raise InputError("the pieces of the side to move are hidden", text=fenfs.board)
    cells = known.cells.copy()
    of = PIECE | (BLUE - fenfs.side) * SIDE
    others = np.flatnonzero(cells & (PIECE | SIDE) == of)
    hidden = others[cells[others] & TYPE == UNKNOWN]
    left = np.array(fenfs.variant.counts)
    for square in others:
        if cells[square] & TYPE != UNKNOWN:
            left[cells[square] & TYPE] -= 1
    types = np.repeat(np.arange(len(left)), np.maximum(left, 0))
    if len(hidden) and len(types) != len(hidden):
        raise InputError(
            f"{len(hidden)} hidden pieces, and {len(types)} that it could be: which are left? "
            "Give the observer's text",
            text=fenfs.board,
        )
    # Those that have moved are no flag and no bombs.
    immovable = np.isin(types, (FLAG, BOMB))
    types = np.concatenate([types[~immovable], types[immovable]])
    moved = cells[hidden] & MOVED != 0
    order = np.concatenate([hidden[moved], hidden[~moved]])
    if moved.sum() > (~immovable).sum():
        raise InputError("more hidden pieces have moved than can move", text=fenfs.board)
    for square, kind in zip(order, types, strict=False):
        cells[square] = int(cells[square]) & ~TYPE | int(kind)
    return Position(known.variant, cells, known.side, known.plies)


def check_board(fenfs: Fenfs, variant: Variant) -> None:
    """`InputError`: a position on another board than that of `variant`."""
    board = fenfs.variant
    if (board.width, board.height, board.lakes) != (variant.width, variant.height, variant.lakes):
        raise InputError(f"not a board of {variant.name}", text=fenfs)


def start_position(fenfs: Fenfs, variant: Variant) -> Position:
    """The position as one that a game of `variant` begins at. Raises `InputError` where none can:
    on another board, with hidden pieces, with more than a side has, or without a flag."""
    check_board(fenfs, variant)
    if fenfs.side != fenfs.ply % 2:
        raise InputError("red moves at even plies, and blue at odd ones", text=fenfs)
    if fenfs.view is not OBSERVER:
        raise InputError("hidden pieces, where a game begins", text=fenfs)
    start = replace(position(fenfs), variant=variant)
    for side, name in enumerate(("red", "blue")):
        types = start.cells[start.cells & (PIECE | SIDE) == PIECE | side * SIDE] & TYPE
        counts = np.bincount(types, minlength=len(TYPES))
        if (counts > variant.counts).any():
            most = TYPES[int((counts - variant.counts).argmax())]
            what = f"{name} has more of type {most} than {variant.name} has"
            raise InputError(what, text=fenfs)
        if not counts[FLAG]:
            raise InputError(f"{name} has no flag", text=fenfs)
    start.to_bytes()  # says what is wrong with the ply
    return start


def _has_flag(position: Position, side: int) -> bool:
    """Whether the flag of `side` stands, or may stand among its unknown pieces."""
    own = position.cells[(position.cells & (PIECE | SIDE)) == PIECE | side * SIDE] & TYPE
    return bool(np.isin(own, (FLAG, UNKNOWN)).any())
