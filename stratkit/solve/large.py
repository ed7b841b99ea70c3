"""Games too large for a tree: what policies are worth there, exactly, by walks that keep no
histories.

Phantom games have a walk of their own. There a policy is asked once for each view, of which there
are few, because players without memory know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s
from stratkit.engine import Game, Tree
from stratkit.engine.best_response import BestResponse
from stratkit.engine.dice import DiceResponses, DiceSets, dice_bids
from stratkit.engine.phantom import PhantomResponses, PhantomViews, view_numbers
from stratkit.engine.tree import MAX_HISTORIES, Vector, certainly_exceeds, histories_up_to
from stratkit.errors import InputError, Say, StratkitError
from stratkit.solve.exploitability import PolicyValue

if TYPE_CHECKING:
    from stratkit.players.player import PolicyPlayer

Policy = TypeVar("Policy")
Views = tuple[Float64s, Float64s]  # a policy of either player
OpenProgress = Callable[[int, str, str], AbstractContextManager[Any]]

MOST_HISTORIES = 10_000_000_000  # that a walk through any game takes on: some hours
MOST_COUNTED = 1_000_000_000  # histories, before a walk begins
ROWS = 1 << 16  # information sets that a network is asked for between two looks at the progress
STEP = 500_000  # histories between two looks at the progress
PIECES = 64  # of phantom games, likewise


class LargeGame(Protocol[Policy]):
    """A game whose histories are walked through for every policy."""

    game: Game

    @property
    def size(self) -> tuple[int, int]:
        """How many histories and information sets it has; known when a policy was evaluated."""
        ...

    def uniform(self) -> Policy:
        """All legal actions alike."""
        ...

    def of_player(self, player: PolicyPlayer, progress: OpenProgress) -> Policy:
        """What a player without memory plays."""
        ...

    def evaluate(self, policy: Policy, progress: OpenProgress) -> PolicyValue:
        """What the policy is worth when both play it."""
        ...


def open_large(game: Game, threads: int, most_bytes: int, say: Say) -> LargeGame[Any] | None:
    """The game, if it is too large for a tree; None: it is not, or has not two players. Tells
    `say` what evaluating a policy will cost. `InputError`: it is too large for a walk, too."""
    if game.players != 2:
        return None
    if certainly_exceeds(game, MAX_HISTORIES) and view_numbers(game):
        return LargePhantom(game, threads)
    if dice_bids(game) and DiceSets(game).histories > MAX_HISTORIES:
        return _large_dice(game, threads, most_bytes, say)
    if certainly_exceeds(game, MOST_HISTORIES):
        what = f"it has more than {MOST_HISTORIES:,} histories"
        raise InputError(f"{game.name} is too large to enumerate: {what}")
    if histories_up_to(game, MAX_HISTORIES) <= MAX_HISTORIES:
        return None
    histories = histories_up_to(game, MOST_COUNTED)
    more = "more than " if histories > MOST_COUNTED else ""
    say(f"{game.name}: {more}{histories:,} histories; a policy takes minutes")
    return LargeWalk(game, threads, most_bytes, histories)


def asked(player: PolicyPlayer, observations: Bytes, legal: Bytes) -> Float32s:
    """What a player without memory plays where it sees this, float32 [n, actions]."""
    from stratkit.players.player import Views

    n = len(observations)
    nothing = np.zeros(n, np.int8)  # of games and sides a network knows nothing
    games, numbers = nothing.astype(np.int64), nothing.astype(np.int32)
    return player.policy(Views(games, nothing, numbers, legal, observations))


def normalised(policy: Float32s) -> Float64s:
    """float64 [n, actions], whose rows sum to 1. `StratkitError`: one has nothing to sum."""
    total = policy.sum(1, dtype=np.float64, keepdims=True)
    if not (np.isfinite(total).all() and (total > 0).all()):
        from stratkit.players.player import NO_ACTION

        raise StratkitError(NO_ACTION)
    return np.asarray(policy / total, np.float64)


class LargePhantom(LargeGame[Views]):
    """A phantom game of nine cells. A policy is float64 [V, cells] of either player, by the numbers
    of `PhantomViews`."""

    def __init__(self, game: Game, threads: int) -> None:
        self.game, self._threads = game, threads
        self._views = PhantomViews(game)
        self._size = (0, 0)

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    def uniform(self) -> Views:
        return self._views.uniform(), self._views.uniform()

    def of_player(self, player: PolicyPlayer, progress: OpenProgress) -> Views:
        return self._of_side(player, 0), self._of_side(player, 1)

    def _of_side(self, player: PolicyPlayer, side: int) -> Float64s:
        legal = self._views.legal
        some = np.flatnonzero(legal.any(1))
        policy = np.zeros(legal.shape)
        seen = self._views.observations(side)[some]
        policy[some] = normalised(asked(player, seen, legal[some]))
        return policy

    def evaluate(self, policy: Views, progress: OpenProgress) -> PolicyValue:
        responses = PhantomResponses(self.game, policy, self._threads)
        with progress(responses.left, "part", self.game.name) as bar:
            while before := responses.left:
                bar.update(before - responses.step(PIECES))
        self._size = responses.histories, sum(responses.infosets)
        return PolicyValue(responses.values[0], responses.best)


def _large_dice(game: Game, threads: int, most_bytes: int, say: Say) -> LargeDice:
    large = LargeDice(game, threads)
    sets = large.sets
    if 2 * 8 * sets.choices > most_bytes:  # what the mean takes, too
        what = f"a policy takes {2 * 8 * sets.choices / (1 << 30):.1f} GiB (--memory)"
        raise InputError(f"{game.name} is too large to enumerate: {what}")
    say(f"{game.name}: a network is asked for {len(sets):,} information sets; that takes longest")
    return large


class LargeDice(LargeGame[Float64s]):
    """Liar's Dice. A policy is float64 [E], the choices of `DiceSets`."""

    def __init__(self, game: Game, threads: int) -> None:
        self.game, self.sets, self._threads = game, DiceSets(game), threads

    @property
    def size(self) -> tuple[int, int]:
        return self.sets.histories, len(self.sets)

    def uniform(self) -> Float64s:
        return self.sets.uniform()

    def of_player(self, player: PolicyPlayer, progress: OpenProgress) -> Float64s:
        policy, at = np.empty(self.sets.choices), 0
        with progress(len(self.sets), "information set", self.game.name) as bar:
            for begin in range(0, len(self.sets), ROWS):
                seen, legal = self.sets.views(begin, begin + ROWS)
                rows = normalised(asked(player, seen, legal))[legal.astype(bool)]
                policy[at : at + len(rows)] = rows
                at += len(rows)
                bar.update(len(seen))
        return policy

    def evaluate(self, policy: Float64s, progress: OpenProgress) -> PolicyValue:
        responses = DiceResponses(self.sets, policy, self._threads)
        with progress(responses.left, "part", self.game.name) as bar:
            while before := responses.left:
                bar.update(before - responses.step(PIECES))
        return PolicyValue(responses.values[0], responses.best)


class LargeWalk(LargeGame[Vector | None]):
    """Any other game. A policy is float64 [E] of a tree of information sets only, or None: all
    legal actions alike, which needs no tree."""

    def __init__(self, game: Game, threads: int, most_bytes: int, histories: int) -> None:
        self.game, self._threads, self._most_bytes = game, threads, most_bytes
        self._expected = histories
        self._size = (0, 0)
        self._tree: Tree | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    def uniform(self) -> Vector | None:
        return None

    def _sets(self) -> Tree:
        if self._tree is None:
            most = 2**31 - 1
            self._tree = Tree(self.game, most, self._most_bytes, sets_only=True)
        return self._tree

    def of_player(self, player: PolicyPlayer, progress: OpenProgress) -> Vector:
        tree = self._sets()
        policy, seen = np.empty(len(tree.actions)), tree.observations()
        with progress(len(tree), "information set", self.game.name) as bar:
            for begin in range(0, len(tree), ROWS):
                end = min(begin + ROWS, len(tree))
                first, last = tree.first[begin], tree.first[end]
                legal = np.zeros((end - begin, self.game.actions), np.uint8)
                at = tree.owner[first:last] - begin, tree.actions[first:last]
                legal[at] = 1
                policy[first:last] = normalised(asked(player, seen[begin:end], legal))[at]
                bar.update(end - begin)
        return policy

    def evaluate(self, policy: Vector | None, progress: OpenProgress) -> PolicyValue:
        tree = None if policy is None else self._sets()
        both = [
            BestResponse(self.game, player, tree, policy, self._most_bytes) for player in (0, 1)
        ]
        expected = 2 * (tree.histories if tree else self._expected)
        with progress(expected, "history", self.game.name) as bar:
            for histories in _walked(both, min(self._threads, 2)):
                bar.update(histories)
        histories, sets = both[0].histories, both[0].infosets + both[1].infosets
        self._size = (tree.histories, len(tree)) if tree else (histories, sets)
        return PolicyValue(both[0].value, (both[0].best, both[1].best))


def _walked(responses: list[BestResponse], threads: int) -> Iterator[int]:
    """Walks through all of them, side by side; yields how many histories were new."""
    with ThreadPoolExecutor(threads) as pool:
        left = list(responses)
        while left:
            before = sum(response.histories for response in left)
            whole = list(pool.map(lambda response: response.step(STEP), left))
            yield sum(response.histories for response in left) - before
            left = [one for one, done in zip(left, whole, strict=True) if not done]
