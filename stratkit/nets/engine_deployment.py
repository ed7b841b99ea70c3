"""The network for the deployment (`deployment.py`) by the engine's perceptron, on every processor:
most of its inputs are 0, which that passes over."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Bools, Bytes, Float32s, Weights
from stratkit.engine.mlp import MLPLayers
from stratkit.engine.observation import CELLS, TO_PLACE
from stratkit.engine.stratego import FLAG, PIECE, TYPE, TYPES
from stratkit.nets.mirror_images import MirrorImages
from stratkit.nets.numpy_policy import softmax


class EngineDeployment:
    """As `DeploymentNet`, of the `weights` whose names begin with `prefix`, for views of boards
    that are seen by `images`. Whatever is beside a view, its numbers are the same to the last
    bit."""

    def __init__(self, images: MirrorImages, weights: Weights, prefix: str) -> None:
        def layer(*names: str) -> tuple[Float32s, Float32s]:
            weight, bias = (
                np.concatenate([weights[f"{prefix}{name}.{kind}"] for name in names])
                for kind in ("weight", "bias")
            )
            return np.asarray(weight, np.float32), np.asarray(bias, np.float32)

        self.images, self.zone = images, len(weights[f"{prefix}policy.bias"])
        self.layers = MLPLayers([layer("entry"), layer("hidden"), layer("policy", "critic")])

    def evaluate(self, packed: Bytes, legal: Bytes | None, values: bool) -> list[Float32s]:
        """Of n views of a deployment: if `legal` actions, uint8 [n, S], are given, the policy
        float32 [n, S]; and if they are wanted, the values float32 [n]."""
        seen, mirrored = self.images.see(packed)
        outputs = self.layers.evaluate(self._kinds(seen))
        found = []
        if legal is not None:
            placed = np.zeros((len(packed), self.images.squares), np.float32)
            placed[:, : self.zone] = outputs[:, : self.zone]
            turns = mirrored[:, None]
            if self.images.mirrors:  # where the flag may stand, the right is for both sides
                turns = turns | (seen[:, TO_PLACE] == FLAG)[:, None] & self.images.left
            logits = np.where(turns, placed[:, self.images.image], placed)
            found = [softmax(np.where(legal != 0, logits, np.float32(-np.inf)))]
        return [*found, outputs[:, self.zone].copy()] if values else found

    def _kinds(self, packed: Bytes) -> Bytes:
        """uint8 [n, 12 (zone + 1)]: what stands on each square, and the type to place, each 1 of 12
        or none of them."""
        cells = packed[:, CELLS : CELLS + self.zone]
        known = np.where((cells & PIECE) != 0, cells & TYPE, len(TYPES))
        kinds = np.append(known, packed[:, TO_PLACE : TO_PLACE + 1], 1)
        one_hot: Bools = kinds[:, :, None] == np.arange(len(TYPES))
        return one_hot.reshape(len(packed), len(TYPES) * kinds.shape[1]).astype(np.uint8)
