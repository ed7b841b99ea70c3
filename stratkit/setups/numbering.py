"""A setup's number: its place, from 0, in the alphabetical order of all setups of its variant."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from stratkit.engine.stratego import NO_PIECE, Variant
from stratkit.errors import InputError
from stratkit.notation.setups import Setup, parse_setup, setup_text

LETTERS = setup_text(np.array([NO_PIECE], np.uint8)) + "BCDEFGHIJKLM"


def ways(counts: Iterable[int]) -> int:
    """The number of orders of so many pieces of each kind: the multinomial coefficient."""
    orders, total = 1, 0
    for count in counts:
        total += count
        orders *= math.comb(total, count)
    return orders


def counts_of(variant: Variant) -> list[int]:
    """[13]: the pieces of each type in a setup, and the squares that stay empty, lakes and all."""
    return [*variant.counts, variant.zone - variant.pieces]


def how_many(variant: Variant) -> int:
    """The number of setups of the variant."""
    *pieces, empty = counts_of(variant)
    return ways([*pieces, empty - _lakes(variant)])


def _lakes(variant: Variant) -> int:
    """Lakes among the squares of a setup, which stay empty in all of them."""
    return variant.zone - int(variant.places.sum())


def number_of(variant: Variant, setup: Setup) -> int:
    """The number of a setup, uint8 [zone]: how many setups with the same pieces come before it."""
    text = setup_text(setup[variant.places])
    counts = [text.count(letter) for letter in LETTERS]
    left, number = ways(counts), 0
    for rest, letter in zip(range(len(text), 0, -1), text, strict=True):
        place = LETTERS.index(letter)
        # Each division is exact: of `left` orders, counts[i] / rest have letter i in front.
        number += left * sum(counts[:place]) // rest
        left = left * counts[place] // rest
        counts[place] -= 1
    return number


def setup_at(variant: Variant, number: int) -> Setup:
    """The inverse of `number_of`: uint8 [zone]. Raises `InputError` for a number out of range."""
    left = how_many(variant)
    if not 0 <= number < left:
        raise InputError(
            f"the setups of {variant.name} have the numbers 0 to {left - 1}", text=number
        )
    *pieces, empty = counts_of(variant)
    empty -= _lakes(variant)
    counts = [empty, *(pieces[type_] for type_ in parse_setup(LETTERS[1:]))]
    text = ""
    for rest in range(int(variant.places.sum()), 0, -1):
        for place, count in enumerate(counts):  # noqa: B007
            share = left * count // rest
            if number < share:
                break
            number -= share
        text += LETTERS[place]
        left = share
        counts[place] -= 1
    setup = np.full(variant.zone, NO_PIECE, np.uint8)
    setup[variant.places] = parse_setup(text)
    return setup
