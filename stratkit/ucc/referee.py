"""One game with programs at the board: the manager of the UCC protocol, the engine its referee.

What a program is told is made here, of the words in `players.ucc`: the moves with their outcomes,
which both sides see, and the board as its side may see it. Its moves are checked by the engine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game
from stratkit.engine.batch import OVER
from stratkit.engine.stratego import (
    BLUE,
    RED,
    Position,
    Variant,
    legal_moves,
    placements,
    variant,
    why_illegal,
)
from stratkit.errors import InputError
from stratkit.play.table import Finished, Judge, Note, Seating
from stratkit.players.player import Player, Views, decide, take_seat
from stratkit.storage.columns import Episode, Episodes
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import Fault, Process, Program

REFEREE = "referee"
SURRENDER = "surrender"
ATTRITION = "attrition"  # the loser's own attack cost its last movable piece
ILLEGAL_SETUP, ILLEGAL_MOVE, UNREADABLE_MOVE = "illegal_setup", "illegal_move", "unreadable_move"

Start = Callable[[Program], Process]


class Board:
    """A game in progress. All squares are absolute."""

    def __init__(self, game: Game, number: int, judge: Judge | None = None) -> None:
        self.game, self.number, self.variant = game, number, variant(game.name)
        self.judge = judge
        self.batch = Batch(game, 1)
        self.actions: list[int] = []
        self.mu: list[float] = []

    @property
    def actor(self) -> int:
        """Whose turn it is, or `OVER`."""
        return int(self.batch.actors()[0])

    def act(self, action: int, mu: float = np.nan) -> None:
        """One action in the acting side's frame."""
        self.batch.apply(np.array([action], np.int32))
        self.actions.append(action)
        self.mu.append(mu)

    def move(self, from_: int, to: int) -> None:
        """One ply."""
        blue = self.actor == BLUE
        for square in (from_, to):
            self.act(self.variant.squares - 1 - square if blue else square)

    def position(self) -> Position:
        """The position between two plies."""
        return Position.from_bytes(self.variant, self.batch.save(0))


class Ours:
    """A player of ours on the side `colour`."""

    def __init__(self, player: Player, colour: int, board: Board) -> None:
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
        side = self.board.actor
        frame = self._act(), self._act()
        squares = self.board.variant.squares
        from_, to = (square if side == RED else squares - 1 - square for square in frame)
        return from_, to, ucc.move_line(self.board.variant, from_, to)

    def _act(self) -> int:
        board = self.board
        views = Views.of_one(board.batch, board.number, len(board.actions))
        decision = decide(self.player, views, values=board.judge is not None)
        if board.judge and decision.values is not None:
            board.judge.note(np.zeros(1, np.int64), board.batch.actors(), decision.values)
        if decision.resigned is not None and decision.resigned[0]:
            raise Fault(SURRENDER, "it surrendered")
        action = int(decision.actions[0])
        board.act(action, float(decision.mu[0]))
        return action

    def echo(self, line: str) -> None:
        """Hears what its own move did."""

    def hear(self, line: str) -> None:
        """Hears what the other side's move did."""


class Theirs:
    """A program on the side `colour`."""

    def __init__(self, process: Process, colour: int, opponent: str, board: Board) -> None:
        self.process, self.colour, self.opponent = process, colour, opponent
        self.board = board
        self._heard = ucc.START

    def deploy(self) -> None:
        """Asks for the setup; `Fault`."""
        kind = self.board.variant
        setup = ask_setup(self.process, kind, self.colour, self.opponent)
        for action in placements(kind, setup).tolist():
            self.board.act(action)

    def move(self) -> tuple[int, int, str]:
        """Asks for a move; `Fault`."""
        position = self.board.position()
        rows = ucc.board_lines(position.variant, position.cells, self.colour)
        self.process.unasked()
        self.process.send(self._heard, *rows)
        line = self.process.line(self.process.program.time)
        if line.strip() == ucc.SURRENDER:
            raise Fault(SURRENDER, "it surrendered")
        try:
            from_, to = ucc.read_move(position.variant, line)
        except InputError as error:
            raise Fault(UNREADABLE_MOVE, str(error)) from None
        if (from_, to) not in legal_moves(self.board.batch, 0):
            raise Fault(ILLEGAL_MOVE, f"{_why(position, from_, to)}: {line!r}")
        self.board.move(from_, to)
        return from_, to, line

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


def _why(position: Position, from_: int, to: int) -> str:
    if (from_, to) in position.legal():
        return "a repetition rule forbids it"
    return why_illegal(position, from_, to)


def play_game(
    game: Game,
    seating: Seating,
    players: Sequence[Player | Program],
    names: Sequence[str],
    start: Start,
    judge: Judge | None = None,
) -> Finished:
    """One game; `start` starts programs, and whoever gave it ends them. `judge` is for one row."""
    board = Board(game, seating.number, judge)
    seats: list[Ours | Theirs] = []
    spent = [0.0, 0.0]
    side, note, decided = RED, Note(), None
    try:
        for side in (RED, BLUE):
            player = players[seating.seats[side]]
            if isinstance(player, Program):
                opponent = names[seating.seats[1 - side]]
                seats.append(Theirs(start(player), side, opponent, board))
            else:
                seats.append(Ours(player, side, board))
            with _clock(spent, side):
                seats[side].deploy()
        while board.actor != OVER and not decided:
            side = board.actor
            _ply(board, seats, side, spent)
            decided = judge.verdict(0) if judge else None
    except Fault as fault:
        wrong = None if fault.reason in (SURRENDER, ATTRITION) else fault.text
        note = Note(fault.reason, REFEREE, wrong)
    finally:
        for seat in seats:
            if isinstance(seat, Ours):
                seat.leave()
    returns, endings, plies = board.batch.result()
    if note.reason:
        returns[0] = [-1, 1] if side == RED else [1, -1]
    elif decided and board.actor != OVER:
        returns[0], note = decided
    note = replace(note, times=tuple(round(seconds, 3) for seconds in spent))
    ending, score = board.game.endings[endings[0]], float(returns[0, side])
    _say_end(board, seats, side, names[seating.seats[side]], note, ending, score)
    return one_game(seating, board, returns[0], int(endings[0]), int(plies[0]), note)


def one_game(
    seating: Seating,
    board: Board | None,
    returns: npt.NDArray[np.float32],
    ending: int,
    plies: int,
    note: Note,
) -> Finished:
    """A game as those who play many at a time give it; without a `board` nothing was played."""
    actions, mu = (board.actions, board.mu) if board else ([], [])
    episode = Episode(
        number=seating.number,
        step=-1,
        ending=ending,
        returns=returns,
        actions=np.array(actions, np.int32),
        mu=np.array(mu, np.float32),
    )
    return Finished(
        Episodes.of([episode]),
        np.array([seating.seats], np.int32),
        np.array([plies], np.int32),
        {seating.number: note},
    )


@contextlib.contextmanager
def _clock(spent: list[float], side: int) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        spent[side] += time.monotonic() - began


def _ply(board: Board, seats: Sequence[Ours | Theirs], side: int, spent: list[float]) -> None:
    """One move of `side`, told to both. What the last move of a game did is not told: QUIT comes
    instead. `Fault` with the reason `ATTRITION`: the move cost the last piece that could move. The
    engine looks at the pieces of the side to move only, the protocol at those of both sides."""
    before = board.position().cells
    with _clock(spent, side):
        from_, to, words = seats[side].move()
    if board.actor == OVER:
        return
    after = board.position().cells
    if not ucc.can_move(after, side):
        raise Fault(ATTRITION, "its last movable piece is lost")
    told = f"{words} {ucc.outcome(before, after, from_, to)}"
    seats[1 - side].hear(told)
    seats[side].echo(told)


_RESULTS = {SURRENDER: "SURRENDER", ATTRITION: "SURRENDER", ILLEGAL_SETUP: "BAD_SETUP"}


def _say_end(
    board: Board,
    seats: Sequence[Ours | Theirs],
    side: int,
    name: str,
    note: Note,
    ending: str,
    score: float,
) -> None:
    """Tells the programs how the game ended: `side`, called `name`, was on turn and has `score`."""
    if note.adjudicator == REFEREE and note.reason:
        result = _RESULTS.get(note.reason, "ILLEGAL")
    elif score:
        result = "VICTORY" if score > 0 else "SURRENDER"
    else:
        result = "DRAW_DEFAULT" if note.reason or ending.startswith("max_") else "DRAW"
    values = (0, 0)
    if len(board.actions) >= 2 * board.variant.pieces:
        cells = board.position().cells
        values = ucc.army_value(cells, RED), ucc.army_value(cells, BLUE)
    moved = note.reason in (None, ATTRITION)  # the game ended with a move, not instead of one
    plies = int(board.batch.plies()[0]) - moved
    line = ucc.quit_line(name, side, result, plies, values)
    for seat in seats:
        if isinstance(seat, Theirs):
            seat.quit(line)
