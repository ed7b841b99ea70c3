"""Magnetic mirror descent with exact expectations (Sokota et al. 2022, arXiv 2206.05825).

Both players take a step at once, at every information set: the policy becomes

    [policy exp(eta q) magnet^tau]^(1 / (1 + tau)), normalised,    tau = eta alpha

with a uniform magnet and eta_t = alpha_t = 1 / sqrt(t). The last policy approaches an equilibrium.
"""

from __future__ import annotations

import numpy as np

from stratkit.engine.tree import Tree, Vector
from stratkit.solve.tabular import log_softmax


class TabularMMD:
    """MMD on `tree`, from the uniform policy. Payoffs are in the game's `unit`."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.iteration = 0  # steps so far
        self.log_policy = log_softmax(tree, np.zeros(len(tree.actions)))

    def step(self) -> None:
        """One step of both players."""
        self.iteration += 1
        eta = 1 / np.sqrt(self.iteration)
        q = action_values(self.tree, np.exp(self.log_policy)) / self.tree.game.unit
        self.log_policy = log_softmax(self.tree, (self.log_policy + eta * q) / (1 + eta**2))

    def solution(self) -> Vector:
        """The policy, float64 [E]."""
        return np.exp(self.log_policy)


def action_values(tree: Tree, policy: Vector) -> Vector:
    """What each action is worth, float64 [E], to its player, if both play `policy` afterwards and
    the other one has played it before. Every action of `policy` is possible."""
    reach = tree.reach(policy)
    q = np.empty_like(policy)
    for player in (0, 1):
        values = tree.payoffs(player, reach)
        tree.backup(player, policy, values)
        np.copyto(q, values[1:], where=tree.mine == player)
    return np.asarray(q / tree.weights(reach)[tree.owner], np.float64)
