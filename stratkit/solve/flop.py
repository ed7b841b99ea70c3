"""Fictitious linear optimistic play (ReBeL paper, appendix H).

In iteration t each player answers by a best response to t / (t + 2) of the opponent's average and
2 / (t + 2) of its latest policy; the average then gets 2 / (t + 1) of the answer. Both are mixtures
drawn before the game, so it is the probabilities of sequences that are mixed.
"""

from __future__ import annotations

from stratkit.engine.tree import Tree, Vector
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import best_response


class TabularFLOP:
    """FLOP on `tree`, with alternating updates. Each `step` is one iteration of both players."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.iteration = 0
        self._latest = tree.reach(tree.uniform())
        self._average = self._latest.copy()

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        t = self.iteration
        for player in (0, 1):
            ahead = (t * self._average + 2 * self._latest) / (t + 2)
            _, answer = best_response(self.tree, player, ahead)
            reach = self.tree.reach(answer)
            mine = self.tree.mine == player
            self._latest[1:][mine] = reach[1:][mine]
            self._average[1:][mine] *= (t - 1) / (t + 1)
            self._average[1:][mine] += 2 / (t + 1) * reach[1:][mine]

    def solution(self) -> Vector:
        """The average policy, float64 [E]."""
        return from_reach(self.tree, self._average[1:])
