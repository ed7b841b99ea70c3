"""Publishing beside learning: weights are written while the learner goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from stratkit.storage.checkpoints import Tensors, publish_policy


class Publisher:
    """Writes what is published in the folder `run`, in a thread. One write is under way at most. Of
    what is handed over meanwhile, the newest alone is written next: weights and counts of what was
    consumed stand for all that came before them."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._next: deque[tuple[Tensors, Mapping[str, Any]]] = deque(maxlen=1)
        self._writes: list[Future[None]] = []
        self._thread = ThreadPoolExecutor(1, "publisher")  # the interpreter waits for its end

    def publish(self, weights: Tensors, metadata: Mapping[str, Any]) -> None:
        """Hands over what nobody changes any more. Raises what an earlier write has raised."""
        self._settle([write for write in self._writes if write.done()])
        self._next.append((weights, metadata))
        self._writes.append(self._thread.submit(self._write))

    def finish(self) -> None:
        """Returns when the newest is written; raises what a write has raised."""
        self._settle(list(self._writes))

    def close(self) -> None:
        """The same, but silently: for who may have an error already."""
        self._thread.shutdown()

    def _settle(self, writes: Sequence[Future[None]]) -> None:
        for write in writes:
            self._writes.remove(write)
            write.result()

    def _write(self) -> None:
        try:
            newest = self._next.popleft()
        except IndexError:  # a write before has taken it
            return
        publish_policy(self._run, *newest)
