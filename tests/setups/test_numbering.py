"""A setup's number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setups.small_boards import every_setup, small
from stratkit.engine.stratego import VARIANTS, Variant
from stratkit.errors import InputError
from stratkit.notation.setups import setup_text
from stratkit.setups.numbering import how_many, number_of, setup_at

variants = st.sampled_from(list(VARIANTS.values()))


@st.composite
def numbered(draw: st.DrawFn) -> tuple[Variant, int, int]:
    """A variant and two of its numbers, often near the ends."""
    variant = draw(variants)
    last = how_many(variant) - 1
    numbers = st.one_of(
        st.integers(0, last), st.integers(0, min(last, 20)), st.integers(max(0, last - 20), last)
    )
    return variant, draw(numbers), draw(numbers)


@settings(max_examples=60)
@given(numbered())
def test_numbers_are_places_in_the_alphabet(case: tuple[Variant, int, int]) -> None:
    """There and back, and the order of numbers is that of the texts."""
    variant, one, other = case
    texts = []
    for number in (one, other):
        setup = setup_at(variant, number)
        assert number_of(variant, setup) == number
        texts.append(setup_text(setup))
    assert (one < other, one == other) == (texts[0] < texts[1], texts[0] == texts[1])


@pytest.mark.parametrize("variant", [VARIANTS["nano"], small(1, 2, 3), small(1, 0, 2, 1)])
def test_every_number_once(variant: Variant) -> None:
    texts = sorted(setup_text(setup) for setup in every_setup(variant))
    assert len(texts) == how_many(variant)
    assert [setup_text(setup_at(variant, n)) for n in range(len(texts))] == texts


def test_how_many_there_are() -> None:
    """40! / (8! 6! 5! 4! 4! 4! 3! 2!) of classic, and so on; the ends of the numbers."""
    known = {"classic": 1411873643675199617616832128000000, "barrage": 1550398449600, "nano": 6,
             "duel": 384498815500800, "mini": 9979200, "barrage-blocked": 610048454400}  # fmt: skip
    for name, count in known.items():
        variant = VARIANTS[name]
        assert how_many(variant) == count
        ends = [setup_text(setup_at(variant, n)[variant.places]) for n in (0, count - 1)]
        assert list(ends[0]) == sorted(ends[0]) and ends[1] == ends[0][::-1]
        for wrong in (-1, count):
            with pytest.raises(InputError, match=f"the numbers 0 to {count - 1}"):
                setup_at(variant, wrong)


def test_big_numbers_are_exact() -> None:
    """The 34 digits of a classic number survive."""
    number = 1234567890123456789012345678901234 % how_many(VARIANTS["classic"])
    classic = VARIANTS["classic"]
    assert number_of(classic, setup_at(classic, number)) == number
    assert isinstance(number_of(classic, np.array(setup_at(classic, number))), int)
