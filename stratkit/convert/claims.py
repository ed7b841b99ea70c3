"""Whether the moves of a record are legal, and lead to the ending that it claims."""

from __future__ import annotations

from stratkit.convert.games import log_of
from stratkit.convert.raw import RECORD, Raw
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.notation.play import play_out
from stratkit.storage.records import GameRecord, RecordHeader


def denied(header: RecordHeader, record: GameRecord) -> str:
    """Why the board denies a record of Stratego, or "". Of other games nothing is played."""
    if header.game not in VARIANTS:
        return ""
    try:
        log = log_of(Raw(RECORD, "", None, (header, record), 0))
    except InputError as error:
        return error.what
    [played] = play_out([("", log)])
    return played.faults[0].what if played.faults else ""
