"""Sampled regret matching of one simultaneous turn: n players, linear weights, optimism (SearchBot,
Gray et al. 2021, section 3.2; Linear CFR by Brown and Sandholm 2019; optimism by Syrgkanis et al.
2015).

In every iteration t = 0, 1, ... each player draws an action from its policy. Every own action is
worth what it would get against that one draw of all others. Regrets and policies of iteration t
count t + 1 times. The next policy is proportional to the positive part of the regrets, in which the
latest iteration counts twice. Where nothing is positive it is the action of the highest regret, as
in the paper's program; its text says uniform, which was a little worse.

In a zero-sum game of two players the average policy approaches an equilibrium. In any game the
joint draws approach a coarse correlated equilibrium. The final policy need not approach anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stratkit.arrays import Float64s, Int64s
from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream

Utilities = Callable[[Int64s], Sequence[Float64s]]
"""Of a joint action int64 [P]: for each player i, float64 [A_i], what each of its own actions gets
it while the others keep theirs."""

AVERAGE, FINAL = "average", "final"


class RegretMatching:
    """Regret matching between players with `sizes` actions. `seed` keys the random numbers: a
    decision of a game has a seed of its own."""

    def __init__(self, utilities: Utilities, sizes: Sequence[int], seed: int) -> None:
        if not sizes or min(sizes) < 1:
            raise ValueError("every player needs an action")
        self.utilities, self.seed = utilities, seed
        self.iteration = 0
        self.final = [np.full(n, 1 / n) for n in sizes]
        self._held: dict[int, Float64s] = {}
        self._regrets = [np.zeros(n) for n in sizes]
        self._sums = [np.zeros(n) for n in sizes]

    def step(self) -> Int64s:
        """One iteration; returns the joint action int64 [P] that was drawn."""
        t, players = self.iteration, len(self.final)
        numbers = np.arange(t * players, (t + 1) * players, dtype=np.int32)
        drawn = uniform(self.seed, np.zeros(players, np.int64), numbers, Stream.REGRET_MATCHING)
        joint = np.array([inverse_cdf(p, u) for p, u in zip(self.final, drawn, strict=True)])
        keep = t / (t + 1)  # so that iteration s weighs (s + 1) / (t + 1) in the end
        for i, worth in enumerate(self.utilities(joint)):
            policy = self.final[i]
            regret = worth - policy @ worth
            self._sums[i] = keep * self._sums[i] + policy
            self._regrets[i] = keep * self._regrets[i] + regret
            self.final[i] = self._held.get(i, _matched(self._regrets[i] + regret))
        self.iteration += 1
        return joint

    def hold(self, player: int, policy: Float64s) -> None:
        """From now on a player draws from this policy, float64 [A_i], which `policies` gives."""
        self._held[player] = self.final[player] = policy

    def run(self, iterations: int) -> Int64s:
        """So many iterations; the joint actions that were drawn, int64 [iterations, P]."""
        drawn = [self.step() for _ in range(iterations)]
        return np.array(drawn, np.int64).reshape(iterations, len(self.final))

    def policies(self, play: str = AVERAGE) -> list[Float64s]:
        """Each player's policy float64 [A_i]: the weighted average, or the final one. Before the
        first iteration both are uniform."""
        if play == FINAL or not self.iteration:
            return [policy.copy() for policy in self.final]
        average = [np.asarray(total / total.sum(), np.float64) for total in self._sums]
        return [self._held.get(i, policy) for i, policy in enumerate(average)]


def zero_sum(table: Float64s) -> Utilities:
    """The utilities of two players, of whom the first gets `table` float64 [A_0, A_1] and the
    second its negative."""
    return lambda joint: (table[:, joint[1]], -table[joint[0]])


def exploitability(table: Float64s, first: Float64s, second: Float64s) -> float:
    """Half of what best responses to both policies, float64 [A_0] and [A_1], win together."""
    return float((table @ second).max() - (first @ table).min()) / 2


def inverse_cdf(policy: Float64s, u: Float64s | float) -> Int64s:
    """The actions that random numbers `u`, any shape, from 0 to 1, draw from weights float64 [A],
    in index order; never an action of weight 0."""
    cumulative = policy.cumsum()
    return np.asarray(np.searchsorted(cumulative, u * cumulative[-1], side="right"), np.int64)


def _matched(regrets: Float64s) -> Float64s:
    positive = np.maximum(regrets, 0)
    if not positive.any():
        positive[regrets.argmax()] = 1
    return np.asarray(positive / positive.sum(), np.float64)
