"""R-NaD with exact expectations: the algorithm without sampling noise and without a network.

Every information set has a logit for each action, and in each step all of them move along what the
learner (`stratkit.learn.rnad`) estimates from games, computed: the action values of the regularised
game, NeuRD's force with its threshold, Adam without momentum, a target that follows the logits, and
a regularisation policy that is replaced by the target at the end of each iteration. All sets move
alike, however rarely they are met: there is no batch whose mean would be taken.

A network knows what it is shown and no more. What the algorithm comes to with a policy that has one
set of logits for each view (`on_views`) is what a network that fits everything would come to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float64s, Int64s
from stratkit.engine.tree import Tree, Vector


@dataclass(frozen=True)
class RNaDSettings:
    """Hyper-parameters of tabular R-NaD.

    eta                weight of the regularisation
    beta               NeuRD's threshold
    lr                 learning rate
    target_rate        by which the target follows the logits in a step
    size               steps of an iteration
    adam_b2, adam_eps  of Adam
    """

    eta: float = 0.2
    beta: float = 8.0
    lr: float = 5e-3
    target_rate: float = 0.01
    size: int = 500
    adam_b2: float = 0.999
    adam_eps: float = 1e-8


class TabularRNaD:
    """R-NaD on `tree`, from the uniform policy. Each `step` is one update of both players.

    kinds: int64 [I], of which kind each information set is; sets of one kind, which allow the same
    actions, have one policy, and move by the mean of their forces. None: all are different.
    """

    def __init__(
        self, tree: Tree, settings: RNaDSettings | None = None, kinds: Int64s | None = None
    ) -> None:
        self.tree, self.settings = tree, settings or RNaDSettings()
        self.iteration = 0  # steps so far
        self.logits = np.zeros(len(tree.actions))
        self.target = self.logits.copy()
        self._regularisation = self._previous = log_softmax(tree, self.logits)
        self._squares = np.zeros_like(self.logits)
        self._choices = np.diff(tree.first).astype(np.float64)
        self._alike = None if kinds is None else _alike(tree, kinds)

    def step(self) -> None:
        """One update; on the last of an iteration the regularisation policy moves on."""
        s, tree = self.settings, self.tree
        passed = self.iteration % s.size
        log_pi = log_softmax(tree, self.logits)
        self._ascend(self._force(self._advantage(log_pi, min(1.0, 2 * passed / s.size))))
        self.target += s.target_rate * (self.logits - self.target)
        self.iteration += 1
        if passed == s.size - 1:
            self._previous = self._regularisation
            self._regularisation = log_softmax(tree, self.target)

    def solution(self) -> Vector:
        """The target's policy, float64 [E]."""
        return np.exp(log_softmax(self.tree, self.target))

    def _advantage(self, log_pi: Vector, alpha: float) -> Vector:
        """Q - sum pi Q of each action in the regularised game, [E]."""
        tree, eta = self.tree, self.settings.eta
        pi = np.exp(log_pi)
        ratio = log_pi - (alpha * self._regularisation + (1 - alpha) * self._previous)
        kl = eta * tree.sums(pi * ratio)
        reach = tree.reach(pi)
        others = tree.weights(reach)  # probability of a set but for its player's own part
        q = np.empty_like(pi)
        for player in (0, 1):
            values = tree.payoffs(player, reach)
            tree.add_penalties(player, reach, kl, values)
            tree.backup(player, pi, values, penalties=kl * others)
            np.copyto(q, values[1:], where=tree.mine == player)
        q = q / others[tree.owner] - eta * ratio
        return np.asarray(q - tree.sums(pi * q)[tree.owner], np.float64)

    def _force(self, advantage: Vector) -> Vector:
        """NeuRD's force on each logit: none outward where the centred logit has reached beta."""
        beta = self.settings.beta
        y = self._centred(self.logits)
        blocked = np.where(advantage > 0, y >= beta, y <= -beta)
        return self._centred(np.where(blocked, 0.0, advantage))

    def _centred(self, x: Vector) -> Vector:
        return np.asarray(x - (self.tree.sums(x) / self._choices)[self.tree.owner], np.float64)

    def _ascend(self, direction: Vector) -> None:
        """Adam with b1 = 0, along `direction`."""
        s = self.settings
        if self._alike is not None:
            number = np.bincount(self._alike)
            direction = (np.bincount(self._alike, direction) / number)[self._alike]
        self._squares += (1 - s.adam_b2) * (direction * direction - self._squares)
        corrected = self._squares / (1 - s.adam_b2 ** (self.iteration + 1))
        self.logits += s.lr * direction / (np.sqrt(corrected) + s.adam_eps)


def log_softmax(tree: Tree, logits: Float64s) -> Vector:
    """log pi, float64 [E], of logits [E]."""
    highest = np.maximum.reduceat(logits, tree.first[:-1])[tree.owner]
    shifted = logits - highest
    return np.asarray(shifted - np.log(tree.sums(np.exp(shifted)))[tree.owner], np.float64)


def on_views(tree: Tree) -> TabularRNaD:
    """R-NaD of a policy that depends on what is seen and what is allowed, as a network's does."""
    return TabularRNaD(tree, kinds=tree.distinct_views()[2])


def _alike(tree: Tree, kinds: Int64s) -> Int64s:
    """Of each set's each action, int64 [E], which logit it has."""
    sizes = np.zeros(kinds.max() + 1, np.int64)
    sizes[kinds] = np.diff(tree.first)
    first = np.cumsum(sizes) - sizes
    place = np.arange(len(tree.owner)) - tree.first[tree.owner]
    return first[kinds[tree.owner]] + place  # type: ignore[no-any-return]
