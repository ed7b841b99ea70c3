"""Squares, moves and pieces as text.

A square is written file then rank, `A1` first; files are `ABCDEFGHIK`: there is no J. A move is
written `A4A5`. Pieces have the letters of StraDoS2 (de Boer, MSc thesis, p. 90): red's B to M,
blue's N to Y.
"""

from __future__ import annotations

import re

from stratkit.engine.stratego import BLUE, FILES, RED, TYPES
from stratkit.errors import InputError

# Types from B on (red) and from N on (blue).
LETTER_ORDER = (
    "bomb",
    "spy",
    "scout",
    "miner",
    "sergeant",
    "lieutenant",
    "captain",
    "major",
    "colonel",
    "general",
    "marshal",
    "flag",
)
EMPTY_LETTER, LAKE_LETTER = "A", "_"

_FIRST = {RED: "B", BLUE: "N"}
_LETTERS = {
    (side, TYPES.index(name)): chr(ord(first) + place)
    for side, first in _FIRST.items()
    for place, name in enumerate(LETTER_ORDER)
}
_PIECES = {letter: piece for piece, letter in _LETTERS.items()}

_MOVE = re.compile(r"([A-Z])([1-9][0-9]?)([ :-]?)([A-Z])([1-9][0-9]?)", re.ASCII)


def letter(side: int, type_: int) -> str:
    """The StraDoS2 letter of a piece."""
    return _LETTERS[side, type_]


def piece(letter: str) -> tuple[int, int] | None:
    """(side, type) of a StraDoS2 letter, or None when it names no piece."""
    return _PIECES.get(letter)


def square_text(square: int, width: int) -> str:
    """A square, counted from 0 at A1, as text."""
    return f"{FILES[square % width]}{square // width + 1}"


def move_text(from_: int, to: int, width: int) -> str:
    """A move as one token: `A4A5`."""
    return square_text(from_, width) + square_text(to, width)


def parse_square(text: str, width: int, height: int) -> int:
    """The square that `text` names; raises `InputError` when the board has none of that name."""
    file, rank = FILES.find(text[:1]) if text else -1, text[1:]
    if not 0 <= file < width or not re.fullmatch("[1-9][0-9]?", rank) or int(rank) > height:
        raise InputError(
            f"unknown square (A1 to {square_text(width * height - 1, width)})", text=text
        )
    return width * (int(rank) - 1) + file


def parse_move(text: str, width: int, height: int) -> tuple[int, int]:
    """(from, to) of `A4A5`, `A4 A5` or `A4-A5`; raises `InputError`."""
    squares = split_move(text)
    if squares is None or squares[1] == ":":
        raise InputError("a move is written like A4A5", text=text)
    return parse_square(squares[0], width, height), parse_square(squares[2], width, height)


def split_move(text: str) -> tuple[str, str, str] | None:
    """Square, separator and square of what looks like a move, or None; the squares may not exist.

    The separator is empty, a blank, `-`, or `:` (a rescue in old logs of ultimate lightning).
    """
    found = _MOVE.fullmatch(text)
    return None if not found else (found[1] + found[2], found[3], found[4] + found[5])
