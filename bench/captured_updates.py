"""An update whose passes through the networks are recorded once, as CUDA graphs: `bench/gpu.py`.

Every part is filled up, with a view of its own, to some eighths of a chunk. So networks meet few
shapes, and few graphs are enough: of the outputs, and of the gradient through them. Targets, the
loss and Adam's step are launched as before. Where there is no GPU nothing is recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from stratkit.learn.algorithm import DistinctViews, Outputs
from stratkit.learn.optimizer import LearnedBatch, Optimizer
from stratkit.nets.captured import Captured


class CapturedOptimizer(Optimizer):
    """`Optimizer`, for one thread, an algorithm without minibatches, and a forward that reads
    outputs and legal actions alone (MMD's with a uniform magnet)."""

    _graphs: dict[tuple[str, int], Callable[..., tuple[Tensor, ...]]]

    def _split(self, rows: int, unit: int = 1) -> list[slice]:
        """Views chunk by chunk; steps, which come without a unit, at once."""
        size = rows if unit == 1 else self.chunk
        return [slice(at, min(at + size, rows)) for at in range(0, rows, max(1, size))]

    def _rows(self, touched: Tensor) -> list[Tensor]:
        return list(touched.nonzero()[:, 0].split(self.chunk))

    def _keeps(self, views: Any) -> bool:
        return False

    def _forward(self, batch: LearnedBatch, part: slice, keep: bool) -> tuple[Outputs, Any]:
        number = part.stop - part.start
        rows = torch.arange(part.start, part.stop, device=self.device)
        every = self._launch("outputs", self._look, *self._filled(batch, rows))
        outputs = tuple(x[:number].clone() for x in every)
        views = DistinctViews(None, batch.legal[part])
        with self._autocast(), torch.no_grad():
            return outputs, self.algorithm.forward(views, outputs, self.step)

    def _backward(
        self,
        batch: LearnedBatch,
        part: slice | Tensor,
        outputs: Outputs | None,
        grad_outputs: Outputs,
    ) -> tuple[Tensor, ...]:
        rows = torch.arange(len(batch.observations), device=self.device)[part]
        onward = []
        for gradient in grad_outputs:
            filled = gradient.new_zeros((self._size(len(rows)), *gradient.shape[1:]))
            filled[: len(rows)] = gradient[rows]
            onward.append(filled)
        return self._launch("gradient", self._descent, *self._filled(batch, rows), *onward)

    def _size(self, rows: int) -> int:
        eighth = max(1, self.chunk // 8)
        return min(self.chunk, rows + -rows % eighth)

    def _filled(self, batch: LearnedBatch, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The observations of a part that is filled up, and its legal actions."""
        rows = torch.cat([rows, rows[-1:].expand(self._size(len(rows)) - len(rows))])
        return batch.observations[rows], batch.legal[rows]

    def _look(self, observations: Tensor, legal: Tensor) -> tuple[Tensor, ...]:
        with self._autocast(), torch.no_grad():
            views = DistinctViews(self.algorithm.prepare(observations), legal)
            return self.algorithm.outputs(views)

    def _descent(self, observations: Tensor, legal: Tensor, *onward: Tensor) -> tuple[Tensor, ...]:
        with self._autocast(), torch.enable_grad():
            views = DistinctViews(self.algorithm.prepare(observations), legal)
            outputs = self.algorithm.outputs(views)
        return torch.autograd.grad(outputs, self.adam.parameters, onward)

    def _launch(
        self, name: str, compute: Callable[..., tuple[Tensor, ...]], *inputs: Tensor
    ) -> tuple[Tensor, ...]:
        """What it computes; recorded, where that is possible. The next call may overwrite it."""
        if self.device.type != "cuda":
            return compute(*inputs)
        self._graphs = getattr(self, "_graphs", {})
        key = name, len(inputs[0])
        if key not in self._graphs:
            try:
                self._graphs[key] = Captured(compute, *inputs)
            except RuntimeError as error:
                reason = " ".join(str(error).split())[:300]
                print(f"bench: {name}: goes on unrecorded: {reason}", file=sys.stderr, flush=True)
                self._graphs[key] = compute
        return self._graphs[key](*inputs)
