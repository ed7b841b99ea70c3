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

from stratkit.netnames import channels_and_blocks, keeps_ending, without_ending
from stratkit.nets.network import Network

GROWING = ("plain", "fromto")


def can_grow(small: str, large: str) -> bool:
    """Whether a network called `small` can become one called `large`: of a kind that grows, with no
    fewer channels and blocks. A network for the deployment may be added, and none taken away."""
    names = [without_ending(net) for net in (small, large)]
    kinds = {name.partition(":")[0] for name in names}
    if not keeps_ending(small, large) or len(kinds) > 1 or not kinds <= set(GROWING):
        return False
    (channels, blocks), (wide, deep) = map(channels_and_blocks, names)
    return channels <= wide and blocks <= deep


@torch.no_grad()
def grow(network: Network, weights: Mapping[str, Tensor], small: str, large: str) -> None:
    """Gives an untrained network, called `large`, the weights of one called `small` that can become
    it. Of both names the ending may be left out. `RuntimeError`: they are of another board."""
    channels, wide = (channels_and_blocks(without_ending(net))[0] for net in (small, large))
    state = network.state_dict()
    for name, old in weights.items():
        grows = not name.startswith("deployment.")
        if name not in state or not _fits(state[name], old, channels if grows else 0, wide):
            raise RuntimeError(f"{name} does not fit")
    for name, tensor in state.items():
        if name in weights:
            _grow_tensor(tensor, weights[name].to(tensor.device), channels, wide)
        elif ".second." in name:  # of a new block
            tensor.zero_()


def _fits(tensor: Tensor, old: Tensor, channels: int, wide: int) -> bool:
    """Whether tensors differ by nothing but channels: as rows, and as columns, even several times
    and with others behind them."""
    if tensor.ndim != old.ndim or tensor.shape[2:] != old.shape[2:]:
        return False
    if tensor.shape == old.shape:
        return True
    rows = len(tensor) == len(old) or (len(old), len(tensor)) == (channels, wide)
    more = sum(tensor.shape[1:2]) - sum(old.shape[1:2])
    return rows and (more == 0 or (0 < channels < wide and more % (wide - channels) == 0 < more))


def _grow_tensor(tensor: Tensor, old: Tensor, channels: int, wide: int) -> None:
    """Rows of old channels read old channels only; rows of new ones stay as they are."""
    rows = len(old)
    if tensor.shape[1:] == old.shape[1:]:
        tensor[:rows] = old
        return
    times = (tensor.shape[1] - old.shape[1]) // (wide - channels)  # that it reads all channels
    column = torch.arange(old.shape[1], device=old.device)
    tensor[:rows] = 0
    tensor[:rows, column + (column // channels).clamp_max(times) * (wide - channels)] = old
