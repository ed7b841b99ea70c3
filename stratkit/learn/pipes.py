"""Inputs that are pipes: there is no second reading of them, and several are read side by side."""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import stat
import threading
from collections.abc import Iterator, Mapping
from typing import BinaryIO, TypeVar

from stratkit.learn.request import STDIN

T = TypeVar("T")
POLL = 0.2  # seconds between two looks at whether to stop
PAGE = 4096  # bytes


def is_pipe(path: str) -> bool:
    """Whether this input, where `-` is stdin, is a pipe."""
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO((os.fstat(0) if path == STDIN else os.stat(path)).st_mode)
    return False


def keep_small(pipe: BinaryIO) -> None:
    """Lets a pipe hold a page, where the system can: what waits in one of several grows old."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux
        with contextlib.suppress(OSError):  # no pipe, or one that holds more
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PAGE)


def interleaved(
    inputs: Mapping[str, Iterator[T]], stopped: threading.Event, poll: float = POLL
) -> Iterator[T]:
    """What any of the inputs, by name, yields, as it comes, until all have ended or one has failed:
    a thread waits for each. Each has at most one thing at hand that is not taken."""
    ready: queue.Queue[T | _End] = queue.Queue(1)

    def put(item: T | _End) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                return ready.put(item, timeout=poll)

    def read(one: Iterator[T]) -> None:
        try:
            for item in one:
                put(item)
                if stopped.is_set():
                    return
            put(_End())
        except BaseException as error:
            put(_End(error))

    threads = [
        threading.Thread(target=read, args=(one,), daemon=True, name=name)
        for name, one in inputs.items()
    ]
    for thread in threads:
        thread.start()
    left = len(inputs)
    while left and not stopped.is_set():
        with contextlib.suppress(queue.Empty):
            item = ready.get(timeout=poll)
            if not isinstance(item, _End):
                yield item
            elif item.error:
                raise item.error
            else:
                left -= 1
    for thread in threads:  # one that waits for its pipe may be left, but none within numpy
        thread.join(poll / len(threads))


class _End:
    """An input has ended, or failed."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
