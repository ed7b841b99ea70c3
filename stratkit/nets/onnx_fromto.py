"""The network `fromto` by ONNX Runtime and numpy, as the module of torch computes it (`fromto.py`),
for processors on which the engine is slow. Where it has vectors, it computes the blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stratkit.arrays import Bools, Bytes, Float32s, Int64s, Weights
from stratkit.engine import distinct_views
from stratkit.engine.observation import (
    COUNTS,
    FEATURES,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    PHASE,
    SELECTED,
    STAGE,
    TO_PLACE,
    attack_outcomes,
    board_features,
)
from stratkit.engine.residual import residual, residual_lanes
from stratkit.engine.stratego import TYPES
from stratkit.nets import onnx_graph
from stratkit.nets.fromto_weights import CERTAIN, DEPLOY, SELECT, TARGET, fromto_blocks
from stratkit.nets.mirror_images import MirrorImages
from stratkit.nets.threads import row_blocks, side_by_side
from stratkit.nets.whole_moves import Moves

MOST_BYTES = 2**25  # of embeddings that are remembered


class FromToViews(NamedTuple):
    """n views of m positions, as a `FromTo` reads them.

    packed     uint8 [m, B], observations from before a piece was selected
    pub        float32 [m, 24, H, W], as in `expand`, or None
    position   int64 [n], each view's row among the positions
    part       int64 [n], what is decided: `DEPLOY`, `SELECT` or `TARGET`
    square     int64 [n], the selected piece's
    to_place   int64 [n], the type to be placed; 0: none
    outcomes   float32 [n, S, 3], as of `attack_outcomes`
    mirrored   bool [n], which views are mirror images; their squares are the image's
    """

    packed: Bytes
    pub: Float32s | None
    position: Int64s
    part: Int64s
    square: Int64s
    to_place: Int64s
    outcomes: Float32s
    mirrored: Bools


class Embedding(NamedTuple):
    """Of m positions, each in a row of k.

    squares   float32 [k, S, C]
    counts    float32 [k, 51]
    rows      int64 [m]
    """

    squares: Float32s
    counts: Float32s
    rows: Int64s


class Positions:
    """Embeddings of the positions that were seen since there was room."""

    def __init__(self, squares: int, channels: int) -> None:
        most = MOST_BYTES // (4 * squares * channels)
        self.squares = np.empty((most, squares, channels), np.float32)
        self.counts = np.empty((most, COUNTS), np.float32)
        self.places: dict[bytes, int] = {}

    def new(self, keys: list[bytes]) -> list[int]:
        """Which of these positions have no row."""
        return [i for i, key in enumerate(keys) if key not in self.places]

    def have_room(self, positions: int) -> bool:
        """For so many more."""
        return len(self.places) + positions <= len(self.squares)

    def add(self, keys: list[bytes], embedding: Embedding) -> None:
        """The embedding of these positions, each in its own row."""
        begin, end = len(self.places), len(self.places) + len(keys)
        self.squares[begin:end], self.counts[begin:end] = embedding.squares, embedding.counts
        self.places.update(zip(keys, range(begin, end), strict=True))

    def embedding(self, keys: list[bytes]) -> Embedding:
        """Of positions that all have a row."""
        rows = np.array([self.places[key] for key in keys])
        return Embedding(self.squares, self.counts, rows)


class OnnxFromTo:
    """As `FromTo`, of the `weights` whose names begin with `prefix`, for views that are seen by
    `images`. Each row is computed by itself: its numbers do not depend on what is beside it."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        images: MirrorImages,
        weights: Weights,
        prefix: str = "",
    ) -> None:
        self.shape, self.images, self.squares = shape, images, images.squares
        self.deploy = weights[f"{prefix}deploy"]
        self.channels = len(weights[f"{prefix}place"])
        by_engine = residual_lanes(self.channels) > 1
        self.blocks = fromto_blocks(weights, prefix) if by_engine else None
        torso = onnx_graph.fromto_entry if self.blocks else onnx_graph.fromto_torso
        self.torso = torso(weights, prefix)
        self.policy = onnx_graph.fromto_policy(weights, prefix)
        self.critic = onnx_graph.fromto_value(weights, prefix)

    def prepare(self, packed: Bytes, pub: Float32s | None = None) -> FromToViews:
        """Views share positions: each is there once. With a `pub` each view has its own."""
        packed, mirrored = self.images.see(packed)
        if pub is not None:
            pub = np.where(mirrored[:, None, None, None], pub[..., ::-1], pub)
        positions, each = _positions(packed), np.arange(len(packed))
        first = each
        if pub is None:
            first, each = distinct_views(positions, np.zeros((len(positions), 1), np.uint8))
        selected, to_place = packed[:, SELECTED], packed[:, TO_PLACE]
        return FromToViews(
            positions[first],
            pub,
            each,
            np.where(packed[:, PHASE] == 1, DEPLOY, SELECT + packed[:, STAGE].astype(np.int64)),
            np.where(selected != NO_SQUARE, selected, 0).astype(np.int64),
            np.where(to_place < len(TYPES), to_place, 0).astype(np.int64),
            _outcomes(packed, self.shape, pub),
            mirrored,
        )

    def embed(self, views: FromToViews) -> Embedding:
        """A row for each position."""
        return self._embed(views.packed, views.pub)

    def _embed(self, packed: Bytes, pub: Float32s | None = None) -> Embedding:
        planes, counts = _features(packed, self.shape, pub)
        board = np.moveaxis(planes, 1, -1).reshape(len(packed), self.squares, FEATURES)
        (squares,) = self.torso.run(None, {"board": board, "counts": counts})
        if self.blocks:
            residual(squares.reshape(len(packed), *self.shape[1:], self.channels), *self.blocks)
        return Embedding(squares, counts, np.arange(len(packed)))

    def embed_after(self, views: FromToViews, before: Any) -> tuple[Embedding, Any]:
        """As of `Network`. Positions are remembered as long as there is room: those of pieces that
        were selected a moment ago, and those to which rollouts come again."""
        keys = [row.tobytes() for row in views.packed]
        known = before or Positions(self.squares, self.channels)
        new = known.new(keys)
        if not known.have_room(len(new)):
            known.places.clear()
            new = known.new(keys)
        if not known.have_room(len(new)):
            return self._embed_side_by_side(views.packed), known
        if new:
            more = self._embed_side_by_side(views.packed[new])
            known.add([keys[i] for i in new], more)
        return known.embedding(keys), known

    def _embed_side_by_side(self, packed: Bytes) -> Embedding:
        parts = side_by_side(lambda rows: self._embed(packed[rows]), row_blocks(len(packed)))
        if len(parts) == 1:
            return parts[0]
        squares, counts, _ = map(np.concatenate, zip(*parts, strict=True))
        return Embedding(squares, counts, np.arange(len(packed)))

    def logits(self, embedding: Embedding, views: FromToViews, legal: Bytes) -> Float32s:
        """Logits float32 [n, A], -inf where `legal`, uint8 [n, A], is 0."""
        view, square = np.nonzero(legal)
        logits = np.full(legal.shape, -np.inf, np.float32)
        seen = self._seen(views.mirrored[view], square)
        logits[view, square] = self._of_actions(embedding, views, view, seen)
        return logits

    def _seen(self, mirrored: Bools, square: Int64s) -> Int64s:
        """Squares int64 [k] as they are seen in views that are `mirrored`, bool [k]."""
        return np.where(mirrored, self.images.image[square], square)

    def _of_actions(
        self, embedding: Embedding, views: FromToViews, view: Int64s, square: Int64s
    ) -> Float32s:
        """Logits float32 [k] of the actions of a `view`, int64 [k], on a `square`, int64 [k]."""
        part, position = views.part[view], embedding.rows[views.position]
        scores = self._scores(
            embedding,
            position * self.squares + views.square,
            views.part,
            view,
            position[view] * self.squares + square,
            views.outcomes[view, square],
        )
        found: Float32s = scores + self.deploy[views.to_place[view], square] * (part == DEPLOY)
        return found

    def _scores(
        self,
        embedding: Embedding,
        chosen: Int64s,
        parts: Int64s,
        view: Int64s,
        at: Int64s,
        outcomes: Float32s,
    ) -> Float32s:
        """Logits float32 [k] of the squares `at`, for views that decide these `parts` with these
        squares chosen. Squares are rows of the embedding."""
        given = {
            "rows": embedding.squares.reshape(-1, embedding.squares.shape[2]),
            "chosen": chosen,
            "target": (parts == TARGET)[:, None],
            "none": (parts == DEPLOY).astype(np.int64),
            "view": view,
            "at": at,
            "part": parts[view][:, None],
            "met": np.concatenate([outcomes, outcomes[:, :2] > np.float32(CERTAIN)], 1),
        }
        scores: Float32s = self.policy.run(None, given)[0]
        return scores

    def move_logits(self, embedding: Embedding, views: FromToViews, moves: Moves) -> Float32s:
        """As of `MoveNetwork`."""
        square = embedding.rows[views.position][moves.row] * self.squares
        first = np.flatnonzero(np.diff(moves.piece, prepend=-1))
        mirrored = views.mirrored[moves.row]
        source, target = (self._seen(mirrored, x) for x in (moves.source, moves.target))
        return self._scores(
            embedding,
            (square + source)[first],
            np.full(len(first), TARGET),
            moves.piece,
            square + target,
            moves.outcomes,
        )

    def value(self, embedding: Embedding, views: FromToViews) -> Float32s:
        """Values float32 [n] for the acting side."""
        given = {
            "squares": embedding.squares[embedding.rows],
            "counts": embedding.counts[embedding.rows],
            "position": views.position,
            "chosen": views.position * self.squares + views.square,
            "target": (views.part == TARGET).astype(np.float32)[:, None],
        }
        values: Float32s = self.critic.run(None, given)[0]
        return values


def _positions(packed: Bytes) -> Bytes:
    """The observations as they were before a piece was selected."""
    positions = packed.copy()
    positions[:, STAGE], positions[:, SELECTED] = 0, NO_SQUARE
    positions[:, ONLY_ATTACKS:MOVES] = 0  # which nothing reads of a position
    return positions


def _features(
    packed: Bytes, shape: tuple[int, int, int], pub: Float32s | None
) -> tuple[Float32s, Float32s]:
    """As of `features.features`, which makes them by torch where the engine cannot."""
    if pub is None:
        return board_features(packed, shape)
    import torch

    from stratkit.nets.features import features

    planes, counts = features(torch.from_numpy(packed), shape, torch.from_numpy(pub))
    return planes.numpy(), counts.numpy()


def _outcomes(packed: Bytes, shape: tuple[int, int, int], pub: Float32s | None) -> Float32s:
    """As of `features.outcomes`."""
    packed = np.ascontiguousarray(packed)
    if pub is None:
        return attack_outcomes(packed, shape)
    import torch

    from stratkit.nets.features import outcomes

    found: Float32s = outcomes(torch.from_numpy(packed), shape, torch.from_numpy(pub)).numpy()
    return found
