"""A state in each information set of a tree, for players that search from states."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Tree
from stratkit.engine.batch import CHANCE


def states_of(tree: Tree) -> tuple[Batch, npt.NDArray[np.int32]]:
    """A batch whose row i is a state in which information set i acts, and the number of actions
    before it, int32 [I]. All histories are walked, level by level."""
    sets = {
        (int(player), int(before), seen.tobytes()): i
        for i, (player, before, seen) in enumerate(
            zip(tree.players, tree.before, tree.observations(), strict=True)
        )
    }
    place = {
        (int(owner), int(action)): 1 + k
        for k, (owner, action) in enumerate(zip(tree.owner, tree.actions, strict=True))
    }
    found: dict[int, tuple[Batch, int]] = {}
    numbers = np.zeros(len(tree), np.int32)
    level, lasts = Batch(tree.game, 1), np.zeros((1, 2), np.int64)  # last sequence of each player
    for depth in range(tree.histories):
        actors, legal, seen = level.actors(), level.legal(), level.observe()
        rows, actions = np.nonzero(legal)
        after = lasts[rows]
        infoset = np.full(level.size, -1)
        for row in np.flatnonzero(actors >= 0).tolist():
            actor = int(actors[row])
            infoset[row] = sets[actor, int(lasts[row, actor]), seen[row].tobytes()]
            if infoset[row] not in found:
                found[int(infoset[row])] = level, row
                numbers[infoset[row]] = depth
        for child, (row, action) in enumerate(zip(rows.tolist(), actions.tolist(), strict=True)):
            if actors[row] != CHANCE:
                after[child, actors[row]] = place[int(infoset[row]), action]
        if not len(rows):
            break
        level = Batch.gathered([(level, rows)])
        level.apply(actions.astype(np.int32))
        lasts = after
    order = [found[i] for i in range(len(tree))]
    return Batch.gathered([(batch, [row]) for batch, row in order]), numbers
