"""Comma-separated values (RFC 4180) that a spreadsheet shows and does not run.

A spreadsheet takes a cell for a formula if it begins with one of a few characters, whatever its
quotes. Names come from strangers, so such a cell gets an apostrophe in front, the mark of text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

from stratkit.errors import printable

# Full-width forms count too: some spreadsheets take them for the narrow ones.
_FORMULA = re.compile(r" *[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """The rows as lines. What could be a formula is marked as text, numbers stay numbers, and
    control characters are escaped: some spreadsheets skip them at a cell's beginning."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_safe(printable(str(cell))) for cell in row] for row in rows)
    return stream.getvalue()


def _safe(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
