"""What can go wrong because of the user's input, said in one line each.

The command-line wrapper prints ``TOOL: `` and ``str(error)`` and exits with ``error.status``. This
module imports nothing heavy: ``--help`` needs it too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

Say = Callable[[str], None]  # takes a line for the user

# Of two words, by difflib's measure: `nte` and `net` have it, `stratego` and `ultimate` do not.
MIN_SIMILARITY = 0.66
FEW = 24  # choices that one line can hold

# What other programs, and our pages of old, call it, without dashes, and our names: the first that
# is a choice is meant.
SYNONYMS = {
    "barrage-v1": ("barrage-easy",),
    "batch-size": ("batch",),
    "classic-v2": ("classic-easy",),
    "continue": ("resume",),
    "count": ("stats",),
    "cuda": ("device",),
    "display": ("show",),
    "draw": ("show",),
    "env": ("game",),
    "epochs": ("steps",),
    "games": ("n",),
    "gpu": ("device", "cuda"),
    "html": ("replay",),
    "iterations": ("steps",),
    "jobs": ("threads", "concurrency"),
    "learning-rate": ("lr",),
    "model": ("net", "policy"),
    "moves": ("legal",),
    "network": ("net", "policy"),
    "num-games": ("n",),
    "overwrite": ("force",),
    "stratego": ("classic",),
    "validate": ("check",),
    "variant": ("game",),
    "verify": ("check",),
    "view": ("show",),
    "workers": ("threads", "jobs", "concurrency"),
}


def shown(text: object, limit: int = 60) -> str:
    """`text` quoted so that a terminal may see it: control characters escaped, length bounded."""
    quoted = repr(str(text)[: limit + 1])
    return quoted if len(str(text)) <= limit else quoted[:limit] + "...'"


def apart(one: str, other: str, limit: int = 60) -> tuple[str, str]:
    """Two texts as they are, if they are short; else from the word, between commas, where they
    part, so that a message that shows the beginnings tells them apart."""
    if max(len(one), len(other)) <= limit:
        return one, other
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    begin = one.rfind(",", 0, same) + 1
    return ("..." * (begin > 0) + one[begin:], "..." * (begin > 0) + other[begin:])


def printable(text: str) -> str:
    """`text` as one line that a terminal may see: control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def named(name: object, limit: int = 200) -> str:
    """A name, such as a file's, for people: as `printable`, and of a long one both ends."""
    text = printable(str(name))
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}...{text[-half:]}"


def counted(number: int, thing: str) -> str:
    """`1 game`, `2 games`."""
    return f"{number} {thing}{'s' * (number != 1)}"


def one_line(error: BaseException) -> str:
    """An error of code that is not ours, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def nearest(word: str, choices: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` with the choice that `word` misspells, or that is our name for it;
    `""` when there is none."""
    names = {_bare(choice): choice for choice in choices}
    synonyms = [name for name in SYNONYMS.get(_bare(word), ()) if name in names]
    found = synonyms or _close_matches(_bare(word), names)
    return f" (did you mean {names[found[0]]!r}?)" if found else ""


def _close_matches(word: str, names: Iterable[str]) -> list[str]:
    import difflib  # which `--help` does not need

    return difflib.get_close_matches(word, list(names), n=1, cutoff=MIN_SIMILARITY)


def nearest_or_all(word: str, choices: Iterable[str]) -> str:
    """The nearest choice, as by `nearest`; or all choices, where there is none and they are few."""
    words = list(choices)
    few = f": choose one of {', '.join(words)}" if 0 < len(words) <= FEW else ""
    return nearest(word, words) or few


def _bare(word: str) -> str:
    """A word without what hides that it is like another."""
    return word.strip("-").replace("_", "-").lower()


class StratkitError(Exception):
    """An error that is printed as one line: `[FILE: ][WHERE: ]WHAT[: 'TEXT']`."""

    status = 1

    def __init__(
        self, what: str, *, file: str | None = None, where: str | None = None, text: object = None
    ) -> None:
        self.what, self.file, self.where, self.text = what, file, where, text
        super().__init__(what)

    def __str__(self) -> str:
        # A name that was given empty is shown.
        file = repr("") if self.file == "" else self.file and named(self.file)
        parts = [part for part in (file, self.where, self.what) if part]
        if self.text is not None:
            parts.append(shown(self.text))
        return ": ".join(parts)


class InputError(StratkitError):
    """The input cannot be used (exit status 1)."""


@contextlib.contextmanager
def error_context(
    file: str | None,
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
