"""examples/exact: its Makefile in a reduced form, and its table."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess
import sys

import pytest

from running import ROOT, forked_commands

FOLDER = ROOT / "examples/exact"


def make(folder: pathlib.Path, *words: str) -> str:
    """The Makefile in Kuhn poker, with two marks."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    commands = folder / "bin"
    found = commands if commands.exists() else forked_commands(commands)
    environment["PATH"] = f"{found}:{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    line = ["make", "-s", "-f", FOLDER / "Makefile", "RUNS=runs", "PYTHON=python"]
    line += ["MARKS=30 60", "NET=mlp:8", "BATCH=8", "batch-mmd=8", "NICE=0"]
    done = subprocess.run(
        [*line, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_a_cell_goes_on_where_it_was(tmp_path: pathlib.Path) -> None:
    cell = ("cell", "GAME=kuhn", "LEARNER=mmd", "SEED=4")
    make(tmp_path, *cell, "MARKS=30")
    folder = tmp_path / "runs/kuhn/mmd-4"
    first = (folder / "30.json").read_bytes()
    make(tmp_path, *cell)
    assert (folder / "30.json").read_bytes() == first
    assert make(tmp_path, *cell) == ""
    lines = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    assert lines[-2]["decisions"] < 60 <= lines[-1]["decisions"]
    policies = json.loads((folder / "60.json").read_text())["policies"]
    assert [policy["step"] for policy in policies] == [lines[-1]["step"]] * 2
    table = make(tmp_path, "table").splitlines()
    titles, _, row = (line.split(" | ") for line in table)
    assert titles[2:4] == ["average after 30", "average after 60"] and len(row) == len(titles)
    assert row[:2] == ["| `kuhn`", "mmd"] and row[3] == row[4]  # of one seed
    assert (tmp_path / "runs/exploitability.png").stat().st_size > 1000


def test_published_settings_are_a_games_own(tmp_path: pathlib.Path) -> None:
    """Other games have none, and neither has a learner that nobody knows."""
    game = "phantom_ttt:classical"
    said = make(tmp_path, "cell", f"GAME={game}", "LEARNER=sweep-mmd", "SEED=1", "-n")
    for words in ("--batch 125", "--kl-mu .05", "--lr-linear 60", "--net mlp:8+critic"):
        assert words in said
    assert "--kl-mu 0" in make(
        tmp_path, "cell", f"GAME={game}", "LEARNER=sweep-ppo", "-n", "SEED=1"
    )
    own = ("mine-kuhn=--algorithm mmd --eta .07", "batch-mine-kuhn=5")
    said = make(tmp_path, "cell", "GAME=kuhn", "LEARNER=mine", "SEED=1", "-n", *own)
    assert "--eta .07" in said and "--batch 5" in said
    for learner in ("sweep-ppo", "nobody"):
        with pytest.raises(subprocess.CalledProcessError) as error:
            make(tmp_path, "cell", "GAME=kuhn", f"LEARNER={learner}", "SEED=1")
        assert f"{learner} has no settings for kuhn" in error.value.stderr
    assert not list(tmp_path.glob("runs/**/*.json"))


def test_it_says_where_runs_must_go(tmp_path: pathlib.Path) -> None:
    words = ["make", "-s", "-f", FOLDER / "Makefile"]
    done = subprocess.run(words, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode and "RUNS=FOLDER says where the runs go" in done.stderr


def test_intervals_are_over_seeds(tmp_path: pathlib.Path) -> None:
    """Of Student's t: with three seeds 4.303 standard errors."""
    for seed, exploitability in enumerate((0.1, 0.2, 0.3)):
        folder = tmp_path / f"kuhn/a-b-{seed}"
        folder.mkdir(parents=True)
        policies = [{"exploitability": exploitability}, {"exploitability": 0.5}]
        (folder / "10.json").write_text(json.dumps({"policies": policies}))
        (folder / "cpu.txt").write_text("0m0.00s 0m0.00s\n1m30.00s 0m30.00s\n")
    functions = runpy.run_path(str(FOLDER / "table.py"))
    found = functions["read"](tmp_path / "kuhn")
    assert found == {"a-b": {10: {"last": [0.1, 0.2, 0.3], "average": [0.5] * 3}}}
    assert functions["interval"](found["a-b"][10]["last"]) == pytest.approx((0.2, 0.2484), abs=1e-4)
    assert functions["cell"]([0.5] * 3) == ".5000 ± .0000"
    assert functions["minutes"](tmp_path / "kuhn", "a-b") == "2.0"
    assert functions["minutes"](tmp_path / "kuhn", "c") == ""
