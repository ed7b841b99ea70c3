"""The networks `fromto`, and `+deployment` and `+mirrored` with them, for who plays on a CPU: what
the modules of torch compute that have their names (`fromto.py`, `deployment.py`, `mirrored.py`).
Logits differ by rounding. Other networks of boards need torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bools, Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.fromto import WholeFromTo
from stratkit.engine.observation import PHASE, SELECTED, STAGE
from stratkit.netnames import MIRRORED, channels_and_blocks, has_deployment, without_ending
from stratkit.nets.cpu_backend import CPUBackend
from stratkit.nets.engine_deployment import EngineDeployment
from stratkit.nets.fromto_weights import fromto_shapes, fromto_weights, is_fromto
from stratkit.nets.mirror_images import MirrorImages
from stratkit.nets.numpy_policy import softmax
from stratkit.nets.packages import ONNX, has_onnx, is_there
from stratkit.nets.threads import BLOCK, row_blocks, side_by_side
from stratkit.nets.whole_moves import Moves

if TYPE_CHECKING:
    from stratkit.nets.backend import Memory
    from stratkit.nets.onnx_fromto import OnnxFromTo

MANY = 256  # views that the engine evaluates in one call


class FromToBackend(CPUBackend):
    """It is the engine that computes, unless its `name` is `onnx`: then ONNX Runtime does, but for
    the deployment. So it does with public information of the caller's, which the engine does not
    read; its sessions are made when they are first asked. What was computed of a position is
    remembered for the next call (tests/nets/test_onnx.py).
    """

    shares_positions = tells_moves = True
    block = BLOCK

    def __init__(self, net: str, game: Game, weights: Weights, name: str = "engine") -> None:
        assert is_fromto(net, game.shape) and name in ("engine", "onnx")
        self.name, self.keeps_positions = name, name == "engine"
        super().__init__(net, game, weights)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "name": self.name}

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the observations that it reads."""
        return self.game.shape

    @staticmethod
    def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
        """`CPUBackend.weight_shapes`."""
        return fromto_shapes(net, game)

    def make(self, weights: Weights) -> None:
        """`CPUBackend.make`."""
        planes, height, width = self.game.shape
        self._board, self._mirrors = (planes, height, width), self.net.endswith(MIRRORED)
        self.images = MirrorImages(self._board, self._mirrors)
        self._part = "play." if has_deployment(self.net) else ""
        self._deployment = (
            EngineDeployment(self.images, weights, "deployment.") if self._part else None
        )
        self._library: OnnxFromTo | None = None
        self.whole: WholeFromTo | None = None
        if self.name == "engine":
            size = channels_and_blocks(without_ending(self.net))
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


def _shared_out(
    whole: WholeFromTo, packed: Bytes, legal: Bytes | None, values: bool
) -> list[Float32s]:
    """Policies and values by the engine, in threads."""

    def evaluate(rows: slice) -> list[Float32s]:
        may = None if legal is None else legal[rows]
        return [x for x in whole.evaluate(packed[rows], may, values) if x is not None]

    parts = side_by_side(evaluate, row_blocks(len(packed), MANY))
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
