"""Does a program keep to the UCC protocol?"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stratkit.engine import Game
from stratkit.engine.arbiter import REPETITION_RULES
from stratkit.engine.replay import legal_prefix
from stratkit.engine.stratego import BLUE, RED, variant
from stratkit.play.seating import Seating
from stratkit.players.baselines import RandomPlayer
from stratkit.ucc import protocol as ucc
from stratkit.ucc.process import Fault, Process, Program
from stratkit.ucc.referee import ask_setup, play_game

END_LIMIT = 2.0  # seconds in which a program must end after the game
UNASKED_LIMIT = 0.5  # seconds in which it must write nothing after its setup
LINE_LIMIT = 2.0  # seconds a line that the original manager waits by default

LATE = f"the original manager waits {LINE_LIMIT:g} s for the setup"  # who is late can yet play

OK, BUT, WRONG = "ok", "ok, but", "wrong"
Remark = tuple[str, str]  # one of these, and what is so


def check_program(program: Program, game: Game, seed: int) -> list[Remark]:
    """Has the program set up and play on both sides, against a random player, and ends it in each
    way in which a game can end. A check that needs what another one found wrong is left out."""
    remarks: list[Remark] = []
    ready = True
    for colour in (RED, BLUE):
        checks = list(_check_setup(program, game, colour))
        ready &= all(verdict != WRONG or what.endswith(LATE) for verdict, what in checks)
        remarks += checks
    if ready:
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
        yield OK, f"{name}: sets up, {took:.1f} s after its start"
        if took > LINE_LIMIT:
            yield WRONG, f"{name}: {LATE}"
        rest = process.unasked(UNASKED_LIMIT)
        if rest:
            yield WRONG, f"{name}: goes on writing after its setup: {rest!r}"
    except Fault as fault:
        yield WRONG, f"{name}: no setup: {fault.reason}: {process.text_of(fault)}"
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
    """Does it play a game, and by rules that the protocol does not have?"""
    name, heard = ucc.COLOURS[colour], _TimedProcess(program)

    def start(program: Program, fresh: bool = False) -> Process:
        return heard

    try:
        seats = (0, 1) if colour == RED else (1, 0)
        players = (program, RandomPlayer(seed))
        names = (program.name, "random")
        finished = play_game(game, Seating(colour, seats), players, names, start)
        fault = finished.notes[colour].fault
        reason = finished.notes[colour].reason
        moves = heard.lines[variant(game.name).ranks :]
        if fault is not None:
            made = (int(finished.plies[0]) + 1 - colour) // 2
            setting_up = len(finished.episodes.actions) < 2 * variant(game.name).pieces
            when = "setup" if setting_up else f"move {made + 1}"
            yield WRONG, f"{name}: {when}: {reason}: {fault}"
        else:
            yield OK, f"{name}: plays {len(moves)} moves"
        slowest = max((seconds for _, seconds in moves), default=0.0)
        if slowest > LINE_LIMIT:
            what = f"takes {slowest:.1f} s for a move: the original manager waits {LINE_LIMIT:g} s"
            yield WRONG, f"{name}: {what}"
        blank = next((line for line, _ in moves if line != " ".join(line.split())), None)
        if blank is not None:
            yield WRONG, f"{name}: blanks that do not belong there: {blank!r}"
        for rule, move in _broken_rules(game, colour, finished.episodes.actions):
            what = f"broke the {rule.replace('_', '-')} rule at move {move}"
            option = f"--{rule.replace('_', '-')} off"
            yield BUT, f"{name}: {what}; matches need rules=off, or {option}"
        if fault is None:
            yield from _check_quit(heard, game, colour)
    finally:
        heard.close()


def _broken_rules(
    game: Game, colour: int, actions: npt.NDArray[np.int32]
) -> Iterator[tuple[str, int]]:
    """The repetition rules that a match of this game has and this game has not, and that `colour`
    was the first to break; and at which of its moves, from 1 on."""
    usual = Game(game.name).rules
    for rule in REPETITION_RULES:
        if game.rules[rule] or not usual[rule]:
            continue
        strict = Game(game.name, {**game.rules, rule: usual[rule]})
        legal = legal_prefix(strict, actions).legal
        ply = (legal - 2 * variant(game.name).pieces) // 2
        if legal < len(actions) and ply % 2 == colour:
            yield rule, ply // 2 + 1


def _check_quit(process: Process, game: Game, colour: int) -> Iterator[Remark]:
    """Does it end when the game is over, or with reuse=on play another one?"""
    name = ucc.COLOURS[colour]
    if not process.program.reuse:
        if not process.ends(END_LIMIT):
            yield WRONG, f"{name}: does not end after QUIT"
        return
    try:
        ask_setup(process, variant(game.name), 1 - colour, "nobody")
        yield OK, f"{name}: sets up for another game after QUIT"
    except Fault as fault:
        what = f"{name}: reuse=on: no setup for another game after QUIT"
        yield WRONG, f"{what}: {fault.reason}: {process.text_of(fault)}"


def _check_end(program: Program, game: Game) -> Iterator[Remark]:
    """Does it end when nobody talks to it any more?"""
    process = Process(program)
    try:
        ask_setup(process, variant(game.name), RED, "nobody")
        process.close_input()
        if process.ends(END_LIMIT):
            yield OK, "ends when its input ends"
        else:
            yield WRONG, "does not end when its input ends"
    except Fault as fault:
        what = f"{fault.reason}: {process.text_of(fault)}"
        yield WRONG, f"does not set up every time: {what}"
    finally:
        process.close()
