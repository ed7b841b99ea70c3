"""What a command says on stderr: remarks and warnings."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Sequence

from stratkit.errors import printable
from stratkit.storage.streams import discard
from stratkit.terminal import CLEAR_LINE


class RunningCommand:
    """The running command, for all its messages.

    tool     what it is called
    level    how much it says: -1 for -q, 1 for -v, ...
    before   takes its live line away before something else is said
    after    draws the live line again
    """

    tool = "stratkit"
    level = 0
    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None


def to_stderr(line: str) -> None:
    """A line on stderr, above the live line of this command, or in place of that of another one."""
    try:
        if RunningCommand.before:
            RunningCommand.before()
        elif _shares_terminal():
            line = CLEAR_LINE + line
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(2)  # nobody can be told; the command goes on and keeps its exit status
    if RunningCommand.after:
        RunningCommand.after()


def _shares_terminal() -> bool:
    """Whether another command of a pipe may have its live line on the same terminal."""
    return sys.stderr.isatty() and (is_pipe(0) or is_pipe(1))


def is_pipe(descriptor: int) -> bool:
    """Whether a standard stream leads to another command."""
    return stat.S_ISFIFO(os.fstat(descriptor).st_mode)


def say(text: str, level: int = 0) -> None:
    """A remark on stderr: level 0 is hidden by -q, level 1 is shown by -v, level 2 by -v -v."""
    if level <= RunningCommand.level:
        to_stderr("\n".join(printable(line) for line in text.split("\n")))


def note(text: str) -> None:
    """A remark that only -v shows."""
    say(text, level=1)


def warn(text: str) -> None:
    """`TOOL: text` on stderr, in one line, also under -q."""
    to_stderr(printable(f"{RunningCommand.tool}: {text}"))


def command_to_go_on(*more: str) -> str:
    """The command line that goes on with what this one has begun."""
    words = [word for word in sys.argv[1:] if not re.fullmatch("--resume|--force|-f+", word)]
    words = [word.replace("f", "") if re.fullmatch("-[fqv]+", word) else word for word in words]
    return " ".join(map(_quoted, [RunningCommand.tool, *words, *more, "--resume"]))


def _quoted(word: str) -> str:
    """A word for the shell, in one line: what no terminal may see is written by its bytes."""
    if word.isprintable():
        import shlex

        return shlex.quote(word)
    plain = {c: c for c in word if c.isprintable()} | {"\\": r"\\", "'": r"\'"}
    return f"$'{''.join(plain.get(c) or _by_bytes(c) for c in word)}'"


def _by_bytes(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def note_terminal(inputs: Sequence[str], what: str) -> None:
    """A remark, if one of the inputs is `-` and that is a terminal: people type `what`."""
    if "-" in inputs and sys.stdin.isatty():
        say(f"{RunningCommand.tool}: {what} are read from the terminal; Ctrl-D ends them")


def is_live() -> bool:
    """Whether somebody watches: stderr is a terminal, and there is no -q."""
    return RunningCommand.level >= 0 and sys.stderr.isatty()


def is_talkative() -> bool:
    """Whether there is -v."""
    return RunningCommand.level >= 1
