"""Which games are in files: a line for each, as a table or as JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stratkit.convert.games import in_order, log_of
from stratkit.convert.lines import games_only
from stratkit.convert.options import NO_GAME, ListOptions
from stratkit.convert.raw import Raw, chunks
from stratkit.convert.tally import FaultTally
from stratkit.errors import InputError, Say, printable

if TYPE_CHECKING:
    from stratkit.notation.log import Log
    from stratkit.notation.select import Selection

VERSION = 1  # of --json
Row = dict[str, Any]
HEAD = ("game", "date", "type", "result", "ending", "plies", "red", "blue", "file")
NUMBERS = ("game", "plies")  # columns that are aligned to the right


def run_list(options: ListOptions, warn: Say, write: Say) -> int:
    """Lists the games of the inputs, line by line with `write`; the exit status. Faults go to
    `warn`."""
    tally = FaultTally(warn)
    task = functools.partial(list_chunk, selection=options.selection)
    items = chunks(options.inputs, numbers=options.selection.game)
    with in_order(task, map(games_only, items), options.jobs) as answers:
        for line in (_json if options.as_json else _table)(_sound(answers, tally)):
            write(line)
    if not tally.sound and not tally.faults:
        warn(NO_GAME)
    return tally.status


def _sound(
    answers: Iterator[tuple[list[Row], list[InputError], bool]], tally: FaultTally
) -> Iterator[list[Row]]:
    """The rows of each chunk; its faults are told."""
    for rows, faults, opened in answers:
        for fault in faults:
            tally.fault(fault)
        tally.opened = tally.opened or opened
        tally.sound += len(rows)
        yield rows


def list_chunk(
    chunk: list[Raw | InputError], selection: Selection
) -> tuple[list[Row], list[InputError], bool]:
    """The rows of the games that can be read, the faults of the others, and whether there is more
    than what could not be read. Nothing is played out: what is wrong within a game, `fenfs check`
    tells."""
    rows, faults = [], []
    for item in chunk:
        try:
            if isinstance(item, InputError):
                raise item
            log = log_of(item)
        except InputError as error:
            faults.append(error)
        else:
            if selection.takes(log, item.file):
                rows.append(_row(item, log))
    return rows, faults, any(isinstance(item, Raw) for item in chunk)


def _row(raw: Raw, log: Log) -> Row:
    """A game as `--json` has it (formats/list.md)."""
    from stratkit.notation.select import date_of

    date = log.date or date_of(raw.file)
    return {
        "game": raw.number,
        "file": raw.file,
        "place": raw.where,
        "date": ".".join(map(str, date)) if date else None,
        "players": list(log.players),
        "variant": log.variant.name,
        "type": log.kind or log.variant.name,
        "result": {0: "red", 1: "blue", None: "draw"}[log.winner],
        "ending": log.reason,
        "plies": log.plies,
    }


def _json(answers: Iterator[list[Row]]) -> Iterator[str]:
    """One object, with a line for each game."""
    before = json.dumps({"stratkit": "list", "version": VERSION, "games": []}).removesuffix("]}")
    yield before
    comma = " "
    for rows in answers:
        for row in rows:
            yield comma + json.dumps(row)
            comma = ","
    yield "]}"


def _table(answers: Iterator[list[Row]]) -> Iterator[str]:
    """A line for each game; the first ones say how wide the columns are."""
    widths: list[int] = []
    for rows in answers:
        lines = [_cells(row) for row in rows]
        if lines and not widths:
            widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]
            lines.insert(0, list(HEAD))
        for cells in lines:
            yield _line(cells, widths)


def _cells(row: Row) -> list[str]:
    red, blue = row["players"]
    values = {**row, "red": red, "blue": blue, "date": row["date"] or "-"}
    return [printable(str(values[name])) for name in HEAD]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    aligned = [
        cell.rjust(width) if name in NUMBERS else cell.ljust(width)
        for name, cell, width in zip(HEAD, cells, widths, strict=True)
    ]
    return "  ".join(aligned).rstrip()
