"""A computation on a GPU that is recorded once, as a CUDA graph, and launched as one.

A small network's evaluation is some hundred short kernels. Launching them one by one takes longer
than they do, and a GPU that several processes share changes between these in the gaps.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP = 3  # times before it is recorded: libraries choose and prepare their kernels


class Captured:
    """`compute` of tensors of the shapes and dtypes of `inputs`, on their GPU.

    It must do the same whatever they hold, and never wait for the GPU. What else it reads, such as
    weights, stays where it is, and may be overwritten there. `RuntimeError`, torch's: it waits.
    """

    def __init__(self, compute: Callable[..., tuple[Tensor, ...]], *inputs: Tensor) -> None:
        self.inputs = [x.clone() for x in inputs]
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                compute(*self.inputs)
        torch.cuda.current_stream().wait_stream(aside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.outputs = compute(*self.inputs)

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The outputs of these inputs; the next call overwrites them."""
        for mine, given in zip(self.inputs, inputs, strict=True):
            mine.copy_(given)
        self.graph.replay()
        return self.outputs
