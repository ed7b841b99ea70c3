"""In how many threads a network computes: one, and the commands' own threads beside it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stratkit.threads import search_threads

ROWS = 8  # positions come in multiples of this: the library prepares anew for every other number
BLOCK = 64  # rows that a network computes at a time: more leave the caches, fewer cost more each
MIN_ROWS = 16  # rows that are worth another thread

Item = TypeVar("Item")
Result = TypeVar("Result")


def one_thread() -> None:
    """Torch computes in the calling thread alone from now on: the same sums on every machine of a
    kind. Its several threads would wait for each other at every operation. That is slow with small
    networks, and slower as soon as a core has something else to do."""
    import torch

    torch.set_num_threads(1)


def side_by_side(
    compute: Callable[[Item], Result],
    items: Sequence[Item],
    begin: Callable[[], None] | None = one_thread,
) -> list[Result]:
    """What is computed of each item, in their order, in as many threads as the process searches
    in. Each item is computed in one of them, so that their number changes no sum. `begin`: what a
    thread does first; None: nothing, for who needs no torch."""
    threads = search_threads()
    if threads == 1 or len(items) < 2:
        return [compute(item) for item in items]
    return list(_pool(threads, begin).map(compute, items))


def shares(rows: int) -> list[slice]:
    """Rows in blocks for `side_by_side`, equally large and as many for each thread: for who does
    not mind that the rounding depends on the number of threads."""
    threads = min(search_threads(), -(-rows // MIN_ROWS))
    number = -(-rows // (BLOCK * threads)) * threads
    size = -(-rows // (ROWS * number)) * ROWS
    return [slice(at, at + size) for at in range(0, rows, size)]


@functools.cache
def _pool(threads: int, begin: Callable[[], None] | None) -> ThreadPoolExecutor:
    """All players share it: games with programs, which have threads of their own, need no more."""
    return ThreadPoolExecutor(threads, "network", begin)


os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads
