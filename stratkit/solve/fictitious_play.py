"""Fictitious play, by best responses to the opponent's average (Brown 1951; ReBeL, appendix H):

    fp         the average is that of all responses
    linear-fp  response t counts t
    flop       fictitious linear optimistic play: the opponent's latest response counts once more

In iteration t of FLOP each player answers t / (t + 2) of the opponent's average and 2 / (t + 2) of
its latest policy; the average then gets 2 / (t + 1) of the answer. All are mixtures drawn before
the game, so it is the probabilities of sequences that are mixed.
"""

from __future__ import annotations

from stratkit.engine.tree import Tree, Vector
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import best_response


class TabularFP:
    """Fictitious play on `tree`, with alternating updates, from uniform play, which plain averages
    count as one response. Each `step` is one iteration of both players."""

    def __init__(self, tree: Tree, linear: bool = False, optimistic: bool = False) -> None:
        self.tree, self.linear, self.optimistic = tree, linear, optimistic
        self.iteration = 0
        self._latest = tree.reach(tree.uniform())
        self._average = self._latest.copy()

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        t, ahead = self.iteration, self._average
        for player in (0, 1):
            if self.optimistic:
                ahead = (t * self._average + 2 * self._latest) / (t + 2)
            _, answer = best_response(self.tree, player, ahead)
            reach = self.tree.reach(answer)
            mine = self.tree.mine == player
            part = (2 if self.linear else 1) / (t + 1)
            self._latest[1:][mine] = reach[1:][mine]
            self._average[1:][mine] *= 1 - part
            self._average[1:][mine] += part * reach[1:][mine]

    def solution(self) -> Vector:
        """The average policy, float64 [E]."""
        return from_reach(self.tree, self._average[1:])


def linear_fp(tree: Tree) -> TabularFP:
    """With linear averages."""
    return TabularFP(tree, linear=True)


def flop(tree: Tree) -> TabularFP:
    """With linear averages and optimism."""
    return TabularFP(tree, linear=True, optimistic=True)
