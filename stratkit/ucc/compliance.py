"""Does a program keep to the UCC protocol?"""

from __future__ import annotations

import time
from collections.abc import Iterator

from stratkit.engine import Game
from stratkit.engine.stratego import BLUE, RED, variant
from stratkit.play.seating import Seating
from stratkit.players.random import RandomPlayer
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import Fault, Process, Program
from stratkit.ucc.referee import ask_setup, play_game

END_LIMIT = 2.0  # seconds in which a program must end after the game
UNASKED_LIMIT = 0.5  # seconds in which it must write nothing after its setup
LINE_LIMIT = 2.0  # seconds a line that the original manager waits by default

Remark = tuple[bool, str]  # whether it is as it should be, and what


def check_program(program: Program, game: Game, seed: int) -> list[Remark]:
    """Has the program set up and play on both sides, against a random player, and ends it in each
    way in which a game can end. A check that needs what another one found wrong is left out."""
    remarks: list[Remark] = []
    for colour in (RED, BLUE):
        remarks += _check_setup(program, game, colour)
    if all(sound for sound, _ in remarks):
        for colour in (RED, BLUE):
            remarks += _check_game(program, game, colour, seed)
        remarks += _check_end(program, game)
    return remarks


def _check_setup(program: Program, game: Game, colour: int) -> Iterator[Remark]:
    """Does it set up when it is told its colour, and say nothing else?"""
    name, process = ucc.COLOURS[colour], _TimedProcess(program)
    try:
        ask_setup(process, variant(game.name), colour, "nobody")
        took = process.lines[0][1]
        yield True, f"{name}: sets up, {took:.1f} s after its start"
        if took > LINE_LIMIT:
            yield False, f"{name}: the original manager waits {LINE_LIMIT:g} s for the setup"
        rest = process.unasked(UNASKED_LIMIT)
        if rest:
            yield False, f"{name}: goes on writing after its setup: {rest!r}"
    except Fault as fault:
        yield False, f"{name}: no setup: {fault}"
    finally:
        process.close()


class _TimedProcess(Process):
    """Keeps the lines that a program answers, each with the seconds that it took."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.lines: list[tuple[str, float]] = []

    def line(self, seconds: float) -> str:
        began = time.monotonic()
        line = super().line(seconds)
        self.lines.append((line, time.monotonic() - began))
        return line


def _check_game(program: Program, game: Game, colour: int, seed: int) -> Iterator[Remark]:
    """Does it play a game?"""
    name, heard = ucc.COLOURS[colour], _TimedProcess(program)
    try:
        seats = (0, 1) if colour == RED else (1, 0)
        players = (program, RandomPlayer(seed))
        names = (program.name, "random")
        finished = play_game(game, Seating(colour, seats), players, names, lambda _: heard)
        fault = finished.notes[colour].fault
        reason = finished.notes[colour].reason
        moves = heard.lines[variant(game.name).ranks :]
        if fault is not None:
            yield False, f"{name}: move {len(moves)}: {reason}: {fault}"
        else:
            yield True, f"{name}: plays {len(moves)} moves"
        slowest = max((seconds for _, seconds in moves), default=0.0)
        if slowest > LINE_LIMIT:
            what = f"takes {slowest:.1f} s for a move: the original manager waits {LINE_LIMIT:g} s"
            yield False, f"{name}: {what}"
        blank = next((line for line, _ in moves if line != " ".join(line.split())), None)
        if blank is not None:
            yield False, f"{name}: blanks that do not belong there: {blank!r}"
        if fault is None and not heard.ends(END_LIMIT):
            yield False, f"{name}: does not end after QUIT"
    finally:
        heard.close()


def _check_end(program: Program, game: Game) -> Iterator[Remark]:
    """Does it end when nobody talks to it any more?"""
    process = Process(program)
    try:
        ask_setup(process, variant(game.name), RED, "nobody")
        process.close_input()
        if process.ends(END_LIMIT):
            yield True, "ends when its input ends"
        else:
            yield False, "does not end when its input ends"
    except Fault as fault:
        yield False, f"does not set up every time: {fault}"
    finally:
        process.close()
