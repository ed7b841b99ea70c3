"""Solving subgames of public belief states (Brown et al. 2020, ReBeL), many in lockstep:

    CFRD     CFR-D, linear: leaves are valued at the beliefs of the current policies (section 5.1)
    CFRAvg   CFR-AVG, linear: at those of the average policies (appendix I, as it was run there)
    FP       fictitious play: the same, with best responses to the opponent's average
    LinearFP the same with linear averages
    FLOP     fictitious linear optimistic play: the latest response counts once more (appendix H)

T counts updates of *one* player: T = 1,024 is 512 of each, the work of `linear-cfr:512`. Who stops
after a random number of updates, drawn with the `weights` of the average, plays the average in
expectation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np

from stratkit.arrays import Float32s, Float64s
from stratkit.engine import Subgames

Reach = tuple[Float64s, Float64s]


class Leaves(Protocol):
    """What each hand of `player` may expect at each leaf, float32 [L, game's hands], if the hands
    of both get there with `reach`; where the game is as long as the subgames, nobody is asked."""

    def __call__(self, subgames: Subgames, player: int, reach: Reach) -> Float32s: ...


def nothing(subgames: Subgames, player: int, reach: Reach) -> Float32s:
    """Leaves that are worth nothing."""
    return np.zeros((subgames.leaves, subgames.tree.game.hands), np.float32)


class SubgameSolver(ABC):
    """Solves `subgames` from `beliefs` of both players' hands at the roots, float64 [subgames,
    game's hands] each. `policy` float64 [E] is what is played in the next iteration."""

    linear = True  # averages

    def __init__(
        self, subgames: Subgames, beliefs: tuple[Float64s, Float64s], leaves: Leaves = nothing
    ) -> None:
        self.subgames, self.leaves = subgames, leaves
        self.policy = subgames.uniform()
        self._values = np.zeros(subgames.hands[0]), np.zeros(subgames.hands[1])
        self._q = np.zeros_like(self.policy)
        self._roots, self._places = zip(*map(subgames.roots_of, (0, 1)), strict=True)
        self._begin(beliefs)

    def _begin(self, beliefs: tuple[Float64s, Float64s]) -> None:
        subgames = self.subgames
        self.updates = 0  # T
        self._ahead = 0  # iterations more that what was found counts as, behind the first
        self.reach = subgames.begin(0, beliefs[0]), subgames.begin(1, beliefs[1])
        for player in (0, 1):
            subgames.reach(player, self.policy, self.reach[player])
        self.average = np.zeros_like(self.policy)  # of what was played, times its reach
        self._compatible = [
            subgames.compatible(p, self.reach[1 - p])[self._roots[p]] for p in (0, 1)
        ]
        self._means = [np.zeros(len(roots)) for roots in self._roots]

    def step(self) -> None:
        """One update of one player: player 0 in even iterations, player 1 in odd ones."""
        player, times = self.updates % 2, self.updates // 2
        self._update(player, times)
        mean = self._means[player]
        count = self._counted(times)
        part = 2 / (count + 2) if self.linear else 1 / (count + 1)
        mean += part * (self._values[player][self._roots[player]] - mean)
        self.updates += 1

    def _counted(self, times: int) -> int:
        """The number of iterations that `times` updates of a player count as."""
        return times + self._ahead if times else 0

    def solve(self, updates: int, each: Callable[[], None] | None = None) -> None:
        """So many updates, an even number; `each` is called whenever both players have had equally
        many, from none on."""
        for n in range(updates):
            if n % 2 == 0 and each is not None:
                each()
            self.step()
        if each is not None:
            each()

    @abstractmethod
    def _update(self, player: int, times: int) -> None:
        """An update of a player that has had `times` of them."""

    @abstractmethod
    def believed(self) -> Float64s:
        """The policy [E] whose public belief states are the next subgames' roots, if what stops
        now is `policy`."""

    @staticmethod
    @abstractmethod
    def weights(updates: int) -> Float64s:
        """What the policies with k = 0 .. updates / 2 updates count in the average, [k], of a
        search that begins at uniform play."""

    def averaged(self) -> Float64s:
        """The average policy [E]: what approaches an equilibrium."""
        return self.subgames.normalised(self.average)

    def values(self, player: int) -> Float64s:
        """What each hand of `player` may expect at the roots, the mean over iterations, float64
        [subgames, game's hands]; NaN of hands that are not there, or meet none of the opponent."""
        out = np.full((len(self.subgames.roots), self.subgames.tree.game.hands), np.nan)
        meets = self._compatible[player] > 0
        at = self._places[player][0][meets], self._places[player][1][meets]
        out[at] = self._means[player][meets] / self._compatible[player][meets]
        return out

    def played(self, player: int) -> Float64s:
        """Of each choice of `player`, [E], how often its policy gets there and makes it."""
        mine = self.subgames.player == player
        out = np.zeros_like(self.policy)
        hands = self.subgames.hand_of_choice[mine]
        out[mine] = self.reach[player][hands] * self.policy[mine]
        return out


class CFRD(SubgameSolver):
    """CFR-D with linear weights."""

    def __init__(
        self, subgames: Subgames, beliefs: tuple[Float64s, Float64s], leaves: Leaves = nothing
    ) -> None:
        super().__init__(subgames, beliefs, leaves)
        self.regrets = np.zeros_like(self.policy)
        self._first: tuple[Float64s, Reach] | None = None  # of a warm start

    def restart(self, beliefs: tuple[Float64s, Float64s]) -> None:
        """Begins again from other beliefs, but with the policies found so far, and their regrets,
        which soon count little."""
        self._begin(beliefs)

    def warm_start(self, policy: Float64s, times: int) -> None:
        """Begins at `policy` [E], which counts as `times` iterations: the first update of a player
        finds regrets of best responses to it, so many times (Brown and Sandholm 2016)."""
        assert self.updates == 0 and times > 0
        self.policy, self._ahead = policy.copy(), times - 1
        for player in (0, 1):
            self.subgames.reach(player, policy, self.reach[player])
        self._first = policy, (self.reach[0].copy(), self.reach[1].copy())

    def _update(self, player: int, times: int) -> None:
        if self._first and times == 0:
            self._begin_by(*self._first, player)
            return
        self._find_ends(player, times)
        t = self._counted(times) + 1
        self.subgames.cfr(
            player,
            (t / (t + 1), t / (t + 1), (t - 1) / t),
            self.reach[player],
            self._values[player],
            self._q,
            self.regrets,
            self.average,
            self.policy,
        )
        self.subgames.reach(player, self.policy, self.reach[player])

    def _begin_by(self, policy: Float64s, reach: Reach, player: int) -> None:
        """The first update of a player, if `policy`, and so `reach`, is what both have played."""
        subgames, values, times = self.subgames, self._values[player], self._ahead + 1
        leaf_values, best = self.leaves(subgames, player, reach), policy.copy()
        subgames.ends(player, reach[1 - player], leaf_values, values)
        ends = values.copy()
        subgames.best_response(player, best, values, self._q)
        sizes, mine = np.diff(subgames.first), subgames.player == player
        expected = np.repeat(np.add.reduceat(policy * self._q, subgames.first[:-1]), sizes)
        self.regrets[mine] = times / 2 * (self._q - expected)[mine]
        self.average[mine] = (times + 1) / 2 * self.played(player)[mine]
        self.policy[mine] = subgames.normalised(np.maximum(self.regrets, 0))[mine]
        subgames.reach(player, self.policy, self.reach[player])
        np.copyto(values, ends)
        subgames.backup(player, policy, values, self._q)  # what `policy` is worth at the roots

    def _find_ends(self, player: int, times: int) -> None:
        leaf_values = self.leaves(self.subgames, player, self.reach)
        self.subgames.ends(player, self.reach[1 - player], leaf_values, self._values[player])

    def believed(self) -> Float64s:
        """The current policies."""
        return self.policy

    @staticmethod
    def weights(updates: int) -> Float64s:
        """Linear; the last iteration's policy is not in the average yet."""
        return np.append(np.arange(1.0, updates // 2 + 1), 0)


class CFRAvg(CFRD):
    """CFR-AVG as it was run. Under the average policies a leaf's counterfactual values are a sum
    over the iterations; what the sum grows by is taken for the values under the current ones."""

    def __init__(
        self, subgames: Subgames, beliefs: tuple[Float64s, Float64s], leaves: Leaves = nothing
    ) -> None:
        super().__init__(subgames, beliefs, leaves)
        self._sums: list[Float64s | None] = [None, None]
        self._zeros = nothing(subgames, 0, self.reach)
        self._at_leaves = self._hands_of_leaves(0), self._hands_of_leaves(1)

    def _hands_of_leaves(self, player: int) -> np.ndarray:
        sizes = np.diff(np.append(self.subgames.hand[:, player], self.subgames.hands[player]))
        return np.repeat(self.subgames.leaf >= 0, sizes)

    def _find_ends(self, player: int, times: int) -> None:
        subgames, at, values = self.subgames, self._at_leaves[player], self._values[player]
        subgames.ends(player, self.reach[1 - player], self._zeros, values)
        if not subgames.leaves:
            return
        mean = self._means_of_reach()
        leaf_values, sums = self.leaves(subgames, player, mean), np.empty_like(values)
        subgames.ends(player, mean[1 - player], leaf_values, sums)
        weight = times + 1 + player  # of the opponent's policy: player 0 learns first
        total = weight * (weight + 1) / 2
        before = self._sums[player]
        now = self._sums[player] = total * sums
        values[at] = sums[at] if before is None else (now - before)[at] / weight

    def _means_of_reach(self) -> Reach:
        """The reach under `believed`."""
        policy = self.believed()
        out = self.reach[0].copy(), self.reach[1].copy()
        for player in (0, 1):
            self.subgames.reach(player, policy, out[player])
        return out

    def believed(self) -> Float64s:
        """The average policies, with the current ones, which the next update would count."""
        sums = self.average.copy()
        for player in (0, 1):
            times = (self.updates + 1 - player) // 2
            mine = self.subgames.player == player
            sums[mine] *= times / (times + 1)
            sums += self.played(player)
        return self.subgames.normalised(sums)


class FP(SubgameSolver):
    """Fictitious play."""

    linear = False

    def __init__(
        self, subgames: Subgames, beliefs: tuple[Float64s, Float64s], leaves: Leaves = nothing
    ) -> None:
        super().__init__(subgames, beliefs, leaves)
        self._mean = self.reach[0].copy(), self.reach[1].copy()
        self.average += self.played(0) + self.played(1)

    def _answered(self, player: int, t: int) -> Float64s:
        """What update t of the opponent answers: a reach of `player`'s hands."""
        return self._mean[player]

    def _update(self, player: int, times: int) -> None:
        subgames, t = self.subgames, times + 1
        leaf_values = self.leaves(subgames, player, self._mean)
        subgames.ends(player, self._answered(1 - player, t), leaf_values, self._values[player])
        subgames.best_response(player, self.policy, self._values[player], self._q)
        subgames.reach(player, self.policy, self.reach[player])
        part = (2 if self.linear else 1) / (t + 1)
        self._mean[player][:] += part * (self.reach[player] - self._mean[player])
        self.average[subgames.player == player] *= 1 - part
        self.average += part * self.played(player)

    def believed(self) -> Float64s:
        """The average policies."""
        return self.averaged()

    @staticmethod
    def weights(updates: int) -> Float64s:
        """All alike, the uniform policy among them."""
        return np.ones(updates // 2 + 1)


class LinearFP(FP):
    """Fictitious play with linear averages."""

    linear = True

    @staticmethod
    def weights(updates: int) -> Float64s:
        """Linear, from 0 of the uniform policy on."""
        return np.arange(0.0, updates // 2 + 1)


class FLOP(LinearFP):
    """Fictitious linear optimistic play."""

    def _answered(self, player: int, t: int) -> Float64s:
        return (t * self._mean[player] + 2 * self.reach[player]) / (t + 2)


SOLVERS: dict[str, type[SubgameSolver]] = {
    "cfr": CFRD,
    "cfr-avg": CFRAvg,
    "fp": FP,
    "linear-fp": LinearFP,
    "flop": FLOP,
}
