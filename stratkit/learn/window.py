"""A window of old episodes, which a learner learns from again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from stratkit.engine import uniform
from stratkit.engine.random_streams import Stream
from stratkit.learn.config import AlphaZeConfig
from stratkit.learn.replayed import EpisodeChunk
from stratkit.learn.request import Settings


class Window:
    """The last `batches` batches of episodes, of which `replays` are drawn for each new one, all
    different. The draws are a function of `seed` and of how many batches came before."""

    def __init__(self, batches: int, replays: int, seed: int) -> None:
        self.replays, self.seed = replays, seed
        self.met = 0
        self._kept: deque[list[EpisodeChunk]] = deque(maxlen=batches)

    @property
    def missing(self) -> int:
        """How many more batches it would hold."""
        return (self._kept.maxlen or 0) - len(self._kept)

    def meet(self, fresh: Sequence[EpisodeChunk]) -> list[EpisodeChunk]:
        """Keeps a new batch; the old episodes that are to be learned from with it."""
        there = len(self._kept)
        numbers = np.full(there, self.met, np.int64)
        order = uniform(self.seed, numbers, np.arange(there, dtype=np.int32), Stream.WINDOW)
        drawn = sorted(np.argsort(order)[: self.replays].tolist())
        old = [chunk for index in drawn for chunk in self._kept[index]]
        self._kept.append(list(fresh))
        self.met += 1
        return old


def open_window(settings: Settings) -> Window | None:
    """The window that a run's settings ask for."""
    hyper = settings.hyper
    if not isinstance(hyper, AlphaZeConfig) or not hyper.replays:
        return None
    return Window(hyper.window, hyper.replays, settings.run.seed)
