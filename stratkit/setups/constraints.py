"""What `--fix` and `--forbid` ask of setups: which piece may stand on which square.

`M=A1` names a piece by its letter (A: an empty square) and squares from the side's own chair:
squares and rectangles between two corners (`B4..D4`), with commas between them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bools, Bytes, Int64s
from stratkit.engine.stratego import FILES, NO_PIECE, TYPES, Variant
from stratkit.errors import InputError, UsageError
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import parse_square, square_text
from stratkit.setups.numbering import LETTERS, counts_of

EMPTY = len(TYPES)  # the row of empty squares, behind those of the types
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Constraints:
    """What setups must meet.

    variant  of Stratego
    allowed  bool [13, zone], which type may stand on which square; the last row is for empty
             squares
    """

    variant: Variant
    allowed: Bools

    @property
    def counts(self) -> list[int]:
        """The number of squares for each row of `allowed`: [13]."""
        return counts_of(self.variant)

    @functools.cached_property
    def free(self) -> bool:
        """Whether every setup of the variant meets them."""
        present = np.array(self.counts) > 0
        return bool((self.allowed | ~_anywhere(self.variant))[present].all())

    @functools.cached_property
    def mirrored(self) -> Constraints:
        """The constraints that a setup meets if its mirror image meets these."""
        return Constraints(self.variant, mirror(self.variant, self.allowed))

    def met(self, setups: Bytes) -> Bools:
        """bool [n]: which of `setups` uint8 [n, zone] meet them."""
        rows = np.where(setups == NO_PIECE, EMPTY, setups)
        return np.asarray(self.allowed[rows, np.arange(setups.shape[1])].all(axis=1))

    @functools.cached_property
    def division(self) -> Division:
        """The groups and classes by which setups are counted."""
        return divide(self)

    def check(self) -> None:
        """Raises `InputError` when no setup meets them."""
        if not self.division.possible:
            raise InputError("no setup meets all of --fix and --forbid")


def mirror(variant: Variant, rows: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """`rows` [n, zone] with left and right exchanged."""
    shape = rows.shape
    turned = rows.reshape(len(rows), variant.ranks, variant.width)[:, :, ::-1]
    return np.ascontiguousarray(turned).reshape(shape)


def constraints_of(
    variant: Variant, fixed: Sequence[str] = (), forbidden: Sequence[str] = ()
) -> Constraints:
    """The constraints of --fix and --forbid.

    A fixed piece stands on all its squares, or on some of them if they are more than such pieces.
    Raises `UsageError` for a malformed option, an unknown square, and a piece that the variant does
    not have.
    """
    allowed = _anywhere(variant)
    for option, texts in (("--fix", fixed), ("--forbid", forbidden)):
        for text in texts:
            row, squares = _parse(variant, option, text)
            if option == "--forbid":
                allowed[row, squares] = False
                continue
            count = counts_of(variant)[row]
            if squares.sum() >= count:
                allowed[row, ~squares] = False
            if squares.sum() <= count:
                allowed[np.ix_(np.arange(len(allowed)) != row, squares)] = False
    return Constraints(variant, allowed)


def _anywhere(variant: Variant) -> Bools:
    """bool [13, zone]: pieces may stand everywhere but on lakes."""
    allowed = np.ones((len(TYPES) + 1, variant.zone), bool)
    allowed[:EMPTY, ~variant.places] = False
    return allowed


def _parse(variant: Variant, option: str, text: str) -> tuple[int, Bools]:
    """The row and the squares, bool [zone], of `M=A1` or `B=A4..K4`."""
    letter, _, places = text.partition("=")
    if len(letter) != 1 or letter not in LETTERS or not places:
        raise UsageError(
            "a piece from A to M, = and squares are needed, as in M=A1 or B=A4..K4",
            where=option,
            text=text,
        )
    type_ = int(parse_setup(letter)[0])
    row = EMPTY if type_ == NO_PIECE else type_
    if not counts_of(variant)[row]:
        what = "no empty squares" if row == EMPTY else f"no piece {letter} ({TYPES[row]})"
        raise UsageError(f"{variant.name} has {what}", where=option, text=text)
    squares = np.zeros(variant.zone, bool)
    for place in places.split(","):
        corners = [_square(variant, option, text, corner) for corner in place.split("..", 1)]
        (low, high), (left, right) = (
            sorted((corners[0][axis], corners[-1][axis])) for axis in (0, 1)
        )
        squares.reshape(variant.ranks, -1)[low : high + 1, left : right + 1] = True
    return row, squares


def _square(variant: Variant, option: str, text: str, name: str) -> tuple[int, int]:
    """(rank, file) of a square where pieces are set up."""
    try:
        return divmod(parse_square(name, variant.width, variant.ranks), variant.width)
    except InputError:
        last = square_text(variant.zone - 1, variant.width)
        what = f"setups of {variant.name} have the squares A1 to {last}"
        if name[1:].isdigit() and name[:1].isalpha() and name[:1] not in FILES:
            what += f" (files {FILES[: variant.width]})"
        raise UsageError(what, where=option, text=text) from None


@dataclass(frozen=True)
class Division:
    """G groups of pieces and K classes of squares: pieces of a group may stand on the same squares,
    and squares of a class take the same pieces.

        allowed  bool [G, K], whether the group may stand on the class
        group    int [13], group of each row of `Constraints.allowed`; -1: the variant has no such
                 piece
        class_   int [zone], class of each square
        needs    [G] pieces of a group
        sizes    [K] squares of a class
    """

    allowed: Bools
    group: Int64s
    class_: Int64s
    needs: tuple[int, ...]
    sizes: tuple[int, ...]

    @functools.cached_property
    def _sets(self) -> tuple[Bools, Bools]:
        """All S sets of groups: their members, bool [S, G], and the classes where one of the
        members may stand, bool [S, K]."""
        every = itertools.product((False, True), repeat=len(self.needs))
        members = np.array(list(every), bool)
        return members, members @ self.allowed

    @property
    def possible(self) -> bool:
        """Whether some setup meets the constraints, by Hall's theorem: no set of groups needs more
        squares than it may have."""
        members, reach = self._sets
        return bool((reach @ self.sizes >= members @ self.needs).all())

    def completable(self, needs: Int64s, sizes: Int64s) -> Bools:
        """bool [n, G, K]: whether a piece of the group may go to the class such that all others
        still find squares. `needs` int [n, G]: the pieces that are left; `sizes` int [n, K]: the
        squares that are left. By Hall's theorem a set of groups that needs all squares it may have
        keeps other groups off them."""
        members, reach = self._sets
        full = (sizes @ reach.T - needs @ members.T == 0).astype(np.float32)
        taken = np.einsum("ns,sg,sk->ngk", full, ~members, reach, optimize=True) > 0
        room = (needs > 0)[:, :, None] & (sizes > 0)[:, None, :]
        return np.asarray(self.allowed & room & ~taken)


def divide(constraints: Constraints) -> Division:
    """The coarsest division for these constraints."""
    counts = np.array(constraints.counts)
    present = np.flatnonzero(counts)
    rows, group_of = np.unique(constraints.allowed[present], axis=0, return_inverse=True)
    allowed, class_ = np.unique(rows, axis=1, return_inverse=True)
    group = np.full(len(counts), -1)
    group[present] = group_of.reshape(-1)
    needs = np.bincount(group[present], weights=counts[present]).astype(int)
    sizes = np.bincount(class_.reshape(-1))
    return Division(
        allowed, group, class_.reshape(-1), tuple(needs.tolist()), tuple(sizes.tolist())
    )
