"""Stratego beyond the game interface: variants, setups, positions, and moves by absolute squares.

Absolute square = width * rank + file, counted from 0, A1 = 0. Types are numbered as in `TYPES`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
import numpy.typing as npt

from stratkit.arguments import Between, Player, checked, fitting, integer, within
from stratkit.arrays import Bytes, Int32s
from stratkit.engine.batch import Batch
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, lib, text
from stratkit.errors import InputError, nearest_or_all

RED, BLUE = 0, 1

TYPES = (
    *("flag", "spy", "scout", "miner", "sergeant", "lieutenant", "captain", "major"),
    *("colonel", "general", "marshal", "bomb"),
)
FLAG, SPY, SCOUT, MINER, MARSHAL, BOMB = 0, 1, 2, 3, 10, 11
UNKNOWN = 15  # a type that is not known
NO_PIECE = 255  # an empty square of a setup

# The order in which the types are placed.
PLACING_ORDER = (FLAG, BOMB, 10, 9, 8, 7, 6, 5, 4, MINER, SCOUT, SPY)

EMPTY, LAKE = 0, 1  # cells without a piece
PIECE, SIDE, REVEALED, MOVED, TYPE = 0x80, 0x40, 0x20, 0x10, 0x0F  # the bits of a cell

FILES = "ABCDEFGHIK"
NO_LAKES = "-"  # in place of lakes, in the name of a board without any

Squares = TypeVar("Squares", int, npt.NDArray[Any])


@dataclass(frozen=True)
class Variant:
    """One row of the engine's table of variants."""

    name: str
    width: int
    height: int
    ranks: int  # deployment ranks of each side
    counts: tuple[int, ...]  # pieces of each type
    lakes: tuple[int, ...]  # squares
    max_plies: int
    max_no_attack: int

    @property
    def squares(self) -> int:
        """The number of squares of the board."""
        return self.width * self.height

    @property
    def zone(self) -> int:
        """Squares of one side's deployment ranks: the length of a setup."""
        return self.width * self.ranks

    @property
    def pieces(self) -> int:
        """Pieces of one side."""
        return sum(self.counts)

    @functools.cached_property
    def places(self) -> npt.NDArray[np.bool_]:
        """bool [zone]: which squares of the deployment ranks are no lakes, on either side."""
        lakes = {*self.lakes, *map(self.flip, self.lakes)}
        return np.array([square not in lakes for square in range(self.zone)])

    def flip(self, squares: Squares) -> Squares:
        """A square, or an array of squares, of the board rotated by 180 degrees: blue's frame of
        an absolute square, and back."""
        return self.squares - 1 - squares

    def framed(self, side: Player, squares: Squares) -> Squares:
        """Absolute squares in the frame of `side`, and back."""
        return self.flip(squares) if side == BLUE else squares


@checked
def flip_cells(cells: Bytes) -> Bytes:
    """Cells uint8 [squares] from the other side: the board rotated by 180 degrees, red's and blue's
    (or own and enemy's) pieces exchanged."""
    fitting("cells", cells, (None,))
    return np.where(cells & PIECE, cells ^ SIDE, cells)[::-1].astype(np.uint8)


def _variant(row: Any) -> Variant:
    width = int(row.width)
    lakes = (width * (int(word[1:]) - 1) + FILES.index(word[0]) for word in text(row.lakes).split())
    return Variant(
        name=text(row.name),
        width=width,
        height=int(row.height),
        ranks=int(row.ranks),
        counts=tuple(int(n) for n in row.counts),
        lakes=tuple(lakes),
        max_plies=int(row.max_plies),
        max_no_attack=int(row.max_no_attack),
    )


@functools.cache
def _variants() -> dict[str, Variant]:
    rows: dict[str, Variant] = {}
    out = ffi.new("sk_variant *")
    while lib.sk_stratego_variant(len(rows), out):
        variant = _variant(out)
        rows[variant.name] = variant
    return rows


class _Variants(Mapping[str, Variant]):
    """The engine's table by name, and behind `NAME:LAKES` its boards with other lakes, which are no
    part of the list."""

    def __getitem__(self, name: str) -> Variant:
        kind, colon, lakes = name.partition(":")
        row = _variants()[kind]
        if not colon:
            return row
        words = re.findall("[A-IK][1-9][0-9]?", lakes)
        squares = {row.width * (int(word[1:]) - 1) + FILES.index(word[0]) for word in words}
        if max(squares, default=0) >= row.squares:
            raise KeyError(name)
        found = with_lakes(row, tuple(squares))
        if found.name != name:  # of other squares, in another order, or its own
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_variants())

    def __len__(self) -> int:
        return len(_variants())


@checked
def with_lakes(variant: Variant, lakes: Sequence[int]) -> Variant:
    """A row of the engine's table with these squares as lakes; the row itself, if it has them."""
    lakes = tuple(sorted({integer("lakes", s, 0, variant.squares - 1) for s in lakes}))
    kind = variant.name.partition(":")[0]
    if lakes == _variants()[kind].lakes:
        return _variants()[kind]
    squares = (f"{FILES[s % variant.width]}{s // variant.width + 1}" for s in lakes)
    return replace(variant, name=f"{kind}:{''.join(squares) or NO_LAKES}", lakes=lakes)


VARIANTS = _Variants()


@checked
def variant(name: str) -> Variant:
    """The variant of this name; raises `InputError` when the game is no Stratego."""
    if name not in VARIANTS:
        raise InputError(f"{name!r} is no variant of Stratego{nearest_or_all(name, VARIANTS)}")
    return VARIANTS[name]


@checked
def differ_by_lakes(one: str, other: str) -> bool:
    """Whether two names are variants that differ by their lakes only: what players see of both has
    the same shape."""
    if one not in VARIANTS or other not in VARIANTS:
        return False
    first, second = VARIANTS[one], VARIANTS[other]
    return replace(first, name=other, lakes=second.lakes) == second


@checked
def open_types(rules: Mapping[str, int]) -> tuple[int, ...]:
    """The types that the rule `open` makes known from the start of play."""
    return tuple(type_ for type_ in range(len(TYPES)) if rules.get("open", 0) >> type_ & 1)


@checked
def placements(variant: Variant, setup: Bytes) -> Int32s:
    """The actions that place `setup`: equal pieces in ascending own-view order.

    `setup` uint8 [zone]: types in the owner's view, back rank first, `NO_PIECE` where empty.
    Returns int32 [pieces]. Raises `InputError` when the counts are not the variant's, or a piece
    stands on a lake.
    """
    if setup.shape != (variant.zone,):
        what = f"a setup of {variant.name} has {variant.zone} squares"
        raise InputError(f"{what}, not {setup.size}")
    counts = np.bincount(setup[setup != NO_PIECE], minlength=12)
    for type_, name in enumerate(TYPES):
        if len(counts) > 12 or counts[type_] != variant.counts[type_]:
            raise InputError(
                f"a setup of {variant.name} has {variant.counts[type_]} of type {name}, "
                f"not {counts[type_]}"
            )
    if (setup[~variant.places] != NO_PIECE).any():
        raise InputError(f"a setup of {variant.name} has no pieces on its lakes")
    squares = [np.flatnonzero(setup == type_) for type_ in PLACING_ORDER]
    return np.concatenate(squares).astype(np.int32)


@checked
def setup_of(variant: Variant, actions: Int32s) -> Bytes:
    """The inverse of `placements`: the setup that the first `pieces` actions of a side place."""
    fitting("actions", actions, (None,))
    first = actions[: variant.pieces]
    if len(first) < variant.pieces:
        raise ValueError(f"actions must be {variant.pieces} or more, not {len(first)}")
    within("actions", first, 0, variant.zone - 1)
    order = np.repeat(PLACING_ORDER, [variant.counts[type_] for type_ in PLACING_ORDER])
    setup = np.full(variant.zone, NO_PIECE, np.uint8)
    setup[first] = order
    return setup


@checked
@functools.cache
def free_game(name: str) -> Game:
    """The variant without repetition rules and draw limits."""
    return Game(name, dict.fromkeys(Game(name).rules, 0))


@dataclass(frozen=True)
class Position:
    """Everything on the board between two plies, as an arbiter sees it; no history.

    variant     the board
    cells       uint8 [squares], absolute
    side        who is to move
    plies       played so far
    no_attack   plies since the last attack
    """

    variant: Variant
    cells: Bytes
    side: int
    plies: int = 0
    no_attack: int = 0

    def to_bytes(self) -> bytes:
        """As the start of an episode (formats/episodes.md)."""
        self._check_cells()
        integer("side", self.side, RED, BLUE)
        for what, count in (("plies", self.plies), ("plies without an attack", self.no_attack)):
            if not 0 <= integer(what, count, -(2**63), 2**64 - 1) < 65536:
                raise InputError(f"{what}: a number from 0 to 65535 is needed, not {count}")
        numbers = np.array([self.plies, self.no_attack], "<u2").tobytes()
        return self.cells.tobytes() + bytes([self.side]) + numbers

    def _check_cells(self) -> None:
        if not isinstance(self.variant, Variant) or not isinstance(self.cells, np.ndarray):
            raise TypeError("variant must be a Variant, and cells an array")
        fitting("cells", self.cells, (self.variant.squares,))
        if self.cells.dtype != np.uint8:
            raise ValueError(f"cells must be uint8, not {self.cells.dtype}")

    @classmethod
    @checked
    def of_setups(cls, variant: Variant, red: Bytes, blue: Bytes) -> Position:
        """The start of a game from both setups, as in `placements`, but of any pieces; a setup that
        reaches beyond its ranks is uint8 [squares]. Raises `InputError` where a square is taken."""
        cells = np.zeros(variant.squares, np.uint8)
        cells[list(variant.lakes)] = LAKE
        for side, setup in ((RED, red), (BLUE, blue)):
            name = "blue" if side else "red"
            fitting(name, setup, (None,))
            squares = np.flatnonzero(setup != NO_PIECE)
            if len(setup) > variant.squares:
                raise ValueError(f"{name} must have {variant.squares} squares at most")
            absolute = variant.framed(side, squares)
            if cells[absolute].any():
                raise InputError("red and blue have a piece on a lake, or two on one square")
            cells[absolute] = PIECE | side * SIDE | setup[squares]
        return cls(variant, cells, RED)

    @checked
    def setup(self, side: Player) -> Bytes:
        """The pieces of `side`, uint8 [zone], or [squares] if one is beyond its ranks."""
        self._check_cells()
        own = (self.cells & (PIECE | SIDE)) == PIECE | side * SIDE
        setup = np.where(own, self.cells & TYPE, NO_PIECE).astype(np.uint8)
        setup = setup if side == RED else setup[::-1]
        outside = (setup[self.variant.zone :] != NO_PIECE).any()
        return setup if outside else setup[: self.variant.zone]

    @classmethod
    @checked
    def from_bytes(cls, variant: Variant, start: bytes) -> Position:
        """The inverse of `to_bytes`; what the bytes mean is not checked."""
        if len(start) != variant.squares + 5:
            raise InputError(f"a position of {variant.name} has {variant.squares + 5} bytes")
        cells = np.frombuffer(start, np.uint8, variant.squares)
        plies, no_attack = np.frombuffer(start, "<u2", 2, variant.squares + 1)
        return cls(variant, cells, start[variant.squares], int(plies), int(no_attack))

    def legal(self) -> list[tuple[int, int]]:
        """Legal moves (from, to), ascending, with the repetition rules and draw limits off."""
        batch = Batch(free_game(self.variant.name), 1)
        batch.start(0, self.to_bytes())
        return legal_moves(batch, 0)


@checked
def legal_moves(batch: Batch, row: int) -> list[tuple[int, int]]:
    """The legal plies of `row` as absolute squares (from, to), ascending, all rules in force."""
    return batch.moves(row, RED)


@checked
def perft(batch: Batch, row: int, depth: Annotated[int, Between(1, 100)]) -> int:
    """The number of sequences of `depth` legal plies from `row`, all rules in force.

    Takes as long as there are sequences, at some millions a second: for tests. Raises `ValueError`
    when a piece is selected, in deployment, and unless 1 <= depth <= 100.
    """
    row = batch._row("row", row)
    variant(batch.game.name)
    leaves = int(lib.sk_stratego_perft(batch.handle, row, depth))
    if leaves < 0:
        raise ValueError("row must be between two plies, and depth from 1 to 100")
    return leaves


@checked
def why_illegal(position: Position, from_: int, to: int) -> str:
    """Why a move that is not legal in `position` is not, in words."""
    position._check_cells()
    squares = position.variant.squares
    if not (0 <= from_ < squares and 0 <= to < squares):
        return "off the board"
    piece, target = int(position.cells[from_]), int(position.cells[to])
    if not piece & PIECE:
        return "there is no piece to move"
    if bool(piece & SIDE) != bool(position.side):
        return "the piece belongs to the other side"
    name = TYPES[piece & TYPE]
    if piece & TYPE in (FLAG, BOMB):
        return f"a {name} cannot move"
    if target == LAKE:
        return "the destination is a lake"
    if target & PIECE and bool(target & SIDE) == bool(position.side):
        return "the destination holds a piece of the same side"
    return f"a {name} cannot move like that"


WINS, LOSES, BOTH_FALL = 1, -1, 0  # the attacker


def fight(attacker: int, defender: int) -> int:
    """How an attack ends, for the attacker; both are types."""
    if attacker == defender:
        return BOTH_FALL
    if defender == BOMB:
        return WINS if attacker == MINER else LOSES
    if attacker == SPY and defender == MARSHAL:
        return WINS
    return WINS if attacker > defender else LOSES
