"""The hands of a side in a position of Stratego: which types its hidden pieces can have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.stratego import BOMB, FLAG, MOVED, NO_PIECE, PIECE, REVEALED, SIDE


def count_hands(unmoved: int, moved: int, left: Sequence[int]) -> int:
    """In how many ways hidden pieces, so many `left` of each type, can stand on squares of which
    `unmoved` may hold a flag or a bomb."""
    still = left[FLAG] + left[BOMB]
    if still > unmoved:
        return 0
    flags_and_bombs = math.factorial(unmoved) // math.factorial(unmoved - still)
    flags_and_bombs //= math.factorial(left[FLAG]) * math.factorial(left[BOMB])
    others = math.factorial(unmoved - still + moved)
    for type_ in range(FLAG + 1, BOMB):
        others //= math.factorial(left[type_])
    return flags_and_bombs * others


def hands(cells: Bytes, left: Sequence[int], enemy: bool, most: int) -> Bytes | None:
    """All assignments of the types that a side has `left` to its hidden pieces, uint8 [n, squares],
    `NO_PIECE` elsewhere; None if they are more than `most`. `cells` uint8 [squares] as they are
    observed."""
    hidden = (cells & (PIECE | SIDE | REVEALED)) == (PIECE | SIDE * enemy)
    still = np.flatnonzero(hidden & (cells & MOVED == 0))
    n = count_hands(len(still), int(hidden.sum()) - len(still), left)
    if not 0 < n <= most:
        return None
    out = np.full((1, len(cells)), NO_PIECE, np.uint8)
    for type_ in (FLAG, BOMB, *range(FLAG + 1, BOMB)):
        if left[type_]:
            squares = still if type_ in (FLAG, BOMB) else np.flatnonzero(hidden)
            places = np.array(list(itertools.combinations(squares.tolist(), left[type_])), np.int64)
            rows, chosen = np.nonzero((out[:, places] == NO_PIECE).all(2))
            out = out[rows]
            out[np.arange(len(out))[:, None], places[chosen]] = type_
    return out
