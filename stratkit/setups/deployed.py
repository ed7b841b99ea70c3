"""Setups that a player makes, and how probable a network makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.stratego import PLACING_ORDER, placements, setup_of
from stratkit.errors import UsageError
from stratkit.players.player import Player, Views
from stratkit.setups.constraints import Constraints
from stratkit.setups.source import Setups

Policy = Callable[[Views], npt.NDArray[np.float32]]

AT_ONCE = 64  # setups whose probability is worked out together


class Deployed:
    """The setups with which `player` would begin the games 0, 1, ... as red.

    Squares on which a piece may not stand, or which would leave another piece without a place, are
    illegal to it: its policy is that over the squares that are left.
    """

    size = draws = None

    def __init__(self, game: Game, player: Player, asked: Constraints) -> None:
        asked.check()
        self.game, self.player, self.asked = game, player, asked
        counts = asked.variant.counts
        self.types = [(t, counts[t]) for t in PLACING_ORDER if counts[t]]
        self.order = np.repeat([t for t, _ in self.types], [n for _, n in self.types])

    def draw(self, first: int, n: int) -> Setups:
        batch = Batch(self.game, n)
        games = np.arange(first, first + n)
        actions = np.empty((n, len(self.order)), np.int32)
        for number in range(len(self.order)):
            legal = self._legal(batch, actions[:, :number])
            numbers = np.full(n, number, np.int32)
            decision = self.player.act(Views(games, numbers, legal, batch.observe()))
            actions[:, number] = decision.actions
            batch.apply(decision.actions)
        return np.stack([setup_of(self.asked.variant, row) for row in actions])

    def _legal(self, batch: Batch, placed: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
        """uint8 [n, actions]: where the next piece may be placed, int32 [n, k] being taken."""
        legal = batch.legal()
        if self.asked.free:
            return legal
        parts, n, k = self.asked.division, *placed.shape
        needs = np.tile(parts.needs, (n, 1))
        needs -= np.bincount(parts.group[self.order[:k]], minlength=needs.shape[1])
        sizes = np.tile(parts.sizes, (n, 1))
        np.subtract.at(sizes, (np.arange(n)[:, None], parts.class_[placed]), 1)
        good = parts.completable(needs, sizes)[:, parts.group[self.order[k]]]
        legal[:, : len(parts.class_)] &= good[:, parts.class_]
        return legal

    def logprobs(self, setups: Setups) -> npt.NDArray[np.float64]:
        """Sums over all orders of equal pieces, which are many; but a policy in deployment depends
        on what stands where and not on what came first. So the squares of equal pieces have 2^k
        subsets to come through, not k! orders, and the sum is exact."""
        policy = getattr(self.player, "policy", None)
        if policy is None:
            raise UsageError("--logprob: this player tells no probabilities")
        if getattr(getattr(self.player, "asked", None), "ties", "first") == "random":
            raise UsageError("--logprob: with ties=random, chance decides on the policy too")
        parts = [self._logprobs(policy, setups[at : at + AT_ONCE])
                 for at in range(0, len(setups), AT_ONCE)]  # fmt: skip
        return np.concatenate(parts) if parts else np.zeros(0)

    def _logprobs(self, policy: Policy, setups: Setups) -> npt.NDArray[np.float64]:
        n, kind = len(setups), self.asked.variant
        placed = np.stack([placements(kind, setup) for setup in setups])
        views = [self._view(rows) for rows in self._prefixes(placed)]
        found = policy(
            Views(
                np.zeros(sum(map(len, views)), np.int64),
                np.concatenate([view.numbers for view in views]),
                np.concatenate([view.legal for view in views]),
                np.concatenate([view.observations for view in views]),
            )
        )
        parts = iter(np.split(found, np.cumsum([len(view) for view in views])[:-1]))
        total, first = np.zeros(n), 0
        for _, count in self.types:
            squares = placed[:, first : first + count]
            first += count
            # What comes through each subset of the squares: [n] each.
            chances: dict[tuple[int, ...], npt.NDArray[np.float64]] = {(): np.ones(n)}
            for size in range(count):
                subsets = list(combinations(range(count), size))
                chosen = next(parts).reshape(n, len(subsets), -1)
                following = dict.fromkeys(combinations(range(count), size + 1), np.zeros(n))
                for at, subset in enumerate(subsets):
                    for new in set(range(count)) - set(subset):
                        chance = chosen[np.arange(n), at, squares[:, new]].astype(np.float64)
                        grown = tuple(sorted((*subset, new)))
                        following[grown] = following[grown] + chances[subset] * chance
                chances = following
            with np.errstate(divide="ignore"):  # what is never made has -inf
                total += np.log(chances[tuple(range(count))])
        return total

    def _prefixes(self, placed: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int32]]:
        """For each type and number of its pieces already placed: int32 [n * subsets, k], what is
        placed by then, for each setup and each subset of the type's squares in turn."""
        n, first = len(placed), 0
        for _, count in self.types:
            for size in range(count):
                chosen = list(combinations(range(count), size))
                subsets = np.array(chosen, int).reshape(len(chosen), size)
                before = np.repeat(placed[:, None, :first], len(subsets), axis=1)
                own = placed[:, first : first + count][:, subsets]
                rows = np.concatenate([before, own], axis=2)
                yield np.ascontiguousarray(rows.reshape(n * len(subsets), first + size))
            first += count

    def _view(self, placed: npt.NDArray[np.int32]) -> Views:
        """What the player sees when these pieces, int32 [n, k], are placed."""
        n, k = placed.shape
        batch = Batch(self.game, n)
        for number in range(k):
            batch.apply(np.ascontiguousarray(placed[:, number]))
        legal = self._legal(batch, placed)
        return Views(np.zeros(n, np.int64), np.full(n, k, np.int32), legal, batch.observe())
