"""Networks by name."""

from __future__ import annotations

import torch

from stratkit.errors import InputError, nearest
from stratkit.nets.network import Network
from stratkit.nets.plain import PlainNet
from stratkit.nets.unet import Size, UNet

PLAIN = "plain"

# The U-Nets. `paper` has the channels of the DeepNash paper; how many blocks its pyramids have is
# not told there: two of each is a choice.
U_NETS = {
    "tiny": Size(outer=16, inner=24, outer_blocks=1, inner_blocks=1),
    "small": Size(outer=64, inner=96, outer_blocks=1, inner_blocks=1),
    "paper": Size(outer=256, inner=320, outer_blocks=2, inner_blocks=2),
}
PRESETS = (PLAIN, *U_NETS)


def build(net: str, shape: tuple[int, int, int], seed: int | None = None) -> Network:
    """The untrained network called `net` for observations of `shape` (82, H, W).

    seed: draws the weights, without touching torch's global random state; None: from that state.
    InputError: there is no such network.
    """
    if net not in PRESETS:
        raise InputError("unknown network" + nearest(net, PRESETS), text=net)
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return PlainNet(shape, 16, 1) if net == PLAIN else UNet(shape, U_NETS[net])
