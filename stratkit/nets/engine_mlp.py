"""The network `mlp` by the engine, for who plays on a CPU: it computes what the module of torch
does (`mlp.py`), and logits differ by rounding."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bytes, Float32s, Weights
from stratkit.engine import Game
from stratkit.engine.mlp import MAX_WIDTH, MLPLayers, legal_softmax
from stratkit.errors import InputError
from stratkit.netnames import CRITIC, has_deployment, hidden_sizes

if TYPE_CHECKING:
    import torch

    from stratkit.nets.backend import Backend, Memory
    from stratkit.nets.whole_moves import Moves


def engine_computes(net: str, game: Game) -> bool:
    """Whether the engine computes the network `net` for this game."""
    if len(game.shape) != 1 or has_deployment(net) or not hidden_sizes(net):
        return False
    return max(game.shape[0], game.actions + 1) <= MAX_WIDTH


class EngineMLP:
    """The network `net` for `game` with these `weights`: a `Backend` of its own.

    Whatever is beside a row in a batch, its outputs are the same to the last bit, so nothing is
    padded. `InputError`: the weights are another network's, or not finite.
    """

    name, on_cpu, shares_positions, tells_moves, pads = "engine", True, False, False, False
    block = 1024  # a row needs no other one

    def __init__(self, net: str, game: Game, weights: Weights) -> None:
        assert engine_computes(net, game)
        self.net, self.game = net, game
        self._shapes = weight_shapes(net, game)
        self.load(weights, net)

    def __getstate__(self) -> dict[str, object]:
        """For `copy` and `pickle`: layers are made again."""
        return {"net": self.net, "game": self.game, "weights": self.weights}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        EngineMLP.__init__(self, **state)  # type: ignore[arg-type]

    @property
    def network(self) -> EngineMLP:
        """`Backend.network`."""
        return self

    def load(self, weights: Weights, net: str) -> None:
        """`Backend.load`."""
        if not all(np.isfinite(w).all() for w in weights.values()):
            raise InputError("its weights are not all finite")
        if {name: w.shape for name, w in weights.items()} != self._shapes:
            raise InputError("its tensors are not this network's", text=net or None)
        self.weights = weights
        names = [f"layers.{i}" for i in range(len(hidden_sizes(self.net)))]
        hidden, policy, critic = ([_layer(weights, name) for name in some]
                                  for some in (names, ["policy"], ["critic"]))  # fmt: skip
        self._policy = MLPLayers([*hidden, *policy])
        if self.net.endswith(CRITIC):
            hidden = [_layer(weights, f"critic_{name}") for name in names]
        self._critic = MLPLayers([*hidden, *critic])

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
        found = [legal_softmax(self._policy.evaluate(packed), legal)]
        return [*found, *self.values(packed, pub, memory)] if values else found

    def values(self, packed: Bytes, pub: Float32s | None, memory: Memory | None) -> list[Float32s]:
        """`Backend.values`."""
        return [np.ascontiguousarray(self._critic.evaluate(packed)[:, 0])]

    def moves(self, packed: Bytes, legal: Bytes, moves: Moves) -> list[Float32s]:
        """`Backend.moves`. `InputError`: there are none, as `tells_moves` says."""
        raise InputError("its moves are no pairs of squares", text=self.net)

    def policy_shared(self, packed: Bytes, legal: Bytes, unit: int) -> Float32s:
        """`Backend.policy_shared`."""
        return self.policy(packed, legal, None, False, None)[0]


def weight_shapes(net: str, game: Game) -> dict[str, tuple[int, ...]]:
    """The shapes of an `MLP`'s weights, by name."""
    sizes = hidden_sizes(net)
    pairs = list(itertools.pairwise([*game.shape, *sizes]))
    kinds = ("layers", "critic_layers") if net.endswith(CRITIC) else ("layers",)
    shapes = {f"{kind}.{i}": pair for kind in kinds for i, pair in enumerate(pairs)}
    shapes |= {"policy": (sizes[-1], game.actions), "critic": (sizes[-1], 1)}
    weights = {f"{name}.weight": (outputs, inputs) for name, (inputs, outputs) in shapes.items()}
    return {**weights, **{f"{name}.bias": (outputs,) for name, (_, outputs) in shapes.items()}}


def _layer(weights: Weights, name: str) -> tuple[Float32s, Float32s]:
    weight, bias = (
        np.ascontiguousarray(weights[f"{name}.{kind}"], np.float32) for kind in ("weight", "bias")
    )
    return weight, bias
