"""The weights of a network `fromto` in the order of cengine/fromto.c."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine.observation import FEATURES
from stratkit.engine.residual import residual_weights

Weights = Mapping[str, Float32s]


def fromto_weights(weights: Weights, prefix: str = "") -> Float32s:
    """Those whose names begin with `prefix`, as `WholeFromTo` reads them, float32
    [fromto_floats]: what the heads of a decision add to every square is one layer."""
    blocks = fromto_blocks(weights, prefix) or ()
    w = {name.removeprefix(prefix): weight for name, weight in weights.items()}
    channels = len(w["place"])
    fixed = w["place"].reshape(channels, -1).T + w["entry.bias"] + w["counts.bias"]
    none, piece = w["part.weight"] + w["square.bias"], w["context.bias"] + w["square.bias"]
    layers = [
        *(w["entry.weight"].reshape(channels, FEATURES).T, w["counts.weight"].T, fixed, *blocks),
        *(w["square.weight"].T, w["context.weight"].T, none[1], none[0], piece),
        *(w["outcome.weight"].T, w["policy.weight"], w["policy.bias"], w["met"], w["deploy"]),
        *(w["critic.0.weight"].T, w["critic.0.bias"], w["critic.2.weight"], w["critic.2.bias"]),
    ]
    return np.concatenate([np.asarray(layer, np.float32).ravel() for layer in layers])


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
