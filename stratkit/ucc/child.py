"""Commands of stratkit that run as processes of their own, and what they cost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from stratkit.errors import printable
from stratkit.ucc.process import SUPERVISOR

ROOT = Path(__file__).parents[2]


class Child:
    """The command `tool` with these arguments, in a session of its own: only we send it signals.

    With `supervised` it ends half a second after this process or `close`, however this one dies.
    Without, its input must end then, for which it waits. `stdin`, `stdout`: descriptors. `nice`: by
    how much its priority is lower.

    status   its exit status, once it has ended; None: it runs
    seconds  of the CPU, its own and those of its children, once it has ended
    said     what it said last on stderr, once it is closed; nothing: its exit status
    """

    def __init__(
        self,
        tool: str,
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        supervised: bool = True,
        nice: int = 0,
    ) -> None:
        self.tool, self.seconds, self.said = tool, 0.0, ""
        self.status: int | None = None
        start = f"from stratkit.cli.{tool} import main; main()"
        code = f"import sys; sys.path.insert(0, sys.argv.pop(1)); {start}"
        words = [sys.executable, "-P", "-c", code, os.fspath(ROOT), *arguments]
        if nice:
            words = ["nice", "-n", str(nice), *words]
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        lifeline, self._lifeline = os.pipe()
        if supervised:
            words = [sys.executable, "-I", "-S", os.fspath(SUPERVISOR), str(lifeline), *words]
        try:
            self._process = subprocess.Popen(
                words,
                stdin=stdin,
                stdout=stdout,
                stderr=self._stderr,
                pass_fds=[lifeline] * supervised,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._lifeline)
            self._stderr.close()
            raise
        finally:
            os.close(lifeline)

    def poll(self, block: bool = False) -> int | None:
        """The exit status; None: it runs. With `block` it is waited for."""
        if self.status is None:
            found, status, used = os.wait4(self._process.pid, 0 if block else os.WNOHANG)
            if found:
                self.status = self._process.returncode = os.waitstatus_to_exitcode(status)
                self.seconds = used.ru_utime + used.ru_stime
        return self.status

    def interrupt(self) -> None:
        """As Ctrl-C does, to one that is not supervised."""
        if self.status is None:  # `send_signal` would reap it, and its seconds would be lost
            os.kill(self._process.pid, signal.SIGINT)

    def close(self) -> None:
        """Ends it, if it runs, and waits for that. One that is not supervised is only waited for,
        and its input must have ended."""
        if self._lifeline < 0:
            return
        os.close(self._lifeline)
        self._lifeline = -1
        self.poll(block=True)
        with self._stderr as stream:
            stream.seek(0)
            lines = stream.read().decode(errors="replace").splitlines()
        self.said = printable(lines[-1]) if lines else f"{self.tool}: status {self.status}"
