"""Pieces face up, by numpy."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.observation import CELLS
from stratkit.engine.stratego import TYPE
from stratkit.engine.worlds import NOT_HIDDEN


def face_up(observations: Bytes, types: Bytes) -> Bytes:
    """Observations of Stratego in which the enemy's hidden pieces have these types, uint8 [n,
    squares] as of `hidden_types`."""
    out = observations.copy()
    cells = out[:, CELLS:]
    cells[:] = np.where(types == NOT_HIDDEN, cells, cells & ~np.uint8(TYPE) | types)
    return out
