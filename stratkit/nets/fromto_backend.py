"""The networks `fromto`, and `+deployment` and `+mirrored` with them, for who plays on a CPU: what
the modules of torch compute that have their names (`fromto.py`, `deployment.py`, `mirrored.py`).
Logits differ by rounding. Other networks of boards need torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stratkit.arrays import Bools, Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.fromto import WholeFromTo
from stratkit.engine.observation import PHASE, SELECTED, STAGE
from stratkit.netnames import MIRRORED, channels_and_blocks, has_deployment, without_ending
from stratkit.nets.engine_deployment import EngineDeployment
from stratkit.nets.fromto_weights import check_weights, fromto_weights, is_fromto
from stratkit.nets.mirror_images import MirrorImages
from stratkit.nets.numpy_policy import softmax
from stratkit.nets.packages import ONNX, has_onnx, is_there
from stratkit.nets.threads import BLOCK, shares, side_by_side
from stratkit.nets.whole_moves import Moves

if TYPE_CHECKING:
    import torch

    from stratkit.nets.backend import Backend, Memory
    from stratkit.nets.network import Network
    from stratkit.nets.onnx_fromto import OnnxFromTo

MANY = 256  # views that the engine evaluates in one call


class FromToBackend:
    """The network `net` for `game` with these `weights`: a `Backend` of its own.

    It is the engine that computes, unless its `name` is `onnx`: then ONNX Runtime does, but for
    the deployment. So it does with public information of the caller's, which the engine does not
    read; its sessions are made when they are first asked. Whatever is beside a row in a batch, its
    outputs are the same to the last bit (tests/nets/test_onnx.py). So nothing is padded,
    and what was computed of a position is remembered for the next call. `InputError`: the weights
    are another network's, or not finite.
    """

    on_cpu, shares_positions, pads = True, True, False
    tells_moves, cheap_views, block = True, False, BLOCK

    def __init__(self, net: str, game: Game, weights: Weights, name: str = "engine") -> None:
        assert is_fromto(net, game.shape) and name in ("engine", "onnx")
        self.net, self.game, self.name = net, game, name
        self._module: Network | None = None
        self.load(weights, net)

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: what computes is made again."""
        return {"net": self.net, "game": self.game, "weights": self.weights, "name": self.name}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        FromToBackend.__init__(self, **state)

    @property
    def network(self) -> FromToBackend:
        """`Backend.network`."""
        return self

    @property
    def keeps_positions(self) -> bool:
        """`Backend.keeps_positions`: the engine does."""
        return self.whole is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the observations that it reads."""
        return self.game.shape

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        check_weights(net, self.game, weights)
        planes, height, width = self.game.shape
        self._board, self._mirrors = (planes, height, width), net.endswith(MIRRORED)
        self.images = MirrorImages(self._board, self._mirrors)
        self.weights, self._part = weights, "play." if has_deployment(net) else ""
        self._deployment = (
            EngineDeployment(self.images, weights, "deployment.") if self._part else None
        )
        self._library: OnnxFromTo | None = None
        self.whole: WholeFromTo | None = None
        if self.name == "engine":
            size = channels_and_blocks(without_ending(net))
            flat = fromto_weights(weights, self._part)
            self.whole = WholeFromTo(self._board, *size, flat, self._mirrors)

    @property
    def library(self) -> OnnxFromTo:
        """What ONNX Runtime computes. `ModuleNotFoundError`: it is not installed."""
        if self._library is None:
            if not has_onnx():
                missing = " ".join(name for name in ONNX if not is_there(name))
                what = "public information of the caller's needs ONNX Runtime"
                raise ModuleNotFoundError(f"{what}: pip install {missing}", name=ONNX[-1])
            from stratkit.nets.onnx_fromto import OnnxFromTo

            self._library = OnnxFromTo(self._board, self.images, self.weights, self._part)
        return self._library

    def forget(self) -> None:
        """`Backend.forget`."""

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

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> list[Float32s]:
        """`Backend.policy`."""
        return self._evaluate(packed, legal, pub, values, memory)

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        return self._evaluate(packed, None, pub, True, memory)

    def _evaluate(
        self,
        packed: Bytes,
        legal: Bytes | None,
        pub: Float32s | None,
        values: bool,
        memory: Memory | None,
    ) -> list[Float32s]:
        """Policies of the `legal` actions, if they are given, and values, if they are wanted."""
        deploys = packed[:, PHASE] == 1
        if not self._deployment or not deploys.any():
            return self._played(packed, legal, pub, values, memory)
        may = None if legal is None else legal[deploys]
        found = self._deployment.evaluate(packed[deploys], may, values)
        if deploys.all():
            return found
        plays = ~deploys
        may, seen = (None if x is None else x[plays] for x in (legal, pub))
        others = self._played(packed[plays], may, seen, values, memory)
        return [_merged(deploys, *each) for each in zip(found, others, strict=True)]

    def _played(
        self,
        packed: Bytes,
        legal: Bytes | None,
        pub: Float32s | None,
        values: bool,
        memory: Memory | None,
    ) -> list[Float32s]:
        """The same of views that no other network decides."""
        if self.whole and pub is None:
            return _shared_out(self.whole, packed, legal, values)
        views = self.library.prepare(packed, pub)
        if memory is None:
            embedding = self.library.embed(views)
        else:
            embedding, memory.before = self.library.embed_after(views, memory.before)
        found = [] if legal is None else [softmax(self.library.logits(embedding, views, legal))]
        return [*found, self.library.value(embedding, views)] if values else found

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> list[Float32s]:
        """`Backend.moves`, of positions after the deployment."""
        if self.whole:
            found = _shared_out(self.whole, packed, legal, True)
            return [*found, _target_logits(self.whole, packed, moves)]
        views = self.library.prepare(packed)
        embedding = self.library.embed(views)
        policy = softmax(self.library.logits(embedding, views, legal))
        values = self.library.value(embedding, views)
        return [policy, values, self.library.move_logits(embedding, views, moves)]

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        return self.policy(packed, legal, None, False, None)[0]


def _shared_out(
    whole: WholeFromTo, packed: Bytes, legal: Bytes | None, values: bool
) -> list[Float32s]:
    """Policies and values by the engine, in threads."""

    def evaluate(rows: slice) -> list[Float32s]:
        may = None if legal is None else legal[rows]
        return [x for x in whole.evaluate(packed[rows], may, values) if x is not None]

    parts = side_by_side(evaluate, shares(len(packed), MANY))
    return [np.concatenate(x) for x in zip(*parts, strict=True)] if parts[1:] else parts[0]


def _target_logits(whole: WholeFromTo, packed: Bytes, moves: Moves) -> Float32s:
    """float32 [k]: of each of the moves among those of its piece. The engine keeps the positions,
    so that it looks at each once."""
    first = np.flatnonzero(np.diff(moves.piece, prepend=-1))
    selected = packed[moves.row[first]]
    selected[:, STAGE], selected[:, SELECTED] = 1, moves.source[first]
    legal = np.zeros((len(first), whole.squares), np.uint8)
    legal[moves.piece, moves.target] = 1
    (policy,) = _shared_out(whole, selected, legal, False)
    with np.errstate(divide="ignore"):  # less than e-88 vanishes
        return np.asarray(np.log(policy[moves.piece, moves.target]), np.float32)


def _merged(where: Bools, found: Float32s, others: Float32s) -> Float32s:
    """Rows of `found` there, and of `others` elsewhere."""
    out = np.empty((len(where), *found.shape[1:]), np.float32)
    out[where], out[~where] = found, others
    return out
