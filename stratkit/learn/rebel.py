"""ReBeL's learning (Brown et al. 2020, section 5 and appendix E): a network learns from search.

    Buffer         the newest examples, any of which is as likely to be drawn
    ValueLearner   the network, its loss, and its exponential average

Self-play searches with the online network and makes the examples (`stratkit.search.generate`).
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from stratkit.arrays import Float32s
from stratkit.learn.config import ReBeLConfig
from stratkit.learn.optimizer import Adam
from stratkit.nets.pbs import PBSNet


class Buffer:
    """The last `size` examples, of which `draw` takes some, each as likely as any."""

    def __init__(self, size: int, inputs: int, hands: int, seed: int) -> None:
        self.size, self.added = size, 0
        self._rows = np.empty((size, inputs), np.float32)
        self._values = np.empty((size, hands), np.float32)
        self._random = np.random.Generator(np.random.Philox(seed))

    def __len__(self) -> int:
        return min(self.added, self.size)

    def add(self, rows: Float32s, values: Float32s) -> None:
        """Adds examples: rows float32 [n, inputs], values float32 [n, hands], NaN of hands that
        are not there."""
        at = (self.added + np.arange(len(rows))) % self.size
        self._rows[at], self._values[at] = rows, values
        self.added += len(rows)

    def draw(self, n: int) -> tuple[Float32s, Float32s]:
        """Rows float32 [n, inputs] and values float32 [n, hands]."""
        at = self._random.integers(len(self), size=n)
        return self._rows[at], self._values[at]


def loss_of(found: Tensor, wanted: Tensor) -> Tensor:
    """The mean of x^2 where |x| <= 1 and 2 |x| - 1 beyond, over the hands that are there: Huber's,
    twice. float32 [n, hands], `wanted` NaN of hands that are not."""
    there = ~wanted.isnan()
    x = torch.where(there, found - wanted, 0.0).abs()
    each = torch.where(x <= 1, x * x, 2 * x - 1)
    return each.sum() / there.sum().clamp_min(1)


class ValueLearner:
    """Trains `network` on examples of a `buffer`; `average` is the exponential average of its
    weights, which plays. `step`: updates done."""

    def __init__(self, network: PBSNet, config: ReBeLConfig, batch: int) -> None:
        self.network, self.config, self.batch = network, config, batch
        self.average = copy.deepcopy(network).requires_grad_(False)
        self.adam = Adam(list(network.parameters()), config)
        self.step = 0

    def update(self, buffer: Buffer) -> dict[str, float]:
        """One step on a drawn batch; its metrics: the loss, and the gradient's norm before it is
        clipped."""
        rows, values = map(torch.from_numpy, buffer.draw(self.batch))
        loss = loss_of(self.network(rows), values)
        parameters = list(self.network.parameters())
        gradients = list(torch.autograd.grad(loss, parameters))
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.config.grad_norm:
            scale = (self.config.grad_norm / (norm + 1e-6)).clamp(max=1.0)
            torch._foreach_mul_(gradients, scale)
        self.adam.step(gradients, self.learning_rate())
        self.step += 1
        with torch.no_grad():
            rate = max(self.config.average_rate, 1 / (1 + self.step))  # first a mean of all
            online: list[Tensor] = list(self.network.parameters())
            average: list[Tensor] = list(self.average.parameters())
            torch._foreach_lerp_(average, online, rate)
        return {"value_loss": float(loss.detach()), "grad_norm": float(norm)}

    def learning_rate(self) -> float:
        """Halved at each of the config's `halve` steps."""
        return self.config.lr * 0.5 ** sum(self.step >= step for step in self.config.halve)
