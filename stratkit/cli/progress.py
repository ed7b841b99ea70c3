"""How far a command is: a line that is drawn again and again at a terminal, or a dated line now and
then."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Self

from stratkit.cli.messages import Session, is_live, to_stderr
from stratkit.errors import printable
from stratkit.storage.streams import show
from stratkit.terminal import CLEAR_LINE, fitting, size

INTERVAL = 0.1  # seconds from one drawing to the next
MARKS = 60  # the rate is that of so many last seconds, or units if these take longer


class Progress:
    """Counts units of work up to `total` (None: nobody knows), and tells on stderr how it goes.

    At a terminal it is one line, from which the last fields are left out where it is narrow.
    `log_every`: the seconds between two dated lines; 0: there are none. A context manager.
    """

    def __init__(
        self,
        total: int | None,
        unit: str,
        name: str,
        live: bool | None = None,
        log_every: float = 0,
    ) -> None:
        self.total, self.unit, self.name, self.log_every = total, unit, name, log_every
        self.live = is_live() if live is None else live
        self.fields: tuple[str, ...] = ()
        self._marks: deque[tuple[float, int]] = deque(maxlen=MARKS)
        self._drawn = -math.inf
        self.begin(0)

    def begin(self, done: int) -> None:
        """So many units were done before: they say nothing of the rate."""
        now = time.monotonic()
        self.done, self._logged = done, now
        self._doing: str | None = None
        self._marks.clear()
        self._marks.append((now, done))

    def doing(self, what: str) -> None:
        """What is done before the first unit."""
        self._doing = what
        self._draw()

    def update(self, done: int = 1, fields: Sequence[str] = ()) -> None:
        """So many more units are done; `fields` say what else there is to say, the first one
        first."""
        if self._doing:
            self.begin(self.done)
        now = time.monotonic()
        self.done, self.fields = self.done + done, tuple(fields)
        if now >= self._marks[-1][0] + 1 and done:
            self._marks.append((now, self.done))
        if now >= self._drawn + INTERVAL:
            self._drawn = now
            self._draw()
        if done and self.log_every and now >= self._logged + self.log_every:
            self._logged = now
            date = datetime.now().isoformat(" ", "seconds")
            to_stderr(printable(f"{date} {self.name}: {', '.join(self._fields())}"))

    def line(self, width: int) -> str:
        """What the terminal shows in so many columns."""
        fields = [self._doing] if self._doing else list(self._fields())
        fields = [printable(field) for field in fields]
        return fitting([f"{self.name}: {fields[0]}", *fields[1:]], width) or fitting(fields, width)

    def _fields(self) -> Iterator[str]:
        if self.total is None:
            yield f"{self.done:,} {self._units(self.done)}"
        else:
            yield f"{self.done:,} of {self.total:,} {self._units(self.total)}"
            if self.total:
                yield f"{100 * self.done // self.total} %"
        rate = self._rate()
        if rate and self.total is not None:
            left = max(self.total - self.done, 0) / rate
            if left < 1e9:
                yield f"{timedelta(seconds=math.ceil(left))} left"
        if rate:
            fast = rate >= 1
            yield f"{rate:,.1f} {self.unit}s/s" if fast else f"{1 / rate:,.1f} s/{self.unit}"
        yield from self.fields

    def _units(self, number: int) -> str:
        return self.unit if number == 1 else f"{self.unit}s"

    def _rate(self) -> float:
        """Units a second of late; 0 if there is nothing to tell it from."""
        since, before = self._marks[0]
        seconds = time.monotonic() - since
        return (self.done - before) / seconds if seconds > 0 else 0.0

    # ---- on the terminal ----

    def _draw(self) -> None:
        if self.live:
            width = size().columns - 1
            self.live = show(CLEAR_LINE + self.line(width))

    def clear(self) -> None:
        """Takes the line away, so that something else can be said."""
        self.live = self.live and show(CLEAR_LINE)

    def __enter__(self) -> Self:
        if self.live:
            Session.before, Session.after = self.clear, self._draw
        return self

    def __exit__(self, *_: object) -> None:
        if not self.live:
            return
        Session.before = Session.after = None
        if self._doing:
            self.clear()
        else:
            self._draw()  # the last numbers stay
            show("\n")
