"""Playing out a log on the engine: are its moves legal, and does its result fit the board?"""

from __future__ import annotations

from stratkit.engine.stratego import IllegalMove, Position, Tracker
from stratkit.errors import InputError
from stratkit.notation.gravon import ENDINGS, FLAG_CAPTURED, FREE, Log

_WINNERS = {0: "red wins", 1: "blue wins", None: "nobody wins"}


def play_out(log: Log, name: str) -> tuple[list[Position], list[InputError]]:
    """The positions before each move and at the end, and the faults that did not stop it.

    Repetition rules are off: old games obeyed older ones. Raises `InputError` at the first illegal
    move; the file's `name` is in all errors. A log without setups has no positions.
    """
    remarks = list(log.remarks)
    positions: list[Position] = []
    if log.setups is not None:
        tracker = Tracker(log.variant, *log.setups, free=log.kind == FREE)
        positions.append(tracker.position())
        for move in log.moves:
            try:
                tracker.apply(move.from_, move.to)
            except IllegalMove as illegal:
                what = f"illegal move: {illegal}{_after_rescues(log)}"
                raise InputError(what, file=name, where=move.where, text=move.text) from None
            positions.append(tracker.position())
        remarks += _result_faults(log, tracker)
    for remark in remarks:
        remark.file = name
    return positions, remarks


def _after_rescues(log: Log) -> str:
    return " (in a game with rescues, which are left out)" if log.rescues else ""


def _result_faults(log: Log, tracker: Tracker) -> list[InputError]:
    """Where the result denies what the board shows. Repetition rules may end a game earlier."""
    captured = tracker.over == "flag_captured"
    said = f"{ENDINGS[log.ending]}, {_WINNERS[log.winner]}"
    if captured and (log.ending, log.winner) != (FLAG_CAPTURED, tracker.winner):
        board = f"{ENDINGS[FLAG_CAPTURED]}, {_WINNERS[tracker.winner]}"
        return [InputError(f"the result is not that of the board ({board})", text=said)]
    if not captured and log.ending == FLAG_CAPTURED:
        return [InputError("the result says so, but no move captures a flag", text=said)]
    return []
