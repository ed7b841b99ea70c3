"""The bench of what `analyse` finds by few worlds and short rollouts."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from running import PATIENCE, ROOT, here


def bench(games: pathlib.Path, *plans: str) -> subprocess.CompletedProcess[str]:
    words = (games, "barrage-easy", 6, 3, *plans)
    command = [sys.executable, ROOT / "bench/analysis.py", *words]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE)


def test_more_worlds_are_nearer_to_the_reference(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "games.jsonl"
    match = ("match", "heuristic", "random", "--game", "barrage", "-n", 1, "--seed", 5)
    assert here(*match, "-o", games).status == 0
    done = bench(games, "192,0", "2,0", "192,0")
    assert (done.returncode, done.stderr) == (0, "")
    few, many = (
        [float(cell) for cell in line.split("|")[2:6]] for line in done.stdout.splitlines()[2:]
    )
    assert few[0] < many[0]  # CPU
    assert all(b < a / 2 for a, b in zip(few[1:], many[1:], strict=True))


@pytest.mark.parametrize("word", ["1,2", "8", "8,x"])
def test_a_wrong_plan(tmp_path: pathlib.Path, word: str) -> None:
    done = bench(tmp_path / "none", word, "2,0")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and repr(word) in done.stderr


def test_games_that_are_none_and_a_player_without_a_network(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "games.jsonl"
    match = ("match", "random", "heuristic", "--game", "mini", "-n", 1, "--seed", 5)
    assert here(*match, "-o", games).status == 0
    for file, network, said in (
        (tmp_path / "none", "barrage-easy", "no turn of a sound game"),
        (games, "barrage-easy", "not a game of barrage"),
        (games, "heuristic", "only a network's moves"),
    ):
        command = [sys.executable, ROOT / "bench/analysis.py", file, network, 1, 1, "2,0", "2,0"]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
