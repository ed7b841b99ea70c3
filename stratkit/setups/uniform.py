"""Uniform setups: all that meet the constraints are equally probable.

The setups are counted exactly. Pieces and squares are divided into groups and classes (see
`Division`). The number of pieces of each group on each class is drawn cell by cell, with chances
proportional to the number of setups that go on so. Then pieces and squares are shuffled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Bools, Float64s, Int64s
from stratkit.engine import uniform, uniform_rows
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import NO_PIECE
from stratkit.errors import InputError
from stratkit.setups.constraints import EMPTY, Constraints
from stratkit.setups.numbering import ways
from stratkit.setups.source import Setups

MAX_STATES = 100_000  # that are counted: a few seconds

State = tuple[int, tuple[int, ...]]  # what the row still needs, and what each column can take


@dataclass
class TableCounter:
    """Counts tables of whole numbers. Each table counts as often as the places of the columns can
    be given to the rows. Cells are numbered row by row.

        needs    [rows] row sums
        sizes    [columns] column sums
        allowed  bool [rows, columns], cells that may be above 0
    """

    needs: tuple[int, ...]
    sizes: tuple[int, ...]
    allowed: Bools
    _known: dict[tuple[int, State], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = len(self.sizes)
        self.cells = [divmod(int(at), columns) for at in np.flatnonzero(self.allowed)]
        # The last cells of their row and of their column: these take all that is left.
        rows = {row: at for at, (row, _) in enumerate(self.cells)}
        down = {column: at for at, (_, column) in enumerate(self.cells)}
        self._last_of_row, self._last_of_column = set(rows.values()), set(down.values())

    def first(self) -> State:
        """The state before the first cell."""
        return self.needs[0], self.sizes

    def choices(self, at: int, state: State) -> list[tuple[int, int]]:
        """(number, ways to go on with it) for the cell number `at`, if there are any ways."""
        left = state[1][self.cells[at][1]]
        choices = []
        for n in self._numbers(at, state):
            if total := self.count(at + 1, self.after(at, state, n)):
                choices.append((n, math.comb(left, n) * total))
        return choices

    def _numbers(self, at: int, state: State) -> range:
        need, left = state[0], state[1][self.cells[at][1]]
        least = need if at in self._last_of_row else 0
        if at in self._last_of_column:
            least = max(least, left)
        return range(least, min(need, left) + 1)

    def after(self, at: int, state: State, n: int) -> State:
        """The state after the cell number `at` has n."""
        need, left = state
        row, column = self.cells[at]
        left = (*left[:column], left[column] - n, *left[column + 1 :])
        if at + 1 < len(self.cells) and self.cells[at + 1][0] != row:
            return self.needs[row + 1], left
        return need - n, left

    def count(self, at: int, state: State) -> int:
        """The number of ways to fill the cells from number `at` on. Raises `InputError` for too
        many states."""
        if at == len(self.cells):
            return 1 if not state[0] and not any(state[1]) else 0
        key = at, state
        if key not in self._known:
            if len(self._known) >= MAX_STATES:
                raise InputError(
                    "--fix and --forbid divide pieces and squares into too many kinds to count"
                )
            left, total = state[1][self.cells[at][1]], 0
            for n in self._numbers(at, state):
                total += math.comb(left, n) * self.count(at + 1, self.after(at, state, n))
            self._known[key] = total
        return self._known[key]


class UniformSetups:
    """Setups that meet `constraints`, all equally probable. Raises `InputError` when there are
    none, or when counting takes too many states."""

    draws = None

    def __init__(self, constraints: Constraints, seed: int) -> None:
        constraints.check()
        self.variant, self.seed = constraints.variant, seed
        self.division = parts = constraints.division
        columns, rows = (math.prod(n + 1 for n in ns) for ns in (parts.sizes, parts.needs))
        self.turned = rows < columns  # the side with fewer states is the one that is kept track of
        needs, sizes = parts.needs, parts.sizes
        if self.turned:
            self.counter = TableCounter(sizes, needs, parts.allowed.T)
        else:
            self.counter = TableCounter(needs, sizes, parts.allowed)
        tables = self.counter.count(0, self.counter.first())
        if self.turned:  # pieces were told apart, squares were not
            tables = tables * math.prod(map(math.factorial, sizes))
            tables //= math.prod(map(math.factorial, needs))
        counts = np.array(constraints.counts)
        inside = [counts[parts.group == group].tolist() for group in range(len(needs))]
        self.size: int | None = tables * math.prod(map(ways, inside))
        # The pieces of each group in turn, as they stand in a setup.
        order = [row for group in range(len(needs)) for row in np.flatnonzero(parts.group == group)]
        types = np.array([NO_PIECE if row == EMPTY else row for row in order], np.uint8)
        self.pieces = np.repeat(types, counts[order])

    def draw(self, first: int, n: int) -> Setups:
        """Groups of pieces by class of squares, then pieces within them."""
        games = np.arange(first, first + n)
        groups = self._groups(games)
        places = np.argsort(groups + self._random(games, Stream.PIECES), axis=1)
        setups = np.empty(places.shape, np.uint8)
        np.put_along_axis(setups, places, self.pieces[None], axis=1)
        return setups

    def logprobs(self, setups: Setups) -> Float64s:
        """All alike: minus the logarithm of their number."""
        assert self.size
        return np.full(len(setups), -math.log(self.size))

    def _groups(self, games: Int64s) -> Int64s:
        """int64 [n, zone]: the group of the piece on each square."""
        n, zone = len(games), self.variant.zone
        tables = self._tables(games)
        kinds = np.tile(np.arange(tables.shape[1]), n * tables.shape[2])
        # Class by class: so many of each group, on the squares of the class in random order.
        groups = np.repeat(kinds, tables.transpose(0, 2, 1).reshape(-1)).reshape(n, zone)
        places = np.argsort(self.division.class_ + self._random(games, Stream.SQUARES), axis=1)
        out = np.empty_like(groups)
        np.put_along_axis(out, places, groups, axis=1)
        return out

    def _tables(self, games: Int64s) -> Int64s:
        """int64 [n, G, K]: the number of pieces of each group on each class of squares."""
        counter = self.counter
        tables = np.zeros((len(games), len(counter.needs), len(counter.sizes)), np.int64)
        states = {counter.first(): np.arange(len(games))}
        for at, (row, column) in enumerate(counter.cells):
            numbers = np.full(len(games), at, np.int32)
            drawn = uniform(self.seed, games, numbers, Stream.ZONES)
            following: dict[State, list[Int64s]] = {}
            for state, who in states.items():
                choices = counter.choices(at, state)
                total, sums = sum(w for _, w in choices), 0
                below = []
                for _, chances in choices[:-1]:
                    sums += chances
                    below.append(sums / total)
                chosen = np.searchsorted(below, drawn[who], side="right")
                for index, (n, _) in enumerate(choices):
                    some = who[chosen == index]
                    if len(some):
                        tables[some, row, column] = n
                        following.setdefault(counter.after(at, state, n), []).append(some)
            states = {state: np.concatenate(parts) for state, parts in following.items()}
        return tables.transpose(0, 2, 1) if self.turned else tables

    def _random(self, games: Int64s, stream: Stream) -> Float64s:
        """float64 [n, zone] in [0, 1)."""
        numbers = np.zeros(len(games), np.int32)
        return uniform_rows(self.seed, games, numbers, self.variant.zone, stream)
