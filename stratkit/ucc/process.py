"""Other programs as processes: lines in, lines out, limits on both."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from stratkit.errors import error_context
from stratkit.players.clock import Clock
from stratkit.ucc.stderr import Stderr

SUPERVISOR = Path(__file__).with_name("supervisor.py")
MAX_LINE = 1000  # bytes; a move has about ten
MAX_UNASKED = 4096  # bytes that nobody asked for
EXIT_LIMIT = 1.0  # seconds in which a program that closed its output may end
END_LIMIT = 5.0  # seconds in which the supervisor ends everything; it takes half a second
LOOK = 0.05  # seconds from one look at the stderr of a program that ends to the next


class Fault(Exception):
    """What a program did wrong: `reason`, a word for the record, and the text that explains it."""

    def __init__(self, reason: str, text: str) -> None:
        self.reason, self.text = reason, text
        super().__init__(f"{reason}: {text}")


@dataclass(frozen=True)
class Program:
    """A program that can play. The protocol has no words for limits: the program finds them in its
    environment, as MATCH_TIME, MATCH_CLOCK, MATCH_INCREMENT, MATCH_NODES and MATCH_REUSE.

        name       of the player
        words      its command
        time       seconds a move
        startup    seconds until its first line
        nodes      its budget for a move, or None
        clock      for all moves of a game, or None
        reuse      a process may play several games
        bound      the repetition rules hold for it
        log        file to which its stderr is appended, or None
        talkative  its stderr is ours
    """

    name: str
    words: tuple[str, ...]
    time: float = 5.0
    startup: float = 10.0
    nodes: int | None = None
    clock: Clock | None = None
    reuse: bool = False
    bound: bool = True
    log: str | None = None
    talkative: bool = False

    def environment(self) -> dict[str, str]:
        """What the program finds in its environment."""
        limits = {"MATCH_TIME": f"{self.time:.15g}"}
        if self.nodes is not None:
            limits["MATCH_NODES"] = str(self.nodes)
        if self.clock is not None:
            limits["MATCH_CLOCK"] = f"{self.clock.seconds:.15g}"
            limits["MATCH_INCREMENT"] = f"{self.clock.increment:.15g}"
        if self.reuse:
            limits["MATCH_REUSE"] = "on"
        return {**os.environ, **limits}


class Process:
    """A program that runs, from its start to `close`. Everything it does wrong is a `Fault`.

    program  which one
    label    before each of its lines in a log
    games    how many it was given to
    lost     why its log lacks lines, once it is closed
    """

    def __init__(self, program: Program, label: str = "check") -> None:
        self.program, self.games, self.lost = program, 0, ""
        shown = program.talkative and program.log is None
        self._stderr = None if shown else Stderr(label, program.log)
        with error_context(program.name, only=OSError):
            self._process = self._start(program)
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._buffer = b""

    def _start(self, program: Program) -> subprocess.Popen[bytes]:
        lifeline, self._lifeline = os.pipe()
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", SUPERVISOR, str(lifeline), *program.words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr.writing if self._stderr else None,
                bufsize=0,
                pass_fds=[lifeline],
                start_new_session=True,
                env=program.environment(),
            )
        except BaseException:
            os.close(self._lifeline)
            if self._stderr:
                self._stderr.close()
            raise
        finally:
            os.close(lifeline)
            if self._stderr:
                os.close(self._stderr.writing)

    def begin(self, label: str) -> None:
        """Another game begins for it, called `label`."""
        self.games += 1
        if self._stderr:
            self._stderr.drain()  # what is there belongs to the game before
            self._stderr.label = label

    def send(self, *lines: str) -> None:
        """Writes all lines; a program that does not read has its time for a move."""
        deadline = time.monotonic() + self.program.time
        text = "".join(f"{line}\n" for line in lines)
        rest = memoryview(text.encode("ascii", "backslashreplace"))
        while rest:
            if not self._ready(self._in, select.POLLOUT, deadline):
                raise Fault("silence", f"it read nothing for {self.program.time:g} s")
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except OSError:  # a closed pipe
                raise Fault("exit", self._last_words()) from None

    def line(self, seconds: float) -> str:
        """The next line, without its end. What is no UTF-8 becomes U+FFFD."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            self._check_size(len(self._buffer), MAX_LINE, "a line")
            if not self._ready(self._out, select.POLLIN, deadline):
                half = f", only {_text(self._buffer)!r}" if self._buffer else ""
                raise Fault("silence", f"no line in {seconds:g} s{half}")
            chunk = os.read(self._out, 1 << 17)
            if not chunk:
                raise Fault("exit", self._last_words())
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        self._check_size(len(line), MAX_LINE, "a line")
        return _text(line.removesuffix(b"\r"))

    def unasked(self, seconds: float = 0.0) -> str:
        """What it wrote, or writes in so many seconds, although nobody asked; `Fault`: a flood."""
        if self._ready(self._out, select.POLLIN, time.monotonic() + seconds):
            self._buffer += os.read(self._out, 1 << 17)
        self._check_size(len(self._buffer), MAX_UNASKED, "unasked output")
        return _text(self._buffer)

    def idle(self) -> bool:
        """Whether it runs and says nothing, as a program does that waits for another game."""
        silent = self._process.poll() is None and not self._buffer
        return silent and not self._ready(self._out, select.POLLIN, time.monotonic())

    def text_of(self, fault: Fault) -> str:
        """What the program did wrong, with the last lines of its stderr."""
        last = self._stderr.last() if self._stderr else ""
        return f"{fault.text}; its stderr ends: {last!r}" if last else fault.text

    def _ready(self, descriptor: int, event: int, deadline: float) -> bool:
        """Waits until the descriptor is ready, or has ended; False at the deadline. Its stderr is
        read meanwhile: a program whose pipe is full would wait for us."""
        poll = select.poll()
        poll.register(descriptor, event)
        while True:
            heard = self._stderr
            if heard and not heard.ended:
                poll.register(heard.reading, select.POLLIN)
            left = deadline - time.monotonic()
            ready = {which for which, _ in poll.poll(max(0.0, left) * 1000)}
            if heard and heard.reading in ready:
                heard.drain()
                poll.unregister(heard.reading)
            if descriptor in ready or left <= 0:
                return descriptor in ready

    def _check_size(self, size: int, most: int, what: str) -> None:
        if size > most:
            raise Fault("flood", f"{what} of over {most} bytes")

    def _last_words(self) -> str:
        """How the program ended, and what it left unfinished."""
        try:
            status = self._process.wait(EXIT_LIMIT)
        except subprocess.TimeoutExpired:
            return "it closed its pipe"
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"{how}, after {_text(self._buffer)!r}" if self._buffer else how

    def ends(self, seconds: float) -> bool:
        """Whether the program ends by itself within so many seconds."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(min(LOOK, left))
            if self._stderr:
                self._stderr.drain()
        return self._process.returncode is not None

    def close_input(self) -> None:
        """Ends what the program can read."""
        assert self._process.stdin
        self._process.stdin.close()

    def let_go(self) -> None:
        """Tells the supervisor to end everything; may be called from another thread, and again."""
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)

    def close(self) -> None:
        """Returns when no process of the program is left."""
        self.let_go()
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        if not self.ends(END_LIMIT):  # somebody stopped the supervisor
            self._process.kill()
            self._process.wait()
        if self._stderr:
            self._stderr.close()
            self.lost, self._stderr = self._stderr.lost, None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
