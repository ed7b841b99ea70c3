"""What a policy is worth."""

from __future__ import annotations

from dataclasses import dataclass

from stratkit.engine.tree import Tree, Vector


@dataclass(frozen=True)
class Worth:
    """The value to player 0 when both play a policy, and the value to each player when it plays its
    best response to the other's part of the policy."""

    value: float
    best: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """What both players together could gain by their best responses; 0 at an equilibrium."""
        return self.best[0] + self.best[1]  # the values of the policy itself cancel out

    @property
    def exploitability(self) -> float:
        """Half of NashConv: what a best response wins on average over the two seats."""
        return self.nash_conv / 2

    @property
    def gains(self) -> tuple[float, float]:
        """What each player could gain by its best response."""
        return self.best[0] - self.value, self.best[1] + self.value


def worth(tree: Tree, policy: Vector) -> Worth:
    """The worth of `policy`, float64 [E], of both players."""
    reach = tree.reach(policy)
    value = tree.backup(0, policy, tree.payoffs(0, reach))
    return Worth(value, (best_response(tree, 0, reach)[0], best_response(tree, 1, reach)[0]))


def best_response(tree: Tree, player: int, reach: Vector) -> tuple[float, Vector]:
    """The best value that `player` can get against `reach`, and a policy [E] that gets it: equally
    good actions alike, 0 for the opponent's.

    `reach` float64 [1 + E] is of the opponent's policy, or of a mixture: where the sequences'
    probabilities of several policies are averaged, one of them is drawn before the game.
    """
    policy = reach[1:] * 0.0
    return tree.best_response(player, tree.payoffs(player, reach), policy), policy
