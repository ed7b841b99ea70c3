"""Games with programs at the board, each in a thread of its own, some of them at a time."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from stratkit.engine import Game
from stratkit.engine.stratego import RED, variant
from stratkit.errors import InputError
from stratkit.play.finished import NOT_PLAYED, Finished, GameNote
from stratkit.play.seating import Seating
from stratkit.play.table import Adjudicator
from stratkit.players.player import Player
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import Fault, Process, Program
from stratkit.ucc.process_pool import ProcessPool
from stratkit.ucc.referee import REFEREE, one_game, play_game

MAX_FAULTS = 3  # games in a row that a player may lose by faults
MAX_AHEAD = 4  # x `concurrency`: games that may begin after one that is not over


def check_start(program: Program, game: Game) -> None:
    """Starts the program, and ends it when it has said something; `InputError` if it does not, and
    if the game has pieces that the protocol cannot show."""
    if "open" in game.rules:
        what = f"{program.name}: the protocol does not tell which pieces --open makes known"
        raise InputError(what, text=" ".join(program.words))
    with contextlib.closing(Process(program, "start")) as process:
        try:
            process.send(ucc.header_line(RED, program.name, variant(game.name)))
            process.line(program.startup)
        except Fault as fault:
            what = f"{program.name} cannot start: {fault.reason}: {process.text_of(fault)}"
            raise InputError(what, text=" ".join(program.words)) from None


class ProgramGames:
    """Plays games of which at least one player is a program, at most `concurrency` at a time.

    `players` and their `names` are what seatings point to. After `MAX_FAULTS` faults in a row a
    player is `withdrawn`: `warn` says so, and its other games come back as `NOT_PLAYED`.
    `adjudicator` makes what may end so many games early. `alone`: one game at a time, in the thread
    that asks for them, where Ctrl-C reaches a person who is asked.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player | Program],
        names: Sequence[str],
        concurrency: int,
        warn: Callable[[str], None],
        adjudicator: Callable[[int], Adjudicator | None] = lambda rows: None,
        alone: bool = False,
    ) -> None:
        self.adjudicator, self.alone = adjudicator, alone
        self.game, self.players, self.names = game, players, names
        self.concurrency, self.warn = concurrency, warn
        self.withdrawn: set[int] = set()
        self._in_a_row: Counter[int] = Counter()
        self._reported: set[int] = set()  # whose first fault was told
        self._processes = ProcessPool()

    def rounds(self, seatings: Iterator[Seating]) -> Iterator[Finished | None]:
        """Plays the games; yields them as they end. Closing it ends all programs.

        A caller who wants the games in order holds back those that overtook a slow one, and loses
        them in an interrupt: no game begins more than `MAX_AHEAD` x `concurrency` games after it.
        """
        self._processes.open()
        if self.alone:
            yield from self._one_by_one(seatings)
            return
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            running: set[Future[Finished]] = set()
            begun: deque[Future[Finished]] = deque()  # in order, from the oldest in `running` on
            while True:
                while begun and begun[0] not in running:
                    begun.popleft()
                while (
                    len(running) < self.concurrency
                    and len(begun) <= MAX_AHEAD * self.concurrency
                    and (seating := next(seatings, None))
                ):
                    if self.withdrawn.isdisjoint(seating.seats):
                        begun.append(pool.submit(self._play, seating))
                        running.add(begun[-1])
                    else:
                        yield _not_played(seating)
                if not running:
                    return
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                self._remark()
                for future in ended:
                    self._count(future.result())
                    yield future.result()
        finally:
            self._processes.stop()
            pool.shutdown(cancel_futures=True)
            self._processes.close_idle()
            self._remark()

    def _one_by_one(self, seatings: Iterator[Seating]) -> Iterator[Finished]:
        try:
            for seating in seatings:
                if not self.withdrawn.isdisjoint(seating.seats):
                    yield _not_played(seating)
                    continue
                finished = self._play(seating)
                self._remark()
                self._count(finished)
                yield finished
        finally:
            self._processes.stop()
            self._processes.close_idle()
            self._remark()

    def _remark(self) -> None:
        while self._processes.remarks:
            self.warn(self._processes.remarks.pop(0))

    def _play(self, seating: Seating) -> Finished:
        taken: list[Process] = []
        label = f"game {seating.number + 1}"

        def start(program: Program, fresh: bool = False) -> Process:
            taken.append(self._processes.take(program, label, fresh))
            return taken[-1]

        finished = None
        try:
            finished = play_game(
                self.game, seating, self.players, self.names, start, self.adjudicator(1)
            )
            return finished
        finally:
            in_order = finished is not None and finished.notes[seating.number].fault is None
            for process in taken:
                # A second process of a program stands for one that played no second game.
                last = process is next(p for p in reversed(taken) if p.program == process.program)
                self._processes.give_back(process, in_order and last)

    def _count(self, finished: Finished) -> None:
        for episode, seats, _ in finished:
            note = finished.notes[episode.number]
            fault = note.fault
            for seat, score in zip(seats, episode.returns, strict=True):
                if isinstance(self.players[seat], Program):
                    lost = fault is not None and score < 0
                    self._in_a_row[seat] = self._in_a_row[seat] + 1 if lost else 0
                    if lost and seat not in self._reported:
                        self._reported.add(seat)
                        name, where = self.names[seat], f"game {episode.number + 1}"
                        self.warn(f"{where}: {name} lost by a fault: {note.reason}: {fault}")
                    if self._in_a_row[seat] == MAX_FAULTS:
                        self._withdraw(seat, str(fault))

    def _withdraw(self, seat: int, fault: str) -> None:
        self.withdrawn.add(seat)
        self.warn(
            f"{self.names[seat]} lost {MAX_FAULTS} games in a row by faults and is not asked any "
            f"more; the last one: {fault}"
        )


def _not_played(seating: Seating) -> Finished:
    returns = np.zeros(len(seating.seats), np.float32)
    return one_game(seating, None, returns, GameNote(NOT_PLAYED, REFEREE))
