"""The information sets of a game in their order, and what a policy plays in each.

A policy is float64 [E]: the probabilities of the choices of all sets, one set after the other.
formats/table.md says which order a game's sets have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int64s
from stratkit.engine import Game, Tree
from stratkit.engine.dice import DiceSets, dice_bids
from stratkit.engine.phantom import PhantomViews, view_numbers
from stratkit.errors import InputError, StratkitError

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer

OpenProgress = Callable[[int, str, str], AbstractContextManager[Any]]  # how many, of what, where

ROWS = 1 << 16  # information sets that a player is asked for between two looks at the progress
TWICE = 1024  # of them, that a player of the user's own is asked for again
ANSWERS_DIFFER = 1e-4  # by more than how libraries round


class InformationSets(Protocol):
    """Those of one game.

    choices  int, of all sets together, E
    """

    game: Game
    choices: int

    def __len__(self) -> int: ...

    def views(self, begin: int, end: int) -> tuple[Bytes, Bytes]:
        """Of the sets from number `begin` up to `end`: observations uint8 [n, observation_bytes]
        and legal uint8 [n, actions]."""
        ...


class TreeSets(InformationSets):
    """Those of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.game, self.tree = tree.game, tree
        self.choices = len(tree.actions)
        self._seen = tree.observations()

    def __len__(self) -> int:
        return len(self.tree)

    def views(self, begin: int, end: int) -> tuple[Bytes, Bytes]:
        tree, end = self.tree, min(end, len(self))
        legal = np.zeros((end - begin, self.game.actions), np.uint8)
        some = slice(tree.first[begin], tree.first[end])
        legal[tree.owner[some] - begin, tree.actions[some]] = 1
        return self._seen[begin:end], legal


class PhantomSets(InformationSets):
    """Those of a phantom game, as far as a player without memory tells them apart: the views of
    player 0 in which it may choose, then those of player 1."""

    def __init__(self, game: Game) -> None:
        self.game, self.all = game, PhantomViews(game)
        self._some = np.flatnonzero(self.all.legal.any(1))
        self.choices = 2 * int(self.all.legal.sum())

    def __len__(self) -> int:
        return 2 * len(self._some)

    def views(self, begin: int, end: int) -> tuple[Bytes, Bytes]:
        player, at = np.divmod(np.arange(begin, min(end, len(self))), len(self._some))
        numbers = self._some[at]
        seen = np.empty((len(at), self.game.observation_bytes), np.uint8)
        for side in (0, 1):
            seen[player == side] = self.all.observations(side)[numbers[player == side]]
        return seen, self.all.legal[numbers]

    def of_each(self, policy: Float64s) -> tuple[Float64s, Float64s]:
        """A policy [E] as one of either player, float64 [V, cells] by `PhantomViews`."""
        both = np.zeros((2, *self.all.legal.shape))
        both[:, self.all.legal.astype(bool)] = policy.reshape(2, -1)
        return both[0], both[1]


def sets_of(tree: Tree) -> InformationSets:
    """Those of the tree's game, in the order of formats/table.md."""
    if dice_bids(tree.game):
        return DiceSets(tree.game)
    return PhantomSets(tree.game) if view_numbers(tree.game) else TreeSets(tree)


def information_sets(game: Game) -> InformationSets:
    """Those of a game, in the order of formats/table.md. `InputError`: its tree is too large."""
    if dice_bids(game):
        return DiceSets(game)
    return PhantomSets(game) if view_numbers(game) else TreeSets(Tree(game, sets_only=True))


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


def checked_choices(
    sets: InformationSets, parts: Callable[[int, int], Any], rounding: float
) -> Float64s:
    """The policy [E] of numbers from elsewhere; `parts` gives those of some choices. `InputError`
    names the first set in which they are no policy."""
    policy, at = np.empty(sets.choices), 0
    for first in range(0, len(sets), ROWS):
        seen, legal = sets.views(first, first + ROWS)
        sizes = legal.sum(1, dtype=np.int64)
        part = np.asarray(parts(at, at + int(sizes.sum())), np.float64)
        _check_part(first, part, sizes, seen, rounding)
        total = np.add.reduceat(part, np.cumsum(sizes) - sizes)
        policy[at : at + len(part)] = part / np.repeat(total, sizes)
        at += len(part)
    return policy


def _check_part(first: int, part: Float64s, sizes: Int64s, seen: Bytes, rounding: float) -> None:
    begins = np.cumsum(sizes) - sizes
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.add.reduceat(part, begins)
        possible = np.add.reduceat((part >= 0).astype(np.int64), begins) == sizes
        wrong = ~(possible & (abs(sums - 1) <= rounding))  # NaN is not near 1 either
    if not wrong.any():
        return
    row = int(wrong.argmax())
    numbers = part[begins[row] : begins[row] + sizes[row]]
    where = f"information set {first + row}, which sees {' '.join(map(str, seen[row]))}"
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        bad = numbers[~(np.isfinite(numbers) & (numbers >= 0))][0]
        raise InputError(f"{bad:g} is no probability", where=where)
    raise InputError(f"the probabilities sum to {sums[row]:.6g}, not to 1", where=where)
