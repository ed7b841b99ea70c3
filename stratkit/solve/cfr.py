"""Counterfactual regret minimisation, with alternating updates.

The variants differ in what they forget after iteration t. With exponents (alpha, beta, gamma) as in
Discounted CFR (Brown and Sandholm 2019), t^alpha / (t^alpha + 1) of a positive regret is kept, and
t^beta / (t^beta + 1) of a negative one; iteration t counts t^gamma in the average.
"""

from __future__ import annotations

import math

import numpy as np

from stratkit.arrays import Float64s
from stratkit.engine.dice import DiceSets, DiceUpdate
from stratkit.engine.tree import Tree, Vector
from stratkit.storage.sets import ROWS

CLEARED, PAGE = 1 << 20, 512  # numbers

EXPONENTS = {
    "cfr": (math.inf, math.inf, 0.0),  # forgets nothing
    "cfr+": (math.inf, -math.inf, 1.0),  # forgets negative regrets at once
    "linear-cfr": (1.0, 1.0, 1.0),
    "dcfr": (1.5, 0.0, 2.0),
}


class CFR:
    """CFR on `tree`; `exponents` as in `EXPONENTS`. Each `step` is one iteration of both players.

    In iteration t player 0 learns first; player 1 then learns against its new policy.
    """

    def __init__(self, tree: Tree, exponents: tuple[float, float, float]) -> None:
        self.tree, self.exponents = tree, exponents
        self.iteration = 0
        self.policy = tree.uniform()
        self._reach = tree.reach(self.policy)
        self._regrets = np.zeros_like(self.policy)
        self._average = np.zeros_like(self.policy)
        self._scratch = np.empty_like(self._reach)

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        rates = _kept(self.iteration, self.exponents)
        for player in (0, 1):
            self.tree.cfr(
                player, rates, self._regrets, self._average, self.policy, self._reach, self._scratch
            )

    def solution(self) -> Vector:
        """The average policy, float64 [E]: what converges to an equilibrium."""
        return from_reach(self.tree, self._average)


class DiceCFR:
    """The same in Liar's Dice without a tree, for all hands at once."""

    def __init__(self, sets: DiceSets, exponents: tuple[float, float, float]) -> None:
        self.sets, self.exponents = sets, exponents
        self.iteration = 0
        self._regrets, self._average = _zeros(sets.choices), _zeros(sets.choices)

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        rates = _kept(self.iteration, self.exponents)
        for player in (0, 1):
            half = DiceUpdate(self.sets, player, rates, self._regrets, self._average)
            while half.step():
                pass

    def solution(self) -> Float64s:
        """The average policy, float64 [E]."""
        first, policy = self.sets.first, self.sets.uniform()
        for number in range(0, len(self.sets), ROWS):
            begins = first[number : number + ROWS + 1]
            part = slice(begins[0], begins[-1])
            total = np.add.reduceat(self._average[part], begins[:-1] - begins[0])
            total = np.repeat(total, np.diff(begins))
            np.divide(self._average[part], total, out=policy[part], where=total > 0)
        return policy


def _zeros(n: int) -> Float64s:
    """float64 [n]. The system clears memory when it is first written to. That takes seconds of
    gigabytes, between whose parts Python may be interrupted."""
    zeros = np.zeros(n)
    for begin in range(0, n, CLEARED):
        zeros[begin : begin + CLEARED : PAGE] = 0.0
    return zeros


def _kept(t: int, exponents: tuple[float, float, float]) -> tuple[float, float, float]:
    """What is kept after iteration t: of positive and negative regrets, and of the average."""
    alpha, beta, gamma = exponents
    return _discount(t, alpha), _discount(t, beta), ((t - 1) / t) ** gamma


def _discount(t: int, exponent: float) -> float:
    """t^exponent / (t^exponent + 1); all for an exponent of infinity, also at t = 1."""
    if math.isinf(exponent):
        return float(exponent > 0)
    return float(t**exponent / (t**exponent + 1))


def from_reach(tree: Tree, reach: Vector) -> Vector:
    """The policy [E] whose sequences have probabilities in proportion to `reach` [E]; uniform in
    sets where that is 0."""
    total = tree.sums(reach)[tree.owner]
    policy = tree.uniform()
    np.divide(reach, total, out=policy, where=total > 0)
    return policy
