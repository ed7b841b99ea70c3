"""What hands may expect at the leaves of subgames: exactly, or from a network, which may also say
what is played inside; and what a network sees."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Float32s, Float64s, Int32s
from stratkit.engine import PublicTree, Subgames
from stratkit.search.subgame import CFRD, Reach

if TYPE_CHECKING:
    import torch

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
    """Asks a value network, which answers in units of the game's largest return. Of leaves where
    the opponent does not get it is not asked: what they are worth counts nothing there."""

    def __init__(self, network: PBSNet) -> None:
        import torch

        self.network, self._device, self._precision = network, "cpu", torch.float32

    def place(self, device: str, precision: torch.dtype) -> None:
        """Computes there from now on, with layers of this precision. `InputError`: there is no
        such device."""
        from stratkit.nets.network import check_device

        check_device(device)
        self.network.to(device)
        self._device, self._precision = device, precision

    def __call__(self, subgames: Subgames, player: int, reach: Reach) -> Float32s:
        game = subgames.tree.game
        rows = np.empty((subgames.leaves, game.pbs_inputs), np.float32)
        leaves = subgames.inputs(player, reach, rows)
        values = np.zeros((subgames.leaves, game.hands), np.float32)
        values[leaves] = self.values(rows[: len(leaves)]) * np.float32(game.unit)
        return values

    def values(self, rows: Float32s) -> Float32s:
        """What the network says to `rows` of inputs, float32 [n, game's hands], in those units."""
        return self._computed(self.network, rows)

    def policy(self, subgames: Subgames, beliefs: tuple[Float64s, Float64s]) -> Float64s:
        """What a network with a policy head says that both play, [E], from the roots downwards: the
        beliefs below follow from it."""
        assert self.network.policy is not None
        acts = (subgames.child >= 0) & (subgames.tree.actors[subgames.nodes] >= 0)
        parts = np.flatnonzero(acts).astype(np.int32)
        row = np.cumsum(acts)[subgames.part] - 1
        policy, seen = subgames.uniform(), None
        while True:
            rows = inside(subgames, policy, beliefs, parts)
            if seen is not None and np.array_equal(rows, seen):
                return policy
            logits = self._computed(self.network.policy, rows).astype(np.float64)
            policy, seen = subgames.normalised(np.exp(logits[row, subgames.output])), rows

    def _computed(self, network: PBSNet, rows: Float32s) -> Float32s:
        import torch

        lower = self._precision != torch.float32
        with torch.inference_mode(), torch.autocast(self._device, self._precision, enabled=lower):
            computed: Float32s = (
                network(torch.from_numpy(rows).to(self._device)).float().cpu().numpy()
            )
        return computed


def rows_of(
    tree: PublicTree, nodes: Int32s, beliefs: tuple[Float64s, Float64s], player: int
) -> Float32s:
    """What a network that is asked for `player`'s values sees of some nodes, float32 [n, game's
    pbs_inputs], as `Subgames.inputs` has it of leaves; beliefs float64 [n, game's hands] each."""
    acts = (tree.actors[nodes] == player)[:, None]
    parts = acts, tree.seen[tree.look[nodes]], beliefs[player], beliefs[1 - player]
    return np.concatenate(parts, axis=1).astype(np.float32)


def inside(
    subgames: Subgames, policy: Float64s, beliefs: tuple[Float64s, Float64s], parts: Int32s
) -> Float32s:
    """What a network that is asked for the policy sees of some parts at which a player acts, if
    `policy` leads there from `beliefs`: float32 [n, game's pbs_inputs]."""
    tree, believed = subgames.tree, []
    for player in (0, 1):
        reach = subgames.begin(player, beliefs[player])
        subgames.reach(player, policy, reach)
        believed.append(subgames.beliefs(player, reach, parts))
    nodes, both = subgames.nodes[parts], (believed[0], believed[1])
    of_each = [rows_of(tree, nodes, both, player) for player in (0, 1)]
    return np.where((tree.actors[nodes] == 0)[:, None], *of_each)
