"""What fits into a line of a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable

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


def size() -> os.terminal_size:
    """Columns and lines of the terminal that stderr is; 80 and 24 if it does not say."""
    try:
        columns, lines = os.get_terminal_size(2)
    except OSError:
        columns = lines = 0
    return os.terminal_size((columns or 80, lines or 24))
