"""How far a command is: a line that is drawn again and again at a terminal, or a dated line now and
then."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NoReturn, Self

from stratkit.cli.messages import RunningCommand, is_live, to_stderr
from stratkit.errors import printable
from stratkit.storage.streams import show
from stratkit.terminal import CLEAR_LINE, fitting, size

if TYPE_CHECKING:
    from tqdm import tqdm


class ProgressLine:
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
        self.begin(0)

    def begin(self, done: int) -> None:
        """So many units were done before: they say nothing of the rate."""
        self._doing: str | None = None
        self._logged, self._drawn = time.monotonic(), -math.inf
        self._bar = _bar(self, done)

    @property
    def done(self) -> int:
        """Units that are done."""
        return int(self._bar.n)

    def doing(self, what: str) -> None:
        """What is done before the first unit."""
        self._doing = what
        self.draw()

    def update(self, done: int = 1, fields: Sequence[str] = ()) -> None:
        """So many more units are done; `fields` say what else there is to say, the first one
        first."""
        if self._doing:
            self.begin(self.done)
        self.fields, now = tuple(fields), time.monotonic()
        if done:
            self._bar.update(done)
        elif now >= self._drawn + self._bar.mininterval:  # tqdm would count it as time of no step
            self.draw()
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
        done, rate = self.done, self._rate()
        if self.total is None:
            yield f"{done:,} {self._units(done)}"
        else:
            yield f"{done:,} of {self.total:,} {self._units(self.total)}"
            if self.total:
                yield f"{100 * done // self.total} %"
        if rate and self.total is not None:
            left = max(self.total - done, 0) / rate
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
        known = self._bar.format_dict
        done = known["n"] - known["initial"]
        return known["rate"] or (done / known["elapsed"] if known["elapsed"] else 0.0)

    # ---- on the terminal ----

    def draw(self) -> None:
        """Draws the line again."""
        self._drawn = time.monotonic()
        if self.live:
            width = size().columns - 1
            self.live = show(CLEAR_LINE + self.line(width))

    def clear(self) -> None:
        """Takes the line away, so that something else can be said."""
        self.live = self.live and show(CLEAR_LINE)

    def __enter__(self) -> Self:
        if self.live:
            RunningCommand.before, RunningCommand.after = self.clear, self.draw
        return self

    def __exit__(self, *_: object) -> None:
        if not self.live:
            return
        RunningCommand.before = RunningCommand.after = None
        if self._doing:
            self.clear()
        else:
            self.draw()  # the last numbers stay
            show("\n")


def _bar(progress: ProgressLine, done: int) -> tqdm[NoReturn]:
    """Tells the rate and when to draw. How it is drawn is ours: tqdm cuts a line that is too
    long."""
    from tqdm import tqdm  # not at the top, since --help needs no progress

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0  # no helper thread

        def display(self, msg: str | None = None, pos: int | None = None) -> bool:
            progress.draw()
            return True

    # A bar of a graphical interface: tqdm itself writes nothing.
    return Bar(total=progress.total, initial=done, miniters=1, gui=True)
