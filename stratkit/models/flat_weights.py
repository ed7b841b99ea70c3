"""A network's weights one after the other: as cengine/page/network.c reads them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from stratkit.arrays import Float32s, Weights
from stratkit.errors import InputError
from stratkit.netnames import MIRRORED, channels_and_blocks, has_deployment, without_ending
from stratkit.nets.fromto_weights import fromto_weights


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
        raise InputError("a page plays networks fromto, and this one is another", text=net)
    channels, blocks = channels_and_blocks(without_ending(net))
    with_deployment = has_deployment(net)
    layers = [fromto_weights(weights, "play." if with_deployment else "")]
    layers += _deployment(weights, "deployment.") if with_deployment else []
    flat = np.concatenate([layer.reshape(-1) for layer in layers]).astype("<f4").tobytes()
    if net.endswith(MIRRORED):
        return FlatNetwork(channels, blocks, Ending.MIRRORED, flat)
    ending = Ending.DEPLOYMENT if with_deployment else Ending.ALONE
    return FlatNetwork(channels, blocks, ending, flat)


def _deployment(weights: Weights, prefix: str) -> Iterator[Float32s]:
    for name in ("entry", "hidden", "policy"):
        yield weights[f"{prefix}{name}.weight"].T
        yield weights[f"{prefix}{name}.bias"]
