"""The networks `fromto`, and `+deployment` and `+mirrored` with them, by ONNX Runtime and numpy.

They compute what the modules of torch do that have their names (`fromto.py`, `deployment.py`,
`mirrored.py`), for who plays on a CPU: logits differ by rounding. Other networks need torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes, Float32s, Int64s
from stratkit.engine import distinct_views
from stratkit.engine.observation import (
    CELLS,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    PHASE,
    SELECTED,
    SHOWN_PLIES,
    STAGE,
    TO_PLACE,
    attack_outcomes,
    board_features,
)
from stratkit.engine.stratego import FLAG, PIECE, SIDE, TYPE, TYPES
from stratkit.netnames import MIRRORED, without_ending
from stratkit.nets import onnx_graph
from stratkit.nets.threads import ROWS, shares, side_by_side

Weights: TypeAlias = Mapping[str, Float32s]
Bools: TypeAlias = npt.NDArray[np.bool_]

DEPLOY, SELECT, TARGET = range(3)  # what is decided
CERTAIN = 0.999  # probabilities above are of what is known


def network_of(net: str, shape: tuple[int, ...], weights: Weights) -> OnnxNetwork | None:
    """The network `net` for observations of this shape, with these weights; None: it is none of
    those that ONNX Runtime computes. The weights are that network's."""
    kind = without_ending(net)
    if kind.partition(":")[0] != "fromto" or len(shape) != 3:
        return None
    board = (shape[0], shape[1], shape[2])
    if kind == net:
        return OnnxFromTo(board, weights)
    return OnnxMirrored(board, weights, net.endswith(MIRRORED))


class Views(NamedTuple):
    """n views of m positions, as a `FromTo` reads them.

    packed     uint8 [m, B], observations from before a piece was selected
    position   int64 [n], each view's row among the positions
    part       int64 [n], what is decided: `DEPLOY`, `SELECT` or `TARGET`
    square     int64 [n], the selected piece's
    to_place   int64 [n], the type to be placed; 0: none
    outcomes   float32 [n, S, 3], as of `attack_outcomes`
    """

    packed: Bytes
    position: Int64s
    part: Int64s
    square: Int64s
    to_place: Int64s
    outcomes: Float32s


class Embedding(NamedTuple):
    """Of m positions.

    squares   float32 [m, S, C]
    counts    float32 [m, 51]
    """

    squares: Float32s
    counts: Float32s

    def take(self, rows: Int64s) -> Embedding:
        """These rows, int64 [m]."""
        return Embedding(self.squares[rows], self.counts[rows])


_NOTHING = Embedding(np.empty(0, np.float32), np.empty(0, np.float32))


class OnnxFromTo:
    """As `FromTo`, of these `weights`, whose names begin with `prefix`."""

    def __init__(self, shape: tuple[int, int, int], weights: Weights, prefix: str = "") -> None:
        self.shape, self.squares = shape, shape[1] * shape[2]
        self.deploy = weights[f"{prefix}deploy"]
        self.torso = onnx_graph.fromto_torso(weights, prefix)
        self.policy = onnx_graph.fromto_policy(weights, prefix)
        self.critic = onnx_graph.fromto_value(weights, prefix)

    def prepare(self, packed: Bytes) -> Views:
        """Each view has a position of its own."""
        return self._views(packed, _positions(packed), np.arange(len(packed)))

    def prepare_shared(self, packed: Bytes, unit: int = ROWS) -> Views:
        """Views share positions: each is there once, then the first again up to a multiple of
        `unit`."""
        positions = _positions(packed)
        first, each = distinct_views(positions, np.zeros((len(positions), 1), np.uint8))
        first = np.append(first, np.repeat(first[:1], -len(first) % unit))
        return self._views(packed, positions[first], each)

    def _views(self, packed: Bytes, positions: Bytes, position: Int64s) -> Views:
        selected, to_place = packed[:, SELECTED], packed[:, TO_PLACE]
        return Views(
            positions,
            position,
            np.where(packed[:, PHASE] == 1, DEPLOY, SELECT + packed[:, STAGE].astype(np.int64)),
            np.where(selected != NO_SQUARE, selected, 0).astype(np.int64),
            np.where(to_place < len(TYPES), to_place, 0).astype(np.int64),
            attack_outcomes(np.ascontiguousarray(packed), self.shape),
        )

    def embed(self, views: Views) -> Embedding:
        """A row for each position."""
        return self._embed(views.packed)

    def _embed(self, packed: Bytes) -> Embedding:
        planes, counts = board_features(packed, self.shape)
        board = np.moveaxis(planes, 1, -1).reshape(len(packed), self.squares, -1)
        (squares,) = self.torso.run(None, {"board": board, "counts": counts})
        return Embedding(squares, counts)

    def embed_after(self, views: Views, before: Any) -> tuple[Embedding, Any]:
        """As of `Network`. The positions of pieces that were selected a moment ago are
        remembered."""
        places, known = before or ({}, _NOTHING)
        keys = [row.tobytes() for row in views.packed]
        at = np.array([places.get(key, -1) for key in keys])
        new = np.flatnonzero(at < 0)
        if len(new) == len(at):
            embedding = self._embed_side_by_side(views.packed)
        else:
            embedding = known.take(at)
            if len(new):
                rows = np.append(new, np.repeat(new[:1], -len(new) % ROWS))
                more = self._embed_side_by_side(views.packed[rows])
                for all_, some in zip(embedding, more, strict=True):
                    all_[new] = some[: len(new)]
        return embedding, (dict(zip(keys, range(len(keys)), strict=True)), embedding)

    def _embed_side_by_side(self, packed: Bytes) -> Embedding:
        parts = side_by_side(lambda rows: self._embed(packed[rows]), shares(len(packed)))
        return Embedding(*map(np.concatenate, zip(*parts, strict=True)))

    def logits(self, embedding: Embedding, views: Views, legal: Bytes) -> Float32s:
        """Logits float32 [n, A], -inf where `legal`, uint8 [n, A], is 0."""
        view, square = np.nonzero(legal)
        part = views.part[view]
        met = views.outcomes[view, square]
        met = np.concatenate([met, met[:, :2] > np.float32(CERTAIN)], 1)
        given = {
            "rows": embedding.squares.reshape(-1, embedding.squares.shape[2]),
            "chosen": views.position * self.squares + views.square,
            "target": (views.part == TARGET)[:, None],
            "none": (views.part == DEPLOY).astype(np.int64),
            "view": view,
            "at": views.position[view] * self.squares + square,
            "part": part[:, None],
            "met": met,
        }
        (scores,) = self.policy.run(None, given)
        scores = scores + self.deploy[views.to_place[view], square] * (part == DEPLOY)
        logits = np.full(legal.shape, -np.inf, np.float32)
        logits[view, square] = scores
        return logits

    def value(self, embedding: Embedding, views: Views) -> Float32s:
        """Values float32 [n] for the acting side."""
        given = {
            "squares": embedding.squares,
            "counts": embedding.counts,
            "position": views.position,
            "chosen": views.position * self.squares + views.square,
            "target": (views.part == TARGET).astype(np.float32)[:, None],
        }
        values: Float32s = self.critic.run(None, given)[0]
        return values


class Seen(NamedTuple):
    """n views of a network with another one for the deployment, which has those that deploy.

    deployment   float32, what that other network reads of those that deploy
    play         the others
    plays        bool [n], which these are
    mirrored     bool [n], which views are mirror images
    like_image   bool [n, S], of views that place the flag, the squares on the left
    """

    deployment: Float32s
    play: Views
    plays: Bools
    mirrored: Bools
    like_image: Bools


class OnnxMirrored:
    """As `WithDeployment`; if `mirrors`, as `Mirrored`."""

    def __init__(self, shape: tuple[int, int, int], weights: Weights, mirrors: bool) -> None:
        self.shape, self.mirrors = shape, mirrors
        self.play = OnnxFromTo(shape, weights, "play.")
        self.deployment = onnx_graph.deployment(weights, "deployment.")
        _, height, width = shape
        self.squares, self.zone = height * width, height * width // 2
        square = np.arange(self.squares)
        self.image = square + width - 1 - 2 * (square % width)
        self.left = self.image > square

    def prepare(self, packed: Bytes) -> Seen:
        """As of `Network`."""
        return self._prepare(packed, None)

    def prepare_shared(self, packed: Bytes, unit: int = ROWS) -> Seen:
        """As of `Network`."""
        return self._prepare(packed, unit)

    def _prepare(self, packed: Bytes, unit: int | None) -> Seen:
        seen, mirrored, like_image = self._see(packed)
        plays = packed[:, PHASE] != 1
        some = seen[plays]
        play = self.play.prepare(some) if unit is None else self.play.prepare_shared(some, unit)
        return Seen(self._kinds(seen[~plays]), play, plays, mirrored, like_image)

    def _see(self, packed: Bytes) -> tuple[Bytes, Bools, Bools]:
        """The observations as the network sees them, and the last two of `Seen`."""
        if not self.mirrors:
            return packed, np.zeros(len(packed), bool), np.zeros((len(packed), self.squares), bool)
        own_flag = (packed[:, CELLS:] & (PIECE | SIDE | TYPE)) == PIECE | FLAG
        mirrored = (own_flag & self.left).any(1)
        places_flag = (packed[:, PHASE] == 1) & (packed[:, TO_PLACE] == FLAG)
        seen = packed.copy()
        seen[mirrored] = self.reflected(packed[mirrored])
        return seen, mirrored, places_flag[:, None] & self.left

    def reflected(self, packed: Bytes) -> Bytes:
        """The observations of the mirror images, uint8 [n, 172 + S]."""
        other = np.arange(256, dtype=np.uint8)
        other[: self.squares] = self.image  # and what is no square stays as it is
        mirrored = packed.copy()
        mirrored[:, CELLS:] = packed[:, CELLS:][:, self.image]
        mirrored[:, SELECTED] = other[packed[:, SELECTED]]
        plies = mirrored[:, MOVES:CELLS].reshape(-1, SHOWN_PLIES, 3)
        plies[:, :, :2] = other[plies[:, :, :2]]
        mirrored[:, MOVES:CELLS] = plies.reshape(len(packed), CELLS - MOVES)
        bits = np.unpackbits(packed[:, ONLY_ATTACKS:MOVES], axis=1, bitorder="little")
        turned = bits[:, other[: bits.shape[1]]]
        mirrored[:, ONLY_ATTACKS:MOVES] = np.packbits(turned, axis=1, bitorder="little")
        return mirrored

    def _kinds(self, packed: Bytes) -> Float32s:
        """What stands on each square, and the type to place, each 1 of 12 or none of them."""
        cells = packed[:, CELLS : CELLS + self.zone]
        known = np.where((cells & PIECE) != 0, cells & TYPE, len(TYPES))
        kinds = np.append(known, packed[:, TO_PLACE : TO_PLACE + 1], 1)
        one_hot: Bools = kinds[:, :, None] == np.arange(len(TYPES))
        return one_hot.reshape(len(packed), len(TYPES) * kinds.shape[1]).astype(np.float32)

    def embed(self, inputs: Seen) -> Embedding | None:
        """As of `Network`, of the views that play."""
        return self.play.embed(inputs.play) if len(inputs.play.part) else None

    def embed_after(self, inputs: Seen, before: Any) -> tuple[Embedding | None, Any]:
        """As of `Network`."""
        return self.play.embed_after(inputs.play, before) if len(inputs.play.part) else (None, None)

    def logits(self, embedding: Embedding | None, inputs: Seen, legal: Bytes) -> Float32s:
        """As of `Mirrored`."""
        reflected = legal[:, self.image]
        allowed = np.where(inputs.mirrored[:, None], reflected, legal)
        allowed |= reflected * inputs.like_image[:, self.image]
        logits = np.zeros(legal.shape, np.float32)
        if len(inputs.deployment):
            (placed,) = self.deployment.run(["logits"], {"kinds": inputs.deployment})
            logits[~inputs.plays, : self.zone] = placed
        if embedding is not None:
            logits[inputs.plays] = self.play.logits(embedding, inputs.play, allowed[inputs.plays])
        turned = np.where(
            inputs.mirrored[:, None] | inputs.like_image, logits[:, self.image], logits
        )
        return np.where(legal != 0, turned, np.float32(-np.inf))

    def value(self, embedding: Embedding | None, inputs: Seen) -> Float32s:
        """As of `Network`."""
        values = np.empty(len(inputs.plays), np.float32)
        if len(inputs.deployment):
            (values[~inputs.plays],) = self.deployment.run(["values"], {"kinds": inputs.deployment})
        if embedding is not None:
            values[inputs.plays] = self.play.value(embedding, inputs.play)
        return values


OnnxNetwork: TypeAlias = OnnxFromTo | OnnxMirrored


def _positions(packed: Bytes) -> Bytes:
    """The observations as they were before a piece was selected."""
    positions = packed.copy()
    positions[:, STAGE], positions[:, SELECTED] = 0, NO_SQUARE
    positions[:, ONLY_ATTACKS:MOVES] = 0  # which nothing reads of a position
    return positions
