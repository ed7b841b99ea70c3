"""What networks that need no torch have in common, as backends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.errors import InputError

if TYPE_CHECKING:
    from typing import Self

    import torch

    from stratkit.nets.backend import Backend, Memory
    from stratkit.nets.network import Network
    from stratkit.nets.whole_moves import Moves


class CPUBackend(ABC):
    """The network `net` for `game` with these `weights`: a `Backend` of its own.

    The engine computes it, unless its `name` is another. Whatever is beside a row in a batch, its
    outputs are the same to the last bit, so nothing is padded. `InputError`: the weights are
    another network's, or not finite.
    """

    name, on_cpu, tells_moves, pads = "engine", True, False, False
    block = 1024  # a row needs no other one
    shares_positions = keeps_positions = cheap_views = False

    def __init__(self, net: str, game: Game, weights: Weights) -> None:
        self.net, self.game = net, game
        self._module: Network | None
        self.load(weights, net)

    def __getstate__(self) -> dict[str, object]:
        """For `copy` and `pickle`: what computes is made again."""
        return {"net": self.net, "game": self.game, "weights": self.weights}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        type(self).__init__(self, **state)  # type: ignore[arg-type]

    @property
    def network(self) -> Self:
        """`Backend.network`."""
        return self

    @staticmethod
    @abstractmethod
    def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
        """The shapes of the module's weights, by name."""

    @abstractmethod
    def make(self, weights: Weights) -> None:
        """Prepares what computes with these weights, which fit."""

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        check_weights(net, weights, self.weight_shapes(self.net, self.game))
        self.weights, self._module = weights, None  # one that was placed keeps what it had
        self.make(weights)

    def forget(self) -> None:  # noqa: B027
        """`Backend.forget`: there are no launches."""

    def place(self, device: str, precision: torch.dtype) -> Backend:
        """Torch computes on other devices, and in other precisions: one module for all who have
        this network."""
        if device == "cpu" and str(precision) == "torch.float32":
            return self
        from stratkit.nets.builder import build_with
        from stratkit.nets.torch_backend import TorchBackend

        if self._module is None:
            self._module = build_with(self.net, self.game, self.weights)
        return TorchBackend(self._module).place(device, precision)

    @abstractmethod
    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> list[Float32s]:
        """`Backend.policy`."""

    @abstractmethod
    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> list[Float32s]:
        """`Backend.moves`. `InputError`: there are none, as `tells_moves` says."""
        raise InputError("its moves are no pairs of squares", text=self.net)

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        return self.policy(packed, legal, None, False, None)[0]


def check_weights(net: str, weights: Weights, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """`InputError`: they are not those of the network `net`, which has these, or not finite."""
    if not all(np.isfinite(w).all() for w in weights.values()):
        raise InputError("its weights are not all finite")
    if {name: w.shape for name, w in weights.items()} != shapes:
        raise InputError("its tensors are not this network's", text=net or None)
