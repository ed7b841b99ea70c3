"""Trees of the small games, each enumerated once."""

from __future__ import annotations

import functools

import pytest

from stratkit.engine import Game, Tree, game_names


@functools.cache
def tree_of(name: str) -> Tree:
    kind, colon, _ = name.partition(":")
    if kind + colon not in game_names():
        pytest.skip(f"the engine has no game {name}")
    return Tree(Game(name))
