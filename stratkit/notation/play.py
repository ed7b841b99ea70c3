"""Playing out logs on the engine: are their moves legal, and do their results fit the board?

Many games are played side by side, so that the engine checks a move of each in one call.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.engine.batch import Batch
from stratkit.engine.stratego import (
    RED,
    Position,
    why_illegal,
)
from stratkit.errors import InputError
from stratkit.notation.log import Log

ROWS = 64  # games side by side

_WINNERS = {0: "red wins", 1: "blue wins", None: "nobody wins"}


@dataclass(frozen=True)
class Played:
    """A log as far as its moves are legal.

    `log` has these moves only; `boards` are the cells before each of them and at the end, if asked
    for, bytes [squares] each; `over` names the ending on the board ("": there is none) and `winner`
    who won there. `remarks` are faults that did not stop the game; `fault` is what did.
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
        return Position(self.log.variant, cells, ply % 2, ply)


def play_out(logs: Iterable[tuple[str, Log]], boards: bool = False) -> list[Played]:
    """Plays (name of the file, log) each, with `boards` if they are asked for.

    Repetition rules are off: old games obeyed older ones. The names are in all errors. A log
    without setups has no boards.
    """
    named = list(logs)
    played = [Played(log, remarks=list(log.remarks), fault=log.broken) for _, log in named]
    for some in _side_by_side([log for _, log in named]):
        run = _Run([named[i][1] for i in some], {}, boards)
        for row, i in enumerate(some):
            played[i] = run.played(row)
    for index, (name, _) in enumerate(named):
        for error in played[index].faults:
            error.file = name
    return played


def breaches(logs: Sequence[Log], rules: Mapping[str, int]) -> list[int | None]:
    """Of each sound game the first move (from 0) that these rules forbid, or None.

    All rules that are not named are off, but for the limit that the more-squares rule needs: what
    comes after two hundred plies without an attack is not looked at.
    """
    found: dict[int, int | None] = {}
    for some in _side_by_side(logs):
        run = _Run([logs[i] for i in some], rules, False)
        for row, i in enumerate(some):
            legal = int(run.legal[row])
            ended = legal == logs[i].plies or run.over(row).startswith("max")
            found[i] = None if ended else legal
    return [found.get(i) for i in range(len(logs))]


def _side_by_side(logs: Sequence[Log]) -> Iterator[list[int]]:
    """The indices of logs with setups that can be played together."""
    by_variant: dict[str, list[int]] = {}
    for index, log in enumerate(logs):
        if log.setups is not None:
            by_variant.setdefault(log.variant.name, []).append(index)
    for indices in by_variant.values():
        for first in range(0, len(indices), ROWS):
            yield indices[first : first + ROWS]


@functools.cache
def _batch(name: str, rules: tuple[tuple[str, int], ...]) -> Batch:
    """A batch for a variant with no rules but these."""
    asked = dict(rules)
    if asked.get("more_squares"):
        asked["max_quiet"] = 200
    return Batch(Game(name, {**dict.fromkeys(Game(name).rules, 0), **asked}), ROWS)


class _Run:
    """Games side by side: `legal` [games] is how many moves of each the engine takes."""

    def __init__(self, logs: list[Log], rules: Mapping[str, int], boards: bool) -> None:
        self.logs, self.variant = logs, logs[0].variant
        self.batch = _batch(self.variant.name, tuple(rules.items()))
        self.legal = np.array([log.plies for log in logs])
        self.boards: list[list[bytes]] = [[] for _ in logs]
        for row, log in enumerate(logs):
            self.batch.start(row, start_of(log).to_bytes())
        self._run(boards)
        returns, endings, _ = self.batch.result()
        self._red, self._endings = returns[:, RED].tolist(), endings.tolist()

    def _run(self, boards: bool) -> None:
        """Plays ply by ply; games whose next move is not legal stay where they are."""
        n, size = len(self.logs), self.variant.squares
        moves = np.zeros((int(self.legal.max()), 2, ROWS), np.uint8)
        for row, log in enumerate(self.logs):
            moves[: log.plies, :, row] = np.frombuffer(log.moves, np.uint8).reshape(-1, 2)
        moves[1::2] = size - 1 - moves[1::2]  # blue's frame
        playing = np.arange(n)
        for ply in range(len(moves)):
            playing = playing[self.legal[playing] > ply]
            if boards:
                self._keep(playing.tolist())
            for half in (0, 1):
                self._apply(moves[ply, half], playing, ply)
        if boards:
            self._keep([row for row in range(n) if len(self.boards[row]) <= self.legal[row]])

    def _apply(
        self, actions: npt.NDArray[np.uint8], playing: npt.NDArray[np.int64], ply: int
    ) -> None:
        rows = playing[self.legal[playing] > ply]
        here = self.batch.legal()[rows, actions[rows]] != 0
        self.legal[rows[~here]] = ply
        known = np.full(ROWS, -1, np.int32)
        known[rows[here]] = actions[rows[here]]
        self.batch.apply(known)

    def _keep(self, rows: list[int]) -> None:
        for row in rows:
            self.boards[row].append(self.batch.save(row)[: self.variant.squares])

    def over(self, row: int) -> str:
        return str(self.batch.game.endings[self._endings[row]])

    def played(self, row: int) -> Played:
        log, legal, over = self.logs[row], int(self.legal[row]), self.over(row)
        red = self._red[row]
        winner = None if red == 0 else RED if red > 0 else 1
        sound = dataclasses.replace(log, moves=log.moves[: 2 * legal], lines=log.lines[:legal])
        remarks, fault = list(log.remarks), log.broken
        if legal < log.plies and over:
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
            remarks += _result_faults(log, over, winner)
        return Played(sound, self.boards[row], over, winner, remarks, fault)


def start_of(log: Log) -> Position:
    """The board before the first move of a log with setups."""
    assert log.setups is not None
    return Position.of_setups(log.variant, *log.setups)


def _at(log: Log, ply: int, what: str) -> InputError:
    return InputError(what, where=log.where(ply), text=log.move_text(ply))


def _why(sound: Log, move: bytes) -> str:
    """Why the move after those of a sound log is not legal."""
    run = _Run([sound], {}, False)
    position = Position.from_bytes(sound.variant, run.batch.save(0))
    return why_illegal(position, move[0], move[1])


def _result_faults(log: Log, over: str, winner: int | None) -> list[InputError]:
    """Where the result denies what the board shows. Repetition rules may end a game earlier."""
    captured = over == "flag_captured"
    said = f"{log.reason.replace('_', ' ')}, {_WINNERS[log.winner]}"
    if captured and (log.reason, log.winner) != ("flag_captured", winner):
        board = f"flag captured, {_WINNERS[winner]}"
        return [InputError(f"the result is not that of the board ({board})", text=said)]
    if not captured and log.reason == "flag_captured":
        return [InputError("the result says so, but no move captures a flag", text=said)]
    return []
