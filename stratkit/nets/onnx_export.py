"""A network `fromto`, with or without an ending, as one ONNX graph, for whoever has ONNX Runtime
and nothing of stratkit's. formats/onnx.md says what it reads and gives.

The graph holds each weight once, by its name and in its shape, so that the weights can be read
again: we compute them in parts (`onnx_fromto.py`), which is faster.
"""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from stratkit.arrays import Weights
from stratkit.engine.observation import COUNTS, FEATURES, OUTCOMES
from stratkit.netnames import has_deployment
from stratkit.nets.fromto_weights import CERTAIN, DEPLOY, TARGET
from stratkit.nets.onnx_graph import FLOAT, INT, Graph, residual_blocks


class Whole:
    """The graph of a network with these weights. `prefix` begins the names of those that play;
    `stored` those of all in the file."""

    def __init__(self, weights: Weights, prefix: str, stored: str) -> None:
        self.weights, self.prefix, self.stored = weights, prefix, stored
        self.graph = graph = Graph(weights)
        self.channels, height, width = weights[f"{prefix}place"].shape
        self.board, self.squares = (height, width), height * width
        self.part = graph.input("part", INT, ["n"])
        self.square = self._column(graph.input("square", INT, ["n"]))
        self.counts = graph.input("counts", FLOAT, ["n", COUNTS])
        column = self._column(self.part)
        self.deploys = graph.node("Equal", column, graph.constant("deploy", np.array(DEPLOY)))
        self.targets = graph.node("Equal", column, graph.constant("target", np.array(TARGET)))

    def _column(self, x: str) -> str:
        """[n] as [n, 1]."""
        return self.graph.node("Unsqueeze", x, self.graph.constant("ones", np.array([1])))

    def _weight(self, name: str) -> str:
        return self.graph.constant(f"{self.stored}{name}", self.weights[name])

    def _linear(self, x: str, layer: str) -> str:
        """A linear layer by its whole name, of [..., i]: [..., o]."""
        turned = self.graph.node("Transpose", self._weight(f"{layer}.weight"), perm=[1, 0])
        y = self.graph.node("MatMul", x, turned)
        biased = f"{layer}.bias" in self.weights
        return self.graph.node("Add", y, self._weight(f"{layer}.bias")) if biased else y

    def _reshaped(self, x: str, *sizes: int) -> str:
        name = f"shape {' '.join(map(str, sizes))}"
        return self.graph.node("Reshape", x, self.graph.constant(name, np.array(sizes)))

    def torso(self) -> str:
        """float32 [n, S, C]."""
        graph, prefix, c = self.graph, self.prefix, self.channels
        board = graph.input("board", FLOAT, ["n", self.squares, FEATURES])
        entry = self._reshaped(self._weight(f"{prefix}entry.weight"), c, FEATURES)
        x = graph.node("MatMul", board, graph.node("Transpose", entry, perm=[1, 0]))
        place = self._reshaped(self._weight(f"{prefix}place"), c, self.squares)
        place = graph.node("Transpose", place, perm=[1, 0])
        x = graph.node("Add", x, graph.node("Add", place, self._weight(f"{prefix}entry.bias")))
        everywhere = self._column(self._linear(self.counts, f"{prefix}counts"))
        x = graph.node("Relu", graph.node("Add", x, everywhere))
        x = self._reshaped(graph.node("Transpose", x, perm=[0, 2, 1]), 0, 0, *self.board)
        for block in range(residual_blocks(self.weights, prefix)):
            first = graph.node("Relu", self._convolution(x, f"{prefix}blocks.{block}.first"))
            x = graph.node("Add", x, self._convolution(first, f"{prefix}blocks.{block}.second"))
            x = graph.node("Relu", x)
        return graph.node("Transpose", self._reshaped(x, 0, 0, self.squares), perm=[0, 2, 1])

    def _convolution(self, x: str, layer: str) -> str:
        parameters = (self._weight(f"{layer}.{kind}") for kind in ("weight", "bias"))
        return self.graph.node("Conv", x, *parameters, pads=[1, 1, 1, 1], kernel_shape=[3, 3])

    def scores(self, squares: str, chosen: str) -> str:
        """Logits float32 [n, S]."""
        graph, prefix = self.graph, self.prefix
        outcomes = graph.input("outcomes", FLOAT, ["n", self.squares, OUTCOMES])
        ends = (graph.constant(f"slice {n}", np.array([n])) for n in (0, 2))
        won_lost = graph.node("Slice", outcomes, *ends, graph.constant("last", np.array([2])))
        certain = graph.constant("certain", np.float32(CERTAIN))
        certain = graph.node("Cast", graph.node("Greater", won_lost, certain), to=FLOAT)
        met = graph.node("Concat", outcomes, certain, axis=2)
        none = graph.node("Squeeze", self.deploys, graph.constant("ones", np.array([1])))
        none = graph.node("Cast", none, to=INT)
        placed = graph.node("Gather", self._weight(f"{prefix}part.weight"), none)
        piece = self._linear(chosen, f"{prefix}context")
        context = self._column(graph.node("Where", self.targets, piece, placed))
        hidden = graph.node("Add", self._linear(squares, f"{prefix}square"), context)
        hidden = graph.node("Add", hidden, self._linear(met, f"{prefix}outcome"))
        scores = self._linear(graph.node("Relu", hidden), f"{prefix}policy")
        scores = graph.node("Transpose", scores, perm=[0, 2, 1])
        scores = graph.node("GatherND", scores, self._column(self.part), batch_dims=1)
        straight = self._reshaped(self._weight(f"{prefix}met"), -1, 1)
        straight = graph.node("MatMul", met, straight)
        scores = graph.node("Add", scores, self._reshaped(straight, 0, self.squares))
        to_place = graph.input("to_place", INT, ["n"])
        fixed = graph.node("Gather", self._weight(f"{prefix}deploy"), to_place)
        deploys = graph.node("Cast", self.deploys, to=FLOAT)
        return graph.node("Add", scores, graph.node("Mul", fixed, deploys))

    def values(self, squares: str, chosen: str) -> str:
        """float32 [n, 1]."""
        graph, prefix = self.graph, self.prefix
        chosen = graph.node("Mul", chosen, graph.node("Cast", self.targets, to=FLOAT))
        mean = graph.node("ReduceMean", squares, axes=[1], keepdims=0)
        most = graph.node("ReduceMax", squares, axes=[1], keepdims=0)
        x = graph.node("Concat", chosen, mean, most, self.counts, axis=1)
        x = graph.node("Relu", self._linear(x, f"{prefix}critic.0"))
        return self._linear(x, f"{prefix}critic.2")

    def deployment(self) -> tuple[str, str]:
        """Of the network for the deployment: logits [n, S], and values [n, 1]."""
        graph = self.graph
        width = self.weights["deployment.entry.weight"].shape[1]
        x = graph.input("kinds", FLOAT, ["n", width])
        for layer in ("entry", "hidden"):
            x = graph.node("Relu", self._linear(x, f"deployment.{layer}"))
        rest = self.squares - len(self.weights["deployment.policy.weight"])
        pads = graph.constant("pads", np.array([0, 0, 0, rest]))
        logits = graph.node("Pad", self._linear(x, "deployment.policy"), pads)
        return logits, self._linear(x, "deployment.critic")


def whole_model(net: str, weights: Weights, stored: str) -> ModelProto:
    """The network `net` with these weights, whose names there begin with `stored`."""
    ends = has_deployment(net)
    whole = Whole(weights, "play." if ends else "", stored)
    squares = whole.torso()
    chosen = whole.graph.node("GatherND", squares, whole.square, batch_dims=1)
    logits, values = whole.scores(squares, chosen), whole.values(squares, chosen)
    if ends:
        placed, worth = whole.deployment()
        logits = whole.graph.node("Where", whole.deploys, placed, logits)
        values = whole.graph.node("Where", whole.deploys, worth, values)
    column = whole.graph.constant("ones", np.array([1]))
    outputs = {"logits": logits, "values": whole.graph.node("Squeeze", values, column)}
    return whole.graph.model(outputs, logits=["n", whole.squares], values=["n"])
