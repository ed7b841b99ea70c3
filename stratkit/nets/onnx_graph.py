"""The layers of networks as ONNX graphs, made from weights: what ONNX Runtime computes.

Rows of a batch are free: one graph serves every number of them. Positions come as the engine makes
them, channels last, and so do embeddings go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from stratkit.arrays import Weights
from stratkit.engine.observation import COUNTS, FEATURES

if TYPE_CHECKING:
    import onnxruntime

Dims = Sequence[int | str]

OPSET, IR = 17, 8  # of 2022: every ONNX Runtime since 1.12 reads them
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Graph:
    """An ONNX graph in the making. Values are known by their names."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}
        self._inputs: list[ValueInfoProto] = []

    def input(self, name: str, kind: int, dims: Dims) -> str:
        """A value that is handed in."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        """A value that is always the same."""
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """What an operator makes of values."""
        out = f"{op}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def linear(self, x: str, layer: str) -> str:
        """A linear layer by its name, of [..., i]: [..., o]."""
        y = self.node("MatMul", x, self.constant(f"{layer}.t", self.weights[f"{layer}.weight"].T))
        bias = self.weights.get(f"{layer}.bias")
        return y if bias is None else self.node("Add", y, self.constant(f"{layer}.bias", bias))

    def convolution(self, x: str, layer: str) -> str:
        """A convolution of 3 x 3 by its name, which keeps the size of the board."""
        parameters = [
            self.constant(f"{layer}.{kind}", self.weights[f"{layer}.{kind}"])
            for kind in ("weight", "bias")
        ]
        return self.node("Conv", x, *parameters, pads=[1, 1, 1, 1], kernel_shape=[3, 3])

    def model(self, outputs: Mapping[str, str], **dims: Dims) -> ModelProto:
        """What computes these outputs; `dims` of those for which others ask."""
        nodes = [
            *self._nodes,
            *(helper.make_node("Identity", [value], [name]) for name, value in outputs.items()),
        ]
        found = [helper.make_tensor_value_info(name, FLOAT, dims.get(name)) for name in outputs]
        constants = list(self._constants.values())
        graph = helper.make_graph(nodes, "stratkit", self._inputs, found, constants)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
        )

    def session(self, **outputs: str) -> onnxruntime.InferenceSession:
        """Computes these outputs."""
        return session_of(self.model(outputs))


def session_of(model: ModelProto) -> onnxruntime.InferenceSession:
    """Computes the model in the thread that asks, and in no other."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors, which Python raises, too
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def fromto_entry(weights: Weights, prefix: str = "") -> onnxruntime.InferenceSession:
    """Of `FromTo`, what comes before the blocks: `board` float32 [m, S, 48] and `counts` [m, 51]
    -> `squares` [m, S, C]."""
    graph = Graph(_part(weights, prefix))
    return graph.session(squares=_entry(graph))


def _entry(graph: Graph) -> str:
    place = graph.weights["place"]
    channels, squares = len(place), place[0].size
    board = graph.input("board", FLOAT, ["m", squares, FEATURES])
    counts = graph.input("counts", FLOAT, ["m", COUNTS])
    entry = graph.weights["entry.weight"].reshape(channels, FEATURES).T
    x = graph.node("MatMul", board, graph.constant("entry", entry))
    # What is the same in all positions; the features of each square have no other bias.
    fixed = place.reshape(channels, squares).T + graph.weights["entry.bias"]
    x = graph.node("Add", x, graph.constant("place", fixed))
    everywhere = graph.linear(counts, "counts")
    everywhere = graph.node("Unsqueeze", everywhere, graph.constant("one", np.array([1])))
    return graph.node("Relu", graph.node("Add", x, everywhere))


def fromto_torso(weights: Weights, prefix: str = "") -> onnxruntime.InferenceSession:
    """The same with all blocks, where the engine does not compute them."""
    return session_of(torso_model(weights, prefix))


def torso_model(weights: Weights, prefix: str = "") -> ModelProto:
    """The graph of an entry with all blocks."""
    graph = Graph(_part(weights, prefix))
    _, height, width = graph.weights["place"].shape
    squares = height * width
    x = _entry(graph)
    x = graph.node("Transpose", x, perm=[0, 2, 1])
    x = graph.node("Reshape", x, graph.constant("planes", np.array([0, 0, height, width])))
    # Changes nothing but the layout: the library then keeps its own through all blocks.
    x = graph.node("MaxPool", x, kernel_shape=[1, 1])
    for block in range(residual_blocks(graph.weights)):
        first = graph.node("Relu", graph.convolution(x, f"blocks.{block}.first"))
        x = graph.node("Add", x, graph.convolution(first, f"blocks.{block}.second"))
        x = graph.node("Relu", x)
    x = graph.node("Reshape", x, graph.constant("rows", np.array([0, 0, squares])))
    return graph.model({"squares": graph.node("Transpose", x, perm=[0, 2, 1])})


def fromto_policy(weights: Weights, prefix: str = "") -> onnxruntime.InferenceSession:
    """Of `FromTo`: scores float32 [k] of k actions of n views.

    rows    float32 [m S, C], of all squares
    chosen  int64 [n], the row of each view's selected piece
    target  bool [n, 1], whether a destination is decided
    none    int64 [n], what the choice is if none is: 1 if a piece is placed
    view    int64 [k], of each action
    at      int64 [k], the row of each action's square
    part    int64 [k, 1], what is decided
    met     float32 [k, 5], what an attack there would bring
    """
    graph = Graph(_part(weights, prefix))
    channels = len(graph.weights["place"])
    rows = graph.input("rows", FLOAT, ["squares", channels])
    chosen = graph.input("chosen", INT, ["n"])
    target = graph.input("target", BOOL, ["n", 1])
    none = graph.input("none", INT, ["n"])
    view = graph.input("view", INT, ["k"])
    at = graph.input("at", INT, ["k"])
    part = graph.input("part", INT, ["k", 1])
    met = graph.input("met", FLOAT, ["k", len(graph.weights["met"])])
    piece = graph.linear(graph.node("Gather", rows, chosen), "context")
    placed = graph.node("Gather", graph.constant("part.w", graph.weights["part.weight"]), none)
    context = graph.node("Where", target, piece, placed)
    hidden = graph.linear(graph.node("Gather", rows, at), "square")
    hidden = graph.node("Add", hidden, graph.node("Gather", context, view))
    hidden = graph.node("Add", hidden, graph.linear(met, "outcome"))
    scores = graph.linear(graph.node("Relu", hidden), "policy")
    scores = graph.node("GatherElements", scores, part, axis=1)
    straight = graph.constant("met.t", graph.weights["met"][:, None])
    scores = graph.node("Add", scores, graph.node("MatMul", met, straight))
    return graph.session(scores=_first(graph, scores))


def fromto_value(weights: Weights, prefix: str = "") -> onnxruntime.InferenceSession:
    """Of `FromTo`: values float32 [n] of n views of m positions: of `squares` [m, S, C] and
    `counts` [m, 51], each view's `position`, int64 [n], the row `chosen` of its selected piece
    among all squares, int64 [n], and whether a `target` is decided, float32 [n, 1]."""
    graph = Graph(_part(weights, prefix))
    channels, height, width = graph.weights["place"].shape
    squares = graph.input("squares", FLOAT, ["m", height * width, channels])
    counts = graph.input("counts", FLOAT, ["m", COUNTS])
    position = graph.input("position", INT, ["n"])
    chosen = graph.input("chosen", INT, ["n"])
    target = graph.input("target", FLOAT, ["n", 1])
    rows = graph.node("Reshape", squares, graph.constant("flat", np.array([-1, channels])))
    piece = graph.node("Mul", graph.node("Gather", rows, chosen), target)
    # A product, since the library adds up one position in another order than several.
    share = graph.constant("share", np.full((1, height * width), 1 / (height * width), np.float32))
    mean = graph.node("Squeeze", graph.node("MatMul", share, squares), graph.constant("mean", [1]))
    most = graph.node("ReduceMax", squares, axes=[1], keepdims=0)
    board = graph.node("Concat", mean, most, counts, axis=1)
    board = graph.node("Gather", board, position)
    x = graph.node("Concat", piece, board, axis=1)
    x = graph.linear(graph.node("Relu", graph.linear(x, "critic.0")), "critic.2")
    return graph.session(values=_first(graph, x))


def _first(graph: Graph, x: str) -> str:
    """[n, 1] as [n]."""
    return graph.node("Squeeze", x, graph.constant("column", np.array([1])))


def _part(weights: Weights, prefix: str) -> Weights:
    """The weights of a part of a network, by their names there."""
    size = len(prefix)
    return {name[size:]: w for name, w in weights.items() if name.startswith(prefix)}


def residual_blocks(weights: Weights, prefix: str = "") -> int:
    """How many residual blocks there are."""
    names = (name for name in weights if name.startswith(f"{prefix}blocks."))
    return len({name.removeprefix(prefix).split(".")[1] for name in names})
