"""What hands may expect at the leaves of subgames: exactly, or from a network."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine import Subgames
from stratkit.search.subgame import CFRD, Reach

if TYPE_CHECKING:
    from stratkit.nets.pbs import PBSNet


class ExactLeaves:
    """Solves every leaf's public belief state to the end of the game, by `updates` of CFR, in which
    it goes on from what it found for the same leaf before: what a perfect network would say."""

    def __init__(self, updates: int = 64) -> None:
        self.updates = updates
        self._solvers: weakref.WeakKeyDictionary[Subgames, list[CFRD | None]]
        self._solvers = weakref.WeakKeyDictionary()

    def __call__(self, subgames: Subgames, player: int, reach: Reach) -> Float32s:
        if not subgames.leaves:
            return np.zeros((0, subgames.tree.game.hands), np.float32)
        at = subgames.leaf_parts
        beliefs = subgames.beliefs(0, reach[0], at), subgames.beliefs(1, reach[1], at)
        known = self._solvers.setdefault(subgames, [None, None])
        solver = known[player]
        if solver is None:
            below = Subgames(subgames.tree, subgames.nodes[at], 0)
            solver = known[player] = CFRD(below, beliefs)
        else:
            solver.restart(beliefs)
        solver.solve(self.updates)
        return np.nan_to_num(solver.values(player)).astype(np.float32)


class NetworkLeaves:
    """Asks a value network, which answers in units of the game's largest return."""

    def __init__(self, network: PBSNet) -> None:
        self.network = network

    def __call__(self, subgames: Subgames, player: int, reach: Reach) -> Float32s:
        rows = np.empty((subgames.leaves, subgames.tree.game.pbs_inputs), np.float32)
        subgames.inputs(player, reach, rows)
        values, unit = self.values(rows), subgames.tree.game.unit
        return values if unit == 1 else values * np.float32(unit)

    def values(self, rows: Float32s) -> Float32s:
        """What the network says to `rows` of inputs, float32 [n, game's hands], in those units."""
        import torch

        with torch.inference_mode():
            values: Float32s = self.network(torch.from_numpy(rows)).numpy()
        return values
