"""Which rows a value network of a game can be shown: public states with the hands that they have.

Examples may come from anybody, and a belief in a hand that the public cards exclude teaches a
network what no search will ask it.
"""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine import PublicTree


class RowCheck:
    """Knows the looks of `tree`'s states, and which hands the player that acts and the other may
    have there. Of states that look alike a hand counts if one of them has it."""

    def __init__(self, tree: PublicTree) -> None:
        self._looks = {seen.tobytes(): look for look, seen in enumerate(tree.seen)}
        self._exists = np.zeros((len(tree.seen), 2, tree.game.hands), bool)
        for player in (0, 1):
            node = np.repeat(np.arange(len(tree)), np.diff(tree.hand[:, player]))
            acts = tree.actors[node] >= 0
            other = (tree.actors[node] != player).astype(np.int64)
            hands = tree.look[node], other, tree.number[player]
            self._exists[tuple(part[acts] for part in hands)] = True

    def fault(self, rows: Float32s, values: Float32s) -> tuple[int, str] | None:
        """The first of some examples that is of no state of the game, and what is wrong with it.
        float32 [n, pbs_inputs] and [n, game's hands], NaN of hands that have no value."""
        hands = values.shape[1]
        acts, public = rows[:, 0], rows[:, 1 : -2 * hands]
        seen = public.clip(0, 255).astype(np.uint8)
        look = np.array([self._looks.get(one.tobytes(), -1) for one in seen])
        known = (look >= 0) & (seen == public).all(1) & ((acts == 0) | (acts == 1))
        own = self._exists[look, (acts == 0).astype(np.int64)]
        other = self._exists[look, (acts != 0).astype(np.int64)]
        possible = np.hstack([own, other])
        believed = ((rows[:, -2 * hands :] != 0) & ~possible).any(1)
        valued = (~np.isnan(values) & ~own).any(1)
        wrong = np.flatnonzero(~known | believed | valued)
        if not len(wrong):
            return None
        at = int(wrong[0])
        if not known[at]:
            return at, "a public state that the game does not have"
        what = "a belief in" if believed[at] else "a value of"
        return at, f"{what} a hand that the public state excludes"
