"""Is the ending that a log claims that of the board? Checked both ways: a claim without ground, and
a board on which the game was over, though the log says otherwise."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from stratkit.engine.replay import Prefix
from stratkit.engine.stratego import BLUE, RED
from stratkit.errors import InputError, counted
from stratkit.notation.actions import last_position, prefix_by
from stratkit.notation.gravon_words import REASONS
from stratkit.notation.log import LIMITS, ON_THE_BOARD, Log

NO_MOVE, NOBODY_MOVES, FLAG = "no_legal_move", "no_movable_pieces", "flag_captured"
ATTRITION, ILLEGAL_SETUP = "attrition", "illegal_setup"
ON_TURN = ("unreadable_move", "illegal_move")  # the loser was to move
LOST = (  # words of formats/games.md that name a loser
    *("exit", "silence", "flood", "clock", "surrender", "resigned"),
    *(ATTRITION, ILLEGAL_SETUP, *ON_TURN),
)
DRAWN = ("agreed", "tie_agreed", "cut")
KNOWN = {*ON_THE_BOARD, *LIMITS, *LOST, *DRAWN, *REASONS.values()}
# Repetition rules that old games may have had. A side may be unable to move by them alone.
OLD_RULES = [{"two_squares": n, "more_squares": 1, "max_quiet": 200} for n in (5, 4, 3)]

_SIDES = ("red", "blue")


class End(NamedTuple):
    """The ending on the board ("": the game runs), and who won."""

    ending: str
    winner: int | None

    @classmethod
    def of(cls, prefix: Prefix) -> End:
        """The ending after a game's first legal actions."""
        red = prefix.returns[RED]
        return cls(prefix.ending, None if red == 0 else RED if red > 0 else BLUE)

    def __str__(self) -> str:
        wins = "nobody wins" if self.winner is None else f"{_SIDES[self.winner]} wins"
        return f"{self.ending.replace('_', ' ')}, {wins}"


def ending_faults(log: Log, free: End) -> list[InputError]:
    """What is wrong with the ending of a log whose moves are legal. `free`: the board's, without
    repetition rules and draw limits."""
    claim = End(log.reason, log.winner)
    what = _fault(log, claim, free)
    return [InputError(what, text=str(claim))] if what else []


def _fault(log: Log, claim: End, free: End) -> str:
    if log.reason not in KNOWN:
        return "unknown ending"
    if not log.has_board:
        shown = {*ON_THE_BOARD, *LIMITS, *ON_TURN, ATTRITION}
        return "the result says so, but nothing was played" if log.reason in shown else ""
    if log.rescues and FLAG not in (log.reason, free.ending):
        return ""  # rescued pieces are not put back: who can move is not known
    board = _by_rules(log, free)
    if isinstance(board, str):
        return board
    if claim == board:
        return ""
    if claim.ending == FLAG != board.ending:
        return _groundless(log, claim)
    if board.ending:
        return f"the result is not that of the board ({board})"
    if log.by_rules:
        return _groundless(log, claim)
    return _odd_loser(log, claim)


def _by_rules(log: Log, free: End) -> End | str:
    """How the board ended by the log's own rules, as far as they are known; or what is wrong: they
    ended the game before its last move."""
    if not (log.rules and any(log.rules.values())):
        return free
    limits = {name: log.rules[name] for name in LIMITS}
    for rules in (log.rules, limits):  # moves that repetition rules forbid are told, and no fault
        played = prefix_by(rules, log)
        if played.legal == 2 * log.plies:
            return End.of(played)
    left = log.plies - played.legal // 2
    return f"{counted(left, 'move')} after the end of the game ({played.ending})"


def _groundless(log: Log, claim: End) -> str:
    """Why a claim of an ending on a board that goes on has no ground; "": it may have."""
    if claim.ending == FLAG:
        return "the result says so, but no move captures a flag"
    if claim.ending in LIMITS:
        if log.rules is None and claim.winner is None:
            return ""  # nobody knows by which rules it was played
        return f"the result says so, but the rules end no game here, after {log.plies} plies"
    can = _who_can_move(log)
    if claim.ending == NO_MOVE and claim.winner is not None:
        loser = 1 - claim.winner
        old = not (log.rules and any(log.rules.values()))
        if old and (can == [claim.winner] or _stuck_by_old_rules(log, claim)):
            return ""
        can = [loser]
    return f"the result says so, but {' and '.join(_SIDES[side] for side in can)} can move"


def _who_can_move(log: Log) -> list[int]:
    last = last_position(log)
    return [side for side in (RED, BLUE) if dataclasses.replace(last, side=side).legal()]


def _stuck_by_old_rules(log: Log, claim: End) -> bool:
    """Whether repetition rules of the time leave no move to whoever is on turn."""
    ends = (prefix_by(rules, log) for rules in OLD_RULES)
    return any(end.legal == 2 * log.plies and End.of(end) == claim for end in ends)


def _odd_loser(log: Log, claim: End) -> str:
    """Why an ending off the board cannot be this winner's, or nobody's."""
    words, on_turn = claim.ending.replace("_", " "), log.mover(log.plies)
    if claim.ending in LOST and claim.winner is None:
        return f"{words} has a loser"
    if claim.ending in ("agreed", "cut") and claim.winner is not None:
        return f"{words} has no winner"
    if claim.ending == ILLEGAL_SETUP:
        return "the result says so, but both setups are there"
    if claim.ending in ON_TURN and claim.winner == on_turn:
        return f"the result says so, but {_SIDES[on_turn]} was to move"
    if claim.ending == ATTRITION and (
        claim.winner != on_turn or not log.plies or 1 - on_turn in _who_can_move(log)
    ):
        return "the result says so, but the last move did not cost the loser's last movable piece"
    return ""
