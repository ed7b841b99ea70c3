"""Runs a program in a session of its own and ends its whole group when nobody needs it any more.

    python -I -S supervisor.py LIFELINE COMMAND...

LIFELINE is the descriptor of a pipe whose other end the match holds: when that closes, because the
match says so or because it died, however it died, the program has `GRACE` seconds to end by itself
and is then killed, with all processes of its group. They are also killed when the program ends
before. It ends as the program did, by the same exit status or the same signal; its exit status is
127 if the program could not be executed.

A script of its own that imports next to nothing, because one runs beside every program.
"""

import os
import select
import signal
import sys

GRACE = 0.5  # seconds


def main(lifeline: int, command: list[str]) -> int:
    """The exit status of the program."""
    os.set_inheritable(lifeline, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    wakeup, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    changed = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setsid=True, setsigdef=changed)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    # Only the program may hold its pipes: who waits for their end must see it.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _wait(child, lifeline, wakeup)
    # Before it is reaped its number, which is the group's too, belongs to nobody else.
    os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        _die_of(-status)
    return status


def _die_of(number: int) -> None:
    """Ends this process by signal `number`, without a core file: an exit status of 128 + N, as in a
    shell, could be the program's own."""
    import contextlib  # both only here: they cost time beside every program
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # SIGKILL, and what the C library keeps
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _wait(child: int, lifeline: int, wakeup: int) -> None:
    """Returns when the program has ended, or `GRACE` seconds after the end of the lifeline."""
    waiting = select.poll()  # select() knows no descriptor above 1023, and the lifeline may be one
    for descriptor in (lifeline, wakeup):
        waiting.register(descriptor, select.POLLIN)
    patience = None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while not os.waitid(os.P_PID, child, flags):
        ready = [descriptor for descriptor, _ in waiting.poll(patience)]
        if wakeup in ready:
            os.read(wakeup, 64)
        if lifeline in ready:
            waiting.unregister(lifeline)
            patience = GRACE * 1000
        if not ready:
            return


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
