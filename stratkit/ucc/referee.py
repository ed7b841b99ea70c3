"""One game with programs at the board: the manager of the UCC protocol, the engine its referee.

Programs are told, in the words of protocol.py, all moves with their outcomes, and the board as
their side may see it. The engine checks their moves.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine import Game
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import BLUE, RED, Variant
from stratkit.errors import InputError
from stratkit.play.finished import Finished, GameNote
from stratkit.play.seating import Seating
from stratkit.play.table import Adjudicator, returns_of_loss
from stratkit.players.player import Player, Views, decide, take_seat
from stratkit.storage.columns import Episode, Episodes
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import Fault, Process, Program

REFEREE = "referee"
SURRENDER = "surrender"
ATTRITION = "attrition"  # the loser's own attack cost its last movable piece
ILLEGAL_SETUP, ILLEGAL_MOVE, UNREADABLE_MOVE = "illegal_setup", "illegal_move", "unreadable_move"
CLOCK = "clock"  # of the program, or of the person, that has run out


class Start(Protocol):
    """Gives a program as a process for one game: one that has played before, if there is such and
    it need not be `fresh`."""

    def __call__(self, program: Program, fresh: bool = False) -> Process: ...


class RecordedGame(Arbiter):
    """Game `number`, with `mu`, the probability of each action (NaN: nobody chose it). The
    `adjudicator` may end it early."""

    def __init__(self, game: Game, number: int, adjudicator: Adjudicator | None = None) -> None:
        super().__init__(game)
        self.number, self.adjudicator = number, adjudicator
        self.mu: list[float] = []

    def act(self, action: int, mu: float = np.nan) -> None:
        """Plays an action, which was chosen with probability `mu`."""
        super().act(action)
        self.mu.append(mu)


class PlayerSeat:
    """A player of ours on the side `colour`. It agrees to no draw: the protocol has no word for an
    offer."""

    def __init__(self, player: Player, colour: int, board: RecordedGame) -> None:
        self.player, self.board = player, board
        self._seat = take_seat(player, board.number, colour)

    def leave(self) -> None:
        """The game is over for the player."""
        self.player.end(*self._seat)

    def deploy(self) -> None:
        """Places all pieces."""
        for _ in range(self.board.variant.pieces):
            self._act()

    def move(self) -> tuple[int, int, str]:
        """Moves: (from, to, the move in the protocol's words)."""
        side, kind = self.board.turn or RED, self.board.variant
        from_, to = (kind.framed(side, self._act()) for _ in range(2))
        return from_, to, ucc.move_line(kind, from_, to)

    def _act(self) -> int:
        board = self.board
        views = Views.of_one(board.batch, board.number, len(board.actions), board.actions)
        decision = decide(self.player, views, values=board.adjudicator is not None)
        if board.adjudicator and decision.values is not None:
            board.adjudicator.observe(np.zeros(1, np.int64), board.batch.actors(), decision.values)
        if decision.resigned is not None and decision.resigned[0]:
            raise Fault(SURRENDER, "it surrendered")
        if decision.out_of_time is not None and decision.out_of_time[0]:
            raise Fault(CLOCK, "its clock ran out")
        action = int(decision.actions[0])
        board.act(action, float(decision.mu[0]))
        return action

    def echo(self, line: str) -> None:
        """Hears what its own move did."""

    def hear(self, line: str) -> None:
        """Hears what the other side's move did."""


class ProgramSeat:
    """`program` on the side `colour`."""

    def __init__(
        self, program: Program, start: Start, colour: int, opponent: str, board: RecordedGame
    ) -> None:
        self.process, self._start = start(program), start
        self.colour, self.opponent, self.board = colour, opponent, board
        self._heard = ucc.START
        self._left = program.clock.seconds if program.clock else None

    def deploy(self) -> None:
        """Asks for the setup; `Fault`. A process that has played a game may not want another."""
        try:
            setup = self._setup()
        except Fault:
            if self.process.games <= 1:
                raise
            self.process = self._start(self.process.program, fresh=True)
            setup = self._setup()
        self.board.deploy(setup)

    def _setup(self) -> ucc.Setup:
        return ask_setup(self.process, self.board.variant, self.colour, self.opponent)

    def move(self) -> tuple[int, int, str]:
        """Asks for a move; `Fault`."""
        position = self.board.position()
        rows = ucc.board_lines(position.variant, position.cells, self.colour)
        self.process.unasked()
        line = self._ask(self._heard, *rows)
        if line.strip() == ucc.SURRENDER:
            raise Fault(SURRENDER, "it surrendered")
        try:
            from_, to = ucc.read_move(position.variant, line)
        except InputError as error:
            raise Fault(UNREADABLE_MOVE, str(error)) from None
        if why := self.board.why_illegal(from_, to):
            rule = self.board.broken_rule(from_, to)
            option = f"--{rule.replace('_', '-')} off"
            waived = f" (rules=off waives it for this program, {option} for both)" if rule else ""
            raise Fault(ILLEGAL_MOVE, f"{why}{waived}: {line!r}")
        self.board.move(from_, to)
        return from_, to, line

    def _ask(self, *lines: str) -> str:
        """Its answer to lines, within its limits; `Fault`."""
        program, limit = self.process.program, self.process.program.time
        if self._left is None:
            self.process.send(*lines)
            return self.process.line(limit)
        assert program.clock
        began = time.monotonic()
        try:
            self.process.send(*lines)
            line = self.process.line(min(limit, self._left))
        except Fault as fault:
            if fault.reason == "silence" and time.monotonic() - began >= self._left:
                raise Fault(CLOCK, f"its clock of {program.clock} s ran out") from None
            raise
        self._left -= time.monotonic() - began
        if self._left < 0:
            raise Fault(CLOCK, f"its clock of {program.clock} s ran out")
        self._left += program.clock.increment
        return line

    def echo(self, line: str) -> None:
        """Tells it what its own move did; `Fault`."""
        self.process.send(line)

    def hear(self, line: str) -> None:
        """Notes what the other side's move did; it is told when it is its turn."""
        self._heard = line

    def quit(self, line: str) -> None:
        """Tells it that the game is over."""
        with contextlib.suppress(Fault):
            self.process.send(line)


def ask_setup(process: Process, kind: Variant, colour: int, opponent: str) -> ucc.Setup:
    """Begins a game with a program: its setup, uint8 [zone] in its own view. `Fault`."""
    process.send(ucc.header_line(colour, opponent, kind))
    limits = [process.program.startup] + [process.program.time] * (kind.ranks - 1)
    lines = [process.line(limit) for limit in limits]
    try:
        return ucc.read_setup(kind, colour, lines)
    except InputError as error:
        raise Fault(ILLEGAL_SETUP, str(error)) from None


def play_game(
    game: Game,
    seating: Seating,
    players: Sequence[Player | Program],
    names: Sequence[str],
    start: Start,
    adjudicator: Adjudicator | None = None,
) -> Finished:
    """One game. `start` starts programs, and whoever gave it ends them. The `adjudicator` is one of
    one row."""
    board = RecordedGame(_waiving(game, seating, players), seating.number, adjudicator)
    seats: list[PlayerSeat | ProgramSeat] = []
    spent = [0.0, 0.0]
    side, note, decided = RED, GameNote(), None
    try:
        for side in (RED, BLUE):
            player = players[seating.seats[side]]
            if isinstance(player, Program):
                opponent = names[seating.seats[1 - side]]
                seats.append(ProgramSeat(player, start, side, opponent, board))
            else:
                seats.append(PlayerSeat(player, side, board))
            with _clock(spent, side):
                seats[side].deploy()
        while (turn := board.turn) is not None and not decided:
            side = turn
            _ply(board, seats, side, spent)
            decided = adjudicator.adjudicate(0) if adjudicator else None
    except Fault as fault:
        note = GameNote(fault.reason, REFEREE, _wrong(fault, seats, side))
    finally:
        for seat in seats:
            if isinstance(seat, PlayerSeat):
                seat.leave()
    returns = board.returns
    if note.reason:
        returns = returns_of_loss(game.players, side)
    elif decided and not board.ending:
        returns, note = decided
    note = replace(note, times=tuple(round(seconds, 3) for seconds in spent))
    _say_end(board, seats, side, names[seating.seats[side]], note, float(returns[side]))
    return one_game(seating, board, returns, note)


def _waiving(game: Game, seating: Seating, players: Sequence[Player | Program]) -> Game:
    """The game, with the repetition rules waived for the sides of programs that they do not bind:
    the legal moves of the other side, and what it sees, are as by the rules."""
    seated = [players[seat] for seat in seating.seats]
    free = [isinstance(player, Program) and not player.bound for player in seated]
    waived = sum(1 << side for side in (RED, BLUE) if free[side])
    return Game(game.name, {**game.rules, "waived": waived}) if waived else game


def _wrong(fault: Fault, seats: Sequence[PlayerSeat | ProgramSeat], side: int) -> str | None:
    """What the program of this side did wrong; it may not have come to its seat. None: nothing, or
    a player of ours lost."""
    seat = seats[side] if side < len(seats) else None
    if isinstance(seat, PlayerSeat) or fault.reason in (SURRENDER, ATTRITION):
        return None
    return seat.process.text_of(fault) if seat else fault.text


def one_game(
    seating: Seating, board: RecordedGame | None, returns: Float32s, note: GameNote
) -> Finished:
    """A game as a table returns it; without a `board` nothing was played."""
    episode = Episode(
        number=seating.number,
        step=-1,
        ending=int(board.batch.endings()[0]) if board else 0,
        returns=returns,
        actions=np.array(board.actions if board else [], np.int32),
        mu=np.array(board.mu if board else [], np.float32),
    )
    return Finished(
        Episodes.of([episode]),
        np.array([seating.seats], np.int32),
        np.array([board.plies if board else 0], np.int32),
        {seating.number: note},
    )


@contextlib.contextmanager
def _clock(spent: list[float], side: int) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        spent[side] += time.monotonic() - began


def _ply(
    board: RecordedGame, seats: Sequence[PlayerSeat | ProgramSeat], side: int, spent: list[float]
) -> None:
    """One move of `side`, told to both. What the last move of a game did is not told: QUIT comes
    instead. `Fault` with the reason `ATTRITION`: the move cost the last piece that could move. The
    engine looks at the pieces of the side to move only, the protocol at those of both sides."""
    before = board.position().cells
    with _clock(spent, side):
        from_, to, words = seats[side].move()
    if board.ending:
        return
    after = board.position().cells
    if not ucc.can_move(after, side):
        raise Fault(ATTRITION, "its last movable piece is lost")
    line = f"{words} {ucc.outcome(before, after, from_, to)}"
    seats[1 - side].hear(line)
    seats[side].echo(line)


_RESULTS = {SURRENDER: "SURRENDER", ATTRITION: "SURRENDER", ILLEGAL_SETUP: "BAD_SETUP"}


def _say_end(
    board: RecordedGame,
    seats: Sequence[PlayerSeat | ProgramSeat],
    side: int,
    name: str,
    note: GameNote,
    score: float,
) -> None:
    """Tells the programs how the game ended: `side`, called `name`, was on turn and has `score`."""
    if note.adjudicator == REFEREE and note.reason:
        result = _RESULTS.get(note.reason, "ILLEGAL")
    elif score:
        result = "VICTORY" if score > 0 else "SURRENDER"
    else:
        result = "DRAW_DEFAULT" if note.reason or board.ending.startswith("max_") else "DRAW"
    values = (0, 0)
    if not board.deploying:
        cells = board.position().cells
        values = ucc.army_value(cells, RED), ucc.army_value(cells, BLUE)
    moved = note.reason in (None, ATTRITION)  # the game ended with a move, not instead of one
    line = ucc.quit_line(name, side, result, board.plies - moved, values)
    for seat in seats:
        if isinstance(seat, ProgramSeat):
            seat.quit(line)
