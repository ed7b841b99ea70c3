"""Sampled regret matching on the tree of a game that is one simultaneous turn."""

from __future__ import annotations

import numpy as np

from stratkit.engine.tree import Tree, Vector
from stratkit.errors import UsageError
from stratkit.search.regret_matching import AVERAGE, FINAL, RegretMatching, zero_sum


class TurnRegretMatching:
    """`RegretMatching` on `tree`, from the random numbers of seed 0; `play` as in its `policies`.

    Raises `UsageError` unless each player decides once, not knowing what the other one does.
    """

    def __init__(self, tree: Tree, play: str = AVERAGE) -> None:
        if tree.players.tolist() != [0, 1]:
            what = f"{tree.game.name} is not one simultaneous turn: regret matching is for matrices"
            raise UsageError(what)
        self.tree, self.play = tree, play
        rows, columns = (int(n) for n in np.diff(tree.first))
        table = np.empty((rows, columns))
        for column in range(columns):
            policy = tree.uniform()
            policy[rows:] = np.arange(columns) == column
            table[:, column] = tree.payoffs(0, tree.reach(policy))[1 : 1 + rows]
        self._matching = RegretMatching(zero_sum(table), (rows, columns), seed=0)

    def step(self) -> None:
        """One iteration of both players."""
        self._matching.step()

    def solution(self) -> Vector:
        """The average policy, float64 [E], or the final one."""
        return np.concatenate(self._matching.policies(self.play))


def final_policy(tree: Tree) -> TurnRegretMatching:
    """Regret matching whose solution is the final policy, as SearchBot plays it."""
    return TurnRegretMatching(tree, FINAL)
