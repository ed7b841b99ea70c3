"""In how many threads a network computes: one, and the commands' own threads beside it."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stratkit.threads import search_threads

ROWS = 8  # positions come in multiples of this: the library prepares anew for every other number
BLOCK = 64  # rows that a network computes at a time: more leave the caches, fewer cost more each
MIN_ROWS = 16  # rows that are worth another thread
SWITCH_SECONDS = 5e-4  # a thread that comes back to Python waits no longer for another one

Item = TypeVar("Item")
Result = TypeVar("Result")


def one_thread() -> None:
    """Torch computes in the calling thread alone from now on: the same sums on every machine of a
    kind. Its several threads would wait for each other at every operation. That is slow with small
    networks, and slower as soon as a core has something else to do."""
    import torch

    torch.set_num_threads(1)
    torch.get_num_threads()  # until a thread has asked, it takes over what others set


def side_by_side(
    compute: Callable[[Item], Result],
    items: Sequence[Item],
    meanwhile: Callable[[], object] | None = None,
) -> list[Result]:
    """What is computed of each item, in their order, in as many threads as the process searches
    in. Each item is computed in one of them, so that their number changes no sum. What one of them
    asks for again, it computes itself. `meanwhile`: what the caller does if it has to wait."""
    threads = _threads()
    if threads == 1 or len(items) < 2:
        return [compute(item) for item in items]
    results = _pool(threads, "torch" in sys.modules).map(compute, items)
    if meanwhile:
        meanwhile()
    return list(results)


def row_blocks(rows: int, block: int = BLOCK) -> list[slice]:
    """Rows in blocks for `side_by_side`, equally large and as many for each thread: for who does
    not mind that the rounding depends on the number of threads, or knows that it does not."""
    threads = min(_threads(), -(-rows // MIN_ROWS))
    number = -(-rows // (block * threads)) * threads
    size = -(-rows // (ROWS * number)) * ROWS
    return [slice(at, at + size) for at in range(0, rows, size)]


def _threads() -> int:
    """How many the calling thread may ask."""
    return 1 if getattr(_of_pool, "its", False) else search_threads()


_of_pool = threading.local()  # `its`: the thread is one of a pool


@functools.cache
def _pool(threads: int, with_torch: bool) -> ThreadPoolExecutor:
    """All players share it: games with programs, which have threads of their own, need no more."""

    sys.setswitchinterval(SWITCH_SECONDS)

    def begin() -> None:
        _of_pool.its = True
        if with_torch:
            one_thread()

    return ThreadPoolExecutor(threads, "network", begin)


os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads
