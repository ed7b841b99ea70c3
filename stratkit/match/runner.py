"""Runs a match: opens the players, plays what the record does not have, and tells the score."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import UTC, datetime

from stratkit.engine import Game
from stratkit.errors import UsageError, counted, error_context
from stratkit.games.table import kit_of
from stratkit.humans import move_log
from stratkit.humans.front_end import Places, find_people, find_start, open_places
from stratkit.humans.seating import Meeting, Seats, seated
from stratkit.humans.session import Undone
from stratkit.match import MAX_GAMES
from stratkit.match.contestants import open_contestants
from stratkit.match.games import MatchGames
from stratkit.match.live import Console, LiveTable
from stratkit.match.options import MatchOptions
from stratkit.match.records import game_record, record_header
from stratkit.match.schedule import NamedSeats, OneAmongOthers, Schedule
from stratkit.match.scoreboard import Scoreboard, SeatBoard, ShareBoard
from stratkit.match.seats import counts_of, seating_of
from stratkit.play.finished import GameNote
from stratkit.play.seating import Opening
from stratkit.setups.given import read_openings
from stratkit.storage.atomic import is_special
from stratkit.storage.records import RecordWriter
from stratkit.storage.streams import STDOUT
from stratkit.threads import use_threads

NOT_PLAYED, FAULTS, H0_ACCEPTED, UNDECIDED = 1, 1, 3, 4  # exit statuses


def run_match(options: MatchOptions, console: Console) -> int:
    """Plays a match; the exit status. Raises `InputError` and `UsageError`, before the first game
    unless a file changes meanwhile."""
    options.check()
    return _Match(options.with_record(), console).run()


class _Match:
    """A match whose players are open, and whose record is not."""

    def __init__(self, options: MatchOptions, console: Console) -> None:
        assert options.game and options.games
        use_threads(options.concurrency)
        self.options, self.console = options, console
        self.game = Game(options.game, options.rules)
        kit = kit_of(self.game)
        options.check_seats(self.game.name, self.game.players, kit.seats)
        options.check_limits(self.game.name, kit.stakes)
        opening, self.setups_sha256 = read_openings(options.setups, self.game.name)
        self.contestants = open_contestants(options, self.game, console)
        self.people = find_people(self.contestants, options.person, options.record, self.game)
        self.start = find_start(
            options.person, options.seed, options.start, options.record, self.game
        )
        self._seat_people()
        self.schedule, self.board = self._schedule(options.games, opening)
        self.table = LiveTable(self.board, console, console.live and not self.people)
        self.grown: int | None = None  # the games, if a rematch has made them more

    def _seat_people(self) -> None:
        """In a game of more than two players the first one is a person, who meets the others."""
        seats = self.options.seats
        if not self.people or self.game.players == 2 or "=" in (seats or ""):
            return
        if self.contestants[0].player is not self.people[0]:
            raise UsageError("with such seats a person is the first PLAYER", text=seats)
        self.options = replace(self.options, gauntlet=True)

    def _schedule(self, games: int, opening: Opening | None) -> tuple[Schedule, Scoreboard]:
        sides, gauntlet = self.game.players, self.options.gauntlet
        names = [contestant.name for contestant in self.contestants]
        whole = -(-games // sides) * sides
        seats = self.options.seats
        if seats is not None and "=" in seats:
            seating = seating_of(seats, self.game.name, kit_of(self.game).seats, names)
            always = NamedSeats(len(names), games, seating_of_all=seating)
            return always, SeatBoard(names, always)
        if sides == 2:
            schedule = Schedule(len(names), whole, opening, gauntlet)
            return schedule, Scoreboard(names, schedule, self.options.test)
        alone, _ = counts_of(seats or "", self.game.name, sides) or (1, 0)
        among = OneAmongOthers(len(names), whole, None, gauntlet, sides, alone)
        return among, ShareBoard(names, among)

    def run(self) -> int:
        """Opens the record and plays, as often as the people want a rematch; the exit status."""
        person, game, games = self.options.person, self.game.name, self.schedule.games
        with open_places(self.people, self.contestants, person, game, games) as places:
            while (finished := self._run(places)) and self._again(places):
                pass
        if not finished:  # a person has left, as one may; but no test has accepted H1
            return 0 if self.board.sprt is None else UNDECIDED
        self.console.say(self.board.text())
        return self._status()

    def _again(self, places: Places) -> bool:
        """Whether the match goes on by another pair of games."""
        more = 1 if isinstance(self.schedule, NamedSeats) else self.game.players
        games = self.schedule.games + more
        again = self.options.sprt is None and games <= MAX_GAMES and places.again(games)
        if again:
            self.options = replace(self.options, games=games, resume=True, force=False)
            self.grown = games
            self.schedule, self.board = self._schedule(games, self.schedule.opening)
            self.table = LiveTable(self.board, self.console, live=False)
        return again

    def _run(self, places: Places) -> bool:
        """Opens the record and plays. False: a person has left."""
        options, record = self.options, self.options.record
        header = record_header(
            options, self.game, self.schedule, self.contestants, self.setups_sha256, self.start
        )
        finished = False
        with (
            move_log.open_log(options.explain, self.game, options.resume, options.force) as log,
            error_context(STDOUT if record == "-" else record, only=OSError),
            RecordWriter(
                record, header, options.resume, options.force, met=self.board.add_recorded
            ) as writer,
        ):
            # Nothing is emptied before the record is locked.
            contestants = log.begin(self.contestants)
            if options.explain is not None and not move_log.explainers(contestants, self.game):
                self.console.warn("--explain: none of these players can tell why it moves")
            meeting = Meeting(self.people, places, contestants, header)
            person, resume, say = options.person, options.resume, self.console.say
            with seated(meeting, person, record, resume, say, self.schedule) as seats:
                try:
                    while not finished:
                        finished = self._play(seats, writer)
                except BaseException:
                    self.table.clear()
                    if self.board.done:
                        self.console.say(self.board.text())
                    if record != "-" and not is_special(record):
                        self.console.interrupted(options.seed, self.grown)
                    raise
        self.table.clear()
        return finished

    def _play(
        self,
        seats: Seats,
        writer: RecordWriter,
    ) -> bool:
        """Plays what is missing, until that is all or the test is decided. False: a person has
        taken back a move, and the rest is to be played."""
        board, options = self.board, self.options
        board.remaining = len(self.schedule) - len(writer.done)
        if board.decision is not None:
            return True
        games = MatchGames(
            self.game,
            self.schedule,
            seats.players,
            board.names,
            options,
            1 if self.people else options.slots,
            self.table.warn,
            alone=bool(self.people),
            start=self.start.to_bytes() if self.start else b"",
        )
        with (
            contextlib.closing(games.rounds(self.schedule.missing(writer.done))) as rounds,
            contextlib.suppress(Undone),
        ):
            for finished in rounds:
                for episode, sides, plies in finished or ():
                    assert finished is not None
                    note = finished.notes.get(episode.number, GameNote())
                    here = self.game, self.schedule, episode, sides, plies, note
                    helped = seats.helped(episode.number)
                    more = self.contestants, self._date(), helped, self.start
                    record = game_record(*here, *more)
                    if board.add_new(record):
                        writer.write(record)
                        seats.ended(record)
                        if options.log_every and board.done % options.log_every == 0:
                            self.table.log()
                    if board.decision is not None:
                        return True
                self.table.draw()
            return True
        return False

    def _date(self) -> str | None:
        """When a game of a person ends; others give the same bytes whenever they are played."""
        return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}" if self.people else None

    def _status(self) -> int:
        board = self.board
        if board.not_played:
            were = "was" if board.not_played == 1 else "were"
            games = counted(board.not_played, "game")
            self.console.warn(f"{games} {were} not played; --resume asks for them again")
            return NOT_PLAYED
        if board.sprt is None:
            return FAULTS if board.new_faults else 0
        if board.decision == 1:
            return 0
        return UNDECIDED if board.decision is None else H0_ACCEPTED
