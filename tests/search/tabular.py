"""Policies of whole trees as blueprints, and values as uniform worlds have them, slowly."""

from __future__ import annotations

import numpy as np

from solve.slow_tree import Node, grow, spelt_out
from solve.small_games import dense
from stratkit.engine import Tree


class TabularBlueprint:
    """Plays a policy [E] of a tree in which what is seen tells the information set."""

    def __init__(self, tree: Tree, policy: np.ndarray) -> None:
        self.of = {
            (seen.tobytes(), legal.tobytes()): row.astype(np.float32)
            for seen, legal, row in zip(
                tree.observations(), tree.legal(), dense(tree, policy), strict=True
            )
        }
        assert len(self.of) == len(tree)
        self.calls = 0

    def evaluate_distinct(
        self, observations: np.ndarray, legal: np.ndarray, values: bool = False
    ) -> tuple[np.ndarray, None]:
        self.calls += 1
        rows = zip(observations, legal, strict=True)
        return np.array([self.of[o.tobytes(), a.tobytes()] for o, a in rows]), None

    def values(self, observations: np.ndarray) -> np.ndarray:
        raise AssertionError("these games are played to the end")


def uniform_values(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """What each action is worth, float64 [E], if all histories that agree with what the player
    knows are as likely as chance makes them, whatever the other player would have done."""
    of = spelt_out(tree, policy)
    sums: dict[tuple, np.ndarray] = {}

    def value(node: Node, chance: float) -> float:
        """Player 0's; adds to the sums."""
        if not node.children:
            return node.gain
        part = 1 / len(node.children) if node.key is None else 1.0
        below = {a: value(child, chance * part) for a, child in node.children.items()}
        if node.key is None:
            return float(np.mean(list(below.values())))
        sign = 1 - 2 * node.actor
        for action, gain in below.items():
            sums.setdefault((node.key, action), np.zeros(2))
            sums[node.key, action] += chance * np.array([sign * gain, 1])
        return sum(of[node.key][action] * gain for action, gain in below.items())

    value(grow(tree.game), 1.0)
    found = spelt_out(tree, np.arange(len(policy)))
    out = np.zeros(len(policy))
    for key, actions in found.items():
        for action, at in actions.items():
            out[int(at)] = sums[key, action][0] / sums[key, action][1]
    return out
