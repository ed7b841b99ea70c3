"""Trees of the small games, each enumerated once."""

from __future__ import annotations

import functools

import numpy as np

from stratkit.engine import Game, Tree


@functools.cache
def tree_of(name: str) -> Tree:
    return Tree(Game(name))


def dense(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """float64 [I, actions of the game], 0 where illegal, of a policy [E], as `Tree.flat` takes."""
    out = np.zeros((len(tree), tree.game.actions))
    out[tree.owner, tree.actions] = policy
    return out
