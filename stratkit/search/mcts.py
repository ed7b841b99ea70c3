"""Monte Carlo tree search in known states, many at once (Silver et al. 2018; Blüml, Czech, Kersting
2023, "AlphaZe**").

The trees themselves grow in C (`stratkit.engine.mcts`). In every round each tree that is not done
asks for one evaluation: of a new leaf, or in Stratego also of a piece that is worth a look. One
call of the blueprint answers all of them, so no tree needs a virtual loss.
"""

from __future__ import annotations

import time

from stratkit.engine.mcts import SearchTrees
from stratkit.search.blueprint import Blueprint


def grow(trees: SearchTrees, blueprint: Blueprint, until: float | None = None) -> None:
    """Grows all trees to their ends, or until that time (of `time.monotonic`) has passed. Each gets
    at least one evaluation, if it needs any.

    `ValueError`: the blueprint's policy or value is no such.
    """
    while True:
        packed, legal = trees.ask()
        if not len(packed):
            return
        policy, values = blueprint.evaluate_distinct(packed, legal, values=True)
        assert values is not None
        trees.tell(policy, values)
        if until is not None and time.monotonic() >= until:
            return
