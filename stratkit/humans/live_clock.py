"""A person's clock while it runs. It belongs to the match: pages show it, and nobody sets it."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from stratkit.players.clock import Clock


class LiveClock:
    """What is left of a `clock`, in one game at a time. `kept`: by game, what was left after the
    person's last move; `keep` is told what is left now. `now`: the time, in seconds."""

    def __init__(
        self,
        clock: Clock,
        kept: Mapping[int, float] = MappingProxyType({}),
        keep: Callable[[int, float], None] = lambda game, left: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock, self.kept, self.keep, self.now = clock, kept, keep, now
        self._game, self._left = 0, clock.seconds
        self._since: float | None = None  # when it began to run

    def begin(self, game: int) -> None:
        """A game begins, or goes on. What a move took is not given back with the move."""
        self._game, self._left, self._since = game, self.kept.get(game, self.clock.seconds), None

    @property
    def left(self) -> float:
        """Seconds; 0: the flag has fallen."""
        spent = 0.0 if self._since is None else self.now() - self._since
        return max(0.0, self._left - spent)

    def run(self) -> None:
        """The person is asked."""
        if self._since is None:
            self._since = self.now()

    def pause(self) -> None:
        """The person waits, until it is asked again."""
        self._left, self._since = self.left, None
        self.keep(self._game, self._left)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """A turn, in which the clock runs from the first question. A move brings the increment."""
        more = 0.0
        try:
            yield
            more = self.clock.increment
        finally:
            if self._since is not None:
                left = self.left
                self._left, self._since = left + more if left else 0.0, None
                self.keep(self._game, self._left)

    def shown(self) -> Any:
        """For a page, as JSON."""
        return {"left": round(self.left, 1), "runs": self._since is not None}


def minutes(seconds: float) -> str:
    """As people read it: 4:05. Only who has nothing left reads 0:00."""
    whole = math.ceil(seconds)
    return f"{whole // 60}:{whole % 60:02}"
