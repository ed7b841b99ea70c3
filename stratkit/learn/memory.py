"""How many views the networks may evaluate at a time, by the memory of the device."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

SHARE = 0.5  # of the free memory: the gradients of the largest layers need some of it, too


def fitting(views: int, compute: Callable[[], Any], parameters: Iterable[Tensor]) -> int:
    """How many views fit into the memory that is free, if `compute` evaluates so many `views`."""
    device = next(iter(parameters := list(parameters))).device
    saved = saved_bytes(compute, parameters)
    return max(1, int(SHARE * free_bytes(device) * views / max(1, saved)))


def saved_bytes(compute: Callable[[], Any], parameters: Iterable[Tensor]) -> int:
    """Bytes that a graph keeps for its gradient until that is computed, without the parameters,
    which are there anyway."""
    given = {parameter.untyped_storage().data_ptr() for parameter in parameters}
    saved: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        graph = compute()
    total = sum(saved.values())
    del graph  # until here no address could be given away a second time
    return total


def free_bytes(device: torch.device) -> int:
    """Bytes of the device's memory that nobody uses."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
