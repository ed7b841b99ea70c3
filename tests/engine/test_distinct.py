"""Which views are different: against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stratkit.engine import distinct_views


@given(
    st.integers(0, 200), st.integers(0, 20), st.integers(0, 20), st.integers(1, 3), st.integers(0)
)
def test_as_a_dictionary_has_it(n: int, seen: int, allowed: int, values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    observations = rng.integers(0, values, (n, seen)).astype(np.uint8)
    legal = rng.integers(0, 2, (n, allowed)).astype(np.uint8)
    kinds: dict[tuple[bytes, bytes], int] = {}
    firsts, wanted = [], []
    for row in range(n):
        view = observations[row].tobytes(), legal[row].tobytes()
        if view not in kinds:
            kinds[view] = len(firsts)
            firsts.append(row)
        wanted.append(kinds[view])
    first, each = distinct_views(observations, legal)
    assert (first.tolist(), each.tolist()) == (firsts, wanted)
