"""Playing out logs on the engine: are their moves legal, and do their results fit the board?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine import Game
from stratkit.engine.replay import Prefix
from stratkit.engine.stratego import PIECE, TYPE, Position, free_game, why_illegal
from stratkit.errors import InputError
from stratkit.notation.actions import last_position, positions_of, prefix, prefix_by
from stratkit.notation.endings import End, ending_faults
from stratkit.notation.log import Log
from stratkit.notation.squares import ply_text


@dataclass(frozen=True)
class Played:
    """A log as far as its moves are legal.

    log       with these moves only
    boards    the cells before each of them and at the end, bytes [squares] each; empty: nobody
              needs them
    over      the ending on the board; "": there is none
    winner    who won there
    remarks   faults that did not stop the game
    fault     what did
    """

    log: Log
    boards: Sequence[bytes] = ()
    over: str = ""
    winner: int | None = None
    remarks: list[InputError] = field(default_factory=list)
    fault: InputError | None = None

    @property
    def faults(self) -> list[InputError]:
        """The remarks, and the fault if there is one."""
        return [*self.remarks, *([self.fault] if self.fault else [])]

    def position(self, ply: int) -> Position:
        """The board before move `ply` (from 0), or at the end. Needs `boards`."""
        cells = np.frombuffer(self.boards[ply], np.uint8)
        before = self.log.start.plies if self.log.start else 0
        return Position(self.log.variant, cells, self.log.mover(ply), before + ply)


def move_texts(played: Played) -> list[str]:
    """The plies, as `ply_text` writes them. Needs `boards`."""
    texts, moves = [], played.log.moves
    for before, start, end in zip(played.boards, moves[::2], moves[1::2], strict=False):
        met = (before[start] & TYPE, before[end] & TYPE) if before[end] & PIECE else None
        texts.append(ply_text(start, end, played.log.variant.width, met))
    return texts


def play_out(logs: Iterable[tuple[str, Log]], boards: bool = False) -> list[Played]:
    """Plays (name of the file, log) each, with `boards` if they are asked for.

    Repetition rules are off: old games obeyed older ones. The names are in all errors. A log
    without setups or a start has no boards.
    """
    played = []
    for name, log in logs:
        game = _play(log, boards) if log.has_board else _unplayed(log)
        for error in game.faults:
            error.file = name
        played.append(game)
    return played


def _unplayed(log: Log) -> Played:
    """A log without a board."""
    remarks = [*log.remarks, *([] if log.broken else ending_faults(log, End("", None)))]
    return Played(log, (), "", None, remarks, log.broken)


def breaches(logs: Sequence[Log], rules: Mapping[str, int]) -> list[int | None]:
    """Of each sound game the first move (from 0) that these rules forbid, or None.

    All rules that are not named are off, but for the limit that the more-squares rule needs: what
    comes after two hundred plies without an attack is not looked at. `waived` is one, too.
    """
    return [_breach(log, rules) if log.has_board else None for log in logs]


def _breach(log: Log, rules: Mapping[str, int]) -> int | None:
    in_force = {**rules, "max_quiet": 200} if rules.get("more_squares") else rules
    played = prefix_by(in_force, log)
    legal = played.legal // 2
    return None if legal == log.plies or played.ending.startswith("max") else legal


def _play(log: Log, boards: bool) -> Played:
    """A log with a board, played out."""
    game = free_game(log.variant.name)
    played = prefix(game, log)
    if played.legal < 2 * log.plies and log.one_digit and not played.ending:
        log, played = _counted_from_0(game, log, played)
    legal, end = played.legal // 2, End.of(played)
    over, winner = end
    sound = dataclasses.replace(log, moves=log.moves[: 2 * legal], lines=log.lines[:legal])
    remarks, fault = list(log.remarks), log.broken
    first_late = log.plies - log.late
    if legal > first_late:
        what = "moves after END go on with the game, and belong to it"
        remarks.append(_at(log, first_late, what))
    if first_late <= legal < log.plies and not over:
        what = "moves after END do not go on with the game, left out"
        remarks.append(_at(log, legal, what))
    elif legal < log.plies and over:
        left = log.plies - legal
        what = f"{left} move{'s' * (left > 1)} after the end of the game ({over}), left out"
        remarks.append(_at(log, legal, what))
        fault = None
    elif legal < log.plies:
        fault = _at(log, legal, f"illegal move: {_why(sound, log.moves[2 * legal :])}")
        fault.what += " (in a game with rescues, which are left out)" if log.rescues else ""
    elif over and fault:
        remarks.append(fault)
        fault = None
    if not fault:
        remarks += ending_faults(sound, end)
    cells = [position[: log.variant.squares] for position in positions_of(sound)] if boards else []
    return Played(sound, cells, over, winner, remarks, fault)


def _counted_from_0(game: Game, log: Log, played: Prefix) -> tuple[Log, Prefix]:
    """The log with ranks from 0 to 9, if that way more of its moves are legal."""
    squares, width = log.variant.squares, log.variant.width
    shift = bytes((square + width) % squares for square in range(256))
    other = dataclasses.replace(log, moves=log.moves.translate(shift))
    longer = prefix(game, other)
    if longer.legal <= played.legal:
        return log, played
    remark = _at(other, 0, "ranks that are counted from 0")
    return dataclasses.replace(other, remarks=(*log.remarks, remark)), longer


def _at(log: Log, ply: int, what: str) -> InputError:
    return InputError(what, where=log.where(ply), text=log.move_text(ply))


def _why(sound: Log, move: bytes) -> str:
    """Why the move after those of a sound log is not legal."""
    return why_illegal(last_position(sound), move[0], move[1])
