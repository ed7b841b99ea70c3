"""Whether an update has made the weights useless, whatever the algorithm."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from stratkit.errors import InputError

# A loss or a gradient of this size leads nowhere, where returns are 1: sound runs stay below 100.
EXPLODED = 1e4


class Exploded(InputError):
    """Learning leads nowhere: what it came to is not to be kept."""


def are_finite(weights: Sequence[Tensor]) -> bool:
    """Whether all weights are finite numbers."""
    norms = torch._foreach_norm([weight.detach() for weight in weights])
    return bool(torch.stack(norms).isfinite().all())


def check_update(
    step: int,
    sizes: Iterable[float],
    weights: Sequence[Tensor],
    last_good: str | os.PathLike[str],
    unit: float = 1.0,
) -> None:
    """Raises `Exploded` unless the update of `step` was sound. `sizes`: of its losses and its
    gradient, where returns are 1, or `unit` times as large; `weights`: what it has made."""
    sizes = [abs(size) for size in sizes]
    if not all(map(math.isfinite, sizes)):
        what = "the loss is not finite"
    elif max(sizes) >= EXPLODED * unit:
        what = "the loss has exploded"
    elif not are_finite(weights):
        what = "the update has made weights that are not finite"
    else:
        return
    what += f"; the last good checkpoint is {last_good}"
    raise Exploded(what, where=f"step {step}")
