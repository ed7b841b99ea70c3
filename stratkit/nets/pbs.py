"""The value network of public belief states (Brown et al. 2020, ReBeL, appendix E): what each hand
of the player that is asked may expect."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

LAST = 0.01  # by which the first weights of the last layer are multiplied


class PBSNet(nn.Module):
    """Layers with layer normalisation and then GELU; `inputs` as `Subgames.inputs` has them; one
    value for each of `hands`."""

    def __init__(self, inputs: int, hands: int, sizes: Sequence[int]) -> None:
        super().__init__()
        widths = [inputs, *sizes]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(widths))
        self.norms = nn.ModuleList(nn.LayerNorm(b) for b in sizes)
        self.last = nn.Linear(widths[-1], hands)
        with torch.no_grad():
            self.last.weight.mul_(LAST)
            self.last.bias.mul_(LAST)

    def forward(self, rows: Tensor) -> Tensor:
        """float32 [n, hands] of rows float32 [n, inputs]."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            rows = gelu(norm(layer(rows)), approximate="tanh")
        return self.last(rows)  # type: ignore[no-any-return]
