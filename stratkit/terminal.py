"""Text as a terminal shows it: what fits into a line, and tables."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence

CLEAR_LINE = "\r\x1b[K"


def fitting(fields: Iterable[str], width: int) -> str:
    """As many of the first fields as fit into `width` characters, with commas between them: one
    that is cut would be read as another number."""
    line = ""
    for field in fields:
        longer = f"{line}, {field}" if line else field
        if len(longer) > width:
            break
        line = longer
    return line


def aligned(rows: Sequence[Sequence[str]], words: Container[int]) -> list[str]:
    """Rows of cells as lines: the columns `words` to the left, those of numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i in words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def size() -> os.terminal_size:
    """Columns and lines of the terminal that stderr is; 80 and 24 if it does not say."""
    try:
        columns, lines = os.get_terminal_size(2)
    except OSError:
        columns = lines = 0
    return os.terminal_size((columns or 80, lines or 24))
