"""What every network is to those who use one."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stratkit.arrays import Weights
from stratkit.errors import InputError
from stratkit.nets.threads import ROWS
from stratkit.nets.whole_moves import Moves


class Network(nn.Module, ABC):
    """Policy and value of the acting side, from packed observations.

    The parts can be called one by one, so that nothing is computed that is not wanted, and
    networks of one kind can share their inputs. `shape` of the game's observation: (82, H, W),
    and actions are the A = H * W squares; or a vector's (C,). B is the length of a packed one.
    """

    shape: tuple[int, ...]
    shares_positions = False  # whether views that differ by the selected piece are one to it
    tells_moves = False  # whether it does what a `MoveNetwork` does
    tells_shares = False  # whether it does what a `ShareNetwork` does
    same_for_all = False  # whether it computes the same on a GPU, whatever the observations hold

    @abstractmethod
    def prepare(self, packed: Tensor, pub: Tensor | None = None) -> Any:
        """What the network reads, made from uint8 [n, B]; `pub` as in `expand`."""

    def prepare_shared(self, packed: Tensor, unit: int = ROWS) -> Any:
        """`prepare`, for whoever does not mind that the shape of the computation, and with it the
        rounding, depends on the batch: a network may then look once at what views share. It looks
        at a multiple of `unit` positions, or at each view."""
        return self.prepare(packed)

    @abstractmethod
    def embed(self, inputs: Any) -> Any:
        """What all heads read: float32 [n, ...], such as [n, C, H, W] of a board."""

    def embed_without_graph(self, inputs: Any) -> Any:
        """`embed` without a graph, for whoever does not mind the rounding: a network may have a
        faster way for it on a CPU."""
        return self.embed(inputs)

    def embed_after(self, inputs: Any, before: Any) -> tuple[Any, Any]:
        """`embed` of what `prepare_shared` made, on a CPU and without a graph, and what to hand in
        as `before` with the next inputs (None with the first): what a network remembers of these
        ones. The weights stay the same meanwhile."""
        return self.embed(inputs), None

    @abstractmethod
    def logits(self, embedding: Any, inputs: Any, legal: Tensor) -> Tensor:
        """Logits float32 [n, A], -inf where `legal`, uint8 or bool [n, A], is 0."""

    @abstractmethod
    def value(self, embedding: Any, inputs: Any) -> Tensor:
        """Values float32 [n] for the acting side."""

    def logits_and_value(self, embedding: Any, inputs: Any, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values, up to rounding: a network may have a faster way for both."""
        return self.logits(embedding, inputs, legal), self.value(embedding, inputs)

    def forward(self, packed: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 [n, A], -inf where illegal, and values float32 [n] of a batch: uint8
        [n, B] and the legal actions, uint8 or bool [n, A]."""
        inputs = self.prepare(packed)
        return self.logits_and_value(self.embed(inputs), inputs, legal)


class MoveNetwork(Network):
    """A network that also tells whole moves, of one look at a position."""

    tells_moves = True

    @abstractmethod
    def move_logits(self, embedding: Any, inputs: Any, moves: Moves) -> Tensor:
        """Logits float32 [k] of the destinations of whole moves, among those of a piece, of inputs
        and an embedding of positions between plies."""


class ShareNetwork(Network):
    """A network that also tells what all players may expect, of one look at a position."""

    tells_shares = True

    @abstractmethod
    def shares(self, embedding: Any, inputs: Any) -> Tensor:
        """float32 [n, P], which sum to 1: the acting player's, and those of who follows it."""


def last_layer(layer: nn.Module, x: Tensor) -> Tensor:
    """The last layer of a head, in float32 also where autocast has the others in bfloat16: of
    logits and values, which are subtracted from each other, eight bits are too few."""
    with torch.autocast(x.device.type, enabled=False):
        return layer(x.float())  # type: ignore[no-any-return]


def value_layer(features: int) -> nn.Linear:
    """The last layer of a critic: it begins with 0, the mean over both sides of any game of zero
    sum. Another constant would be believed for long where v-trace's trace fades (c bar below 1)."""
    layer = nn.Linear(features, 1)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def on_cpu(x: Tensor) -> bool:
    """Whether the host computes it. Any other device is asked for work ahead of time, and the host
    should not wait for a number of rows that only the device knows."""
    return x.device.type == "cpu"


def mask_indices(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of what is true in `mask`, bool [n, A]: int64 [k] each.

    Off the CPU of everything, in order: the host does not wait for a number of rows.
    """
    if on_cpu(mask):
        rows, columns = mask.nonzero(as_tuple=True)
        return rows, columns
    every, width = torch.arange(mask.numel(), device=mask.device), mask.shape[1]
    return every // width, every % width


def load_weights(network: nn.Module, weights: Weights, net: str = "") -> None:
    """Gives a network these weights. `InputError`: they are another one's, or not finite. `net`:
    its name, for the message."""
    if not all(np.isfinite(w).all() for w in weights.values()):
        raise InputError("its weights are not all finite")
    try:
        network.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    except (RuntimeError, TypeError):  # torch's: missing, unknown or misshapen tensors
        raise InputError("its tensors are not this network's", text=net or None) from None


def check_device(name: str) -> None:
    """`InputError`: there is no such device."""
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("there is no GPU that torch can use", text=name)


def place(network: Network, device: torch.device) -> None:
    """Moves the network to a device. On a GPU the weights of convolutions lie in memory as the
    planes do, which saves copies, and float32 is float32: cuDNN would round it to TensorFloat-32.
    """
    network.to(device)
    if device.type == "cpu":
        return
    with warnings.catch_warnings():  # of some versions of torch, which have a newer way, too
        warnings.simplefilter("ignore")
        torch.backends.cudnn.allow_tf32 = False
    for parameter in network.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
