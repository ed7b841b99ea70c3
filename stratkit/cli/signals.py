"""What signals do to a command: SIGTERM is an exception, and a closed pipe ends it as SIGPIPE."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

AGAIN = 0.3  # seconds until a `Terminated` that got lost is raised again


class Terminated(BaseException):
    """SIGTERM arrived. It is raised in the main thread, so that `finally` clauses run."""


def raise_on_sigterm() -> None:
    """From now on SIGTERM raises `Terminated`."""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _on_sigterm)


def _on_sigterm(number: int, frame: object) -> None:
    """Raises `Terminated`; and again a moment later, as long as nothing deals with it: where Python
    was called from C (while it compiles a module, in a callback) an exception may get lost."""
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    torch = sys.modules.get("torch")
    if torch and getattr(torch.__spec__, "_initializing", False):
        return  # an exception in the midst of its C++ would abort the process
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, Terminated):
        error = error.__context__
    if error is None:
        raise Terminated


def ignore_signals() -> None:
    """For the short way that is left when the exit status stands."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def die_of_closed_pipe() -> NoReturn:
    """Ends as every Unix tool does whose reader went away: killed by SIGPIPE."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPIPE])
    os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(128 + signal.SIGPIPE)
