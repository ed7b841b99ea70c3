"""How a match shows itself while it is played."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from stratkit.errors import printable
from stratkit.match.scoreboard import Scoreboard

INTERVAL = 0.25  # seconds from one drawing of the live table to the next


@dataclass(frozen=True)
class Console:
    """Where a match says what it has to say. `say` shows remarks, which the user may have switched
    off, `warn` what cannot wait. `live`: stderr is a terminal that shows a table while games go on;
    `verbose`: programs' own stderr is shown. `interrupted` is called with the seed when the match
    ends before its time."""

    say: Callable[[str], None]
    warn: Callable[[str], None]
    interrupted: Callable[[int], None]
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
            self.clear()
            size = shutil.get_terminal_size()
            lines = [*self.board.text().split("\n"), self._speed(now)][-max(size.lines - 1, 1) :]
            lines = [printable(line)[: size.columns - 1] for line in lines]
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.stderr.flush()
            self._drawn, self._lines = now, len(lines)

    def _speed(self, now: float) -> str:
        board = self.board
        line = f"{board.done} of {board.done + board.remaining} games"
        if not board.new:
            return line
        rate = board.new / (now - self._began)
        left = timedelta(seconds=math.ceil(board.remaining / rate))
        return f"{line}, {60 * rate:.0f} a minute, {left} left"

    def warn(self, text: str) -> None:
        """Says something that cannot wait."""
        self.clear()
        self.console.warn(text)

    def clear(self) -> None:
        """Takes the table away, so that something else can be said."""
        if self._lines:
            sys.stderr.write(f"\x1b[{self._lines}A\x1b[J")
            self._lines = 0
