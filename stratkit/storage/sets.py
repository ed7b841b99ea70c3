"""The information sets of a game in the order of tables, which formats/table.md tells.

A policy is float64 [E]: the probabilities of the choices of all sets, one set after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine import Game, Tree
from stratkit.engine.dice import DiceSets, dice_bids
from stratkit.engine.phantom import PhantomViews, view_numbers
from stratkit.errors import InputError

ROWS = 1 << 16  # information sets whose numbers are looked at together
NO_SET = -1  # what sees this is in none


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

    @property
    def first(self) -> Int64s:
        """int64 [sets + 1]: where the choices of each begin."""
        ...

    def find(self, players: Int64s, before: Int64s, observations: Bytes) -> Int64s:
        """The numbers of the sets in which players see this, int64 [n], or `NO_SET`. `before` is
        the last choice of each, a number below E; -1: it has made none."""
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

    @property
    def first(self) -> Int64s:
        return self.tree.first.astype(np.int64)

    def find(self, players: Int64s, before: Int64s, observations: Bytes) -> Int64s:
        keys = zip(players.tolist(), before.tolist(), observations, strict=True)
        numbers = (self._numbers.get((*key, seen.tobytes()), NO_SET) for *key, seen in keys)
        return np.fromiter(numbers, np.int64, len(players))

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        last = (self.tree.before - 1).tolist()  # of sequences, the empty one is number 0
        keys = zip(self.tree.players.tolist(), last, self._seen, strict=True)
        return {(*key, seen.tobytes()): number for number, (*key, seen) in enumerate(keys)}


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

    @cached_property
    def first(self) -> Int64s:
        sizes = self.all.legal[self._some].sum(1, dtype=np.int64)
        return np.concatenate([[0], np.tile(sizes, 2).cumsum()])

    def find(self, players: Int64s, before: Int64s, observations: Bytes) -> Int64s:
        numbers = self.all.numbers_of(observations)
        at = np.searchsorted(self._some, numbers).clip(max=len(self._some) - 1)
        found = at + players * len(self._some)
        return np.where(self._some[at] == numbers, found, NO_SET)

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


def checked_choices(
    sets: InformationSets, parts: Callable[[int, int], Any], rounding: float
) -> Float64s:
    """The policy [E] of numbers from elsewhere; `parts` gives those of some choices. `InputError`
    names the first set in which they are no policy."""
    policy, begins = np.empty(sets.choices), sets.first
    for number in range(0, len(sets), ROWS):
        of_part = begins[number : number + ROWS + 1]
        at, sizes = int(of_part[0]), np.diff(of_part)
        part = np.asarray(parts(at, int(of_part[-1])), np.float64)
        _check_part(sets, number, part, sizes, rounding)
        total = np.add.reduceat(part, of_part[:-1] - at)
        policy[at : at + len(part)] = part / np.repeat(total, sizes)
    return policy


def _check_part(
    sets: InformationSets, number: int, part: Float64s, sizes: Int64s, rounding: float
) -> None:
    """Of the sets from this number on."""
    begins = np.cumsum(sizes) - sizes
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.add.reduceat(part, begins)
        possible = np.add.reduceat((part >= 0).astype(np.int64), begins) == sizes
        wrong = ~(possible & (abs(sums - 1) <= rounding))  # NaN is not near 1 either
    if not wrong.any():
        return
    row = int(wrong.argmax())
    numbers, first = part[begins[row] : begins[row] + sizes[row]], number + row
    seen = sets.views(first, first + 1)[0][0]
    where = f"information set {first}, which sees {' '.join(map(str, seen))}"
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        bad = numbers[~(np.isfinite(numbers) & (numbers >= 0))][0]
        raise InputError(f"{bad:g} is no probability", where=where)
    raise InputError(f"the probabilities sum to {sums[row]:.6g}, not to 1", where=where)
