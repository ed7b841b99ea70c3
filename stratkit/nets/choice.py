"""Which backend computes a network: the engine an `mlp`, ONNX Runtime where it is installed and
can, else torch.

The environment variable `STRATKIT_BACKEND` may ask for one: `onnx` or `torch`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stratkit.arrays import Float32s
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.nets.engine_mlp import EngineMLP, engine_computes
from stratkit.nets.onnx_network import PLAYING, OnnxNetwork, computes, is_installed, is_there

if TYPE_CHECKING:
    from stratkit.nets.network import Network

ASKED = "STRATKIT_BACKEND"
BACKENDS = ("onnx", "torch")


def asked_backend() -> str | None:
    """What the environment asks for, if anything. `InputError`: there is no such backend."""
    asked = os.environ.get(ASKED) or None
    if asked not in (None, *BACKENDS):
        raise InputError(f"{ASKED} is onnx or torch", text=asked)
    if asked == "onnx" and not is_installed():
        raise InputError(f"{ASKED}=onnx needs ONNX Runtime, which is missing: see README.md")
    return asked


def network_with(
    net: str, game: Game, weights: Mapping[str, Float32s], a_module: bool = False
) -> Network | EngineMLP | OnnxNetwork:
    """The network `net` for `game` with these weights. `a_module`: one of torch, if it is there.
    `InputError`: the weights are another network's. `ModuleNotFoundError`: nothing computes it."""
    asked = "torch" if a_module and has_torch() else asked_backend()
    if asked != "torch" and engine_computes(net, game):
        return EngineMLP(net, game, weights)
    if asked != "torch" and computes(net, game.shape) and is_installed():
        return OnnxNetwork(net, game, weights)
    if asked != "torch" and computes(net, game.shape) and not has_torch():
        missing = " ".join(name for name in PLAYING if not is_there(name))
        what = f"networks need ONNX Runtime or torch: pip install {missing}"
        raise ModuleNotFoundError(what, name=PLAYING[-1])
    from stratkit.nets.builder import build_with

    return build_with(net, game, weights)


def has_torch() -> bool:
    """Whether torch is there."""
    return is_there("torch")
