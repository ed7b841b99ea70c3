"""Networks, and the expansion of packed observations to the planes that they read.

expansion.py     packed observations -> 82 planes (torch, no loop over planes)
features.py      packed observations -> what small networks read instead
network.py       what every network is to those who use one
unet.py          DeepNash's torso and four heads
plain.py         a small residual network for small boards
fromto.py        a residual network that looks once for both parts of a move
rise.py          AlphaZe**'s residual network
alphaze.py       the same with the paper's planes, and its head of whole moves
alphaze_hex.py   the same with the paper's planes of Hex
graph.py         a graph network for the maps of Diplomacy
mlp.py           a multilayer perceptron for observations that are vectors
belief.py        which types hidden pieces have
pbs.py           values of hands at public belief states
deployment.py    a network of its own for the deployment, beside any of these
mirrored.py      the same, which meets every game with its own flag on the right
grow.py          a larger network that begins as a smaller one plays
builder.py       `build`: the untrained network of a name
evaluator.py     a network where it computes, by any backend: policies and values
backend.py       what an evaluator asks of a backend
torch_backend.py a network by torch
onnx_graph.py    layers as graphs for ONNX Runtime, made from weights
onnx_export.py   fromto as one graph, for whoever has nothing of stratkit's
fromto_weights.py the weights of fromto: their shapes, and as the engine reads them
cpu_backend.py   what the next three have in common, as backends
engine_mlp.py    mlp by the engine, for who plays on a CPU
engine_graph.py  graph by the engine, for who plays on a CPU
fromto_backend.py fromto and its endings by the engine or ONNX Runtime, for who plays on a CPU
engine_deployment.py what such a network deploys by
onnx_fromto.py   fromto by ONNX Runtime and numpy
mirror_images.py observations of the mirror image
packages.py      which packages that compute networks are installed
captured.py      a computation on a GPU, recorded once and launched as one
threads.py       in how many threads networks compute
choice.py        which of these computes a network
whole_moves.py   policies of whole moves, by a network that looks once for both parts of one
numpy_policy.py  a policy without rare actions, as arrays
policy.py        logits and legal actions -> a policy; without rare actions; an action drawn
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stratkit.nets.builder import build
    from stratkit.nets.expansion import expand
    from stratkit.nets.network import Network, check_device, place
    from stratkit.nets.policy import at_temperature, draw, legal_policy, process
    from stratkit.nets.unet import UNet

_HOMES = {
    "builder": ("build",),
    "expansion": ("expand",),
    "network": ("Network", "check_device", "place"),
    "policy": ("at_temperature", "draw", "legal_policy", "process"),
    "unet": ("UNet",),
}

__all__ = [
    "Network",
    "UNet",
    "at_temperature",
    "build",
    "check_device",
    "draw",
    "expand",
    "legal_policy",
    "place",
    "process",
]


def __getattr__(name: str) -> Any:
    """Torch is imported by who asks for a name that needs it."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
