"""Ranks: several learners that work as one. `torchrun` starts them, each has its own part of the
games, and gradients are summed. Counts are those of all ranks."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any

import torch
from numpy.typing import NDArray
from safetensors.numpy import load, save
from torch import Tensor

from stratkit.errors import InputError, StratkitError
from stratkit.learn.config import several_ranks
from stratkit.nets import check_device
from stratkit.storage.checkpoints import Tensors, tensors_of

SLACK = 300.0  # seconds that a rank may be late beside the time that it may wait for episodes
FOREVER = 1e9  # as many as torch can count


class Ranks:
    """One of `size` processes, number `rank`; by itself, the only one."""

    rank, size = 0, 1

    def sum(self, x: Tensor) -> Tensor:
        """x, which becomes its sum over all ranks."""
        return x

    def gather(self, x: Tensor) -> Tensor:
        """The x [n] of all ranks in their order, in one piece; each has its own length."""
        if self.size == 1:
            return x
        lengths = torch.zeros(self.size, dtype=torch.int64, device=x.device)
        lengths[self.rank] = len(x)
        ends = self.sum(lengths).cumsum(0).tolist()
        out = x.new_zeros(ends[-1])
        out[ends[self.rank] - len(x) : ends[self.rank]] = x
        return self.sum(out)

    def exchange(self, value: Any) -> list[Any]:
        """The value of each rank, in their order: JSON values."""
        return [value]

    def collect(self, data: bytes) -> list[bytes]:
        """For rank 0 the bytes of each rank, in their order; for the others nothing."""
        return [data]

    def close(self) -> None:
        """Lets the other ranks go."""


ALONE = Ranks()


class _Group(Ranks):
    """One of several ranks of torchrun. `StratkitError`: another one has gone, or does not
    answer."""

    def __init__(self, timeout: float, device: torch.device) -> None:
        import torch.distributed as dist

        self._dist = dist
        backend = "gloo"
        if device.type == "cuda":
            backend = "cpu:gloo,cuda:nccl"
            torch.cuda.set_device(device)
        limit = datetime.timedelta(seconds=min(timeout + SLACK, FOREVER))
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        try:
            dist.init_process_group(backend, timeout=limit)
        except (RuntimeError, ValueError) as error:
            raise self._alone() from error

    def _alone(self) -> StratkitError:
        """What it is as a rule; torch's own words are in the traceback."""
        what = "another rank has gone, or does not answer (-v -v shows the traceback)"
        return StratkitError(what, where=f"rank {self.rank}")

    def sum(self, x: Tensor) -> Tensor:
        try:
            self._dist.all_reduce(x)
        except RuntimeError as error:
            raise self._alone() from error
        return x

    def exchange(self, value: Any) -> list[Any]:
        data = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        try:
            self._dist.all_gather(lengths, torch.tensor([len(data)]))
            longest = max(int(n) for n in lengths)
            gathered = [torch.zeros(longest, dtype=torch.uint8) for _ in range(self.size)]
            padded = torch.nn.functional.pad(data, (0, longest - len(data)))
            self._dist.all_gather(gathered, padded)
        except RuntimeError as error:
            raise self._alone() from error
        pairs = zip(gathered, lengths, strict=True)
        return [json.loads(bytes(one[: int(n)].numpy())) for one, n in pairs]

    def collect(self, data: bytes) -> list[bytes]:
        lengths = self.exchange(len(data))
        padded = torch.zeros(max(1, *lengths), dtype=torch.uint8)
        padded[: len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        gathered = [torch.empty_like(padded) for _ in lengths] if self.rank == 0 else None
        try:
            self._dist.gather(padded, gathered)
        except RuntimeError as error:
            raise self._alone() from error
        return [bytes(one[:n].numpy()) for one, n in zip(gathered or (), lengths, strict=False)]

    def close(self) -> None:
        self._dist.destroy_process_group()


def open_ranks(timeout: float, device: torch.device) -> Ranks:
    """The ranks that the environment names: torchrun's processes, or one by itself.

    timeout: the seconds that a rank may wait for its episodes while others wait for it. device:
    where this rank computes.
    """
    return _Group(timeout, device) if several_ranks() else Ranks()


def device_of(name: str) -> torch.device:
    """The device that this rank computes on: of several GPUs each has its own."""
    check_device(name)
    if name == "cuda":
        number = int(os.environ.get("LOCAL_RANK", "0"))
        if number >= torch.cuda.device_count():
            raise InputError(f"rank {number} of this machine has no GPU of its own", text=name)
        return torch.device("cuda", number)
    return torch.device(name)


def share(number: int, rank: int, size: int) -> int:
    """The part of `number` that one of `size` ranks has."""
    return number * (rank + 1) // size - number * rank // size


def collected(own: dict[str, NDArray[Any]], ranks: Ranks) -> dict[str, NDArray[Any]]:
    """For rank 0 what all ranks have, in one checkpoint: `NAME` of a rank by itself, `rank-K/NAME`
    of rank K of several. All that have anything call it at the same time."""
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
