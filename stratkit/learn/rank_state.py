"""What each of several ranks has of its own, such as old episodes, in one checkpoint: `NAME` of a
rank by itself, `rank-K/NAME` of rank K of several."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import load, save

from stratkit.learn.ranks import Ranks
from stratkit.storage.checkpoints import Tensors, tensors_of


def collected(own: dict[str, NDArray[Any]], ranks: Ranks) -> dict[str, NDArray[Any]]:
    """For rank 0 what all ranks have; all that have anything call it at the same time."""
    if ranks.size == 1 or not own:
        return own
    parts = map(load, ranks.collect(save(own)))
    return {f"rank-{k}/{name}": x for k, part in enumerate(parts) for name, x in part.items()}


def parts_of(tensors: Tensors) -> list[Tensors]:
    """The parts of a checkpoint's ranks; of one by itself, all tensors."""
    parts: list[Tensors] = []
    while part := tensors_of(tensors, f"rank-{len(parts)}"):
        parts.append(part)
    return parts or [tensors]
