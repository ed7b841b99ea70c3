"""A game of the user's own, examples/tictactoe.py: it is played, learned and measured, and imported
only where the user has named it. tests/engine/test_python_game.py has what a class may do wrong."""

from __future__ import annotations

import pathlib
import re
import shutil

import pytest

from running import ROOT, run

EXAMPLE = ROOT / "examples" / "tictactoe.py"
GAME, LATE = "py:tictactoe:TicTacToe", "py:tictactoe:Late"
REFUSED = f"game {GAME}: unknown, and data run no code: only the command line does, by --game"
LIARS = """
from tictactoe import TicTacToe

class Illegal(TicTacToe):
    def legal(self, state):
        return [9]

class Raises(TicTacToe):
    ended = 0

    def returns(self, state):
        type(self).ended += 1
        if self.ended == 9:
            raise RuntimeError("the ninth")
        return super().returns(state)

class Prints(TicTacToe):
    def reset(self, state):
        print("begun")
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "liars.py").write_text(LIARS)
    return tmp_path


def test_the_example_is_played_learned_and_measured(folder: pathlib.Path) -> None:
    lines = EXAMPLE.read_text().split("class Late")[0].splitlines()
    assert len([line for line in lines if line.strip()]) <= 42
    game = ("--game", GAME)
    assert run("selfplay", *game, "-n", 20, "--seed", 1, "-o", "a.eps", cwd=folder).status == 0
    learn = ("train", "a.eps", "--out", "run", "--net", "mlp:8", "--batch", 4, "--seed", 1)
    done = run(*learn, "--steps", 2, cwd=folder)
    assert done.status == 1 and f"train: a.eps: {REFUSED}" in done.error_line
    assert run(*learn, "--steps", 2, *game, cwd=folder).status == 0
    players = ("run", "search=pimc,worlds=1,nodes=20,random")
    done = run("match", *players, "-n", 4, "--seed", 1, "-o", "m.jsonl", *game, cwd=folder)
    assert done.status == 0 and done.err.startswith("run@2 - random"), done.err
    again = run("match", "--resume", "-o", "m.jsonl", cwd=folder)
    assert again.status == 1 and REFUSED in again.error_line
    assert run("match", "--resume", "-o", "m.jsonl", *game, cwd=folder).status == 0
    done = run("exploit", LATE, "uniform", "cfr:20", cwd=folder)
    assert done.status == 0, done.err
    # X takes cell 6, and two lines are open.
    first, *_, uniform, cfr = done.out.splitlines()
    assert first.startswith(f"{LATE}: 178 histories, 90 information sets")
    assert float(uniform.split()[3]) == 0.9 and float(cfr.split()[3]) < 0.1


def test_a_class_that_lies_costs_one_line(folder: pathlib.Path) -> None:
    play = ("selfplay", "-n", 20, "--seed", 1, "--slots", 4)
    done = run(*play, "--game", "py:liars:Illegal", "-o", "a.eps", cwd=folder)
    what = "game py:liars:Illegal: legal: 9 is not from 0 to 8, ascending"
    assert (done.status, done.err) == (1, f"selfplay: {what}\n")
    done = run("exploit", "py:liars:Illegal", "uniform", cwd=folder)
    assert (done.status, done.err) == (1, f"exploit: {what}\n")
    done = run("exploit", "py:liars:Ilegal", "uniform", cwd=folder)
    assert done.status == 2 and "no class Ilegal in liars (did you mean 'Illegal'?)" in done.err


def test_games_before_the_fault_are_kept(folder: pathlib.Path) -> None:
    match = ("match", "random", "name=b,random", "-n", 20, "--seed", 1, "-o", "m.jsonl")
    done = run(*match, "--game", "py:liars:Raises", "--slots", 2, cwd=folder)
    what = "match: game py:liars:Raises: apply: action [0-8]: RuntimeError: the ninth"
    assert done.status == 1 and "--resume" in done.err, done.err
    assert re.search(what, done.err)
    kept = (folder / "m.jsonl").read_text().splitlines()[1:]
    assert 4 <= len(kept) <= 8


def test_what_a_class_prints_is_no_episode(folder: pathlib.Path) -> None:
    done = run("selfplay", "--game", "py:liars:Prints", "-n", 2, "--seed", 1, cwd=folder)
    assert done.status == 0 and "begun" in done.err and b"begun" not in done.data
