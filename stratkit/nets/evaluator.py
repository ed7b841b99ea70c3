"""A network where it computes: packed observations in, policies and values out.

Players, the stages of post-processing and whoever searches share this. It knows no player. Torch
computes any network, anywhere; the engine and ONNX Runtime some, on a CPU, faster and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s, Weights
from stratkit.engine import distinct_views
from stratkit.nets.backend import Arrays, Backend, DeviceBackend, Memory, ShareBackend
from stratkit.nets.cpu_backend import CPUBackend
from stratkit.nets.threads import BLOCK, ROWS, side_by_side
from stratkit.nets.whole_moves import move_policy, moves_of

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from stratkit.nets.network import Network

Row = TypeVar("Row")

MANY = 256  # views at a time on a CPU, where what they share is looked for; otherwise BLOCK


class Evaluator:
    """Evaluates `network`, of the preset `net`, for `rows` views at a time. On a CPU it computes
    blocks of them, in as many threads as the process searches in (`stratkit.threads`).

    By torch the last rows of a batch are padded: the shape of the computation, and with it the
    rounding, does not depend on how many games happen to wait for a decision. `elastic` pads on a
    CPU to a multiple of `ROWS` only, which is faster and for those whose results depend on time
    anyway. The others compute each row by itself and need neither. A GPU draws by one launch,
    if the network is `same_for_all`. Observations are packed, uint8 [n, observation_bytes], and
    `legal` actions uint8 [n, A]; `pub`, float32 [n, 24, H, W], is as in `expand`.
    """

    def __init__(
        self,
        net: str,
        network: Network | CPUBackend,
        rows: int,
        elastic: bool = False,
    ) -> None:
        self.net, self.elastic = net, elastic
        self.backend = _backend(network)
        self._memory = Memory()
        self.resize(rows)

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: without what is kept of positions."""
        return {name: value for name, value in self.__dict__.items() if name != "_memory"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, _memory=Memory())

    @property
    def network(self) -> Any:
        """What the backend computes: a `Network` of torch, or the backend itself."""
        return self.backend.network

    @property
    def on_cpu(self) -> bool:
        """Whether a CPU computes."""
        return self.backend.on_cpu

    def resize(self, rows: int) -> None:
        """For so many views at a time from now on."""
        self.backend.forget()
        self._most = rows
        if self.on_cpu:
            rows = min(rows, MANY if self._remembers else self.backend.block)
        self.rows = rows

    @property
    def by_threads(self) -> bool:
        """Whether threads may ask at a time, each for some of the views: a CPU computes, and what
        stands beside a view in a batch changes nothing that is promised."""
        return self._loose

    @property
    def keeps_positions(self) -> bool:
        """As the backend."""
        return self.backend.keeps_positions

    @property
    def _loose(self) -> bool:
        """Whether the number of rows may follow that of views."""
        return self.on_cpu and (self.elastic or not self.backend.pads)

    @property
    def _remembers(self) -> bool:
        """Whether one block after the other is evaluated, since the next ones are faster by what is
        kept of the last one. Then the network itself shares the threads out."""
        return self._loose and self.backend.shares_positions

    def _each(self, block: Callable[[int], Row], at: Sequence[int]) -> list[Row]:
        """What is found in the blocks that begin there."""
        alone = self._remembers or not self.on_cpu  # a GPU computes what one thread asks
        return [block(i) for i in at] if alone else side_by_side(block, at)

    def place(self, device: str, precision: torch.dtype) -> None:
        """Computes there from now on, with layers of this precision. `InputError`: there is no
        such device."""
        self.backend = self.backend.place(device, precision)
        self.resize(self._most)

    def load(self, weights: Weights) -> None:
        """Evaluates these weights from now on. `InputError`: they are another network's, or not
        finite."""
        self.forget()
        self.backend.load(weights, self.net)

    def forget(self) -> None:
        """Drops what is kept of positions: the network's weights have changed, here or in another
        evaluator of the same network."""
        self._memory = Memory()

    def policy(self, observations: Bytes, legal: Bytes, pub: Float32s | None = None) -> Float32s:
        """float32 [n, A]: the probability of each action, 0 where illegal."""
        return self.evaluate(observations, legal, pub)[0]

    def values(self, observations: Bytes, pub: Float32s | None = None) -> Float32s:
        """float32 [n]: what the acting sides may expect, by the network."""

        def values(packed: Bytes, *pub: Float32s) -> Arrays:
            return self.backend.values(packed, _or_none(pub), self._kept(pub))

        return self._in_parts(values, observations, *_if_given(pub))[0]

    def evaluate(
        self, observations: Bytes, legal: Bytes, pub: Float32s | None = None, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """Policy and values, or None unless `values` are wanted: they take time."""

        def heads(packed: Bytes, allowed: Bytes, *pub: Float32s) -> Arrays:
            return self.backend.policy(packed, allowed, _or_none(pub), values, self._kept(pub))

        policy, *expected = self._in_parts(heads, observations, legal, *_if_given(pub))
        return policy, expected[0] if values else None

    def _kept(self, pub: tuple[Float32s, ...]) -> Memory | None:
        """What is kept of positions, of who keeps any; of the network's own inputs only."""
        return self._memory if not pub and (self.elastic or not self.backend.pads) else None

    def evaluate_pieces(
        self, observations: Bytes, legal: Bytes, turn: Int64s, pub: Float32s | None = None
    ) -> Float32s:
        """float32 [n, A]: the policy. Views of one `turn`, int64 [n] and in order, are of one
        position with another piece selected: it is embedded once, if the network can do so."""
        if pub is not None or not (self.on_cpu and self.backend.shares_positions):
            return self.policy(observations, legal, pub)
        begins = np.append(np.flatnonzero(np.diff(turn, prepend=-1)), len(turn))
        unit = ROWS if self.elastic else self.rows

        def policy(at: int) -> Float32s:
            part = slice(begins[at], begins[min(at + self.rows, len(begins) - 1)])
            return self.backend.policy_shared(observations[part], legal[part], unit)

        return np.concatenate(self._each(policy, range(0, len(begins) - 1, self.rows)))

    def evaluate_distinct(
        self, observations: Bytes, legal: Bytes, values: bool = False
    ) -> tuple[Float32s, Float32s | None]:
        """The same. Equal views, as most of a small game are, are evaluated once, where there are
        many."""
        if self._are_few(observations):
            return self.evaluate(observations, legal, values=values)
        first, each = distinct_views(observations, legal)
        policy, expected = self.evaluate(observations[first], legal[first], values=values)
        return policy[each], None if expected is None else expected[each]

    @property
    def tells_moves(self) -> bool:
        """Whether it can `evaluate_moves`."""
        return self.backend.tells_moves

    def evaluate_moves(
        self, observations: Bytes, legal: Bytes, moves: Int32s
    ) -> tuple[Float32s, Float32s]:
        """The probability of each whole move, float32 [k], and the values of positions between
        plies, float32 [n], from one look at each. `moves`: int32 [k, 3], all of each row one after
        the other, as `SearchTrees.moves` has them."""
        block = min(self.rows, BLOCK) if self.on_cpu else self.rows
        begins = np.searchsorted(moves[:, 0], np.arange(0, len(observations) + block, block))

        def part(number: int) -> Arrays:
            at = number * block
            rows, its = slice(at, at + block), slice(begins[number], begins[number + 1])
            seen = observations[rows]
            found = moves_of(seen, self.network.shape, moves[its] - np.array([at, 0, 0], np.int32))
            packed, allowed = (self._padded(x, block) for x in (seen, legal[rows]))
            policy, values, logits = self.backend.moves(packed, allowed, found)
            return [move_policy(policy, logits, found), values[: len(seen)]]

        numbers = range(len(begins) - 1)
        parts = side_by_side(part, numbers) if self.on_cpu else [part(one) for one in numbers]
        priors, values = (np.concatenate(chunks) for chunks in zip(*parts, strict=True))
        return priors, values

    @property
    def tells_shares(self) -> bool:
        """Whether it can tell `shares`."""
        return bool(getattr(self.network, "tells_shares", False))

    def shares(self, observations: Bytes) -> Float32s:
        """float32 [n, P], which sum to 1: what the acting player may expect, and those who follow
        it. Equal views are evaluated once, where there are many."""
        backend = cast(ShareBackend, self.backend)

        def shares(packed: Bytes) -> Arrays:
            return backend.shares(packed, self._kept(()))

        if self._are_few(observations):
            return self._in_parts(shares, observations)[0]
        first, each = distinct_views(observations, np.zeros((len(observations), 1), np.uint8))
        found: Float32s = self._in_parts(shares, observations[first])[0]
        return found[each]

    def _are_few(self, observations: Bytes) -> bool:
        """Whether to look for equal views costs more than to evaluate them."""
        few = MANY if self.backend.cheap_views else min(self._most, MANY)
        return len(observations) <= (few if self.on_cpu else self._most)

    def draw(
        self,
        observations: Bytes,
        legal: Bytes,
        u: Float64s,
        finish: Callable[[Tensor], Tensor],
        values: bool = False,
    ) -> tuple[Int32s, Float32s, Float32s | None]:
        """Actions drawn by `u` [n] from what `finish` makes of the policy, with their
        probabilities, and values as in `evaluate`. No policy leaves the device. `ValueError`: the
        backend is not torch's, and `stratkit.engine.sample` draws."""
        if self.backend.name != "torch":
            raise ValueError(f"draw is torch's, and the backend is {self.backend.name}")
        backend = cast(DeviceBackend, self.backend)

        def drawn(packed: Bytes, allowed: Bytes, u: Float64s) -> Arrays:
            return backend.draw(packed, allowed, u, finish, values)

        actions, mu, *expected = self._in_parts(drawn, observations, legal, u)
        return actions, mu, expected[0] if values else None

    def _in_parts(self, heads: Callable[..., Arrays], *arrays: npt.NDArray[Any]) -> Arrays:
        """What `heads` make of arrays [n, ...], `rows` of each at a time."""

        def outputs(at: int) -> Arrays:
            chunks = [x[at : at + self.rows] for x in arrays]
            found = heads(*(self._padded(x, self.rows) for x in chunks))
            return [array[: len(chunks[0])] for array in found]

        chunks = self._each(outputs, range(0, len(arrays[0]), self.rows))
        if len(chunks) == 1:
            return chunks[0]
        return [np.concatenate(chunks) for chunks in zip(*chunks, strict=True)]

    def _padded(self, x: npt.NDArray[Any], most: int) -> npt.NDArray[Any]:
        """`x`, of at most so many rows, with its last row again and again."""
        n = len(x)
        if not self.backend.pads:
            return x
        rows = -(-n // ROWS) * ROWS if self._loose else most
        padded = np.empty((rows, *x.shape[1:]), x.dtype)
        padded[:n] = x
        padded[n:] = x[-1]
        return padded


def _backend(network: Network | CPUBackend) -> Backend:
    """What computes it."""
    if isinstance(network, CPUBackend):
        return network
    from stratkit.nets.torch_backend import TorchBackend

    return TorchBackend(network)


def _if_given(pub: Float32s | None) -> tuple[Float32s, ...]:
    return () if pub is None else (pub,)


def _or_none(pub: tuple[Float32s, ...]) -> Float32s | None:
    return pub[0] if pub else None
