"""A window of old episodes, which a learner learns from again."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratkit.engine import Game, uniform
from stratkit.engine.random_streams import Stream
from stratkit.learn.replayed import EpisodeChunk
from stratkit.learn.request import Settings
from stratkit.storage.checkpoints import tensors_of
from stratkit.storage.episodes import PLAYED, VERSION, EpisodeReader, EpisodeWriter, Header

WindowState = tuple[int, tuple[list[EpisodeChunk], ...]]  # how many it met, and those that it holds


class Window:
    """The last `batches` batches of episodes, of which `replays` are drawn for each new one, all
    different. The draws are a function of `seed` and of how many batches came before."""

    def __init__(self, batches: int, replays: int, seed: int) -> None:
        self.replays, self.seed = replays, seed
        self.met = 0
        self._batches: deque[list[EpisodeChunk]] = deque(maxlen=batches)

    @property
    def missing(self) -> int:
        """How many more batches it would hold."""
        return (self._batches.maxlen or 0) - len(self._batches)

    def state(self) -> WindowState:
        """What it holds now; it stays as it is when more batches come."""
        return self.met, tuple(self._batches)

    def load(self, state: WindowState) -> None:
        """Goes on from what `state` of another one gave."""
        self.met = state[0]
        self._batches.extend(state[1])

    def meet(self, fresh: Sequence[EpisodeChunk]) -> list[EpisodeChunk]:
        """Keeps a new batch; the old episodes that are to be learned from with it."""
        there = len(self._batches)
        numbers = np.full(there, self.met, np.int64)
        order = uniform(self.seed, numbers, np.arange(there, dtype=np.int32), Stream.WINDOW)
        drawn = sorted(np.argsort(order)[: self.replays].tolist())
        old = [chunk for index in drawn for chunk in self._batches[index]]
        self._batches.append(list(fresh))
        self.met += 1
        return old


def to_tensors(game: Game, state: WindowState) -> dict[str, NDArray[Any]]:
    """As a checkpoint holds it: `window/met`, and of each batch its chunks as episode streams."""
    out: dict[str, NDArray[Any]] = {"window/met": np.array([state[0]], np.int64)}
    for number, chunks in enumerate(state[1]):
        for part, chunk in enumerate(chunks):
            stream = io.BytesIO()
            header = Header(
                version=PLAYED if chunk.played else VERSION,
                game=game.name,
                rules=game.rules,
                endings=tuple(chunk.endings),
                seed=0,
                opponent="unknown" if chunk.against else None,
                sampled=not chunk.played,
            )
            with EpisodeWriter(stream, header) as writer:
                writer.write(chunk.episodes)
            out[f"window/{number:05}/{part:05}"] = np.frombuffer(stream.getvalue(), np.uint8)
    return out


def from_tensors(tensors: Mapping[str, NDArray[Any]]) -> WindowState | None:
    """The inverse. None: the checkpoint has no window."""
    found = dict(tensors_of(tensors, "window"))
    if "met" not in found:
        return None
    met = int(found.pop("met")[0])
    batches: dict[str, list[EpisodeChunk]] = {}
    for name in sorted(found):
        reader = EpisodeReader(io.BytesIO(found[name].tobytes()), f"window/{name}")
        header = reader.open()
        against, played = header.opponent is not None, not header.sampled
        batches.setdefault(name.split("/")[0], []).extend(
            EpisodeChunk(episodes, header.endings, reader.name, against, played)
            for episodes in reader.frames()
        )
    return met, tuple(batches.values())


def open_window(settings: Settings, tensors: Mapping[str, NDArray[Any]]) -> Window | None:
    """The window that a run's settings ask for, with what a checkpoint's `tensors` hold of it."""
    batches, replays = settings.hyper.replayed
    if not replays:
        return None
    window = Window(batches, replays, settings.run.seed)
    if state := from_tensors(tensors):
        window.load(state)
    return window
