"""How far a value network is from the truth, which the loss does not tell: its answers beside exact
values of public belief states, of self-play and of none.

The values of a state are those of a full search to the end of the game, so few games are small
enough. Errors grow with what is left of the game, since a network learns from its own answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float64s, Int32s
from stratkit.engine import PublicTree, Subgames
from stratkit.errors import InputError
from stratkit.search.generate import Generator
from stratkit.search.leaves import NetworkLeaves, rows_of
from stratkit.search.safe import PBSSearch
from stratkit.search.subgame import CFRD

GAMES = 64  # of self-play at a time
PATIENCE = 64  # rounds of games that all end in their first subgame


@dataclass(frozen=True)
class States:
    """Public belief states.

    nodes    int32 [n], of a public tree
    beliefs  float64 [n, hands], of both players
    """

    nodes: Int32s
    beliefs: tuple[Float64s, Float64s]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class ErrorsAt:
    """Errors of a network, in units of the game's returns.

    left      decisions that remain at most
    states    number of states with so many left
    bias      mean error
    rms       root mean square error, over the hands that are there, all alike
    believed  the same, hands weighted by the belief
    """

    left: int
    states: int
    bias: float
    rms: float
    believed: float


def decisions_left(tree: PublicTree) -> Int32s:
    """How many decisions may follow at most from each node on, its own included, int32 [N]."""
    out = np.zeros(len(tree), np.int32)
    choices = np.diff(tree.first)
    for node in range(len(tree) - 1, 0, -1):
        if tree.actors[node] >= 0:
            who = int(tree.actors[node])
            n = tree.hand[node + 1, who] - tree.hand[node, who]
            begin = tree.infoset[node]
            out[node] += choices[begin : begin + n].max() > 1
        above = tree.parents[node]
        out[above] = max(out[above], out[node])
    return out


def states_of_selfplay(
    tree: PublicTree, search: PBSSearch, network: NetworkLeaves, n: int, seed: int
) -> States:
    """The first `n` states behind the opening to which self-play leads. `InputError`: to none."""
    play = Generator(tree, search, GAMES, seed)
    nodes: list[Int32s] = []
    beliefs: tuple[list[Float64s], list[Float64s]] = [], []
    while sum(map(len, nodes)) < n:
        play.examples(network)
        at, believed = play.roots()
        if not len(at) and play.ended >= PATIENCE * GAMES and not any(map(len, nodes)):
            what = f"{tree.game.name}: self-play to depth {search.depth} ends in its first subgame"
            raise InputError(what)
        nodes.append(at)
        for player in (0, 1):
            beliefs[player].append(believed[player])
    both = np.concatenate(beliefs[0])[:n], np.concatenate(beliefs[1])[:n]
    return States(np.concatenate(nodes)[:n], both)


def random_states(tree: PublicTree, n: int, seed: int) -> States:
    """`n` states: any node with a decision behind the opening, and any beliefs, all alike."""
    random = np.random.default_rng(seed)
    own = decisions_left(tree) > 0
    own &= (tree.actors >= 0) & (np.arange(len(tree)) > tree.opening)
    nodes = random.choice(np.flatnonzero(own), n).astype(np.int32)
    beliefs = []
    for player in (0, 1):
        possible = np.array([tree.prior(int(node), player) > 0 for node in nodes])
        drawn = np.where(possible, random.exponential(size=possible.shape), 0.0)
        beliefs.append(drawn / drawn.sum(1, keepdims=True))
    return States(nodes, (beliefs[0], beliefs[1]))


def value_errors(
    tree: PublicTree, network: NetworkLeaves, states: States, updates: int
) -> list[ErrorsAt]:
    """Errors at `states` by what is left, the least first; exact values are those of so many
    `updates` of CFR to the end of the game."""
    solver = CFRD(Subgames(tree, states.nodes, 0), states.beliefs)
    solver.solve(updates)
    left = decisions_left(tree)[states.nodes]
    unit = tree.game.unit
    errors, weights = [], []
    for player in (0, 1):
        rows = rows_of(tree, states.nodes, states.beliefs, player)
        errors.append(network.values(rows) * unit - solver.values(player))
        weights.append(np.where(np.isnan(errors[-1]), 0.0, states.beliefs[player]))
    error, weight = np.stack(errors, 1), np.stack(weights, 1)  # [n, players, hands]
    out = []
    for k in np.unique(left):
        e, w = error[left == k], weight[left == k]
        squares = np.nan_to_num(e) ** 2
        believed = float(np.sqrt((w * squares).sum() / w.sum()))
        rms = float(np.sqrt(np.nanmean(e**2)))
        out.append(ErrorsAt(int(k), len(e), float(np.nanmean(e)), rms, believed))
    return out
