"""The numbers of a network `fromto`, of one for the deployment beside it, and their weights: which
there are, and in which order cengine/fromto.c reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stratkit.arrays import Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.observation import COUNTS, FEATURES, OUTCOMES
from stratkit.engine.residual import residual_weights
from stratkit.engine.stratego import TYPES
from stratkit.netnames import channels_and_blocks, has_deployment, without_ending

DEPLOY, SELECT, TARGET = range(3)  # what is decided
HIDDEN = 16  # of a square and what it is compared with
CERTAIN = 0.999  # probabilities above are of what is known
# What is read of an attack: its outcomes, and whether it wins or loses for certain.
MET = OUTCOMES + 2
DEPLOYMENT_HIDDEN = 64  # of each layer of the network for the deployment


def is_fromto(net: str, shape: tuple[int, ...]) -> bool:
    """Whether the network `net` for observations of this shape is a `fromto`, whatever it deploys
    by: the engine and ONNX Runtime compute it."""
    return len(shape) == 3 and without_ending(net).partition(":")[0] == "fromto"


def fromto_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights of the network `net` for `game`, by name."""
    planes, height, width = game.shape
    sizes = channels_and_blocks(without_ending(net))
    return weight_shapes((planes, height, width), *sizes, with_deployment=has_deployment(net))


def weight_shapes(
    shape: tuple[int, int, int], channels: int, blocks: int, with_deployment: bool
) -> dict[str, tuple[int, ...]]:
    """The shapes of a `FromTo`'s weights, by name, or of a `WithDeployment` of one."""
    _, height, width = shape
    squares, zone, c = height * width, height * width // 2, channels
    found: dict[str, tuple[int, ...]] = {
        "place": (c, height, width),
        "met": (MET,),
        "deploy": (len(TYPES), squares),
        "part.weight": (2, HIDDEN),
        "outcome.weight": (HIDDEN, MET),
        "entry.weight": (c, FEATURES, 1, 1),
        "entry.bias": (c,),
    }
    linear = {"counts": (c, COUNTS), "square": (HIDDEN, c), "context": (HIDDEN, c)}
    linear |= {"policy": (3, HIDDEN), "critic.0": (c, 3 * c + COUNTS), "critic.2": (1, c)}
    layers: dict[str, tuple[int, ...]] = {**linear}
    for block in range(blocks):
        layers |= {f"blocks.{block}.{name}": (c, c, 3, 3) for name in ("first", "second")}
    found |= _with_biases(layers)
    if not with_deployment:
        return found
    kinds, units = len(TYPES) * (zone + 1), DEPLOYMENT_HIDDEN
    deployment = {"entry": (units, kinds), "hidden": (units, units)}
    deployment |= {"policy": (zone, units), "critic": (1, units)}
    return {
        **{f"play.{name}": size for name, size in found.items()},
        **{f"deployment.{name}": size for name, size in _with_biases({**deployment}).items()},
    }


def _with_biases(layers: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Of layers, by the shapes of their weights."""
    return {
        f"{name}.{kind}": size if kind == "weight" else size[:1]
        for name, size in layers.items()
        for kind in ("weight", "bias")
    }


def fromto_weights(weights: Weights, prefix: str = "") -> Float32s:
    """Those whose names begin with `prefix`, as `WholeFromTo` reads them, float32
    [fromto_floats]: what the heads of a decision add to every square is one layer."""
    blocks = fromto_blocks(weights, prefix) or ()
    w = {name.removeprefix(prefix): weight for name, weight in weights.items()}
    layers = *entry_layers(w), *blocks, *head_layers(w)
    return np.concatenate([np.asarray(layer, np.float32).ravel() for layer in layers])


def entry_layers(w: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of weights, numpy's or torch's, those of the first layer, as `entry` reads them, each [k, c]:
    of features, of counts, and what is added on each square."""
    channels = len(w["place"])
    fixed = w["place"].reshape(channels, -1).T + w["entry.bias"] + w["counts.bias"]
    return w["entry.weight"].reshape(channels, FEATURES).T, w["counts.weight"].T, fixed


def head_layers(w: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same of the heads, as `heads` reads them."""
    none, piece = w["part.weight"] + w["square.bias"], w["context.bias"] + w["square.bias"]
    return (
        *(w["square.weight"].T, w["context.weight"].T, none[1], none[0], piece),
        *(w["outcome.weight"].T, w["policy.weight"], w["policy.bias"], w["met"], w["deploy"]),
        *(w["critic.0.weight"].T, w["critic.0.bias"], w["critic.2.weight"], w["critic.2.bias"]),
    )


def fromto_blocks(weights: Weights, prefix: str = "") -> tuple[Float32s, Float32s] | None:
    """Weights and biases of its residual blocks, as `residual_weights` orders them; None: it has
    none."""
    names = [name for name in weights if name.startswith(f"{prefix}blocks.")]
    names = sorted(name.removesuffix(".bias") for name in names if name.endswith(".bias"))
    names.sort(key=lambda name: int(name.split(".")[-2]))
    if not names:
        return None
    filters, biases = (
        np.stack([weights[f"{name}.{kind}"] for name in names]) for kind in ("weight", "bias")
    )
    return residual_weights(filters), biases
