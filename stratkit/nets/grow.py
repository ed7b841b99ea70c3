"""A larger network that begins with what a smaller one of its kind has learned.

What is new computes something from the start, and nothing reads it yet: new channels lead nowhere
but to new channels, and new blocks add 0. So the larger network says what the smaller one said, and
its gradient finds the new weights. (The aim of Net2Net, Chen et al. 2016, which copies channels
instead; `WithDeployment` keeps its network for the deployment.)
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from stratkit.netnames import DEPLOYMENT, channels_and_blocks
from stratkit.nets.network import Network

GROWING = ("plain", "fromto")


def can_grow(small: str, large: str) -> bool:
    """Whether a network called `small` can become one called `large`: of a kind that grows, with no
    fewer channels and blocks. A network for the deployment may be added, and none taken away."""
    names = [net.removesuffix(DEPLOYMENT) for net in (small, large)]
    kinds = {name.partition(":")[0] for name in names}
    loses = small.endswith(DEPLOYMENT) and not large.endswith(DEPLOYMENT)
    if loses or len(kinds) > 1 or not kinds <= set(GROWING):
        return False
    (channels, blocks), (wide, deep) = map(channels_and_blocks, names)
    return channels <= wide and blocks <= deep


@torch.no_grad()
def grow(network: Network, weights: Mapping[str, Tensor], small: str, large: str) -> None:
    """Gives an untrained network, called `large`, the weights of one called `small` that can become
    it. Of both names the ending may be left out."""
    channels, wide = (
        channels_and_blocks(net.removesuffix(DEPLOYMENT))[0] for net in (small, large)
    )
    for name, tensor in network.state_dict().items():
        if name in weights:
            _grow_tensor(tensor, weights[name].to(tensor.device), channels, wide)
        elif ".second." in name:  # of a new block
            tensor.zero_()


def _grow_tensor(tensor: Tensor, old: Tensor, channels: int, wide: int) -> None:
    """Rows of old channels read old channels only; rows of new ones stay as they are."""
    rows = len(old)
    if tensor.shape[1:] == old.shape[1:]:
        tensor[:rows] = old
        return
    # A layer may read all channels several times, and behind them what does not grow.
    times = (tensor.shape[1] - old.shape[1]) // (wide - channels)
    column = torch.arange(old.shape[1], device=old.device)
    tensor[:rows] = 0
    tensor[:rows, column + (column // channels).clamp_max(times) * (wide - channels)] = old
