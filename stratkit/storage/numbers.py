"""Sets of game numbers in bounded memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator

import numpy as np

from stratkit.arrays import Bools, Int64s

MAX_RUNS = 1 << 18


class NumberSet(Collection[int]):
    """A set of whole numbers from 0 to 2^63 - 1, kept as runs of neighbours, 16 bytes each.

    Games are numbered one after the other, so that one run is the rule. Of numbers so scattered
    that they make more than `max_runs` runs the lowest are forgotten.
    """

    def __init__(self, max_runs: int = MAX_RUNS) -> None:
        self.max_runs = max_runs
        self._first, self._last = array("q"), array("q")
        self._count = 0

    def add(self, number: int) -> bool:
        """Adds `number`; False when it was there already."""
        after = bisect_right(self._first, number)  # the run that begins behind `number`
        if after and number <= self._last[after - 1]:
            return False
        joins_left = after > 0 and self._last[after - 1] == number - 1
        joins_right = after < len(self._first) and self._first[after] == number + 1
        if joins_left and joins_right:
            self._last[after - 1] = self._last[after]
            del self._first[after], self._last[after]
        elif joins_left:
            self._last[after - 1] = number
        elif joins_right:
            self._first[after] = number
        else:
            self._first.insert(after, number)
            self._last.insert(after, number)
        self._count += 1
        if len(self._first) > self.max_runs:
            self._forget(len(self._first) // 2)
        return True

    def add_many(self, numbers: Int64s) -> Bools:
        """Adds numbers int64 [n] one after the other; bool [n], False where one was there."""
        highest = self._last[-1] if self._last else -1
        if len(numbers) and numbers[0] > highest and (np.diff(numbers) == 1).all():
            self.add(int(numbers[0]))  # as they mostly come: new, and one after the other
            self._last[-1] = int(numbers[-1])
            self._count += len(numbers) - 1
            return np.ones(len(numbers), np.bool_)
        return np.array([self.add(number) for number in numbers.tolist()], np.bool_)

    def _forget(self, runs: int) -> None:
        self._count -= sum(self._last[:runs]) - sum(self._first[:runs]) + runs
        del self._first[:runs], self._last[:runs]

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        after = bisect_right(self._first, number)
        return after > 0 and number <= self._last[after - 1]

    def __iter__(self) -> Iterator[int]:
        for first, last in zip(self._first, self._last, strict=True):
            yield from range(first, last + 1)

    def __len__(self) -> int:
        return self._count
