"""Multilayer perceptrons by the engine: packed observations in, policies and values out.

Rows are computed one by one, so that none changes another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.arguments import checked
from stratkit.arrays import Bytes, Float32s
from stratkit.engine.library import length, lib, pointer, writable

LANES = int(lib.SK_MLP_LANES)  # outputs come in multiples of these
MAX_WIDTH = int(lib.SK_MLP_WIDTH)  # of inputs and layers


class MLPLayers:
    """Layers, each with its weights float32 [outputs, inputs] and biases [outputs], as torch has
    them, with relu between them. Threads may share it.

        inputs   int, bytes of an observation
        outputs  int, of the last layer
    """

    @checked
    def __init__(self, layers: Sequence[tuple[Float32s, Float32s]]) -> None:
        parts: list[Float32s] = []
        sizes: list[int] = []
        if not layers or not all(isinstance(x, tuple) and len(x) == 2 for x in layers):
            raise TypeError("layers must be pairs of arrays, and at least one")
        self.outputs = 0
        for weights, biases in layers:
            outputs = length("layers' biases", biases)
            inputs = self.outputs if sizes else weights.shape[-1]
            pointer("layers' weights", weights, "float32", (outputs, inputs))
            pointer("layers' biases", biases, "float32", (outputs,))
            sizes = sizes or [inputs]
            sizes.append(outputs + -outputs % LANES)
            if not 0 < max(sizes) <= MAX_WIDTH:
                raise ValueError(f"a layer of {outputs} by {inputs}, of at most {MAX_WIDTH}")
            padded = np.zeros((sizes[-2] + 1, sizes[-1]), np.float32)
            padded[:inputs, :outputs], padded[-1, :outputs] = weights.T, biases
            parts.append(padded.ravel())
            self.outputs = outputs
        self.inputs, self._wide = sizes[0], sizes[-1]
        self._sizes, self._weights = np.array(sizes, np.int32), np.concatenate(parts)

    @checked
    def evaluate(self, packed: Bytes) -> Float32s:
        """Of n observations, uint8 [n, at least the inputs]: float32 [n, at least the outputs]. The
        others mean nothing."""
        n = length("packed", packed)
        stride = max(self.inputs, packed.shape[1] if packed.ndim == 2 else 0)
        seen = pointer("packed", packed, "uint8", (n, stride))
        found = np.empty((n, self._wide), np.float32)
        sizes, weights = writable(self._sizes), writable(self._weights)
        lib.sk_mlp(sizes, len(self._sizes) - 1, weights, seen, stride, n, writable(found))
        return found


@checked
def legal_softmax(logits: Float32s, legal: Bytes) -> Float32s:
    """float32 [n, A]: the policy over the legal actions, uint8 [n, A], by logits float32 [n, at
    least A]; 0 on others."""
    n = length("legal", legal)
    actions = legal.shape[1] if legal.ndim == 2 else 0
    may = pointer("legal", legal, "uint8", (n, actions))
    length("logits", logits)
    stride = max(actions, logits.shape[1] if logits.ndim == 2 else 0)
    at = pointer("logits", logits, "float32", (n, stride))
    policy = np.empty((n, actions), np.float32)
    lib.sk_legal_softmax(at, stride, may, n, actions, writable(policy))
    return policy
