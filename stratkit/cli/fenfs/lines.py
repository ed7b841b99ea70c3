"""FENfS and text files as the input of `show`, `legal` and `check`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stratkit.cli.fenfs.tally import Tally, sound
from stratkit.convert.raw import LOG, POSITION, form_of
from stratkit.errors import InputError, error_context
from stratkit.storage.streams import STDOUT

if TYPE_CHECKING:
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.sources import Source


def texts(inputs: Sequence[str], suffixes: Sequence[str], tally: Tally) -> Iterator[Source]:
    """The sources that the arguments name; an argument that is a FENfS is a source of one line."""
    from stratkit.notation.sources import Source, sources

    for text in inputs:
        if " " in text and not os.path.exists(text):
            yield Source("argument", io.BytesIO(text.encode("utf-8", "surrogateescape")))
            continue
        for source in sources([text], suffixes):
            if isinstance(source, InputError):
                tally.fault(source)
            else:
                yield source


def positions(source: Source, tally: Tally) -> Iterator[tuple[int, Fenfs]]:
    """The sound positions of a file of FENfS lines, and their line numbers."""
    from stratkit.notation.fenfs import read_fenfs

    form = LOG if is_log(source) else POSITION
    if form == LOG:
        what = "a game log, not FENfS: `fenfs convert --to fenfs` makes FENfS of it"
        tally.fault(InputError(what, file=source.name))
    elif not is_text(source):
        tally.fault(InputError("not a text file", file=source.name))
    else:
        yield from sound(read_fenfs(source.stream, source.name), tally)


def is_log(source: Source) -> bool:
    try:
        return bool(source.head.strip()) and form_of(source) == LOG
    except InputError:
        return False


def is_text(source: Source) -> bool:
    """Whether the beginning has no control characters: else each line would be reported."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in source.head)


def put(text: str) -> None:
    """A line or more on stdout, whose errors are named."""
    with error_context(STDOUT, only=OSError):
        print(text)
