"""Networks by name."""

from __future__ import annotations

import torch

from stratkit.errors import InputError
from stratkit.netnames import check_net, hidden_sizes
from stratkit.nets.mlp import MLP
from stratkit.nets.network import Network
from stratkit.nets.plain import PlainNet
from stratkit.nets.unet import Size, UNet

# The U-Nets. `paper` has the channels of the DeepNash paper; how many blocks its pyramids have is
# not told there: two of each is a choice.
U_NETS = {
    "tiny": Size(outer=16, inner=24, outer_blocks=1, inner_blocks=1),
    "small": Size(outer=64, inner=96, outer_blocks=1, inner_blocks=1),
    "paper": Size(outer=256, inner=320, outer_blocks=2, inner_blocks=2),
}


def build(
    net: str, shape: tuple[int, ...], seed: int | None = None, actions: int | None = None
) -> Network:
    """The untrained network called `net` for observations of `shape`.

    shape, actions: (82, H, W), and the actions are the H * W squares; or a vector's (C,) and A.
    seed: draws the weights, without touching torch's global random state; None: from that state.
    InputError: there is no such network, or it does not read such observations.
    """
    check_net(net)
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return _build(net, shape, actions)


def _build(net: str, shape: tuple[int, ...], actions: int | None) -> Network:
    sizes = hidden_sizes(net)
    if len(shape) == 1 and sizes and actions:
        return MLP(shape, actions, sizes)
    if len(shape) == 3 and not sizes:
        board = (shape[0], shape[1], shape[2])
        return UNet(board, U_NETS[net]) if net in U_NETS else PlainNet(board, 16, 1)
    kind = "boards" if len(shape) == 1 else "vectors"
    raise InputError(f"this network is for {kind}, and the game's observation is none", text=net)
