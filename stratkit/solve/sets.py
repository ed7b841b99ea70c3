"""What players play in the information sets of a game (`stratkit.storage.sets`), in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s
from stratkit.engine import Tree
from stratkit.errors import InputError, StratkitError
from stratkit.storage.sets import InformationSets, TreeSets

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer

OpenProgress = Callable[[int, str, str], AbstractContextManager[Any]]  # how many, of what, where

ROWS = 1 << 16  # information sets that a player is asked for between two looks at the progress
TWICE = 1024  # of them, that a player of the user's own is asked for again
ANSWERS_DIFFER = 1e-4  # by more than how libraries round


def on_tree(sets: InformationSets, tree: Tree, policy: Float64s) -> Float64s:
    """A policy of `sets` as one of the tree of their game."""
    if isinstance(sets, TreeSets):
        return policy
    seen, legal = sets.views(0, len(sets))
    dense = np.zeros(legal.shape)
    dense[legal.astype(bool)] = policy
    numbers = {row.tobytes(): number for number, row in enumerate(seen)}
    return tree.flat(dense[[numbers[row.tobytes()] for row in tree.observations()]])


# ---- What a player plays ----


def asked(player: PolicyPlayer, observations: Bytes, legal: Bytes) -> Float32s | Float64s:
    """What a player without memory plays where it sees this, [n, actions]."""
    from stratkit.players.player import Views

    n = len(observations)
    nothing = np.zeros(n, np.int8)  # of games and sides a network knows nothing
    games, numbers = nothing.astype(np.int64), nothing.astype(np.int32)
    return player.policy(Views(games, nothing, numbers, legal, observations))


def check_function(name: str, player: PolicyPlayer, observations: Bytes, legal: Bytes) -> None:
    """`InputError`: asked twice about some of these views, in another order, a player has two
    answers."""
    seen, may = observations[:TWICE], legal[:TWICE]
    once = np.asarray(asked(player, seen, may), np.float64)
    again = np.asarray(asked(player, seen[::-1].copy(), may[::-1].copy()), np.float64)[::-1]
    apart = abs(once - again).max(1) > ANSWERS_DIFFER
    if apart.any():
        where = f"what sees {' '.join(map(str, seen[int(apart.argmax())]))}"
        what = f"asked twice about {where}, it gave two answers"
        raise InputError(f"{what}: its policy is no function of the information state", where=name)


def normalised(policy: Float32s | Float64s) -> Float64s:
    """float64 [n, actions], whose rows sum to 1. `StratkitError`: one has nothing to sum."""
    total = policy.sum(1, dtype=np.float64, keepdims=True)
    if not (np.isfinite(total).all() and (total > 0).all()):
        from stratkit.players.player import NO_ACTION

        raise StratkitError(NO_ACTION)
    return np.asarray(policy / total, np.float64)


def choices_of(
    sets: InformationSets, player: PolicyPlayer, begin: int, progress: OpenProgress
) -> Iterator[Float64s]:
    """What a player without memory plays in the sets from number `begin` on, part by part."""
    with progress(len(sets) - begin, "information set", sets.game.name) as bar:
        for first in range(begin, len(sets), ROWS):
            seen, legal = sets.views(first, first + ROWS)
            yield normalised(asked(player, seen, legal))[legal.astype(bool)]
            bar.update(len(seen))


def all_choices(sets: InformationSets, player: PolicyPlayer, progress: OpenProgress) -> Float64s:
    """The same of all sets, float64 [E]."""
    policy, at = np.empty(sets.choices), 0
    for part in choices_of(sets, player, 0, progress):
        policy[at : at + len(part)] = part
        at += len(part)
    return policy
