"""Trees of the small games, each enumerated once."""

from __future__ import annotations

import functools

from stratkit.engine import Game, Tree


@functools.cache
def tree_of(name: str) -> Tree:
    return Tree(Game(name))
