"""Networks that follow the trained one, and at which rate."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from stratkit.nets import Network

_weights: WeakKeyDictionary[Network, list[Tensor]] = WeakKeyDictionary()


@torch.no_grad()
def follow(network: Network, online: Network, rate: float) -> None:
    """Moves the weights towards the online network's by a part `rate` of the difference."""
    torch._foreach_lerp_(_weights_of(network), _weights_of(online), rate)


def _weights_of(network: Network) -> list[Tensor]:
    """The parameters of a network, which stay the same tensors: to gather those of a small one
    takes longer than to move them."""
    if network not in _weights:
        _weights[network] = list(network.parameters())
    return _weights[network]


def average_rate(rate: float, step: int) -> float:
    """The rate of the average at update number `step`.

    At a small rate an average would be of the untrained network for long. Until that rate is
    reached, step t counts by t^2 (Shamir and Zhang 2013, polynomial-decay averaging).
    """
    return max(rate, 3 / (step + 3))
