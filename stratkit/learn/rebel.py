"""ReBeL's learning (Brown et al. 2020, section 5 and appendix E): a network learns from search.

    Buffer         the newest examples, any of which is as likely to be drawn
    ValueLearner   the network, its loss, and its exponential average

Self-play searches with the online network and makes the examples (`stratkit.search.generate`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stratkit.arrays import Float32s, Int64s
from stratkit.errors import InputError
from stratkit.learn.config import ReBeLConfig
from stratkit.learn.optimizer import Adam
from stratkit.nets.network import load_weights
from stratkit.nets.pbs import PBSNet
from stratkit.storage.checkpoints import tensors_of

Parts = Mapping[str, NDArray[np.float32]]


class Buffer:
    """The last `size` examples, of which `draw` takes some, each as likely as any: which, is a
    function of the seed and the step. Example k is at place k modulo `size`."""

    def __init__(self, size: int, inputs: int, hands: int, seed: int) -> None:
        self.size, self.added = size, 0
        self._held = 0  # fewer than were added, once a smaller buffer was loaded
        self._rows = np.empty((size, inputs), np.float32)
        self._values = np.empty((size, hands), np.float32)
        self.seed = seed

    def __len__(self) -> int:
        return self._held

    @property
    def _oldest(self) -> int:
        """The first example that is held, unless all places are taken: then 0."""
        return 0 if self._held == self.size else self.added - self._held

    def add(self, rows: Float32s, values: Float32s) -> None:
        """Adds examples: rows float32 [n, inputs], values float32 [n, hands], NaN of hands that
        are not there."""
        at = (self.added + np.arange(len(rows))) % self.size
        self._rows[at], self._values[at] = rows, values
        self.added += len(rows)
        self._held = min(self._held + len(rows), self.size)

    def draw(self, n: int, step: int) -> tuple[Float32s, Float32s]:
        """Rows float32 [n, inputs] and values float32 [n, hands]."""
        random = np.random.Generator(np.random.Philox(key=self.seed, counter=[0, 0, 0, step]))
        at = (self._oldest + random.integers(len(self), size=n)) % self.size
        return self._rows[at], self._values[at]

    def tensors(self) -> dict[str, Float32s]:
        """All n examples, for a checkpoint: `buffer/rows` and `buffer/values`, example k at place k
        modulo n."""
        n = len(self)
        where: slice | Int64s = slice(n)
        if self._oldest:
            k = np.arange(self.added - n, self.added)
            where = np.roll(k % self.size, k[0] % n)
        return {"buffer/rows": self._rows[where], "buffer/values": self._values[where]}

    def load(self, tensors: Parts, added: int) -> None:
        """Goes on from `tensors` of a checkpoint, when so many had been added, with the newest
        examples for which there is room. `InputError`: they are no examples of this game."""
        shape = tensors["buffer/rows"].shape if "buffer/rows" in tensors else ()
        n = shape[0] if shape else 0
        self._held = min(n, self.size)
        k = np.arange(added - self._held, added)
        for name, into in (("buffer/rows", self._rows), ("buffer/values", self._values)):
            found = tensors.get(name)
            if (
                found is None
                or found.shape != (n, into.shape[1])
                or found.dtype != np.float32
                or not min(added, 1) <= n <= added
            ):
                raise InputError("its examples are not those of this run's buffer", text=name)
            into[k % self.size] = found[k % max(n, 1)]
        self.added = added


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
        rows, values = map(torch.from_numpy, buffer.draw(self.batch, self.step))
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
        """Of the next update: as the config says, and halved at each of its `halve` steps."""
        halvings = sum(self.step >= step for step in self.config.halve)
        return self.config.rate(self.step) * 0.5**halvings

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Both networks and Adam's moments, for a checkpoint (formats/checkpoint.md)."""
        networks = {"online": self.network, "average": self.average}
        out = {
            f"{part}/{name}": tensor.detach().numpy()
            for part, network in networks.items()
            for name, tensor in network.state_dict().items()
        }
        names = [name for name, _ in self.network.named_parameters()]
        for moment, tensors in self.adam.moments.items():
            for name, tensor in zip(names, tensors, strict=True):
                out[f"optimizer/{moment}/{name}"] = tensor.numpy()
        return out

    def load(self, tensors: Parts, step: int) -> None:
        """Goes on from `tensors` of a checkpoint. `InputError`: they are another network's."""
        load_weights(self.network, tensors_of(tensors, "online"))
        load_weights(self.average, tensors_of(tensors, "average"))
        names = [name for name, _ in self.network.named_parameters()]
        if step and not self.adam.load(names, tensors_of(tensors, "optimizer")):
            raise InputError("its optimizer is another network's")
        self.step = step
