"""The networks `fromto`, and `+deployment` and `+mirrored` with them, by ONNX Runtime and numpy;
but where the processor has vectors for it, the engine computes a `fromto` as a whole, unless it is
handed public information of the caller's.

They compute what the modules of torch do that have their names (`fromto.py`, `deployment.py`,
`mirrored.py`), for who plays on a CPU: logits differ by rounding. Other networks need torch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes, Float32s, Int64s
from stratkit.engine import Game, distinct_views
from stratkit.engine.fromto import WholeFromTo
from stratkit.engine.observation import (
    CELLS,
    COUNTS,
    FEATURES,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    OUTCOMES,
    PHASE,
    SELECTED,
    SHOWN_PLIES,
    STAGE,
    TO_PLACE,
    attack_outcomes,
    board_features,
)
from stratkit.engine.residual import residual, residual_lanes
from stratkit.engine.stratego import FLAG, PIECE, SIDE, TYPE, TYPES
from stratkit.errors import InputError
from stratkit.netnames import MIRRORED, channels_and_blocks, has_deployment, without_ending
from stratkit.nets.fromto_weights import fromto_blocks, fromto_weights
from stratkit.nets.numpy_policy import softmax
from stratkit.nets.threads import BLOCK, shares, side_by_side
from stratkit.nets.whole_moves import Moves

if TYPE_CHECKING:
    import torch

    from stratkit.nets.backend import Backend, Memory
    from stratkit.nets.network import Network

Weights: TypeAlias = Mapping[str, Float32s]
Bools: TypeAlias = npt.NDArray[np.bool_]

PLAYING = ("onnx", "onnxruntime")  # the packages that are needed
DEPLOY, SELECT, TARGET = range(3)  # what is decided
CERTAIN = 0.999  # probabilities above are of what is known
MANY = 256  # views that the engine evaluates in one call
MOST_BYTES = 2**25  # of embeddings that are remembered
HIDDEN, MET = 16, OUTCOMES + 2  # as in `fromto`
DEPLOYMENT_HIDDEN = 64  # as in `deployment`


def is_installed() -> bool:
    """Whether ONNX Runtime is there, and what makes graphs for it."""
    return all(map(is_there, PLAYING))


def is_there(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # of who hides it
        return False


def computes(net: str, shape: tuple[int, ...]) -> bool:
    """Whether ONNX Runtime computes the network `net` for observations of this shape."""
    return len(shape) == 3 and without_ending(net).partition(":")[0] == "fromto"


class OnnxNetwork:
    """The network `net` for `game` with these `weights`: a `Backend` of its own.

    Whatever is beside a row in a batch, its outputs are the same to the last bit
    (tests/nets/test_onnx.py). So nothing is padded, and what was computed of a position is
    remembered for the next call. `InputError`: the weights are another network's, or not finite.
    """

    name, on_cpu, shares_positions, pads = "onnx", True, True, False
    tells_moves, block = True, BLOCK

    def __init__(self, net: str, game: Game, weights: Weights) -> None:
        assert computes(net, game.shape)
        self.net, self.game = net, game
        self._module: Network | None = None
        self.load(weights, net)

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: sessions are made again."""
        return {"net": self.net, "game": self.game, "weights": self.weights}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        OnnxNetwork.__init__(self, **state)

    @property
    def network(self) -> OnnxNetwork:
        """`Backend.network`."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the observations that it reads."""
        return self.game.shape

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        check_weights(net, self.game, weights)
        planes, height, width = self.game.shape
        shape, ends = (planes, height, width), has_deployment(net)
        self.weights, self.deploys_apart = weights, ends
        self.whole = _whole(shape, weights, "play." if ends else "", net.endswith(MIRRORED))
        self.made: Any = (  # each reads what it has prepared
            OnnxMirrored(shape, weights, net.endswith(MIRRORED))
            if ends
            else OnnxFromTo(shape, weights)
        )

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
        if self.whole and pub is None:
            return self._by_engine(self.whole, packed, legal, values)
        inputs, embedding = self._embed(packed, pub, memory)
        found = [softmax(self.made.logits(embedding, inputs, legal))]
        return [*found, self.made.value(embedding, inputs)] if values else found

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        if self.whole and pub is None:
            return self._by_engine(self.whole, packed, None, True)
        inputs, embedding = self._embed(packed, pub, memory)
        return [self.made.value(embedding, inputs)]

    def _by_engine(
        self, whole: WholeFromTo, packed: Bytes, legal: Bytes | None, values: bool
    ) -> list[Float32s]:
        """Policies of the `legal` actions, if they are given, and values, if they are wanted."""
        deploys = packed[:, PHASE] == 1
        if not self.deploys_apart or not deploys.any():
            return self._shared_out(whole, packed, legal, values)
        inputs = self.made.prepare(packed[deploys])
        found = [] if legal is None else [softmax(self.made.logits(None, inputs, legal[deploys]))]
        found += [self.made.value(None, inputs)] if values else []
        if deploys.all():
            return found
        plays = ~deploys
        may = None if legal is None else legal[plays]
        others = self._shared_out(whole, packed[plays], may, values)
        return [_merged(deploys, *each) for each in zip(found, others, strict=True)]

    def _shared_out(
        self, whole: WholeFromTo, packed: Bytes, legal: Bytes | None, values: bool
    ) -> list[Float32s]:
        """The same by `whole` alone, in threads."""

        def evaluate(rows: slice) -> list[Float32s]:
            may = None if legal is None else legal[rows]
            return [x for x in whole.evaluate(packed[rows], may, values) if x is not None]

        parts = side_by_side(evaluate, shares(len(packed), MANY))
        return [np.concatenate(x) for x in zip(*parts, strict=True)] if parts[1:] else parts[0]

    def _embed(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> tuple[Any, Any]:
        inputs = self.made.prepare(packed, pub)
        if memory is None:
            return inputs, self.made.embed(inputs)
        embedding, memory.before = self.made.embed_after(inputs, memory.before)
        return inputs, embedding

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> list[Float32s]:
        """`Backend.moves`."""
        inputs, embedding = self._embed(packed, None, None)
        policy = softmax(self.made.logits(embedding, inputs, legal))
        values = self.made.value(embedding, inputs)
        return [policy, values, self.made.move_logits(embedding, inputs, moves)]

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        return self.policy(packed, legal, None, False, None)[0]


def check_weights(net: str, game: Game, weights: Weights) -> None:
    """`InputError`: they are not those of the network `net` for `game`, or not finite."""
    if not all(np.isfinite(w).all() for w in weights.values()):
        raise InputError("its weights are not all finite")
    planes, height, width = game.shape
    sizes = channels_and_blocks(without_ending(net))
    wanted = weight_shapes((planes, height, width), *sizes, with_deployment=has_deployment(net))
    if {name: w.shape for name, w in weights.items()} != wanted:
        raise InputError("its tensors are not this network's", text=net or None)


def weight_shapes(
    shape: tuple[int, int, int], channels: int, blocks: int, with_deployment: bool
) -> dict[str, tuple[int, ...]]:
    """The shapes of a `FromTo`'s weights, by name, or of a `WithDeployment` of one."""
    _, height, width = shape
    squares, zone, c = height * width, height * width // 2, channels
    found: dict[str, tuple[int, ...]] = {
        "place": (c, height, width),
        "met": (MET,),
        "deploy": (len(TYPES), squares),
        "part.weight": (2, HIDDEN),
        "outcome.weight": (HIDDEN, MET),
        "entry.weight": (c, FEATURES, 1, 1),
        "entry.bias": (c,),
    }
    linear = {"counts": (c, COUNTS), "square": (HIDDEN, c), "context": (HIDDEN, c)}
    linear |= {"policy": (3, HIDDEN), "critic.0": (c, 3 * c + COUNTS), "critic.2": (1, c)}
    layers: dict[str, tuple[int, ...]] = {**linear}
    for block in range(blocks):
        layers |= {f"blocks.{block}.{name}": (c, c, 3, 3) for name in ("first", "second")}
    found |= _with_biases(layers)
    if not with_deployment:
        return found
    kinds, units = len(TYPES) * (zone + 1), DEPLOYMENT_HIDDEN
    deployment = {"entry": (units, kinds), "hidden": (units, units)}
    deployment |= {"policy": (zone, units), "critic": (1, units)}
    return {
        **{f"play.{name}": size for name, size in found.items()},
        **{f"deployment.{name}": size for name, size in _with_biases({**deployment}).items()},
    }


def _with_biases(layers: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Of layers, by the shapes of their weights."""
    return {
        f"{name}.{kind}": size if kind == "weight" else size[:1]
        for name, size in layers.items()
        for kind in ("weight", "bias")
    }


class Views(NamedTuple):
    """n views of m positions, as a `FromTo` reads them.

    packed     uint8 [m, B], observations from before a piece was selected
    pub        float32 [m, 24, H, W], as in `expand`, or None
    position   int64 [n], each view's row among the positions
    part       int64 [n], what is decided: `DEPLOY`, `SELECT` or `TARGET`
    square     int64 [n], the selected piece's
    to_place   int64 [n], the type to be placed; 0: none
    outcomes   float32 [n, S, 3], as of `attack_outcomes`
    """

    packed: Bytes
    pub: Float32s | None
    position: Int64s
    part: Int64s
    square: Int64s
    to_place: Int64s
    outcomes: Float32s


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
    """As `FromTo`, of these `weights`, whose names begin with `prefix`."""

    def __init__(self, shape: tuple[int, int, int], weights: Weights, prefix: str = "") -> None:
        from stratkit.nets import onnx_graph

        self.shape, self.squares = shape, shape[1] * shape[2]
        self.deploy = weights[f"{prefix}deploy"]
        self.channels = len(weights[f"{prefix}place"])
        self.blocks = _blocks(weights, prefix)
        torso = onnx_graph.fromto_entry if self.blocks else onnx_graph.fromto_torso
        self.torso = torso(weights, prefix)
        self.policy = onnx_graph.fromto_policy(weights, prefix)
        self.critic = onnx_graph.fromto_value(weights, prefix)

    def prepare(self, packed: Bytes, pub: Float32s | None = None) -> Views:
        """Views share positions: each is there once. With a `pub` each view has its own."""
        positions, each = _positions(packed), np.arange(len(packed))
        first = each
        if pub is None:
            first, each = distinct_views(positions, np.zeros((len(positions), 1), np.uint8))
        selected, to_place = packed[:, SELECTED], packed[:, TO_PLACE]
        return Views(
            positions[first],
            pub,
            each,
            np.where(packed[:, PHASE] == 1, DEPLOY, SELECT + packed[:, STAGE].astype(np.int64)),
            np.where(selected != NO_SQUARE, selected, 0).astype(np.int64),
            np.where(to_place < len(TYPES), to_place, 0).astype(np.int64),
            _outcomes(packed, self.shape, pub),
        )

    def embed(self, views: Views) -> Embedding:
        """A row for each position."""
        return self._embed(views.packed, views.pub)

    def _embed(self, packed: Bytes, pub: Float32s | None = None) -> Embedding:
        planes, counts = _features(packed, self.shape, pub)
        board = np.moveaxis(planes, 1, -1).reshape(len(packed), self.squares, FEATURES)
        (squares,) = self.torso.run(None, {"board": board, "counts": counts})
        if self.blocks:
            residual(squares.reshape(len(packed), *self.shape[1:], self.channels), *self.blocks)
        return Embedding(squares, counts, np.arange(len(packed)))

    def embed_after(self, views: Views, before: Any) -> tuple[Embedding, Any]:
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
        parts = side_by_side(lambda rows: self._embed(packed[rows]), shares(len(packed)))
        if len(parts) == 1:
            return parts[0]
        squares, counts, _ = map(np.concatenate, zip(*parts, strict=True))
        return Embedding(squares, counts, np.arange(len(packed)))

    def logits(self, embedding: Embedding, views: Views, legal: Bytes) -> Float32s:
        """Logits float32 [n, A], -inf where `legal`, uint8 [n, A], is 0."""
        view, square = np.nonzero(legal)
        logits = np.full(legal.shape, -np.inf, np.float32)
        logits[view, square] = self.scores(embedding, views, view, square)
        return logits

    def scores(self, embedding: Embedding, views: Views, view: Int64s, square: Int64s) -> Float32s:
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

    def move_logits(self, embedding: Embedding, views: Views, moves: Moves) -> Float32s:
        """As of `MoveNetwork`."""
        square = embedding.rows[views.position][moves.row] * self.squares
        first = np.flatnonzero(np.diff(moves.piece, prepend=-1))
        return self._scores(
            embedding,
            (square + moves.source)[first],
            np.full(len(first), TARGET),
            moves.piece,
            square + moves.target,
            moves.outcomes,
        )

    def value(self, embedding: Embedding, views: Views) -> Float32s:
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


class Seen(NamedTuple):
    """n views of a network with another one for the deployment, which has those that deploy.

    deployment   float32, what that other network reads of those that deploy
    play         the others
    plays        bool [n], which these are
    mirrored     bool [n], which views are mirror images
    like_image   bool, of views that deploy: where the flag may be placed, the squares on the left
    """

    deployment: Float32s
    play: Views
    plays: Bools
    mirrored: Bools
    like_image: Bools


class OnnxMirrored:
    """As `WithDeployment`; if `mirrors`, as `Mirrored`."""

    def __init__(self, shape: tuple[int, int, int], weights: Weights, mirrors: bool) -> None:
        from stratkit.nets import onnx_graph

        self.shape, self.mirrors = shape, mirrors
        self.play = OnnxFromTo(shape, weights, "play.")
        self.deployment = onnx_graph.deployment(weights, "deployment.")
        _, height, width = shape
        self.squares, self.zone = height * width, height * width // 2
        square = np.arange(self.squares)
        self.image = square + width - 1 - 2 * (square % width)
        self.left = self.image > square

    def prepare(self, packed: Bytes, pub: Float32s | None = None) -> Seen:
        """As of `Network`."""
        plays = packed[:, PHASE] != 1
        seen, mirrored = self._see(packed)
        if pub is not None:
            pub = np.where(mirrored[:, None, None, None], pub[..., ::-1], pub)[plays]
        play = self.play.prepare(seen[plays], pub)
        deploys = seen[~plays]
        places_flag = self.mirrors & (deploys[:, TO_PLACE] == FLAG)
        return Seen(self._kinds(deploys), play, plays, mirrored, places_flag[:, None] & self.left)

    def _see(self, packed: Bytes) -> tuple[Bytes, Bools]:
        """The observations as the network sees them, and which of them are mirror images."""
        if not self.mirrors:
            return packed, np.zeros(len(packed), bool)
        _, height, width = self.shape
        left = packed[:, CELLS:].reshape(-1, height, width)[:, :, : width // 2]
        own_flag = (left & (PIECE | SIDE | TYPE)) == PIECE | FLAG
        mirrored = own_flag.any((1, 2))
        seen = packed.copy()
        seen[mirrored] = self.reflected(packed[mirrored])
        return seen, mirrored

    def reflected(self, packed: Bytes) -> Bytes:
        """The observations of the mirror images, uint8 [n, 172 + S]."""
        other = np.arange(256, dtype=np.uint8)
        other[: self.squares] = self.image  # and what is no square stays as it is
        mirrored = packed.copy()
        files = packed[:, CELLS:].reshape(-1, *self.shape[1:])[:, :, ::-1]
        mirrored[:, CELLS:] = files.reshape(len(packed), self.squares)
        mirrored[:, SELECTED] = other[packed[:, SELECTED]]
        plies = mirrored[:, MOVES:CELLS].reshape(-1, SHOWN_PLIES, 3)
        plies[:, :, :2] = other[plies[:, :, :2]]
        mirrored[:, MOVES:CELLS] = plies.reshape(len(packed), CELLS - MOVES)
        if packed[:, ONLY_ATTACKS:MOVES].any():
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
        if not len(inputs.play.part):
            return None, before
        return self.play.embed_after(inputs.play, before)

    def logits(self, embedding: Embedding | None, inputs: Seen, legal: Bytes) -> Float32s:
        """As of `Mirrored`."""
        logits = np.full(legal.shape, -np.inf, np.float32)
        if embedding is not None:
            rows = np.flatnonzero(inputs.plays)
            view, square = np.nonzero(legal[rows])
            seen = np.where(inputs.mirrored[rows][view], self.image[square], square)
            scores = self.play.scores(embedding, inputs.play, view, seen)
            logits[rows[view], square] = scores
        if len(inputs.deployment):
            (placed,) = self.deployment.run(["logits"], {"kinds": inputs.deployment})
            deploys = ~inputs.plays
            zone = np.zeros((len(placed), self.squares), np.float32)
            zone[:, : self.zone] = placed
            turns = inputs.mirrored[deploys][:, None] | inputs.like_image
            zone = np.where(turns, zone[:, self.image], zone)
            logits[deploys] = np.where(legal[deploys] != 0, zone, np.float32(-np.inf))
        return logits

    def move_logits(self, embedding: Embedding | None, inputs: Seen, moves: Moves) -> Float32s:
        """As of `MoveNetwork`: of positions that all play."""
        assert embedding is not None and inputs.plays.all()
        mirrored = inputs.mirrored[moves.row]
        source, target = (
            np.where(mirrored, self.image[square], square)
            for square in (moves.source, moves.target)
        )
        seen = moves._replace(source=source, target=target)
        return self.play.move_logits(embedding, inputs.play, seen)

    def value(self, embedding: Embedding | None, inputs: Seen) -> Float32s:
        """As of `Network`."""
        values = np.empty(len(inputs.plays), np.float32)
        if len(inputs.deployment):
            (values[~inputs.plays],) = self.deployment.run(["values"], {"kinds": inputs.deployment})
        if embedding is not None:
            values[inputs.plays] = self.play.value(embedding, inputs.play)
        return values


def _merged(where: Bools, found: Float32s, others: Float32s) -> Float32s:
    """Rows of `found` there, and of `others` elsewhere."""
    out = np.empty((len(where), *found.shape[1:]), np.float32)
    out[where], out[~where] = found, others
    return out


def _whole(
    shape: tuple[int, int, int], weights: Weights, prefix: str, mirrors: bool
) -> WholeFromTo | None:
    """A `FromTo` for the engine; None: ONNX Runtime is faster on this processor."""
    if not (blocks := _blocks(weights, prefix)):
        return None
    channels, flat = len(weights[f"{prefix}place"]), fromto_weights(weights, prefix)
    return WholeFromTo(shape, channels, len(blocks[0]) // 2, flat, mirrors)


def _blocks(weights: Weights, prefix: str) -> tuple[Float32s, Float32s] | None:
    """Weights and biases of the blocks of a `FromTo`, for the engine; None: ONNX Runtime is
    faster on this processor."""
    found = fromto_blocks(weights, prefix)
    return None if residual_lanes(len(weights[f"{prefix}place"])) == 1 else found


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
