"""Setups that are placed piece by piece, and their exact probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s
from stratkit.engine.stratego import NO_PIECE, Variant
from stratkit.setups.constraints import Constraints
from stratkit.setups.source import Setups

AT_ONCE = 64  # setups whose probabilities are computed together

Squares = Int32s  # [n, k]: the squares of the first k pieces
Legal = Bytes  # [n, zone]: 1 where the next piece may be placed


class Placer(Protocol):
    """Places pieces one by one, type by type in the order of `types`.

    Its choice depends on which pieces stand where, and not on the order in which they came.
    """

    @property
    def types(self) -> Sequence[int]:
        """The type of each piece to be placed, in order."""

    def choose(self, games: Int64s, placed: Squares, legal: Legal) -> Squares:
        """int32 [n]: the square of the next piece in each of the `games` int64 [n]."""
        ...

    def policy(self, placed: Squares, legal: Legal) -> Float32s:
        """float32 [n, zone or more]: the probability of each square, 0 where illegal. Raises
        `UsageError` for a placer that does not know its probabilities."""
        ...


def empty_squares(variant: Variant, placed: Squares) -> Legal:
    """uint8 [n, zone]: 1 on the squares that have neither a piece nor a lake."""
    empty = np.tile(variant.places.astype(np.uint8), (len(placed), 1))
    np.put_along_axis(empty, placed, 0, axis=1)
    return empty


class PlacedSetups:
    """A source of setups that `placer` places.

    A square is illegal if the piece may not stand there, or if another piece would find no square
    any more. The placer chooses among the legal squares. Raises `InputError` when no setup meets
    `constraints`.
    """

    size = draws = None

    def __init__(self, placer: Placer, constraints: Constraints) -> None:
        constraints.check()
        self.placer, self.constraints = placer, constraints
        counts = constraints.variant.counts
        self.counts = [(type_, counts[type_]) for type_ in placer.types if counts[type_]]
        self.order = np.repeat([t for t, _ in self.counts], [n for _, n in self.counts])

    def draw(self, first: int, n: int) -> Setups:
        """Setups as the placer places them."""
        return self.setups(self.place(first, n))

    def place(self, first: int, n: int) -> Squares:
        """int32 [n, pieces]: the squares of n setups, in the order of placing."""
        games = np.arange(first, first + n)
        placed = np.empty((n, 0), np.int32)
        for _ in self.order:
            squares = self.placer.choose(games, placed, self.legal(placed))
            placed = np.column_stack([placed, squares])
        return placed

    def setups(self, placed: Squares) -> Setups:
        """uint8 [n, zone]: the setups with pieces on the squares `placed` int32 [n, pieces]."""
        setups = np.full((len(placed), self.constraints.variant.zone), NO_PIECE, np.uint8)
        np.put_along_axis(setups, placed, self.order[None].astype(np.uint8), axis=1)
        return setups

    def legal(self, placed: Squares) -> Legal:
        """uint8 [n, zone]: 1 where the next piece may be placed."""
        legal = empty_squares(self.constraints.variant, placed)
        if self.constraints.free:
            return legal
        parts, n, k = self.constraints.division, *placed.shape
        needs = np.tile(parts.needs, (n, 1))
        needs -= np.bincount(parts.group[self.order[:k]], minlength=needs.shape[1])
        sizes = np.tile(parts.sizes, (n, 1))
        np.subtract.at(sizes, (np.arange(n)[:, None], parts.class_[placed]), 1)
        good = parts.completable(needs, sizes)[:, parts.group[self.order[k]]]
        return np.asarray(legal & good[:, parts.class_])

    def logprobs(self, setups: Setups) -> Float64s:
        """float64 [n]: exact log-probabilities of `setups` uint8 [n, zone].

        A probability is a sum over all orders of equal pieces. The placer looks only at the squares
        that are taken, so that k equal pieces need 2^k subsets of their squares and not k! orders.
        """
        parts = [self._logprobs(setups[at : at + AT_ONCE]) for at in range(0, len(setups), AT_ONCE)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _logprobs(self, setups: Setups) -> Float64s:
        n = len(setups)
        squares_of = [np.argsort(setups != t, axis=1, kind="stable")[:, :c] for t, c in self.counts]
        placed = np.concatenate(squares_of, axis=1).astype(np.int32)
        parts = (self.placer.policy(rows, self.legal(rows)) for rows in self._prefixes(placed))
        total, first = np.zeros(n), 0
        for _, count in self.counts:
            squares = placed[:, first : first + count]
            first += count
            # What comes through each subset of the squares: [n] each.
            chances: dict[tuple[int, ...], Float64s] = {(): np.ones(n)}
            for size in range(count):
                subsets = list(combinations(range(count), size))
                chosen = next(parts).reshape(n, len(subsets), -1)
                following = dict.fromkeys(combinations(range(count), size + 1), np.zeros(n))
                for at, subset in enumerate(subsets):
                    for new in set(range(count)) - set(subset):
                        chance = chosen[np.arange(n), at, squares[:, new]].astype(np.float64)
                        grown = tuple(sorted((*subset, new)))
                        following[grown] = following[grown] + chances[subset] * chance
                chances = following
            with np.errstate(divide="ignore"):  # what is never made has -inf
                total += np.log(chances[tuple(range(count))])
        return total

    def _prefixes(self, placed: Squares) -> Iterator[Squares]:
        """Yields, for each type and each number of its pieces, the squares taken so far: int32
        [n * subsets, k], one row for each setup and each subset of the type's squares."""
        n, first = len(placed), 0
        for _, count in self.counts:
            for size in range(count):
                chosen = list(combinations(range(count), size))
                subsets = np.array(chosen, int).reshape(len(chosen), size)
                before = np.repeat(placed[:, None, :first], len(subsets), axis=1)
                own = placed[:, first : first + count][:, subsets]
                rows = np.concatenate([before, own], axis=2)
                yield np.ascontiguousarray(rows.reshape(n * len(subsets), first + size))
            first += count
