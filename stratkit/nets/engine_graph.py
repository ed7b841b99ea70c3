"""The networks `graph` by the engine, for who plays on a CPU: it computes what the modules of torch
do (`graph.py`), and logits differ by rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.diplomacy import PHASES, VERBS, graph_of
from stratkit.engine.graph import HIDDEN, LANES, MAX_BLOCKS, MAX_CHANNELS, Outputs, WholeGraph
from stratkit.errors import InputError
from stratkit.netnames import SHARES, channels_and_blocks
from stratkit.nets.threads import shares, side_by_side

if TYPE_CHECKING:
    import torch

    from stratkit.nets.backend import Backend, Memory
    from stratkit.nets.whole_moves import Moves

MANY = 64  # views that the engine evaluates in one call
STAGES, COUNTERS, QUERIES, ORDERS = 3, 2, 2, len(VERBS) + 2  # cengine/diplomacy/seen.c


def is_graph(net: str, game: Game) -> bool:
    """Whether the network `net` for `game` is one that the engine computes as a whole."""
    if net.removesuffix(SHARES).partition(":")[0] != "graph" or not graph_of(game):
        return False
    channels, blocks = _size(net)
    return channels <= MAX_CHANNELS and blocks <= MAX_BLOCKS


class EngineGraph:
    """The network `net` for `game` with these `weights`: a `DeviceBackend` of its own.

    Whatever is beside a row in a batch, its outputs are the same to the last bit, so nothing is
    padded. `InputError`: the weights are another network's, or not finite.
    """

    name, on_cpu, shares_positions, tells_moves, pads = "engine", True, True, False, False
    block = 1024  # a row needs no other one

    def __init__(self, net: str, game: Game, weights: Weights) -> None:
        assert is_graph(net, game)
        self.net, self.game = net, game
        self.tells_shares = net.endswith(SHARES)
        self.load(weights, net)

    def __getstate__(self) -> dict[str, object]:
        """For `copy` and `pickle`: what computes is made again."""
        return {"net": self.net, "game": self.game, "weights": self.weights}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        EngineGraph.__init__(self, **state)  # type: ignore[arg-type]

    @property
    def network(self) -> EngineGraph:
        """`Backend.network`."""
        return self

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        if not all(np.isfinite(w).all() for w in weights.values()):
            raise InputError("its weights are not all finite")
        if {name: w.shape for name, w in weights.items()} != weight_shapes(self.net, self.game):
            raise InputError("its tensors are not this network's", text=net or None)
        self.weights = weights
        channels, blocks = _size(self.net)
        flat = graph_weights(self.net, weights)
        wide = channels + -channels % LANES
        self.whole = WholeGraph(self.game, wide, blocks, flat, self.tells_shares)

    def forget(self) -> None:
        """`Backend.forget`."""

    def place(self, device: str, precision: torch.dtype) -> Backend:
        """Torch computes on other devices, and in other precisions."""
        if device == "cpu" and str(precision) == "torch.float32":
            return self
        from stratkit.nets.builder import build_with
        from stratkit.nets.torch_backend import TorchBackend

        module = build_with(self.net, self.game, self.weights)
        return TorchBackend(module).place(device, precision)

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> list[Float32s]:
        """`Backend.policy`. Nothing public is there to replace."""
        return self._evaluate(packed, legal, values)

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        return self._evaluate(packed, None, values=True)

    def shares(self, packed: Bytes, memory: Memory | None) -> list[Float32s]:
        """`DeviceBackend.shares`."""
        return self._evaluate(packed, None, tells_shares=True)

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> list[Float32s]:
        """`Backend.moves`. `InputError`: there are none, as `tells_moves` says."""
        raise InputError("its moves are no pairs of squares", text=self.net)

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        return self.policy(packed, legal, None, False, None)[0]

    def _evaluate(
        self, packed: Bytes, legal: Bytes | None, values: bool = False, tells_shares: bool = False
    ) -> list[Float32s]:
        """What is asked for, in threads if there are many views."""

        def evaluate(rows: slice) -> Outputs:
            may = None if legal is None else legal[rows]
            return self.whole.evaluate(packed[rows], may, values, tells_shares)

        if len(packed) <= MANY:
            return [x for x in evaluate(slice(None)) if x is not None]
        parts = side_by_side(evaluate, shares(len(packed), MANY))
        return [np.concatenate(x) for x in zip(*parts, strict=True) if x[0] is not None]


def _size(net: str) -> tuple[int, int]:
    """Channels and blocks."""
    return channels_and_blocks(net.removesuffix(SHARES))


def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
    """The shapes of a `GraphNet`'s weights, or of a `GraphShares`', by name."""
    graph, (c, blocks), h = graph_of(game), _size(net), HIDDEN
    assert graph
    n, moment = len(graph.near), graph.everywhere - STAGES - len(VERBS)
    features = (game.shape[0] - graph.everywhere) // n - QUERIES - ORDERS
    query = 2 * (c + ORDERS + 1) + STAGES * len(VERBS)
    with_bias = {"entry": (c, features), "square": (h, c), "verb": (len(VERBS), 2 * h)}
    with_bias |= {"ordered": (h, c + ORDERS + 1)}
    alone = {"moment": (c, moment), "order": (h, ORDERS + 1), "context": (h, query)}
    alone |= {"policy": (1, h)}
    for block in range(blocks):
        with_bias[f"blocks.{block}.own"] = alone[f"blocks.{block}.others"] = (c, c)
    if net.endswith(SHARES):
        powers = moment - len(PHASES) - COUNTERS
        with_bias |= {"claim": (h, c), "critic_board": (h, c + moment), "critic": (1, h)}
        alone |= {"holds": (h, 2 * h), "critic_orders": (h, h)}
        alone |= {"sizes": (c, powers), "holders": (c, 2)}
    else:
        with_bias |= {"critic.0": (h, c + moment + h), "critic.2": (1, h)}
    found: dict[str, tuple[int, ...]] = {"place": (n, 1, c), "coast": (len(graph.parent), h)}
    found |= {f"{name}.weight": shape for name, shape in (with_bias | alone).items()}
    return found | {f"{name}.bias": shape[:1] for name, shape in with_bias.items()}


def graph_weights(net: str, weights: Weights) -> Float32s:
    """These weights as `WholeGraph` reads them, float32 [graph_floats]: what a layer adds to every
    province is one with what it adds to this one, and channels that there are not are 0."""
    c, blocks = _size(net)
    wide = c + -c % LANES
    w = {name: np.asarray(array, np.float32) for name, array in weights.items()}
    w |= {name: array.T for name, array in w.items() if name.endswith(".weight")}

    def out(array: Float32s) -> Float32s:
        """[..., channels], with all of them."""
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, wide - c)])

    def into(array: Float32s, *begins: int) -> Float32s:
        """[inputs, outputs], of which the channels begin there."""
        return np.insert(array, np.repeat([at + c for at in begins], wide - c), 0, axis=0)

    layers = [w["entry.weight"], w["place"][:, 0] + w["entry.bias"], w["moment.weight"]]
    layers = [out(layer) for layer in layers]
    for block in range(blocks):
        own, others = (w[f"blocks.{block}.{name}.weight"] for name in ("own", "others"))
        layers += [into(out(own), 0), into(out(others), 0), out(w[f"blocks.{block}.own.bias"])]
    layers += [into(w["square.weight"], 0), w["coast"] + w["square.bias"], w["order.weight"]]
    layers += [into(w["context.weight"], 0, c + ORDERS + 1)]
    verbs = -len(VERBS) % LANES
    layers += [np.pad(w["verb.weight"], [(0, 0), (0, verbs)]), np.pad(w["verb.bias"], (0, verbs))]
    layers += [w["policy.weight"], into(w["ordered.weight"], 0), w["ordered.bias"]]
    if net.endswith(SHARES):
        layers += [into(w["critic_board.weight"], 0), w["critic_board.bias"]]
        layers += [w["critic_orders.weight"], w["critic.weight"], w["critic.bias"]]
        layers += [into(w["claim.weight"], 0), w["claim.bias"], w["holds.weight"]]
        layers += [out(w["sizes.weight"]), out(w["holders.weight"])]
    else:
        board = len(w["critic.0.weight"]) - HIDDEN
        layers += [into(w["critic.0.weight"][:board], 0), w["critic.0.bias"]]
        layers += [w["critic.0.weight"][board:], w["critic.2.weight"], w["critic.2.bias"]]
    return np.concatenate([np.asarray(layer, np.float32).ravel() for layer in layers])
