"""A network by torch: any one, on a CPU or a GPU, in the precision that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt
import torch
from torch import Tensor

from stratkit.arrays import Bytes, Float32s, Float64s, Weights
from stratkit.nets.captured import Captured
from stratkit.nets.network import (
    MoveNetwork,
    Network,
    ShareNetwork,
    check_device,
    load_weights,
    place,
)
from stratkit.nets.policy import draw, softmax
from stratkit.nets.threads import BLOCK
from stratkit.nets.whole_moves import Moves

if TYPE_CHECKING:
    from stratkit.nets.backend import Memory

Heads: TypeAlias = Callable[..., tuple[Tensor, ...]]
Arrays: TypeAlias = list[npt.NDArray[Any]]


class TorchBackend:
    """`Backend` of a module. What a GPU does for all observations alike is recorded."""

    name, pads, block = "torch", True, BLOCK
    keeps_positions = cheap_views = False

    def __init__(self, network: Network) -> None:
        self.network = network.eval()
        self.device, self.precision = torch.device("cpu"), torch.float32
        self._captured: dict[bool, Captured] = {}  # by whether values are wanted

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: without what is kept of launches."""
        return {**self.__dict__, "_captured": {}}

    @property
    def on_cpu(self) -> bool:
        """Whether a CPU computes."""
        return self.device.type == "cpu"

    @property
    def shares_positions(self) -> bool:
        """As the network does."""
        return self.network.shares_positions

    @property
    def tells_moves(self) -> bool:
        """As the network does."""
        return self.network.tells_moves

    def place(self, device: str, precision: torch.dtype) -> TorchBackend:
        """`Backend.place`. `InputError`: there is no such device."""
        check_device(device)
        self.device, self.precision = torch.device(device), precision
        self.forget()
        if device != "cpu":
            place(self.network, self.device)
        return self

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        load_weights(self.network, weights, net)

    def forget(self) -> None:
        """`Backend.forget`."""
        self._captured.clear()

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> Arrays:
        """`Backend.policy`."""

        def heads(packed: Tensor, allowed: Tensor, *pub: Tensor) -> tuple[Tensor, ...]:
            return self._heads(packed, allowed, values, memory, *pub)

        return self._computed(heads, packed, legal, *([] if pub is None else [pub]))

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> Arrays:
        """`Backend.values`."""

        def head(packed: Tensor, *pub: Tensor) -> tuple[Tensor]:
            inputs, embedding = self._embed(packed, memory, *pub)
            return (self.network.value(embedding, inputs).float(),)

        return self._computed(head, packed, *([] if pub is None else [pub]))

    def shares(self, packed: Bytes, memory: Memory | None) -> Arrays:
        """`ShareBackend.shares`."""

        def head(packed: Tensor) -> tuple[Tensor]:
            inputs, embedding = self._embed(packed, memory)
            assert isinstance(self.network, ShareNetwork)
            return (self.network.shares(embedding, inputs).float(),)

        return self._computed(head, packed)

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> Arrays:
        """`Backend.moves`."""

        def heads(packed: Tensor, allowed: Tensor) -> tuple[Tensor, ...]:
            inputs, embedding = self._embed(packed, None)
            policy = self._policy(embedding, inputs, allowed)
            values = self.network.value(embedding, inputs).float()
            assert isinstance(self.network, MoveNetwork)
            return policy, values, self.network.move_logits(embedding, inputs, moves).float()

        return self._computed(heads, packed, legal)

    @torch.inference_mode()
    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        allowed = torch.from_numpy(legal)
        with self._precise():
            inputs = self.network.prepare_shared(torch.from_numpy(packed), unit)
            logits = self.network.logits(self.network.embed(inputs), inputs, allowed).float()
        return softmax(logits.masked_fill(allowed == 0, -torch.inf)).numpy()

    def draw(
        self,
        packed: Bytes,
        legal: Bytes,
        u: Float64s,
        finish: Callable[[Tensor], Tensor],
        values: bool,
    ) -> Arrays:
        """`Backend.draw`."""

        def drawn(packed: Tensor, allowed: Tensor, u: Tensor) -> tuple[Tensor, ...]:
            policy, *expected = self._launch(values, packed, allowed)
            return *draw(finish(policy), u), *expected

        return self._computed(drawn, packed, legal, u)

    def _launch(self, values: bool, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Policy, and values if wanted: on a GPU recorded, if the network allows it."""

        def heads(packed: Tensor, allowed: Tensor) -> tuple[Tensor, ...]:
            return self._heads(packed, allowed, values, None)

        if self.on_cpu or not self.network.same_for_all:
            return heads(*inputs)
        captured = self._captured.get(values)
        if captured is None:
            captured = self._captured[values] = Captured(heads, *inputs)
        return captured(*inputs)

    def _heads(
        self, packed: Tensor, allowed: Tensor, values: bool, memory: Memory | None, *pub: Tensor
    ) -> tuple[Tensor, ...]:
        """The policy, and values if wanted."""
        inputs, embedding = self._embed(packed, memory, *pub)
        policy = self._policy(embedding, inputs, allowed)
        return (policy, self.network.value(embedding, inputs).float()) if values else (policy,)

    def _policy(self, embedding: Any, inputs: Any, allowed: Tensor) -> Tensor:
        logits = self.network.logits(embedding, inputs, allowed).float()
        return softmax(logits.masked_fill(allowed == 0, -torch.inf))

    def _embed(
        self, packed: Tensor, memory: Memory | None, pub: Tensor | None = None
    ) -> tuple[Any, Any]:
        """The network's inputs and embedding. With a `memory` on a CPU it remembers those
        before."""
        if pub is not None or memory is None:
            inputs = self.network.prepare(packed, pub)
            return inputs, self.network.embed(inputs)
        inputs = self.network.prepare_shared(packed)
        if not self.on_cpu:
            return inputs, self.network.embed(inputs)
        embedding, memory.before = self.network.embed_after(inputs, memory.before)
        return inputs, embedding

    def _computed(self, heads: Heads, *arrays: npt.NDArray[Any]) -> Arrays:
        """What `heads` make of these arrays, on the device."""
        with torch.inference_mode(), self._precise():
            tensors = heads(*(torch.from_numpy(x).to(self.device) for x in arrays))
        return [tensor.cpu().numpy() for tensor in tensors]

    def _precise(self) -> AbstractContextManager[object]:
        """Layers of the precision that was asked for."""
        if self.precision == torch.float32:
            return nullcontext()
        # What is recorded must not read copies of weights that are gone when this ends.
        return torch.autocast(self.device.type, self.precision, cache_enabled=False)
