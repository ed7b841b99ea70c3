"""What an evaluator asks of a backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy.typing as npt

from stratkit.arrays import Bytes, Float32s, Float64s, Weights
from stratkit.nets.whole_moves import Moves

if TYPE_CHECKING:
    import torch

Arrays: TypeAlias = Sequence[npt.NDArray[Any]]


class Memory(threading.local):
    """What an evaluator keeps of the positions of a thread's last calls: the network's own."""

    before: Any = None


class Backend(Protocol):
    """What computes a network. Arrays come as `Evaluator` has them, all rows at once."""

    @property
    def name(self) -> str:
        """What computes: `engine`, `onnx` or `torch`."""
        ...

    @property
    def network(self) -> Any:
        """What it computes."""
        ...

    @property
    def on_cpu(self) -> bool:
        """Whether it is a CPU that computes."""
        ...

    @property
    def shares_positions(self) -> bool:
        """Whether views that differ by the selected piece are one to the network."""
        ...

    @property
    def tells_moves(self) -> bool:
        """Whether the network has `moves`."""
        ...

    @property
    def pads(self) -> bool:
        """Whether the shape of a computation, and with it the rounding, is that of all rows; else
        each row's outputs are its own, whatever is beside it."""
        ...

    @property
    def keeps_positions(self) -> bool:
        """Whether it keeps what it makes of positions, so that a view that it had costs little."""
        ...

    @property
    def cheap_views(self) -> bool:
        """Whether some hundred views cost no more than to look for equal ones among them."""
        ...

    @property
    def block(self) -> int:
        """How many rows it computes at a time on a CPU."""
        ...

    def place(self, device: str, precision: torch.dtype) -> Backend:
        """What computes there from now on, with layers of this precision: itself, or another."""
        ...

    def load(self, weights: Weights, net: str) -> None:
        """Other weights. `InputError`: they are another network's, or not finite."""
        ...

    def forget(self) -> None:
        """Drops what is kept of launches."""
        ...

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> Arrays:
        """The policy, and if wanted the values. `memory`: results depend on time anyway, and what
        views share, with each other and with those before, may be looked at once."""
        ...

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> Arrays:
        """The values."""
        ...

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> Arrays:
        """Policy and values, and `MoveNetwork.move_logits`."""
        ...

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """The policy of views that share positions, of which a multiple of `unit` is looked at."""
        ...


class ShareBackend(Backend, Protocol):
    """A backend of a network that tells what all players may expect."""

    def shares(self, packed: Bytes, memory: Memory | None) -> Arrays:
        """`ShareNetwork.shares`."""
        ...


class DeviceBackend(Backend, Protocol):
    """A backend whose policies may stay on a device: torch's."""

    def draw(
        self, packed: Bytes, legal: Bytes, u: Float64s, finish: Callable[[Any], Any], values: bool
    ) -> Arrays:
        """Actions, their probabilities, and if wanted values."""
        ...
