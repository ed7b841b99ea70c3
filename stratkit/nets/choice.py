"""Which backend computes a network: the engine an `mlp`, a `graph` and a `fromto`, ONNX Runtime a
`fromto` where it is installed and the processor has no vectors for the engine, torch all others.

The environment variable `STRATKIT_BACKEND` may ask for one: `engine`, `onnx` or `torch`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from stratkit.arrays import Weights
from stratkit.engine import Game
from stratkit.engine.residual import residual_lanes
from stratkit.errors import InputError
from stratkit.netnames import channels_and_blocks, without_ending
from stratkit.nets.cpu_backend import CPUBackend
from stratkit.nets.engine_graph import EngineGraph, engine_computes_graph
from stratkit.nets.engine_mlp import EngineMLP, engine_computes_mlp
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.nets.fromto_weights import is_fromto
from stratkit.nets.packages import has_onnx, has_torch

if TYPE_CHECKING:
    from stratkit.nets.network import Network

ASKED = "STRATKIT_BACKEND"
BACKENDS = ("engine", "onnx", "torch")


def asked_backend() -> str | None:
    """What the environment asks for, if anything. `InputError`: there is no such backend."""
    asked = os.environ.get(ASKED) or None
    if asked not in (None, *BACKENDS):
        raise InputError("no backend: engine, onnx or torch is one", file=ASKED, text=asked)
    if asked == "onnx" and not has_onnx():
        raise InputError("onnx needs ONNX Runtime, which is missing: see README.md", file=ASKED)
    return asked


def network_with(
    net: str, game: Game, weights: Weights, a_module: bool = False
) -> Network | CPUBackend:
    """The network `net` for `game` with these weights. `a_module`: one of torch, if it is there.
    `InputError`: the weights are another network's. `ModuleNotFoundError`: nothing computes it."""
    asked = "torch" if a_module and has_torch() else asked_backend()
    if asked != "torch" and engine_computes_mlp(net, game):
        return EngineMLP(net, game, weights)
    if asked != "torch" and engine_computes_graph(net, game):
        return EngineGraph(net, game, weights)
    if asked != "torch" and is_fromto(net, game.shape):
        return FromToBackend(net, game, weights, asked or fastest(net))
    from stratkit.nets.builder import build_with

    return build_with(net, game, weights)


def fastest(net: str) -> str:
    """What computes a `fromto` fastest on this processor, of what is installed. Without vectors the
    engine takes up to ten times as long as ONNX Runtime (bench/throughput.md)."""
    channels, _ = channels_and_blocks(without_ending(net))
    return "onnx" if residual_lanes(channels) == 1 and has_onnx() else "engine"
