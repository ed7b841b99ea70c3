"""Nodes a second of search trees in worlds of Barrage, and what a node costs:

    python bench/trees.py [TREES [NODES [PLIES [PLAYER...]]]]

Games of PLAYER (`barrage`; `uniform`: a network `fromto` that has learned nothing) are played for
some plies. One world of each is searched by that network, all at once, on one core: with pieces
asked for one by one, and with whole moves, by turns. Prints CPU times.
"""

from __future__ import annotations

import os
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch

from stratkit.declared import whole
from stratkit.engine import Batch, Game, sample, worlds
from stratkit.engine.mcts import SearchTrees
from stratkit.errors import UsageError
from stratkit.nets.builder import build
from stratkit.nets.choice import network_with
from stratkit.nets.evaluator import Evaluator
from stratkit.players.factory import open_player
from stratkit.players.network import NetworkPlayer
from stratkit.players.registry import parse_player
from stratkit.script import Parser, argument
from stratkit.search.pimc import grow

SEED, DEPLOYMENT = 7, 16  # actions


class Timed(Evaluator):
    """Adds up the CPU time of a network."""

    seconds = 0.0

    def evaluate_distinct(self, *arguments, **more):  # type: ignore[no-untyped-def]
        return self._timed(super().evaluate_distinct, *arguments, **more)

    def evaluate_moves(self, *arguments):  # type: ignore[no-untyped-def]
        return self._timed(super().evaluate_moves, *arguments)

    def _timed(self, evaluate, *arguments, **more):  # type: ignore[no-untyped-def]
        begun = time.process_time()
        out = evaluate(*arguments, **more)
        self.seconds += time.process_time() - begun
        return out


def positions(network: Evaluator, games: int, plies: int) -> Batch:
    batch = Batch(Game("barrage"), games)
    numbers = np.arange(games, dtype=np.int64)
    for action in range(DEPLOYMENT + 2 * plies):
        legal = batch.legal()
        policy = network.policy(batch.observe(), legal)
        at = np.full(games, action, np.int32)
        batch.apply(sample(policy, legal, SEED, numbers, at)[0])
    rows = np.flatnonzero(batch.actors() >= 0)
    return Batch.gathered([(worlds(batch, int(row), 1, SEED, int(row)), [0]) for row in rows])


def opened(name: str, rows: int) -> Evaluator:
    game = Game("barrage")
    if name == "uniform":
        weights = build("fromto", game, 1).state_dict()
        arrays = {key: tensor.numpy() for key, tensor in weights.items()}
        return Evaluator("fromto", network_with("fromto", game, arrays), rows)
    player = open_player(parse_player(name), game, 1, rows).player
    if not isinstance(player, NetworkPlayer):
        raise UsageError("a network is needed, as it is", text=name)
    return player.evaluator


def grown(roots: Batch, nodes: int, evaluator: Evaluator, whole: bool) -> str:
    network = Timed(evaluator.net, evaluator.network, -(-roots.size // 8) * 8)
    trees = SearchTrees(roots, 2, nodes, largest_return=1.0, whole=whole)
    actors = roots.actors()
    for row in range(roots.size):
        moves = roots.moves(row, int(actors[row]))
        trees.begin(row, moves, np.full((1, len(moves)), 1 / len(moves), np.float32))
    begun = time.process_time()
    grow(trees, network)
    seconds = time.process_time() - begun
    simulations, evaluations, size = trees.counts()
    rest = 1 - network.seconds / seconds
    return (
        f"{simulations / seconds:.0f} nodes a second; {rest:.1%} of it is not the network's; "
        f"{evaluations / simulations:.2f} evaluations and {size / simulations:.0f} bytes a node"
    )


def main(games: int, nodes: int, plies: int, players: list[str], rounds: int = 3) -> None:
    torch.set_num_threads(1)
    for name in players:
        evaluator = opened(name, 256)
        roots = positions(evaluator, games, plies)
        print(f"{name}: {roots.size} trees of {nodes} nodes after {plies} plies")
        for at_once in [False, True] * rounds:
            print(
                "whole moves:" if at_once else "by pieces:", grown(roots, nodes, evaluator, at_once)
            )


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("games", metavar="TREES", nargs="?", default=256, type=argument(whole(1)))
    parser.add_argument("nodes", metavar="NODES", nargs="?", default=200, type=argument(whole(1)))
    parser.add_argument("plies", metavar="PLIES", nargs="?", default=10, type=argument(whole(0)))
    players = ["barrage", "uniform"]
    parser.add_argument("players", metavar="PLAYER", nargs="*", default=players)
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
