"""Untrained networks that have an opinion, and their post-processing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from nets.drawn import drawn
from stratkit.declared import read_options
from stratkit.engine import Game
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Explanation
from stratkit.players.presets import DEEPNASH
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer


def sharp_player(game: Game, net: str = "plain", seed: int = 1, rows: int = 8) -> NetworkPlayer:
    """A player whose network is random, but far from uniform, and values states differently."""
    network = drawn(build(net, game, seed))
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith(("policy", "deployment.last", "selection.last", "target.last")):
                parameter *= 12
            elif name.startswith("critic"):
                parameter *= 10
    return NetworkPlayer(Evaluator(net, network, rows), game, seed)


def post_processed(
    raw: NetworkPlayer, asked: PostProcessing, log: Callable[[Explanation], None] | None = None
) -> PostprocessedPlayer:
    """The player, post-processed as is asked, in the middle of game 0, which it plays on both
    sides."""
    player = PostprocessedPlayer(raw.evaluator, raw.game, raw.seed, asked, log)
    player.begin(np.zeros(2, np.int64), np.arange(2, dtype=np.int8))
    return player


def deepnash(**others: str) -> PostProcessing:
    """The preset, but for some keys."""
    return read_options(PostProcessing, {**DEEPNASH, **others})
