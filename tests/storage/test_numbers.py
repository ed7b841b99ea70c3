"""Sets of game numbers against Python's own sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stratkit.storage.numbers import NumberSet


@given(st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**63 - 1)), max_size=60))
def test_it_is_a_set(values: list[int]) -> None:
    numbers, expected = NumberSet(), set()
    for value in values:
        assert numbers.add(value) == (value not in expected)
        expected.add(value)
        assert len(numbers) == len(expected)
    assert list(numbers) == sorted(expected)
    assert all((value in numbers) == (value in expected) for value in range(32))
    assert "3" not in numbers


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12))
def test_many_at_once_are_as_one_by_one(runs: list[tuple[int, int]]) -> None:
    many, single = NumberSet(), NumberSet()
    for first, count in runs:
        found = np.arange(first, first + count)
        assert many.add_many(found).tolist() == [single.add(n) for n in found.tolist()]
        assert (list(many), len(many)) == (list(single), len(single))


def test_of_scattered_numbers_the_lowest_are_forgotten() -> None:
    numbers = NumberSet(max_runs=10)
    assert all(numbers.add(2 * i) for i in range(1000))
    assert 1998 in numbers
    assert 0 not in numbers
    assert len(numbers) == len(list(numbers)) <= 10


def test_neighbours_are_one_run() -> None:
    numbers = NumberSet(max_runs=10)
    assert all(numbers.add(i) for i in range(100_000))
    assert all(numbers.add(200_000 - i) for i in range(100_000))
    assert len(numbers) == 200_000
    assert not numbers.add(5)
