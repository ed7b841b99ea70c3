"""Untrained networks whose last layers say something: `build` begins some with zeros."""

from __future__ import annotations

import torch

from stratkit.nets import Network


def drawn(network: Network) -> Network:
    """The same network; what was all zeros is drawn."""
    generator = torch.Generator().manual_seed(1)
    for parameter in network.parameters():
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.1, generator=generator)
    return network
