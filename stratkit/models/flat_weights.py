"""A network's weights one after the other: as cengine/page/network.c reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine.observation import FEATURES
from stratkit.engine.residual import residual_weights
from stratkit.errors import InputError
from stratkit.netnames import MIRRORED, channels_and_blocks, has_deployment, without_ending

Weights = Mapping[str, Float32s]


class Ending(IntEnum):
    """What comes behind `fromto` in a network's name: `network_kind` of network.h."""

    ALONE, DEPLOYMENT, MIRRORED = range(3)


class FlatNetwork(NamedTuple):
    """A network `fromto`; `weights` are float32, little-endian."""

    channels: int
    blocks: int
    ending: Ending
    weights: bytes


def flat_network(net: str, weights: Weights) -> FlatNetwork:
    """The network of this name, with these weights. `InputError`: it is no `fromto`."""
    if without_ending(net).partition(":")[0] != "fromto":
        raise InputError("no network fromto", text=net)
    channels, blocks = channels_and_blocks(without_ending(net))
    with_deployment = has_deployment(net)
    layers = list(_play(weights, "play." if with_deployment else "", blocks))
    layers += _deployment(weights, "deployment.") if with_deployment else []
    flat = np.concatenate([layer.reshape(-1) for layer in layers]).astype("<f4").tobytes()
    if net.endswith(MIRRORED):
        return FlatNetwork(channels, blocks, Ending.MIRRORED, flat)
    ending = Ending.DEPLOYMENT if with_deployment else Ending.ALONE
    return FlatNetwork(channels, blocks, ending, flat)


def _play(weights: Weights, prefix: str, blocks: int) -> Iterator[Float32s]:
    def of(name: str) -> Float32s:
        return weights[f"{prefix}{name}"]

    def layer(name: str) -> Iterator[Float32s]:
        yield of(f"{name}.weight").T
        yield of(f"{name}.bias")

    channels = len(of("place"))
    yield of("entry.weight").reshape(channels, FEATURES).T
    yield of("place").reshape(channels, -1).T + of("entry.bias")
    yield from layer("counts")
    names = [f"blocks.{block}.{half}" for block in range(blocks) for half in ("first", "second")]
    yield residual_weights(np.stack([of(f"{name}.weight") for name in names]))
    yield np.stack([of(f"{name}.bias") for name in names])
    yield from layer("square")
    yield from layer("context")
    yield of("part.weight")
    yield of("outcome.weight").T
    yield of("policy.weight")
    yield of("policy.bias")
    yield of("met")
    yield of("deploy")


def _deployment(weights: Weights, prefix: str) -> Iterator[Float32s]:
    for name in ("entry", "hidden", "policy"):
        yield weights[f"{prefix}{name}.weight"].T
        yield weights[f"{prefix}{name}.bias"]
