"""Zones small enough to write down all setups, and constraints on them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stratkit.engine.stratego import NO_PIECE, Variant
from stratkit.setups.constraints import Constraints


def small(*counts: int, ranks: int = 2, width: int = 3) -> Variant:
    """A variant with so many flags, spies, scouts, ...; the other squares are empty."""
    filled = (*counts, *(0,) * (12 - len(counts)))
    return Variant("small", width, 2 * ranks + 2, ranks, filled, (), 100, 50)


def every_setup(variant: Variant) -> np.ndarray:
    """All setups, uint8 [m, zone], in no particular order."""
    pieces = [t for t in range(12) for _ in range(variant.counts[t])]
    pieces += [NO_PIECE] * (variant.zone - len(pieces))
    return np.array(sorted(set(itertools.permutations(pieces))), np.uint8)


VARIANTS = st.sampled_from([small(1, 1, 1, 1), small(1, 2, 3), small(2, 2, 1, ranks=1, width=5)])


@st.composite
def constrained(draw: st.DrawFn) -> Constraints:
    """Any constraints on one of the small zones, often contradictory ones."""
    variant = draw(VARIANTS)
    shape = (13, variant.zone)
    allowed = draw(arrays.arrays(bool, shape, elements=st.sampled_from([True, True, True, False])))
    return Constraints(variant, allowed)
