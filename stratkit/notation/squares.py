"""Squares, moves and pieces as text.

A square is written file then rank, `A1` first; files are `ABCDEFGHIK`: there is no J. A move is
written `A4A5`, and a fight `A4A5 7>5`. Pieces have the letters of StraDoS2 (de Boer, MSc thesis,
p. 90): red's B to M, blue's N to Y.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from stratkit.engine.stratego import (
    BLUE,
    BOMB,
    BOTH_FALL,
    FILES,
    FLAG,
    LOSES,
    RED,
    SPY,
    TYPES,
    WINS,
    fight,
)
from stratkit.errors import InputError

# Types from B on (red) and from N on (blue).
LETTER_ORDER = (TYPES[BOMB], *TYPES[SPY:BOMB], TYPES[FLAG])
EMPTY_LETTER, LAKE_LETTER = "A", "_"
# By type: flag, spy, then the ranks by strength, bomb.
RANKS = ("F", "S", "2", "3", "4", "5", "6", "7", "8", "9", "10", "B")
_SIGNS = {WINS: ">", LOSES: "<", BOTH_FALL: "="}

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


def ply_text(from_: int, to: int, width: int, met: tuple[int, int] | None = None) -> str:
    """A ply in every list and on every page: `A4A5`. A fight of two types, attacker and attacked,
    has their ranks: `A4A5 7>5`, the attacker won (`<`: it fell; `=`: both fell)."""
    move = move_text(from_, to, width)
    if met is None:
        return move
    attacker, attacked = met
    return f"{move} {RANKS[attacker]}{_SIGNS[fight(*met)]}{RANKS[attacked]}"


@functools.cache
def square_bytes(width: int, height: int) -> dict[str, bytes]:
    """Every square's text, and the square as a byte."""
    return {square_text(n, width): bytes([n]) for n in range(width * height)}


@functools.cache
def move_bytes(width: int, height: int, separator: str = "") -> dict[str, bytes]:
    """Every pair of squares as text with `separator` in it, and as two bytes: one look-up a move is
    how long games are read."""
    squares = square_bytes(width, height).items()
    return {f"{a}{separator}{b}": x + y for a, x in squares for b, y in squares}


@functools.cache
def _move_words(width: int, height: int, separator: str) -> list[str]:
    return list(move_bytes(width, height, separator))


def move_words(moves: bytes, width: int, height: int, separator: str = "") -> Sequence[str]:
    """The text of `moves`, two bytes (from, to) each."""
    words, squares = _move_words(width, height, separator), width * height
    return [words[a * squares + b] for a, b in zip(moves[::2], moves[1::2], strict=True)]


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
    match = _MOVE.fullmatch(text)
    return None if not match else (match[1] + match[2], match[3], match[4] + match[5])
