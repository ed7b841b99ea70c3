"""What signals do to a command: SIGTERM and SIGHUP are an exception, and a closed pipe ends it as
SIGPIPE."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

RETRY_AFTER = 0.3  # seconds until a `Terminated` that got lost is raised again


class Terminated(BaseException):
    """SIGTERM arrived, or SIGHUP: the terminal is gone. It is raised in the main thread, so that
    `finally` clauses run."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        self.number = number


def ending_signals() -> tuple[int, ...]:
    """The signals that end a command in an orderly way, but for Ctrl-C: SIGTERM, and SIGHUP, unless
    whoever started the command (nohup) has it ignored."""
    hang_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGHUP) if hang_up else (signal.SIGTERM,)


def raise_on_signals() -> None:
    """From now on SIGTERM and SIGHUP raise `Terminated`; and again a moment later, as long as
    nothing deals with it: where Python was called from C (while it compiles a module, in a
    callback) an exception may get lost."""
    arrived: int = signal.SIGTERM

    def on_signal(number: int, frame: object) -> None:
        nonlocal arrived
        arrived = arrived if number == signal.SIGALRM else number
        signal.setitimer(signal.ITIMER_REAL, RETRY_AFTER)
        torch = sys.modules.get("torch")
        if torch and getattr(torch.__spec__, "_initializing", False):
            return  # an exception in the midst of its C++ would abort the process
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, Terminated):
            error = error.__context__
        if error is None:
            raise Terminated(arrived)

    for number in (*ending_signals(), signal.SIGALRM):
        signal.signal(number, on_signal)


def ignore_signals() -> None:
    """For the short way that is left when the exit status stands."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def die_of_closed_pipe() -> NoReturn:
    """Ends as every Unix tool does whose reader went away: killed by SIGPIPE."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPIPE])
    os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(128 + signal.SIGPIPE)
