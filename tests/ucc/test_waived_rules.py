"""rules=off: the repetition rules do not bind a program that does not know them. They bind us."""

from __future__ import annotations

import json
import pathlib
import shlex
import sys

import numpy as np
import pytest

from running import ROOT, run
from stratkit.engine import Game
from stratkit.engine.replay import legal_prefix
from stratkit.play.seating import Seating
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Decision, Player, Views
from stratkit.ucc.process import Process, Program
from stratkit.ucc.referee import play_game

BOT = [sys.executable, "-I", "-S", str(ROOT / "tests/ucc/ucc_bot.py"), "to and fro"]
PIECES = 8  # of one side in mini


class ToAndFro(Player):
    """Moves the piece that it moved last back, where that is legal: `held` counts where not."""

    def __init__(self) -> None:
        self.random, self.actions, self.held = RandomPlayer(1), list[int](), 0

    def act(self, views: Views) -> Decision:
        decision = self.random.act(views)
        index = len(self.actions) - PIECES
        if index >= 2:  # what it selected last it went to then, and the other way round
            back = self.actions[-1] if index % 2 == 0 else self.actions[-3]
            if views.legal[0, back]:
                decision = Decision(np.array([back], np.int32), np.ones(1, np.float32))
            elif index % 2 and self.actions[-1] == self.actions[-2]:
                self.held += 1
        self.actions.append(int(decision.actions[0]))
        return decision


@pytest.mark.parametrize("side", [0, 1])
def test_the_rules_bind_our_side_alone(side: int) -> None:
    game, ours = Game("mini"), ToAndFro()
    program = Program("bot", tuple(BOT), time=60, startup=60, bound=False)
    processes: list[Process] = []

    def start(program: Program, fresh: bool = False) -> Process:
        processes.append(Process(program))
        return processes[-1]

    try:
        seats = (0, 1) if side == 0 else (1, 0)
        finished = play_game(game, Seating(0, seats), (program, ours), ("bot", "us"), start)
    finally:
        for process in processes:
            process.close()
    actions = finished.episodes.actions
    assert finished.notes[0].fault is None and ours.held > 3
    broken = legal_prefix(game, actions).legal
    assert broken < len(actions) and (broken - 2 * PIECES) // 2 % 2 == side
    for waived, legal in ((1 << side, True), (3, True), (2 - side, False)):
        by = Game("mini", {"waived": waived})
        assert (legal_prefix(by, actions).legal == len(actions)) == legal


def test_the_record_says_whom_the_rules_do_not_bind(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g.jsonl"
    limits = f"name=fro,time=60,startup=60,ucc:{shlex.join(BOT)}"
    two = ("random", "-n", 2, "--game", "mini", "--seed", 1, "--concurrency", 1, "-o", path)
    done = run("match", f"rules=off,{limits}", *two)
    assert done.status == 0 and len(done.err.splitlines()) == 1  # nobody lost by a fault
    header, *records = map(json.loads, path.read_text().splitlines())
    assert header["rules"]["two_squares"] == 3 and "waived" not in header["rules"]
    fro, random = header["players"]
    assert fro["bound"] is False and "rules=off," in fro["spec"] and "bound" not in random
    checked = run("fenfs", "check", path)
    assert (checked.status, "two-squares" in checked.err) == (0, False)
    assert run("match", "--resume", "-o", path, f"rules=off,{limits}", "random").status == 0
    bound = run("match", "--resume", "-o", path, limits, "random")
    assert bound.status == 1 and "players 1" in bound.error_line
    # The same games where the rules bound everybody: the check tells of a breach.
    del fro["bound"]
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *records)))
    checked = run("fenfs", "check", path)
    assert checked.status == 0 and "the two-squares rule (3) forbids this move" in checked.err


def test_a_search_plays_a_program_that_is_not_bound(tmp_path: pathlib.Path) -> None:
    """Its worlds and rollouts are of a game in which the rules bind it alone."""
    player = "search=pimc,nodes=8,worlds=2,heuristic"
    words = ("-n", 2, "--game", "mini", "--seed", 2, "--concurrency", 1, "-o", tmp_path / "g")
    program = f"rules=off,time=60,startup=60,ucc:{shlex.join(BOT)}"
    done = run("match", player, program, *words, "--max-plies", 60)
    assert done.status == 0 and len(done.err.splitlines()) == 1


def test_check_takes_the_key(tmp_path: pathlib.Path) -> None:
    program = f"time=60,startup=60,ucc:{shlex.join(BOT)}"
    words = ("--game", "mini", "--seed", 1, "--two-squares", 3)
    assert "illegal_move" in run("match", "--check", program, *words).out
    assert "illegal_move" not in run("match", "--check", f"rules=off,{program}", *words).out
