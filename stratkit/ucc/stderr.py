"""What a program writes to its stderr: its last lines are kept, and all of them go to its log."""

from __future__ import annotations

import os

LINES = 3  # that are shown beside a fault
MAX_TAIL = 600  # bytes of them
CHUNK, CHUNKS = 1 << 16, 16  # bytes read at a time, and how often without looking at anything else


class Stderr:
    """A pipe for one process. `writing` is the program's end, which the caller closes.

    Lines in the file `log`, if there is one, begin with `label`; they are appended whole, so that
    several programs may share the file. A line of `CHUNK` bytes or more is broken. Raises `OSError`
    when that file cannot be opened; when it cannot be written (a full disk), `lost` says why, and
    no more goes there.
    """

    def __init__(self, label: str, log: str | None) -> None:
        self.label = label
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._log = -1 if log is None else os.open(log, flags, 0o666)
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        self.ended, self.lost = False, ""
        self._tail = self._line = b""

    def drain(self) -> None:
        """Reads what is there, without waiting."""
        for _ in range(CHUNKS):
            try:
                chunk = os.read(self.reading, CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                self.ended = True
                return
            self._tail = (self._tail + chunk)[-MAX_TAIL:]
            if self._log >= 0:
                *whole, self._line = (self._line + chunk).split(b"\n")
                if len(self._line) >= CHUNK:
                    whole, self._line = [*whole, self._line], b""
                self._write(whole)

    def _write(self, lines: list[bytes]) -> None:
        if lines:
            label = f"{self.label}: ".encode()
            try:
                os.write(self._log, b"".join(label + line + b"\n" for line in lines))
            except OSError as error:
                self.lost = str(error.strerror)
                os.close(self._log)
                self._log = -1

    def last(self) -> str:
        """The last lines in one, with U+FFFD for what is no UTF-8; "" if there are none."""
        self.drain()
        lines = self._tail.decode("utf-8", "replace").split("\n")
        return " | ".join([line.strip() for line in lines if line.strip()][-LINES:])

    def close(self) -> None:
        """Reads the rest, and lets pipe and log go."""
        self.drain()
        os.close(self.reading)
        if self._log >= 0:
            self._write([self._line] if self._line else [])
        if self._log >= 0:
            os.close(self._log)
