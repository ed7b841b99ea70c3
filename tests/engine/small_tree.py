"""The whole tree of a small game by brute force: information states and best responses, in NumPy.

It knows the engine's games by their interface alone, and is slow and obvious: level by level, all
nodes of a level being rows of one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE, OVER

# The probability of each action at a chance node, given all actions before it.
Chance = Callable[[list[int]], dict[int, float]]


@dataclass
class Level:
    """All nodes at one depth. Its arrays have one row a node, `child_*` one row an edge below."""

    actors: NDArray[np.int8]
    returns: NDArray[np.float32]  # of player 0
    states: NDArray[np.int64]  # number of the acting player's information state
    parent: NDArray[np.int64]  # of each edge to the next level: the node in this one
    action: NDArray[np.int64]
    chance: NDArray[np.float64]  # of each edge: its probability, NaN where a player acts


@dataclass
class Tree:
    game: Game
    levels: list[Level] = field(default_factory=list)
    # Of each information state: its player, the one before, the action there, and what is seen.
    keys: dict[tuple[int, int, int, bytes], int] = field(default_factory=dict)

    @property
    def terminals(self) -> int:
        return sum(int((level.actors == OVER).sum()) for level in self.levels)

    def states(self, player: int) -> int:
        return sum(key[0] == player for key in self.keys)


def build(game: Game, chance: Chance | None = None) -> Tree:
    """The tree of `game`; `chance` as the game's rules have it."""
    tree = Tree(game)
    batch = Batch(game, 1)
    histories: list[list[int]] = [[]]
    last = np.full((1, 2, 2), -1)  # of each node and player: its last information state and action
    while True:
        actors, legal, packed = batch.actors(), batch.legal(), batch.observe()
        states = np.full(batch.size, -1)
        for row in np.flatnonzero(actors >= 0):
            player = int(actors[row])
            before, action = last[row, player].tolist()
            key = (player, before, action, packed[row].tobytes())
            states[row] = tree.keys.setdefault(key, len(tree.keys))
        parent, action = np.nonzero(legal)
        edges = np.full(len(parent), np.nan)
        for edge in np.flatnonzero(actors[parent] == CHANCE):
            assert chance is not None
            edges[edge] = chance(histories[parent[edge]])[int(action[edge])]
        returns = batch.returns()
        np.testing.assert_array_equal(returns.sum(1), 0)
        tree.levels.append(Level(actors, returns[:, 0], states, parent, action, edges))
        if not len(parent):
            return tree
        children = Batch(game, len(parent))
        for row, node in enumerate(parent):
            children.copy_row(row, batch, int(node))
        children.apply(action.astype(np.int32))
        histories = [[*histories[n], int(a)] for n, a in zip(parent, action, strict=True)]
        last = last[parent].copy()
        played = np.flatnonzero(actors[parent] >= 0)
        last[played, actors[parent[played]], 0] = states[parent[played]]
        last[played, actors[parent[played]], 1] = action[played]
        batch = children


def best_response(tree: Tree, player: int) -> float:
    """What `player` gains at most against an opponent who plays uniformly."""
    reach = [np.ones(1)]  # by chance and the opponent
    for level in tree.levels:
        ways = np.bincount(level.parent, minlength=len(level.actors))[level.parent]
        acts = level.actors[level.parent]
        factor = np.where(acts == player, 1.0, 1.0 / ways)
        factor[acts == CHANCE] = level.chance[acts == CHANCE]
        reach.append(reach[-1][level.parent] * factor)
    sign = 1 if player == 0 else -1
    value = np.zeros(0)  # of the next level's nodes, weighted by their reach
    for depth in range(len(tree.levels) - 1, -1, -1):
        level = tree.levels[depth]
        below = value
        value = np.where(level.actors == OVER, sign * level.returns * reach[depth], 0.0)
        others = level.actors[level.parent] != player
        np.add.at(value, level.parent[others], below[others])
        # One action for all nodes of an information state (they all have the same depth).
        state = level.states[level.parent]
        gains = np.zeros((len(tree.keys), tree.game.actions))
        legal = np.zeros(gains.shape, bool)
        np.add.at(gains, (state[~others], level.action[~others]), below[~others])
        legal[state[~others], level.action[~others]] = True
        best = np.where(legal, gains, -np.inf).argmax(1)
        chosen = ~others & (best[state] == level.action)
        np.add.at(value, level.parent[chosen], below[chosen])
    return float(value[0])


def nash_conv(tree: Tree) -> float:
    """Of the uniform policy: both players' gains by a best response, added."""
    return best_response(tree, 0) + best_response(tree, 1)
