"""Untrained networks that have an opinion, and views to have it of."""

from __future__ import annotations

import torch

from nets.drawn import drawn
from stratkit.engine import Game
from stratkit.nets import build
from stratkit.players.network import NetworkPlayer


def sharp_player(game: Game, net: str = "plain", seed: int = 1, rows: int = 8) -> NetworkPlayer:
    """A player whose network is random, but far from uniform, and values states differently."""
    network = drawn(build(net, game.shape, seed, game.actions))
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith(("policy", "deployment.last", "selection.last", "target.last")):
                parameter *= 12
            elif name.startswith("critic"):
                parameter *= 10
    return NetworkPlayer(net, network, seed, rows)
