"""A multilayer perceptron, for games whose observation is a vector."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from stratkit.nets.network import Network, last_layer


class MLP(Network):
    """Layers with relu that policy and value share, and a linear head for each.

    shape: (C,) of the game's observation; actions: A; sizes: of the hidden layers; apart: the value
    has as many layers of its own.
    """

    def __init__(
        self, shape: tuple[int, ...], actions: int, sizes: Sequence[int], apart: bool = False
    ) -> None:
        super().__init__()
        self.shape = shape
        widths = [*shape, *sizes]
        pairs = list(itertools.pairwise(widths))
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairs)
        self.policy = nn.Linear(widths[-1], actions)
        self.critic = nn.Linear(widths[-1], 1)
        self.critic_layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairs if apart)

    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Tensor:
        """The first C bytes as numbers: float32 [n, C]. Nothing public is there to replace."""
        return packed[:, : self.shape[0]].float()

    def embed(self, inputs: Tensor) -> Tensor:
        """float32 [n, width of the last layer]."""
        for layer in self.layers:
            inputs = relu(layer(inputs))
        return inputs

    def logits(self, embedding: Tensor, inputs: Tensor, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where illegal."""
        logits = last_layer(self.policy, embedding)
        return logits.masked_fill(~legal.bool(), -torch.inf)

    def value(self, embedding: Tensor, inputs: Tensor) -> Tensor:
        """Values float32 [n] for the acting side."""
        if self.critic_layers:
            embedding = inputs
            for layer in self.critic_layers:
                embedding = relu(layer(embedding))
        return last_layer(self.critic, embedding)[:, 0]
