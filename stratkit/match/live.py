"""How a match shows itself while it is played."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from stratkit.errors import counted, printable
from stratkit.match.scoreboard import Scoreboard
from stratkit.storage.streams import show
from stratkit.terminal import fitting, size

INTERVAL = 0.25  # seconds from one drawing of the live table to the next


@dataclass(frozen=True)
class Console:
    """Where a match says what it has to say.

    say           shows remarks, which the user may have switched off
    warn          shows what cannot wait
    interrupted   is called when the match ends before its time, with the seed, and with the number
                  of games if that has grown
    live          whether stderr is a terminal that shows a table while games go on
    verbose       whether programs' own stderr is shown
    """

    say: Callable[[str], None]
    warn: Callable[[str], None]
    interrupted: Callable[[int, int | None], None]
    live: bool = False
    verbose: bool = False


class LiveTable:
    """The scoreboard on stderr, drawn again and again in the same place while games go on."""

    def __init__(self, board: Scoreboard, console: Console, live: bool) -> None:
        self.board, self.console, self.live = board, console, live
        self._began = self._drawn = time.monotonic()
        self._lines = 0  # on the terminal

    def draw(self) -> None:
        """Draws the table if it is live, and due."""
        now = time.monotonic()
        if self.live and now >= self._drawn + INTERVAL:
            columns, height = size()
            rows = [*self.board.rows(), self._speed(now)][-max(height - 1, 1) :]
            lines = [self._fitting(row, columns - 1) for row in rows]
            away = self._away()
            # Set before it is true: an interrupt comes when something has been written.
            self._drawn, self._lines = now, len(lines)
            self.live = show(away + "".join(f"{line}\n" for line in lines))

    def _speed(self, now: float) -> list[str]:
        board = self.board
        fields = [f"{board.done} of {counted(board.done + board.remaining, 'game')}"]
        if not board.new:
            return fields
        rate = board.new / (now - self._began)
        left = timedelta(seconds=math.ceil(board.remaining / rate))
        return [*fields, f"{60 * rate:.0f} a minute", f"{left} left"]

    @staticmethod
    def _fitting(row: Sequence[str], width: int) -> str:
        """What of a row fits; of a long name at least the beginning."""
        fields = [printable(field) for field in row]
        return fitting(fields, width) or fields[0][:width]

    def warn(self, text: str) -> None:
        """Says something that cannot wait."""
        self.clear()
        self.console.warn(text)

    def log(self) -> None:
        """Says how the match stands."""
        self.clear()
        self.console.say(", ".join(self._speed(time.monotonic())))
        self.console.say(self.board.text())

    def clear(self) -> None:
        """Takes the table away, so that something else can be said."""
        if self.live:
            self.live = show(self._away())
            self._lines = 0

    def _away(self) -> str:
        """What erases the table, from the first column: a terminal that shows ^C has left it."""
        up = f"\x1b[{self._lines}A" if self._lines else ""
        return f"\r{up}\x1b[J"
