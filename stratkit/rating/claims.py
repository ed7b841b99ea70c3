"""What a record says of its own game that cannot be, as far as no move need be played."""

from __future__ import annotations

from stratkit.storage.records import DRAW, GameRecord, RecordHeader

WON = ("flag_captured", "no_legal_move", "resigned", "surrender", "attrition")
DRAWN = ("no_movable_pieces", "max_plies", "max_quiet", "agreed")


def contradiction(header: RecordHeader, record: GameRecord) -> str:
    """Why the record cannot be right, or "". A record without setups, or without moves, carries no
    game: its result is taken at its word."""
    if record.setups is None or not record.moves:
        return ""
    moves = len(record.moves.split())
    if record.plies != moves:
        return f"it says {record.plies} plies, but has {moves} moves"
    if record.reason in (WON if record.result == DRAW else DRAWN):
        return f"{record.reason}, but the result is {record.result}"
    limit = header.rules.get(record.reason, 0)
    short = record.plies < limit or (record.reason == "max_plies" and record.plies != limit)
    if limit and short:
        return f"{record.reason} is {limit}, but it has {moves} moves"
    return ""
