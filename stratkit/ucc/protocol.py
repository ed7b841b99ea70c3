"""The words of the UCC 2012 text protocol; a manager and an agent speak it with them.

A square is a column `x` from the left and a row `y` from the top, row 0 being red's back rank:
square = width * y + x in our numbers. Rows are as long as the board is wide, so every variant
has its form of the protocol. Pieces are `1` (marshal) to `9` (scout), `s`, `B` and `F`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.stratego import (
    BLUE,
    BOMB,
    FLAG,
    LAKE,
    NO_PIECE,
    PIECE,
    RED,
    SIDE,
    SPY,
    TYPE,
    TYPES,
    Variant,
    placements,
)
from stratkit.errors import InputError

COLOURS = ("RED", "BLUE")
START = "START"
QUIT = "QUIT"
SURRENDER = "SURRENDER"
OK, KILLS, DIES, BOTHDIE = "OK", "KILLS", "DIES", "BOTHDIE"

EMPTY_CHARACTER, LAKE_CHARACTER, ENEMY_CHARACTER = ".", "+", "#"
LETTERS = "".join(
    {FLAG: "F", SPY: "s", BOMB: "B"}.get(type_, str(11 - type_)) for type_ in range(len(TYPES))
)
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}

_MOVE = re.compile(r"(\d{1,3}) +(\d{1,3}) +(UP|DOWN|LEFT|RIGHT)(?: +(\d{1,3}))? *", re.ASCII)

Setup = Bytes


def header_line(colour: int, opponent: str, variant: Variant) -> str:
    """What begins a game; the opponent's name has to be one word."""
    word = re.sub(r"[^!-~]", "_", opponent) or "_"
    return f"{COLOURS[colour]} {word} {variant.width} {variant.height}"


# --- setups and boards ----------------------------------------------------------------------------


def setup_lines(variant: Variant, colour: int, setup: Setup) -> list[str]:
    """The lines of a setup, uint8 [zone] in its owner's view: the top row of the board first."""
    absolute = setup if colour == RED else setup[::-1]
    text = "".join(EMPTY_CHARACTER if t == NO_PIECE else LETTERS[t] for t in absolute.tolist())
    return _rows(text, variant)


def read_setup(variant: Variant, colour: int, lines: list[str]) -> Setup:
    """The inverse of `setup_lines`; `InputError` says what is wrong."""
    for number, line in enumerate(lines, 1):
        if len(line) != variant.width:
            what = f"line {number} of the setup has {len(line)} characters, not {variant.width}"
            raise InputError(what, text=line)
        for character in line:
            if character not in LETTERS + EMPTY_CHARACTER:
                raise InputError(f"line {number} of the setup: no piece", text=character)
    text = "".join(lines)
    types = [NO_PIECE if c == EMPTY_CHARACTER else LETTERS.index(c) for c in text]
    setup = np.array(types, np.uint8)
    setup = setup if colour == RED else setup[::-1]
    placements(variant, setup)
    return setup


def board_lines(variant: Variant, cells: Bytes, colour: int) -> list[str]:
    """The board, `cells` of a position, as `colour` may see it. The protocol shows every enemy as
    `#`, also one whose rank was revealed."""
    text = "".join(_character(cell, colour) for cell in cells.tolist())
    return _rows(text, variant)


def _character(cell: int, colour: int) -> str:
    if not cell & PIECE:
        return LAKE_CHARACTER if cell == LAKE else EMPTY_CHARACTER
    enemy = bool(cell & SIDE) != (colour == BLUE)
    return ENEMY_CHARACTER if enemy else LETTERS[cell & TYPE]


def _rows(text: str, variant: Variant) -> list[str]:
    return [text[at : at + variant.width] for at in range(0, len(text), variant.width)]


# --- moves ----------------------------------------------------------------------------------------


def move_line(variant: Variant, from_: int, to: int) -> str:
    """A move; the number of squares is only named if it is more than one."""
    (y0, x0), (y1, x1) = divmod(from_, variant.width), divmod(to, variant.width)
    count = max(abs(x1 - x0), abs(y1 - y0))
    step = ((x1 - x0) // count, (y1 - y0) // count)
    word = next(word for word, its in STEPS.items() if its == step)
    return f"{x0} {y0} {word}" + (f" {count}" if count > 1 else "")


def read_move(variant: Variant, line: str) -> tuple[int, int]:
    """(from, to) of a move; a destination off the board is -1. `InputError`: it is no move."""
    match = _MOVE.fullmatch(line)
    if not match or (match[4] is not None and int(match[4]) == 0):
        raise InputError("no move", text=line)
    x, y, count = int(match[1]), int(match[2]), int(match[4] or 1)
    across, down = STEPS[match[3]]
    return _square(variant, x, y), _square(variant, x + across * count, y + down * count)


def _square(variant: Variant, x: int, y: int) -> int:
    on_board = 0 <= x < variant.width and 0 <= y < variant.height
    return variant.width * y + x if on_board else -1


@dataclass(frozen=True)
class MoveOutcome:
    """What a move did: `word`, and in a fight the types of the piece that moved and of the one that
    it attacked."""

    word: str
    attacker: int = 0
    defender: int = 0

    def __str__(self) -> str:
        if self.word == OK:
            return OK
        return f"{self.word} {LETTERS[self.attacker]} {LETTERS[self.defender]}"


def outcome(before: Bytes, after: Bytes, from_: int, to: int) -> MoveOutcome:
    """The outcome of a move between two positions, given by their cells."""
    if not before[to] & PIECE:
        return MoveOutcome(OK)
    mover, target, left = int(before[from_]), int(before[to]), int(after[to])
    stays = KILLS if left & SIDE == mover & SIDE else DIES
    word = stays if left & PIECE else BOTHDIE
    return MoveOutcome(word, mover & TYPE, target & TYPE)


def read_played(variant: Variant, line: str) -> tuple[int, int, MoveOutcome]:
    """(from, to, outcome) of a line that tells a move and what it did; `InputError`: it is none."""
    pattern = rf"(.*?) +({OK}|({KILLS}|{DIES}|{BOTHDIE}) +([{LETTERS}]) +([{LETTERS}])) *"
    match = re.fullmatch(pattern, line, re.ASCII)
    if not match:
        raise InputError("no move and its outcome", text=line)
    from_, to = read_move(variant, match[1])
    if match[3] is None:
        return from_, to, MoveOutcome(OK)
    return from_, to, MoveOutcome(match[3], LETTERS.index(match[4]), LETTERS.index(match[5]))


# --- the end --------------------------------------------------------------------------------------


def quit_line(name: str, colour: int, result: str, plies: int, values: tuple[int, int]) -> str:
    """What ends a game: the player on turn, its colour and its result, the round, and what the
    pieces of both sides are worth together."""
    word = re.sub(r"[^!-~]", "_", name) or "_"
    return f"{QUIT} {word} {COLOURS[colour]} {result} {plies // 2 + 1} {values[0]} {values[1]}"


def can_move(cells: Bytes, colour: int) -> bool:
    """Whether a side has a piece that is neither flag nor bomb, wherever that could go."""
    return army_value(cells, colour) > 0


def army_value(cells: Bytes, colour: int) -> int:
    """What the protocol says a side's pieces are worth: a scout 2 to a marshal 10, the spy 1."""
    mine = cells[(cells & (PIECE | SIDE)) == PIECE | (SIDE if colour == BLUE else 0)] & TYPE
    return int(mine[(mine != FLAG) & (mine != BOMB)].sum())
