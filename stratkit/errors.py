"""What can go wrong because of the user's input, said in one line each.

The command-line wrapper prints ``TOOL: `` and ``str(error)`` and exits with ``error.status``. This
module imports nothing heavy: ``--help`` needs it too.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator


def shown(text: object, limit: int = 60) -> str:
    """`text` quoted so that a terminal may see it: control characters escaped, length bounded."""
    quoted = repr(str(text)[: limit + 1])
    return quoted if len(str(text)) <= limit else quoted[:limit] + "...'"


def printable(text: str) -> str:
    """`text` as one line that a terminal may see: control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_line(error: BaseException) -> str:
    """An error of code that is not ours, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def nearest(word: str, choices: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` with the choice most like `word`, or `""` when none is like it."""
    found = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return f" (did you mean {found[0]!r}?)" if found else ""


class StratkitError(Exception):
    """An error that is printed as one line: `[FILE: ][WHERE: ]WHAT[: 'TEXT']`."""

    status = 1

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        where: str | None = None,
        text: object = None,
    ) -> None:
        self.what, self.file, self.where, self.text = what, file, where, text
        super().__init__(what)

    def __str__(self) -> str:
        parts = [part for part in (self.file, self.where, self.what) if part]
        if self.text is not None:
            parts.append(shown(self.text))
        return ": ".join(parts)


class InputError(StratkitError):
    """The input cannot be used (exit status 1)."""


@contextlib.contextmanager
def error_context(
    file: str,
    where: str | None = None,
    *,
    only: type[Exception] | tuple[type[Exception], ...] = Exception,
) -> Iterator[None]:
    """Errors inside name `file`, and the place `where` in it, unless they name another already.

    That holds for this package's errors and the operating system's. `only=OSError` leaves this
    package's as they are: what fails while a file is written is often not the file's fault.
    """
    try:
        yield
    except only as error:
        if isinstance(error, StratkitError):
            error.file, error.where = error.file or file, error.where or where
        elif isinstance(error, OSError) and error.filename is None:
            error.filename = file
        raise


class UsageError(StratkitError):
    """The command line cannot be used (exit status 2)."""

    status = 2


class CheckFailed(StratkitError):
    """The work was done and its answer is "no", or part of the input was lost (exit status 3)."""

    status = 3


def count(number: int, one: str, several: str | None = None) -> str:
    """`1 game`, `2 games`."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"
