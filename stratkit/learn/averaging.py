"""Networks that follow the trained one, and at which rate."""

from __future__ import annotations

import torch

from stratkit.nets import Network


@torch.no_grad()
def follow(network: Network, online: Network, rate: float) -> None:
    """Moves the weights towards the online network's by a part `rate` of the difference."""
    torch._foreach_lerp_(list(network.parameters()), list(online.parameters()), rate)


def average_rate(rate: float, step: int) -> float:
    """The rate of the average at update number `step`.

    At a small rate an average would be of the untrained network for long. Until that rate is
    reached, step t counts by t^2 (Shamir and Zhang 2013, polynomial-decay averaging).
    """
    return max(rate, 3 / (step + 3))
