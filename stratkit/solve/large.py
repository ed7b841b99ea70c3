"""Games too large for a tree: what policies are worth there, exactly, by walks that keep no
histories.

Phantom games have a walk of their own. There a policy is asked once for each view, of which there
are few, because players without memory know nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine import Game, Subgames, Tree
from stratkit.engine.best_response import BestResponse, BothResponses
from stratkit.engine.dice import DiceResponses, DiceSets, dice_bids
from stratkit.engine.phantom import PhantomResponses, view_numbers
from stratkit.engine.tree import MAX_HISTORIES, Vector, certainly_exceeds, histories_up_to
from stratkit.errors import InputError, Say
from stratkit.search.safe import Places
from stratkit.solve.cfr import EXPONENTS, DiceCFR
from stratkit.solve.exploitability import PolicyValue
from stratkit.solve.options import BY_LEARNERS
from stratkit.solve.responses import response_of_dice, response_of_phantom, response_of_tree
from stratkit.solve.sets import OpenProgress
from stratkit.storage.responses import Response
from stratkit.storage.sets import InformationSets, PhantomSets, TreeSets

Policy = TypeVar("Policy")
Views = tuple[Float64s, Float64s]  # a policy of either player

MOST_HISTORIES = 10_000_000_000  # that a walk through any game takes on: some hours
MOST_COUNTED = 1_000_000_000  # histories, before a walk begins
STEP = 500_000  # histories between two looks at the progress
PIECES = 64  # of phantom games, likewise


class LargeGame(ABC, Generic[Policy]):
    """A game whose histories are walked through for every policy."""

    game: Game

    @property
    @abstractmethod
    def sets(self) -> InformationSets:
        """Its information sets, in which players without memory are asked."""

    @property
    @abstractmethod
    def size(self) -> tuple[int, int]:
        """How many histories and information sets it has; known when a policy was evaluated."""

    @abstractmethod
    def uniform(self) -> Policy:
        """All legal actions alike."""

    @abstractmethod
    def of_choices(self, choices: Float64s) -> Policy:
        """The policy of these probabilities, float64 [E] of `sets`."""

    @abstractmethod
    def profile(self, first: Policy, second: Policy) -> Policy:
        """Player 0's part of the first policy with player 1's of the second."""

    def say_cost_of_network(self) -> None:
        """Says what a network's policy costs, where that is most of the time."""

    @cached_property
    def places(self) -> Places | None:
        """Where a search of public belief states counts what it plays; None: nowhere."""
        return None

    def of_counts(self, counts: Float64s) -> Policy:
        """The policy in proportion to counts, float64 [E] of `sets`; uniform where they are 0."""
        sets = self.sets
        sizes = np.diff(sets.first)
        total = np.repeat(np.add.reduceat(counts, sets.first[:-1]), sizes)
        policy = np.repeat(1.0 / sizes, sizes)
        np.divide(counts, total, out=policy, where=total > 0)
        return self.of_choices(policy)

    def open_solver(self, name: str) -> DiceCFR:
        """The solver called `name`. `InputError`: the game has none, or too little memory."""
        raise InputError(f"{self.game.name} is too large for solvers", text=name)

    @abstractmethod
    def respond(self, policy: Policy, progress: OpenProgress) -> tuple[PolicyValue, Response]:
        """What the policy is worth when both play it, and the best responses to it."""

    @abstractmethod
    def evaluate(self, policy: Policy, progress: OpenProgress) -> PolicyValue:
        """What the policy is worth when both play it."""


def walks_dice(game: Game) -> bool:
    """Whether a policy of Liar's Dice is walked through by sets of bids, since no tree has room."""
    return bool(dice_bids(game)) and DiceSets(game).histories > MAX_HISTORIES


def open_large(game: Game, threads: int, most_bytes: int, say: Say) -> LargeGame[Any] | None:
    """The game, if it is too large for a tree; None: it is not, or has not two players. Tells
    `say` what evaluating a policy will cost. `InputError`: it is too large for a walk, too."""
    if game.players != 2:
        return None
    if certainly_exceeds(game, MAX_HISTORIES) and view_numbers(game):
        return LargePhantom(game, threads)
    if walks_dice(game):
        return _large_dice(game, threads, most_bytes, say)
    if certainly_exceeds(game, MOST_HISTORIES):
        what = f"it has more than {MOST_HISTORIES:,} histories; {BY_LEARNERS}"
        raise InputError(f"{game.name} is too large to enumerate: {what}")
    if histories_up_to(game, MAX_HISTORIES) <= MAX_HISTORIES:
        return None
    histories = histories_up_to(game, MOST_COUNTED)
    more = "more than " if histories > MOST_COUNTED else ""
    say(f"{game.name}: {more}{histories:,} histories; a policy takes minutes")
    return LargeWalk(game, threads, most_bytes, histories)


class LargePhantom(LargeGame[Views]):
    """A phantom game of nine cells. A policy is float64 [V, cells] of either player, by the numbers
    of `PhantomViews`."""

    def __init__(self, game: Game, threads: int) -> None:
        self.game, self._threads = game, threads
        self._sets = PhantomSets(game)
        self._size = (0, 0)

    @property
    def sets(self) -> PhantomSets:
        return self._sets

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    def uniform(self) -> Views:
        uniform = self._sets.all.uniform()
        return uniform, uniform

    def of_choices(self, choices: Float64s) -> Views:
        return self._sets.of_each(choices)

    def profile(self, first: Views, second: Views) -> Views:
        return first[0], second[1]

    def respond(self, policy: Views, progress: OpenProgress) -> tuple[PolicyValue, Response]:
        found = self._walked(policy, progress)
        response = response_of_phantom(self._sets.all, found.plans)
        return PolicyValue.of_two(found.values[0], found.best), response

    def evaluate(self, policy: Views, progress: OpenProgress) -> PolicyValue:
        found = self._walked(policy, progress)
        return PolicyValue.of_two(found.values[0], found.best)

    def _walked(self, policy: Views, progress: OpenProgress) -> PhantomResponses:
        found = PhantomResponses(self.game, policy, self._threads)
        _step(found, progress, self.game)
        self._size = found.histories, sum(found.infosets)
        return found


class DicePlaces(Places):
    """The choices of `DiceSets`. A way is the set of bids that were made, a bit each."""

    def __init__(self, sets: DiceSets) -> None:
        made = np.arange(1 << sets.bids)
        self._sizes = sets.bids - np.frexp(made)[1].astype(np.int64) + (made > 0)
        self._first = np.cumsum(self._sizes) - self._sizes  # times hands
        self.choices, self._hands = sets.choices, sets.game.hands

    def of(self, subgames: Subgames, ways: Int64s) -> tuple[Int64s, Int64s]:
        made = _bids_made(subgames, ways)
        of_each = made[subgames.part]
        hand, action = np.divmod(subgames.output, subgames.tree.game.actions)
        last = np.frexp(of_each)[1] - 1  # -1: there is none
        begin = self._first[of_each] * self._hands + hand * self._sizes[of_each]
        return begin + action - last - 1, made[subgames.leaf_parts]


def _bids_made(subgames: Subgames, ways: Int64s) -> Int64s:
    """The bids made before each part, int64 [P], if those of `ways` were before the roots."""
    seen = subgames.tree.seen[subgames.tree.look[subgames.nodes]]
    made = np.where(seen.any(1), 1 << seen.argmax(1).astype(np.int64), 0)
    made[subgames.root_parts] |= ways
    above = np.where(subgames.parents < 0, np.arange(len(made)), subgames.parents)
    while True:  # each time of twice as many parts above
        made |= made[above]
        higher = above[above]
        if np.array_equal(higher, above):
            return made
        above = higher


def _large_dice(game: Game, threads: int, most_bytes: int, say: Say) -> LargeDice:
    large = LargeDice(game, threads, most_bytes, say)
    sets = large.sets
    if 2 * 8 * sets.choices > most_bytes:  # what the mean takes, too
        what = f"a policy takes {2 * 8 * sets.choices / (1 << 30):.1f} GiB (--memory)"
        raise InputError(f"{game.name} is too large to enumerate: {what}")
    return large


class LargeDice(LargeGame[Float64s]):
    """Liar's Dice. A policy is float64 [E], the choices of `DiceSets`."""

    def __init__(
        self, game: Game, threads: int, most_bytes: int = 1 << 62, say: Say = lambda line: None
    ) -> None:
        self.game, self._sets, self._threads = game, DiceSets(game), threads
        self._most_bytes, self._say = most_bytes, say

    @property
    def sets(self) -> DiceSets:
        return self._sets

    @property
    def size(self) -> tuple[int, int]:
        return self._sets.histories, len(self._sets)

    @cached_property
    def places(self) -> Places:
        return DicePlaces(self._sets)

    def say_cost_of_network(self) -> None:
        cost = "seconds of a small one, minutes of a large one (--table)"
        asked = f"a network is asked for {len(self._sets):,} information sets"
        self._say(f"{self.game.name}: {asked}; {cost}")

    def uniform(self) -> Float64s:
        return self._sets.uniform()

    def of_choices(self, choices: Float64s) -> Float64s:
        return choices

    def open_solver(self, name: str) -> DiceCFR:
        if name not in EXPONENTS:
            what = f"too large for this solver, and not for {', '.join(EXPONENTS)}"
            raise InputError(f"{self.game.name} is {what}", text=name)
        needed = 6 * 8 * self._sets.choices  # regrets, sums, policy, and whose its choices are
        if needed > self._most_bytes:
            what = f"{name} takes {needed / (1 << 30):.1f} GiB (--memory)"
            raise InputError(f"{self.game.name} is too large for solvers: {what}")
        self._say(f"{self.game.name}: {name} takes {needed / (1 << 30):.1f} GiB")
        return DiceCFR(self._sets, EXPONENTS[name])

    def profile(self, first: Float64s, second: Float64s) -> Float64s:
        return np.where(self._sets.mine == 0, first, second)

    def respond(self, policy: Float64s, progress: OpenProgress) -> tuple[PolicyValue, Response]:
        choices = np.zeros(len(self._sets), np.uint8)
        value = self._value(policy, progress, choices)
        return value, response_of_dice(self._sets, choices)

    def evaluate(self, policy: Float64s, progress: OpenProgress) -> PolicyValue:
        return self._value(policy, progress, None)

    def _value(
        self, policy: Float64s, progress: OpenProgress, choices: Bytes | None
    ) -> PolicyValue:
        found = DiceResponses(self._sets, policy, self._threads, choices)
        _step(found, progress, self.game)
        return PolicyValue.of_two(found.values[0], found.best)


def _step(found: BothResponses, progress: OpenProgress, game: Game) -> None:
    """Walks to the end."""
    with progress(found.left, "part", game.name) as bar:
        while before := found.left:
            bar.update(before - found.step(PIECES))


class LargeWalk(LargeGame[Vector | None]):
    """Any other game. A policy is float64 [E] of a tree of information sets only, or None: all
    legal actions alike, which needs no tree."""

    def __init__(self, game: Game, threads: int, most_bytes: int, histories: int) -> None:
        self.game, self._threads, self._most_bytes = game, threads, most_bytes
        self._expected = histories
        self._size = (0, 0)
        self._sets: TreeSets | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    def uniform(self) -> Vector | None:
        return None

    @property
    def sets(self) -> TreeSets:
        if self._sets is None:
            most = 2**31 - 1
            self._sets = TreeSets(Tree(self.game, most, self._most_bytes, sets_only=True))
        return self._sets

    def of_choices(self, choices: Vector) -> Vector:
        return choices

    def profile(self, first: Vector | None, second: Vector | None) -> Vector | None:
        tree = self.sets.tree
        both = (tree.uniform() if policy is None else policy for policy in (first, second))
        return np.where(tree.mine == 0, *both)

    def respond(
        self, policy: Vector | None, progress: OpenProgress
    ) -> tuple[PolicyValue, Response]:
        tree = self.sets.tree
        choices = np.zeros(len(tree), np.uint8)
        value = self._value(tree.uniform() if policy is None else policy, progress, choices)
        return value, response_of_tree(tree, choices)

    def evaluate(self, policy: Vector | None, progress: OpenProgress) -> PolicyValue:
        return self._value(policy, progress, None)

    def _value(
        self, policy: Vector | None, progress: OpenProgress, choices: Bytes | None
    ) -> PolicyValue:
        tree = None if policy is None else self.sets.tree
        both = [
            BestResponse(self.game, player, tree, policy, self._most_bytes, choices)
            for player in (0, 1)
        ]
        expected = 2 * (tree.histories if tree else self._expected)
        with progress(expected, "history", self.game.name) as bar:
            for histories in _walked(both, min(self._threads, 2)):
                bar.update(histories)
        histories, sets = both[0].histories, both[0].infosets + both[1].infosets
        self._size = (tree.histories, len(tree)) if tree else (histories, sets)
        return PolicyValue.of_two(both[0].value, (both[0].best, both[1].best))


def _walked(responses: list[BestResponse], threads: int) -> Iterator[int]:
    """Walks through all of them, side by side; yields how many histories were new."""
    with ThreadPoolExecutor(threads) as pool:
        left = list(responses)
        while left:
            before = sum(response.histories for response in left)
            whole = list(pool.map(lambda response: response.step(STEP), left))
            yield sum(response.histories for response in left) - before
            left = [one for one, done in zip(left, whole, strict=True) if not done]
