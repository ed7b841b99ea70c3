"""A network where it computes: packed observations in, policies and values out.

Players, the stages of post-processing and whoever searches share this. It knows no player.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s
from stratkit.engine import distinct_views
from stratkit.nets.captured import Captured
from stratkit.nets.network import Network, check_device, load_weights, place
from stratkit.nets.policy import draw, softmax
from stratkit.nets.threads import BLOCK, side_by_side

Heads: TypeAlias = Callable[..., tuple[Tensor, ...]]
Row = TypeVar("Row")

MANY = 256  # views at a time on a CPU, where what they share is looked for; otherwise BLOCK
STEP = 8  # the convolution library prepares itself anew for every number of rows


class Evaluator:
    """Evaluates `network`, of the preset `net`, for `rows` views at a time. On a CPU it computes
    blocks of them, in as many threads as the process searches in (`stratkit.threads`).

    The last rows of a batch are padded: the shape of the computation, and with it the rounding,
    does not depend on how many games happen to wait for a decision. `elastic` pads on a CPU to a
    multiple of `STEP` only, which is faster and for those whose results depend on time anyway. A
    GPU draws by one launch, if the network is `same_for_all`. Observations are packed, uint8 [n,
    observation_bytes], and `legal` actions uint8 [n, A]; `pub`, float32 [n, 24, H, W], is as in
    `expand`.
    """

    def __init__(self, net: str, network: Network, rows: int, elastic: bool = False) -> None:
        self.net, self.network, self.elastic = net, network.eval(), elastic
        self.device, self.precision = torch.device("cpu"), torch.float32
        self._captured: dict[str, Captured] = {}
        self._before: Any = None
        self.resize(rows)

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: without what is kept of positions and launches."""
        return {**self.__dict__, "_captured": {}, "_before": None}

    def resize(self, rows: int) -> None:
        """For so many views at a time from now on."""
        self._captured.clear()
        self._most = rows
        if self.device.type == "cpu":
            rows = min(rows, MANY if self._remembers else BLOCK)
        self.rows = rows

    @property
    def _remembers(self) -> bool:
        """Whether one block after the other is evaluated, since the next ones are faster by what is
        kept of the last one. Then the network itself shares the threads out."""
        return self.elastic and self.network.shares_positions and self.device.type == "cpu"

    def _each(self, block: Callable[[int], Row], at: Sequence[int]) -> list[Row]:
        """What is found in the blocks that begin there."""
        alone = self._remembers or self.device.type != "cpu"  # a GPU computes what one thread asks
        return [block(i) for i in at] if alone else side_by_side(block, at)

    def place(self, device: str, precision: torch.dtype) -> None:
        """Computes there from now on, with layers of this precision. `InputError`: there is no
        such device."""
        check_device(device)
        self.device, self.precision = torch.device(device), precision
        self._captured.clear()
        if device != "cpu":
            self.rows = self._most
            place(self.network, self.device)

    def load(self, weights: Mapping[str, Float32s]) -> None:
        """Evaluates these weights from now on. `InputError`: they are another network's, or not
        finite."""
        self.forget()
        load_weights(self.network, weights, self.net)

    def forget(self) -> None:
        """Drops what is kept of positions: the network's weights have changed, here or in another
        evaluator of the same network."""
        self._before = None

    def policy(self, observations: Bytes, legal: Bytes, pub: Float32s | None = None) -> Float32s:
        """float32 [n, A]: the probability of each action, 0 where illegal."""
        return self.evaluate(observations, legal, pub)[0]

    def values(self, observations: Bytes, pub: Float32s | None = None) -> Float32s:
        """float32 [n]: what the acting sides may expect, by the network."""

        def head(packed: Tensor, *given: Tensor) -> tuple[Tensor]:
            inputs, embedding = self._embed(packed, *given)
            return (self.network.value(embedding, inputs).float(),)

        return self._in_parts(head, observations, *_if_given(pub))[0]

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Float32s | None = None, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """Policy and values, or None unless `values` are wanted: they take time."""

        heads = self._policy_and_values if values else self._policy_alone
        policy, *expected = self._in_parts(heads, observations, legal, *_if_given(pub))
        return policy, expected[0] if values else None

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Float32s | None = None
    ) -> Float32s:
        """float32 [n, A]: the policy. Views of one `turn`, int64 [n] and in order, are of one
        position with another piece selected: it is embedded once, if the network can do so."""
        if pub is not None or self.device.type != "cpu" or not self.network.shares_positions:
            return self.policy(observations, legal, pub)
        begins = np.append(np.flatnonzero(np.diff(turn, prepend=-1)), len(turn))

        def policy(at: int) -> Float32s:
            part = slice(begins[at], begins[min(at + self.rows, len(begins) - 1)])
            return self._policy_shared(observations[part], legal[part])

        return np.concatenate(self._each(policy, range(0, len(begins) - 1, self.rows)))

    @torch.inference_mode()
    def _policy_shared(self, observations: Bytes, legal: Bytes) -> Float32s:
        """As many positions are embedded as `_padded` has rows."""
        allowed = torch.from_numpy(legal)
        with self._precise():
            unit = STEP if self.elastic else self.rows
            inputs = self.network.prepare_shared(torch.from_numpy(observations), unit)
            logits = self.network.logits(self.network.embed(inputs), inputs, allowed).float()
        return softmax(logits.masked_fill(allowed == 0, -torch.inf)).numpy()

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """The same. Equal views, as most of a small game are, are evaluated once, where there are
        many."""
        on_cpu = self.device.type == "cpu"
        if len(observations) <= (min(self._most, MANY) if on_cpu else self._most):
            return self.evaluate(observations, legal, values=values)
        first, each = distinct_views(observations, legal)
        policy, expected = self.evaluate(observations[first], legal[first], values=values)
        return policy[each], None if expected is None else expected[each]

    def draw(
        self,
        observations: Bytes,
        legal: Bytes,
        u: Float64s,
        finish: Callable[[Tensor], Tensor],
        values: bool = False,
    ) -> tuple[Int32s, Float32s, Float32s | None]:
        """Actions drawn by `u` [n] from what `finish` makes of the policy, with their
        probabilities, and values as in `evaluate`. No policy leaves the device."""

        heads = self._policy_and_values if values else self._policy_alone

        def drawn(packed: Tensor, allowed: Tensor, u: Tensor) -> tuple[Tensor, ...]:
            policy, *expected = self._launch(heads, packed, allowed)
            return *draw(finish(policy), u), *expected

        actions, mu, *expected = self._in_parts(drawn, observations, legal, u)
        return actions, mu, expected[0] if values else None

    def _launch(self, heads: Heads, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The same as `heads` of these inputs: on a GPU recorded, if the network allows it."""
        if self.device.type != "cuda" or not self.network.same_for_all:
            return heads(*inputs)
        captured = self._captured.get(heads.__name__)
        if captured is None:
            captured = self._captured[heads.__name__] = Captured(heads, *inputs)
        return captured(*inputs)

    def _policy_alone(self, packed: Tensor, allowed: Tensor, *pub: Tensor) -> tuple[Tensor, ...]:
        return self._heads(packed, allowed, *pub)[:1]

    def _policy_and_values(
        self, packed: Tensor, allowed: Tensor, *pub: Tensor
    ) -> tuple[Tensor, ...]:
        policy, embedding, inputs = self._heads(packed, allowed, *pub)
        return policy, self.network.value(embedding, inputs).float()

    def _heads(self, packed: Tensor, allowed: Tensor, *pub: Tensor) -> tuple[Tensor, Any, Any]:
        """The policy, and of what else values are made."""
        inputs, embedding = self._embed(packed, *pub)
        logits = self.network.logits(embedding, inputs, allowed).float()
        return softmax(logits.masked_fill(allowed == 0, -torch.inf)), embedding, inputs

    def _in_parts(self, heads: Heads, *arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """What `heads` make of arrays [n, ...], `rows` of each at a time."""

        def outputs(at: int) -> list[npt.NDArray[Any]]:
            chunks = [x[at : at + self.rows] for x in arrays]
            with torch.inference_mode(), self._precise():
                tensors = heads(*map(self._padded, chunks))
            return [tensor[: len(chunks[0])].cpu().numpy() for tensor in tensors]

        chunks = self._each(outputs, range(0, len(arrays[0]), self.rows))
        if len(chunks) == 1:
            return chunks[0]
        return [np.concatenate(chunks) for chunks in zip(*chunks, strict=True)]

    def _embed(self, packed: Tensor, pub: Tensor | None = None) -> tuple[Any, Any]:
        """The network's inputs and embedding. An `elastic` one remembers those before."""
        if pub is not None or not self.elastic:
            inputs = self.network.prepare(packed, pub)
            return inputs, self.network.embed(inputs)
        inputs = self.network.prepare_shared(packed)
        if self.device.type != "cpu":
            return inputs, self.network.embed(inputs)
        embedding, self._before = self.network.embed_after(inputs, self._before)
        return inputs, embedding

    def _precise(self) -> AbstractContextManager[object]:
        """Layers of the precision that was asked for."""
        if self.precision == torch.float32:
            return nullcontext()
        # What is recorded must not read copies of weights that are gone when this ends.
        return torch.autocast(self.device.type, self.precision, cache_enabled=False)

    def _padded(self, x: npt.NDArray[Any]) -> Tensor:
        """`x` with its last row again and again, on the device."""
        n = len(x)
        loose = self.elastic and self.device.type == "cpu"
        rows = -(-n // STEP) * STEP if loose else self.rows
        padded = np.empty((rows, *x.shape[1:]), x.dtype)
        padded[:n] = x
        padded[n:] = x[-1]
        return torch.from_numpy(padded).to(self.device)


def _if_given(pub: Float32s | None) -> tuple[Float32s, ...]:
    return () if pub is None else (pub,)
