"""The processes of programs: one for each game, or, with `reuse`, one for many."""

from __future__ import annotations

import threading
from collections import defaultdict

from stratkit.ucc.process import Fault, Process, Program


class ProcessPool:
    """Hands out processes, each to one game at a time, from any thread.

    Of a program with `reuse` a process that its game gave back in order waits for another game. One
    that does not, and ends or stays silent, is replaced, and its program is started for every game
    from then on; `remarks` has a line on it, and on a log that cannot be written.
    """

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self._running: set[Process] = set()
        self._idle: dict[Program, list[Process]] = defaultdict(list)
        self._lost: set[str | None] = set()  # logs that lack lines
        self._once: set[Program] = set()  # play one game each time, whatever was asked for
        self._lock = threading.Lock()
        self._stopped = False

    def take(self, program: Program, label: str, fresh: bool = False) -> Process:
        """A process for a game: one that has played, unless it has to be `fresh`. `Fault`: the
        match was stopped."""
        with self._lock:
            idle = self._idle[program]
            process = idle.pop() if idle and not fresh else None
        if process and not process.idle():
            self.close(process)
            process, fresh = None, True
        if fresh:
            self._play_once(program)
        if process is None:
            with self._lock:
                if self._stopped:
                    raise Fault("exit", "the match was stopped")
                process = Process(program, label)
                self._running.add(process)
        process.begin(label)
        return process

    def _play_once(self, program: Program) -> None:
        with self._lock:
            known = program in self._once
            self._once.add(program)
            waiting = self._idle.pop(program, [])
        for process in waiting:
            self.close(process)
        if not known:
            what = "does not wait for another game after QUIT: it is started for every game"
            self.remarks.append(f"{program.name}: reuse=on: {what}")

    def give_back(self, process: Process, in_order: bool) -> None:
        """Its game is over, and was lost by no fault if it was `in_order`."""
        program = process.program
        with self._lock:
            if program.reuse and in_order and program not in self._once and not self._stopped:
                self._idle[program].append(process)
                return
        self.close(process)

    def close(self, process: Process) -> None:
        """Ends the process."""
        with self._lock:
            self._running.discard(process)
        process.close()
        program = process.program
        if process.lost and program.log not in self._lost:
            self._lost.add(program.log)
            self.remarks.append(f"{program.name}: log={program.log}: {process.lost}")

    def stop(self) -> None:
        """Ends all processes; the threads that wait for them notice."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.let_go()

    def close_idle(self) -> None:
        """Ends those that nobody plays with; when all games are over, all that are left."""
        with self._lock:
            waiting = [process for idle in self._idle.values() for process in idle]
            self._idle.clear()
        for process in waiting:
            self.close(process)

    def open(self) -> None:
        """Processes may be taken (again)."""
        self._stopped = False
