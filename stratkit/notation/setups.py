"""Setups: one side's pieces as letters, from its own view; and the field that two setups make.

formats/setups.md is the contract of `.setups` files.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np

from stratkit.arrays import Bytes
from stratkit.compressed import decompressed
from stratkit.engine.stratego import (
    BLUE,
    NO_PIECE,
    PIECE,
    RED,
    SIDE,
    TYPES,
    VARIANTS,
    Position,
    Variant,
    placements,
    with_lakes,
)
from stratkit.errors import InputError, shown
from stratkit.notation.lines import parsed_lines
from stratkit.notation.squares import EMPTY_LETTER, LAKE_LETTER, letter, piece, square_text

Setup = Bytes
MAX_NAMES = 20  # that a message lists


_LETTERS_OF_TYPES = {NO_PIECE: EMPTY_LETTER} | {t: letter(RED, t) for t in range(len(TYPES))}


def setup_text(setup: Setup) -> str:
    """A setup, uint8 [zone] of types in its owner's view, with red's letters."""
    return setup.tobytes().decode("latin-1").translate(_LETTERS_OF_TYPES)


_SETUP = re.compile("[A-M]*")


def parse_setup(text: str, variant: Variant | None = None) -> Setup:
    """The inverse of `setup_text`: uint8 [zone].

    With `variant`, length and counts must be the variant's. Raises `InputError`.
    """
    if variant is not None and len(text) != variant.zone:
        raise InputError(
            f"a setup of {variant.name} has {variant.zone} letters, not {len(text)}", text=text
        )
    if not _SETUP.fullmatch(text):
        index = next(i for i, content in enumerate(text) if not _SETUP.fullmatch(content))
        raise InputError(f"letter {index + 1} of a setup is none of A to M", text=text[index])
    setup = np.frombuffer(text.translate(_TYPES_OF_LETTERS).encode("latin-1"), np.uint8)
    if variant is not None:
        placements(variant, setup)
    return setup


def variant_of(setup: Setup, board: Variant | None = None) -> Variant | None:
    """The first variant with this many squares and these counts, or None. With the `board` of its
    game: that itself, or the first with the same lakes."""
    like: Iterable[Variant] = VARIANTS.values()
    if board is not None:
        like = [v for v in like if v.squares == board.squares]
        named = (v for v in like if v.lakes == board.lakes)
        like = chain([board], named, (with_lakes(v, board.lakes) for v in like))
    return next((v for v in like if has_counts(v, setup)), None)


@dataclass(frozen=True)
class NamedSetup:
    """A line of a `.setups` file: the setup, uint8 [zone], and its name ("": it has none)."""

    setup: Setup
    name: str = ""

    @property
    def line(self) -> str:
        """The line of the file."""
        return f"{setup_text(self.setup)} {self.name}".rstrip()


def read_setups(
    stream: BinaryIO, file: str, variant: Variant | None = None, name: str | None = None
) -> Iterator[tuple[int, NamedSetup | InputError]]:
    """The lines of a `.setups` stream, compressed or not, as `parsed_lines`, or those of this
    name, or an error that tells the names there are. Without `variant` each setup must fit some
    variant. `InputError`: damaged compressed data."""

    def parse(line: str) -> NamedSetup:
        text, *words = re.split("[ \t]+", line)
        try:
            setup = parse_setup(text, variant)
            if variant is None and variant_of(setup) is None:
                placements(_most_like(setup), setup)  # raises, and says which count is wrong
            return NamedSetup(setup, " ".join(words))
        except InputError as error:
            error.text = error.text or text
            raise

    found, others, number = name is None, dict[str, None](), 0
    for number, line in parsed_lines(decompressed(stream, file), file, parse):
        if isinstance(line, InputError) or name in (None, line.name):
            found = True
            yield number, line
        elif line.name:
            others[line.name] = None
    if not found:
        some = ", ".join(shown(other) for other in list(others)[:MAX_NAMES]) or "none with a name"
        more = f" and {len(others) - MAX_NAMES} more" * (len(others) > MAX_NAMES)
        what = f"no setup is called {shown(name)}; there are {some}{more}"
        yield number, InputError(what, file=file)


def file_and_name(text: str) -> tuple[str, str | None]:
    """The parts of `FILE#NAME`; of `FILE`, which may have a # itself, no name."""
    file, mark, name = text.partition("#")
    return (file, name) if mark and not os.path.exists(text) else (text, None)


def setups_called(
    stream: BinaryIO, file: str, variant: Variant, name: str | None = None
) -> Iterator[Setup]:
    """The setups that `read_setups` reads; raises the first `InputError`."""
    for _, line in read_setups(stream, file, variant, name):
        if isinstance(line, InputError):
            raise line
        yield line.setup


def all_setups(
    stream: BinaryIO, file: str, variant: Variant, name: str | None = None
) -> list[Setup]:
    """All that `setups_called` gives."""
    return list(setups_called(stream, file, variant, name))


def _most_like(setup: Setup) -> Variant:
    """The variant whose length and counts differ least from the setup's."""
    counts = np.bincount(setup[setup != NO_PIECE], minlength=12)

    def difference(variant: Variant) -> tuple[int, int]:
        return abs(variant.zone - len(setup)), int(np.abs(counts - variant.counts).sum())

    return min(VARIANTS.values(), key=difference)


def field_text(variant: Variant, red: Setup, blue: Setup) -> str:
    """StraDoS2's field content: every square from A1 on, at the start of a game."""
    squares = [EMPTY_LETTER] * variant.squares
    for lake in variant.lakes:
        squares[lake] = LAKE_LETTER
    for side, setup in ((RED, red), (BLUE, blue)):
        for own, type_ in enumerate(setup):
            if type_ != NO_PIECE:
                squares[variant.framed(side, own)] = letter(side, int(type_))
    return "".join(squares)


def parse_field(text: str, variant: Variant, free: bool = False) -> tuple[Setup, Setup]:
    """Red's and blue's setup from a field content; each from its owner's view.

    With `free` there may be any pieces on any squares: a setup that reaches beyond its ranks is
    uint8 [squares]. Raises `InputError`.
    """
    if len(text) != variant.squares:
        raise InputError(f"a field has {variant.squares} letters, not {len(text)}", text=text)
    if not _field_pattern(variant.name).fullmatch(text):
        for square, content in enumerate(text):
            _check_square(square, content, variant, free)
        if free:
            return _setups_anywhere(text, variant)
    red = text[: variant.zone].translate(_TYPES_OF_LETTERS)
    blue = text[: -variant.zone - 1 : -1].translate(_TYPES_OF_LETTERS)
    setups = tuple(np.frombuffer(side.encode("latin-1"), np.uint8) for side in (red, blue))
    if not free:
        for side, setup in zip(("red", "blue"), setups, strict=True):
            _check_counts(variant, setup, side)
    return setups[RED], setups[BLUE]


def _setups_anywhere(text: str, variant: Variant) -> tuple[Setup, Setup]:
    """The setups of a field whose pieces may stand anywhere."""
    pieces = [piece(content) for content in text]
    cells = [PIECE | pair[0] * SIDE | pair[1] if pair else 0 for pair in pieces]
    start = Position(variant, np.array(cells, np.uint8), RED)
    return start.setup(RED), start.setup(BLUE)


_TYPES_OF_LETTERS = {ord(EMPTY_LETTER): NO_PIECE, ord(LAKE_LETTER): NO_PIECE} | {
    ord(letter(side, type_)): type_ for side in (RED, BLUE) for type_ in range(len(TYPES))
}


@functools.cache
def _field_pattern(name: str) -> re.Pattern[str]:
    """What a field of this variant looks like, pieces and lakes each where they may be."""
    variant = VARIANTS[name]
    red, middle, blue = (EMPTY_LETTER + "B-M", EMPTY_LETTER, EMPTY_LETTER + "N-Y")
    squares = [
        LAKE_LETTER
        if square in variant.lakes
        else f"[{red if square < variant.zone else middle}]"
        if square < variant.squares - variant.zone
        else f"[{blue}]"
        for square in range(variant.squares)
    ]
    return re.compile("".join(squares))


def _check_square(square: int, content: str, variant: Variant, free: bool) -> None:
    """Raises `InputError` when one letter of a field may not stand where it does."""
    where = square_text(square, variant.width)
    if (content == LAKE_LETTER) != (square in variant.lakes):
        raise InputError(f"square {where} of the field: lakes are written _", text=content)
    if content in (LAKE_LETTER, EMPTY_LETTER):
        return
    side_and_type = piece(content)
    if side_and_type is None:
        raise InputError(f"square {where} of the field: no letter of a piece", text=content)
    if not free and variant.framed(side_and_type[0], square) >= variant.zone:
        raise InputError(f"square {where} of the field is not where its side sets up", text=content)


def has_counts(variant: Variant, setup: Setup) -> bool:
    """Whether the setup has the pieces of the variant, and none on its lakes."""
    counts = np.bincount(setup[setup != NO_PIECE], minlength=len(TYPES)).tolist()
    if len(setup) != variant.zone or counts != list(variant.counts):
        return False
    return not (setup[~variant.places] != NO_PIECE).any()


def _check_counts(variant: Variant, setup: Setup, side: str) -> None:
    if has_counts(variant, setup):
        return
    try:
        placements(variant, setup)  # raises, and says which count is wrong
    except InputError as error:
        raise InputError(f"{side}: {error.what}", text=setup_text(setup)) from None
