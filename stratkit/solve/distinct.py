"""What a network sees of a tree: it has no memory, so many information sets look alike to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.engine import distinct_views
from stratkit.engine.tree import Tree

Bytes = npt.NDArray[np.uint8]


def distinct(tree: Tree) -> tuple[Bytes, Bytes, npt.NDArray[np.int64]]:
    """The distinct pairs of observation and legal actions of the information sets.

    Returns uint8 [n, observation_bytes] and uint8 [n, actions], and for each set which of the n
    it is, int64 [I].
    """
    observations, legal = tree.observations(), tree.legal()
    some, which = distinct_views(observations, legal)
    return observations[some], legal[some], which
