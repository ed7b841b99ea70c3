"""A terminal for the commands under test: a real one (pty), and what its screen would show."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Callable, Sequence

WIDTH = 80


class Screen:
    """What a terminal shows that gets some text. `frames` has every line that ever stood there."""

    def __init__(self) -> None:
        self.rows, self.row, self.column = [""], 0, 0
        self.frames: list[str] = []

    def feed(self, text: str) -> None:
        for control, word in re.findall(r"(\x1b\[\d*[AJK]|[\r\n])|([^\x1b\r\n]+)", text):
            if word:
                row = self.rows[self.row].ljust(self.column)
                end = self.column + len(word)
                self.rows[self.row] = row[: self.column] + word + row[end:]
                self.column = end
                self.frames.append(self.rows[self.row])
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.row += 1
                self.rows += [""] * (self.row == len(self.rows))
            elif control.endswith("A"):
                self.row -= int(control[2:-1] or 1)
            else:
                self.rows[self.row] = self.rows[self.row][: self.column]
                if control.endswith("J"):
                    del self.rows[self.row + 1 :]


class Terminal:
    """A terminal of so many columns. `start` runs something there, in a session of its own, whose
    stderr it is; `hang_up` takes it away."""

    def __init__(self, columns: int = WIDTH) -> None:
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (24, columns))
        self.screen = Screen()

    def start(self, command: Sequence[str], **settings: object) -> subprocess.Popen[bytes]:
        """`stdin`, ...: as for Popen; by default they are the terminal too."""

        def take() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(2), os.O_RDWR))  # which makes it the session's

        for name in ("stdin", "stdout", "stderr"):
            settings.setdefault(name, self.theirs)
        return subprocess.Popen(command, preexec_fn=take, **settings)  # type: ignore[call-overload]

    def read(self, until: Callable[[str], bool] = lambda text: False) -> str:
        """What is shown until it holds what is waited for, or until nobody has the terminal."""
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1
        text = ""
        try:
            while not until(text) and (chunk := os.read(self.ours, 65536)):
                text += chunk.decode()
        except OSError:  # its way to say that nobody has its other end
            pass
        self.screen.feed(text)
        return text

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def hang_up(self) -> None:
        os.close(self.ours)
