"""Text files line by line, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from stratkit.errors import InputError

Item = TypeVar("Item")

MAX_LINE = 1000  # bytes of one line; the longest that means anything has about 120


def text_lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, str | InputError]]:
    """(number from 1, line) without line ends and outer blanks; bad lines give their error instead.

    A byte-order mark before the first line is dropped.
    """
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        where = f"line {number}"
        if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
            yield number, InputError(f"a line of over {MAX_LINE} bytes", file=name, where=where)
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE + 1)
            continue
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \t\r\n")
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            yield number, InputError("not UTF-8", file=name, where=where, text=text)


def parsed_lines(
    stream: BinaryIO, name: str, parse: Callable[[str], Item]
) -> Iterator[tuple[int, Item | InputError]]:
    """(line number, what `parse` makes of the line); faulty lines give their error instead. Empty
    lines are skipped. Memory is bounded."""
    for number, line in text_lines(stream, name):
        if isinstance(line, InputError):
            yield number, line
        elif line:
            try:
                yield number, parse(line)
            except InputError as error:
                error.file, error.where = name, f"line {number}"
                yield number, error
