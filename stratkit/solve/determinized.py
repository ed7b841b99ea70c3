"""Determinized search in the limit: all worlds, each solved as if nothing in it were hidden.

    pimc           the moves of the best mean value over the worlds (equation 3 of AlphaZe**, Blüml,
                   Czech and Kersting 2023)
    pc-pimc        the moves that are best in most worlds: the largest mean policy (equation 4)
    pc-pimc-drawn  the mean policy itself

A world is as likely as chance makes it, whatever the other player would have done. Equally good
moves share. More worlds and deeper searches approach these policies, and no equilibrium: each world
is given a strategy of its own (Frank and Basin 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from stratkit.engine.tree import Tree, Vector

TIE = 1e-9


class Determinized:
    """One of the policies above. There is nothing to iterate."""

    def __init__(self, policy: Vector) -> None:
        self._policy = policy

    def step(self) -> None:
        """Nothing."""

    def solution(self) -> Vector:
        """The policy, float64 [E]."""
        return self._policy


def _best(tree: Tree, scores: Vector) -> Vector:
    """The policy [E] of the largest scores [E] of each information set."""
    most = np.maximum.reduceat(scores, tree.first[:-1])[tree.owner]
    best = (scores > most - TIE).astype(np.float64)
    return np.asarray(best / tree.sums(best)[tree.owner], np.float64)


DETERMINIZED: Mapping[str, Callable[[Tree], Determinized]] = {
    "pimc": lambda tree: Determinized(_best(tree, tree.world_values[0])),
    "pc-pimc": lambda tree: Determinized(_best(tree, tree.world_values[1])),
    "pc-pimc-drawn": lambda tree: Determinized(tree.world_values[1]),
}
