"""The networks `graph` by the engine, for who plays on a CPU: it computes what the modules of torch
do (`graph.py`), and logits differ by rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.diplomacy import COUNTERS, ORDER_FEATURES, PHASES, QUERIES, STAGES, VERBS
from stratkit.engine.graph import HIDDEN, LANES, Outputs, WholeGraph, has_map
from stratkit.errors import InputError
from stratkit.netnames import SHARES, channels_and_blocks
from stratkit.nets.cpu_backend import CPUBackend
from stratkit.nets.threads import row_blocks, side_by_side

if TYPE_CHECKING:
    from stratkit.nets.backend import Memory

MANY = 64  # views that the engine evaluates in one call


def engine_computes_graph(net: str, game: Game) -> bool:
    """Whether `net` is a `graph` that the engine computes for this game."""
    is_graph = net.removesuffix(SHARES).partition(":")[0] == "graph"
    return is_graph and has_map(game)


class EngineGraph(CPUBackend):
    """A network `graph`, or `graph+shares`: then a `ShareBackend`."""

    shares_positions = keeps_positions = cheap_views = True

    @property
    def tells_shares(self) -> bool:
        """Whether it has `shares`."""
        return self.net.endswith(SHARES)

    def make(self, weights: Weights) -> None:
        """`CPUBackend.make`."""
        channels, blocks = _channels_and_blocks(self.net)
        wide, flat = channels + -channels % LANES, graph_weights(self.net, weights)
        self.whole = WholeGraph(self.game, wide, blocks, flat, self.tells_shares)

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> list[Float32s]:
        """`Backend.policy`."""
        return self._evaluate(packed, legal, values)

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        return self._evaluate(packed, None, values=True)

    def shares(self, packed: Bytes, memory: Memory | None) -> list[Float32s]:
        """`ShareBackend.shares`. `InputError`: there are none, as `tells_shares` says."""
        if not self.tells_shares:
            raise InputError("tells no shares", text=self.net)
        return self._evaluate(packed, None, shares=True)

    def _evaluate(
        self, packed: Bytes, legal: Bytes | None, values: bool = False, shares: bool = False
    ) -> list[Float32s]:
        """What is asked for, of `Outputs` in their order; in threads if there are many views."""

        def evaluate(rows: slice) -> Outputs:
            may = None if legal is None else legal[rows]
            return self.whole.evaluate(packed[rows], may, values, shares)

        if len(packed) <= MANY:
            return [x for x in evaluate(slice(None)) if x is not None]
        parts = side_by_side(evaluate, row_blocks(len(packed), MANY))
        return [np.concatenate(x) for x in zip(*parts, strict=True) if x[0] is not None]

    @staticmethod
    def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
        """`CPUBackend.weight_shapes`, of a `GraphNet` or a `GraphShares`."""
        (c, blocks), h, n = _channels_and_blocks(net), HIDDEN, game.players
        moment = len(PHASES) + n + COUNTERS
        # Of a province, but for what is asked there and the own orders.
        features = 3 * n + 10 + ORDER_FEATURES
        of_provinces = game.shape[0] - moment - STAGES - len(VERBS)
        provinces = of_provinces // (features + QUERIES + ORDER_FEATURES)
        query = 2 * (c + ORDER_FEATURES + 1) + STAGES * len(VERBS)
        with_bias = {"entry": (c, features), "square": (h, c), "verb": (len(VERBS), 2 * h)}
        with_bias |= {"ordered": (h, c + ORDER_FEATURES + 1)}
        alone = {"moment": (c, moment), "order": (h, ORDER_FEATURES + 1), "context": (h, query)}
        alone |= {"policy": (1, h)}
        for block in range(blocks):
            with_bias[f"blocks.{block}.own"] = alone[f"blocks.{block}.others"] = (c, c)
        if net.endswith(SHARES):
            with_bias |= {"claim": (h, c), "critic_board": (h, c + moment), "critic": (1, h)}
            alone |= {"holds": (h, 2 * h), "critic_orders": (h, h)}
            alone |= {"sizes": (c, n), "holders": (c, 2)}
        else:
            with_bias |= {"critic.0": (h, c + moment + h), "critic.2": (1, h)}
        locations = game.actions - len(VERBS)
        found: dict[str, tuple[int, ...]] = {"place": (provinces, 1, c), "coast": (locations, h)}
        found |= {f"{name}.weight": shape for name, shape in (with_bias | alone).items()}
        return found | {f"{name}.bias": shape[:1] for name, shape in with_bias.items()}


def _channels_and_blocks(net: str) -> tuple[int, int]:
    return channels_and_blocks(net.removesuffix(SHARES))


def graph_weights(net: str, weights: Weights) -> Float32s:
    """These weights as `WholeGraph` reads them, float32 [graph_floats]: what a layer adds to every
    province is one with what it adds to this one, and channels that there are not are 0."""
    c, blocks = _channels_and_blocks(net)
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
    layers += [into(w["context.weight"], 0, c + ORDER_FEATURES + 1)]
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
