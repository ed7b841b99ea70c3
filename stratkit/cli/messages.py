"""What a command says on stderr: remarks, warnings, progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from stratkit.errors import printable
from stratkit.storage.streams import discard

if TYPE_CHECKING:
    from tqdm import tqdm


class Session:
    """What the running command is called and how much it says: -1 for -q, 1 for -v, ..."""

    tool = "stratkit"
    level = 0


def to_stderr(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(2)  # nobody can be told; the command goes on and keeps its exit status


def say(text: str, level: int = 0) -> None:
    """A remark on stderr: level 0 is hidden by -q, level 1 is shown by -v, level 2 by -v -v."""
    if level <= Session.level:
        to_stderr("\n".join(printable(line) for line in text.split("\n")))


def note(text: str) -> None:
    """A remark that only -v shows."""
    say(text, level=1)


def warn(text: str) -> None:
    """`TOOL: text` on stderr, in one line, also under -q."""
    to_stderr(printable(f"{Session.tool}: {text}"))


def note_terminal(inputs: Sequence[str], what: str) -> None:
    """A remark, if one of the inputs is `-` and that is a terminal: people type `what`."""
    if "-" in inputs and sys.stdin.isatty():
        say(f"{Session.tool}: {what} are read from the terminal; Ctrl-D ends them")


def is_live() -> bool:
    """Whether somebody watches: stderr is a terminal, and there is no -q."""
    return Session.level >= 0 and sys.stderr.isatty()


def is_talkative() -> bool:
    """Whether there is -v."""
    return Session.level >= 1


def progress(total: int | None, unit: str, description: str | None = None) -> tqdm[NoReturn]:
    """A progress bar (a context manager with `update` and `set_postfix_str`) on stderr; it shows
    only on a terminal and without -q."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no helper thread
    return tqdm(total=total, unit=unit, desc=description, disable=not is_live(), dynamic_ncols=True)
