"""Whether the moves of a record are legal, and lead to the ending that it claims."""

from __future__ import annotations

from stratkit.convert.games import log_of
from stratkit.convert.raw import RawRecord
from stratkit.errors import InputError
from stratkit.games.kit import Notation
from stratkit.games.table import kit_class
from stratkit.notation.play import play_out
from stratkit.storage.records import GameRecord, RecordHeader


def denied(header: RecordHeader, record: GameRecord) -> str:
    """Why the board denies a record of logs, or "". Of other games nothing is played."""
    if kit_class(header.game).notation is not Notation.LOG:
        return ""
    try:
        log = log_of(RawRecord(file="", header=header, record=record))
    except InputError as error:
        return error.what
    [played] = play_out([("", log)])
    return played.faults[0].what if played.faults else ""
