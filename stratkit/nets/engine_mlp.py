"""The network `mlp` by the engine, for who plays on a CPU: it computes what the module of torch
does (`mlp.py`), and logits differ by rounding."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.mlp import MAX_WIDTH, MLPLayers, legal_softmax
from stratkit.netnames import CRITIC, has_deployment, hidden_sizes
from stratkit.nets.cpu_backend import CPUBackend

if TYPE_CHECKING:
    from stratkit.nets.backend import Memory


def engine_computes_mlp(net: str, game: Game) -> bool:
    """Whether `net` is an `mlp` that the engine computes for this game."""
    if len(game.shape) != 1 or has_deployment(net) or not hidden_sizes(net):
        return False
    return max(game.shape[0], game.actions + 1) <= MAX_WIDTH


class EngineMLP(CPUBackend):
    """A network `mlp`."""

    def make(self, weights: Weights) -> None:
        """`CPUBackend.make`."""
        names = [f"layers.{i}" for i in range(len(hidden_sizes(self.net)))]
        hidden, policy, critic = ([_layer(weights, name) for name in some]
                                  for some in (names, ["policy"], ["critic"]))  # fmt: skip
        self._policy = MLPLayers([*hidden, *policy])
        if self.net.endswith(CRITIC):
            hidden = [_layer(weights, f"critic_{name}") for name in names]
        self._critic = MLPLayers([*hidden, *critic])

    def policy(
        self, packed: Bytes, legal: Bytes, pub: Float32s | None, values: bool, memory: Memory | None
    ) -> list[Float32s]:
        """`Backend.policy`."""
        found = [legal_softmax(self._policy.evaluate(packed), legal)]
        return [*found, *self.values(packed, pub, memory)] if values else found

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        return [np.ascontiguousarray(self._critic.evaluate(packed)[:, 0])]

    @staticmethod
    def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
        """`CPUBackend.weight_shapes`, of an `MLP`."""
        sizes = hidden_sizes(net)
        pairs = list(itertools.pairwise([*game.shape, *sizes]))
        kinds = ("layers", "critic_layers") if net.endswith(CRITIC) else ("layers",)
        shapes = {f"{kind}.{i}": pair for kind in kinds for i, pair in enumerate(pairs)}
        shapes |= {"policy": (sizes[-1], game.actions), "critic": (sizes[-1], 1)}
        weights = {
            f"{name}.weight": (outputs, inputs) for name, (inputs, outputs) in shapes.items()
        }
        return {**weights, **{f"{name}.bias": (outputs,) for name, (_, outputs) in shapes.items()}}


def _layer(weights: Weights, name: str) -> tuple[Float32s, Float32s]:
    weight, bias = (
        np.ascontiguousarray(weights[f"{name}.{kind}"], np.float32) for kind in ("weight", "bias")
    )
    return weight, bias
