"""Learning from examples that are kept: the newest ones, and an optimizer that draws from them.

Buffer             the newest examples, any of which is as likely to be drawn
ExampleBatch       those that are drawn, as an optimizer needs a batch
BufferedOptimizer  as many updates as there are examples for
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stratkit.arrays import Float32s, Int64s
from stratkit.errors import InputError
from stratkit.learn.algorithm import CPU
from stratkit.learn.config import RunConfig
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.ranks import Ranks, share
from stratkit.learn.rebel import ReBeL
from stratkit.storage.checkpoints import Tensors
from stratkit.storage.examples import Values


class Buffer:
    """The last `size` examples, of which `draw` takes some, each as likely as any: which, is a
    function of the seed, the step and the `rank`. Example k is at place k modulo `size`."""

    def __init__(self, size: int, inputs: int, hands: int, seed: int, rank: int = 0) -> None:
        self.size, self.rank, self.added = size, rank, 0
        self._held = 0  # fewer than were added, once a smaller buffer was loaded
        self._rows = np.empty((size, inputs), np.float32)
        self._values = np.empty((size, hands), np.float32)
        self.seed = seed

    @property
    def widths(self) -> tuple[int, int]:
        """Of rows and values."""
        return self._rows.shape[1], self._values.shape[1]

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
        random = np.random.Generator(
            np.random.Philox(key=self.seed, counter=[0, 0, self.rank, step])
        )
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

    def newest(self) -> tuple[Float32s, Float32s]:
        """All n examples, the oldest first: rows float32 [n, inputs], values float32 [n, hands]."""
        at = np.arange(self.added - len(self), self.added) % self.size
        return self._rows[at], self._values[at]

    def load(self, tensors: Tensors, added: int) -> None:
        """Goes on from `tensors` of a checkpoint, when so many had been added, with the newest
        examples for which there is room. `InputError`: they are no examples of this game."""
        shape = tensors["buffer/rows"].shape if "buffer/rows" in tensors else ()
        n = shape[0] if shape else 0
        self._held = min(n, self.size)
        k = np.arange(added - self._held, added)
        for name, into in (("buffer/rows", self._rows), ("buffer/values", self._values)):
            stored = tensors.get(name)
            if (
                stored is None
                or stored.shape != (n, into.shape[1])
                or stored.dtype != np.float32
                or not min(added, 1) <= n <= added
            ):
                raise InputError("its examples are not those of this run's buffer", text=name)
            into[k % self.size] = stored[k % max(n, 1)]
        self.added = added


@dataclass(frozen=True)
class ExampleBatch:
    """Examples, each of which is a view and a step.

    observations  float32 [n, inputs], what the network sees
    values        float32 [n, hands], what it is to say; NaN of hands that are not there
    legal         uint8 [n, 0]: nobody acts
    view          int64 [n], 0 to n - 1
    """

    observations: Tensor
    values: Tensor
    legal: Tensor
    view: Tensor

    @classmethod
    def of(cls, rows: Float32s, values: Float32s) -> ExampleBatch:
        """Of arrays, float32 [n, inputs] and [n, hands]."""
        n = len(rows)
        parts = torch.from_numpy(rows), torch.from_numpy(values)
        return cls(*parts, torch.zeros((n, 0), dtype=torch.uint8), torch.arange(n))

    @property
    def trained(self) -> Tensor:
        """int64 [n]: all of them."""
        return self.view

    def step_counts(self) -> Tensor:
        """float32 [1]: how many values there are."""
        return (~self.values.isnan()).sum().float()[None]

    def to(self, device: torch.device) -> ExampleBatch:
        """The same on a device."""
        return ExampleBatch(*(x.to(device) for x in vars(self).values()))


class BufferedOptimizer(Optimizer):
    """Makes updates from draws of a buffer, to which it adds what comes, until each example has
    been drawn `uses` times on average. Each of several ranks has a part of the buffer."""

    algorithm: ReBeL

    def __init__(
        self,
        algorithm: ReBeL,
        config: RunConfig,
        ranks: Ranks | None = None,
        device: torch.device = CPU,
    ) -> None:
        super().__init__(algorithm, config, ranks, device)
        game, size = algorithm.game, algorithm.config.buffer
        self.width = game.hands * (1 + (game.actions if algorithm.policies else 0))
        rank, size = self.ranks.rank, max(1, share(size, self.ranks.rank, self.ranks.size))
        self.buffer = Buffer(size, game.pbs_inputs, self.width, config.seed, rank)
        self.added = 0  # examples, of all ranks

    def add(self, batch: Values) -> None:
        if batch.values.shape[1] < self.width:
            what = "the examples have no policies for the policy head: selfplay --search cfr,warm=0"
            raise InputError(what)
        self.buffer.add(batch.rows, batch.values[:, : self.width])
        self.added += int(self.ranks.sum(torch.tensor([len(batch.rows)])))

    @property
    def due(self) -> bool:
        return (self.step + 1) * self.config.batch <= self.algorithm.config.uses * self.added

    def learn(self) -> dict[str, float]:
        n = share(self.config.batch, self.ranks.rank, self.ranks.size)
        return self.update(ExampleBatch.of(*self.buffer.draw(n, self.step)))

    def own(self) -> dict[str, NDArray[Any]]:
        several = {"buffer/added": np.array([self.buffer.added])} if self.ranks.size > 1 else {}
        return {**self.buffer.tensors(), **several}

    def load_own(self, parts: Sequence[Tensors], episodes: int) -> None:
        """Of another number of ranks, each takes its share of all examples."""
        rank, size, self.added = self.ranks.rank, self.ranks.size, episodes
        added = [_added(part) for part in parts] if len(parts) > 1 else [episodes]
        if len(parts) == size:
            self.buffer.load(parts[rank], added[rank])
            return
        rows, values, age = [], [], []
        for part, number in zip(parts, added, strict=True):
            whole = Buffer(self.algorithm.config.buffer, *self.buffer.widths, 0)
            whole.load(part, number)
            rows.append(whole.newest()[0])
            values.append(whole.newest()[1])
            age.append(np.arange(len(whole)) / max(1, len(whole)))
        mine = np.argsort(np.concatenate(age), kind="stable")[rank::size]
        self.buffer.added = episodes - len(mine) if size == 1 else 0
        self.buffer.add(np.concatenate(rows)[mine], np.concatenate(values)[mine])


def _added(part: Tensors) -> int:
    """How many examples one of several ranks had added."""
    added = part.get("buffer/added")
    if added is None or added.shape != (1,) or added.dtype != np.int64:
        raise InputError("its examples are not those of a rank's buffer", text="buffer/added")
    return int(added[0])
