"""What every network is to those who use one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn


class Network(nn.Module, ABC):
    """Policy and value of the acting side, from packed observations.

    The parts can be called one by one, so that nothing is computed that is not wanted, and
    networks of one kind can share their inputs. `shape` of the game's observation: (82, H, W),
    and actions are the A = H * W squares; or a vector's (C,). B is the length of a packed one.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Any:
        """What the network reads, made from uint8 [n, B]; `pub` as in `expand`."""

    @abstractmethod
    def embed(self, inputs: Any) -> Tensor:
        """What all heads read: float32 [n, ...]; of a board [n, C, H, W]."""

    @abstractmethod
    def logits(self, embedding: Tensor, inputs: Any, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where `legal`, uint8 or bool [n, A], is 0."""

    @abstractmethod
    def value(self, embedding: Tensor, inputs: Any) -> Tensor:
        """Values float32 [n] for the acting side."""

    def forward(self, packed: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 [n, A], -inf where illegal, and values float32 [n] of a batch: uint8
        [n, B] and the legal actions, uint8 or bool [n, A]."""
        inputs = self.prepare(packed)
        embedding = self.embed(inputs)
        return self.logits(embedding, inputs, legal), self.value(embedding, inputs)


def channels_last(network: Network) -> None:
    """Lays the weights of convolutions out in memory as the planes are: a GPU needs no copies
    then."""
    for parameter in network.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
