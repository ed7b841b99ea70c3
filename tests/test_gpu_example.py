"""examples/players/gpu.sh, on a CPU."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time

import pytest

from running import PATIENCE, ROOT, forked_commands
from stratkit.storage.checkpoints import list_checkpoints, read_metadata

SCRIPT = ROOT / "examples/players/gpu.sh"


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    small = {"DEVICE": "cpu", "CORES": "2", "SLOTS": "8", "TMPDIR": str(tmp_path)}
    return {**os.environ, **small, "PATH": path, "PYTHONPATH": str(ROOT)}


def test_a_player_grows_among_others(tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    """Four self-plays feed the learner until it has its steps; then they go on until Ctrl-C."""
    first = ("--game", "nano", "-n", "20", "--seed", "1", "-o", "games.eps", "-q")
    begin = ("games.eps", "--out", "small", "--net", "plain", "--batch", "8", "-q")
    book = ("--game", "nano", "-n", "4", "--seed", "1", "-o", "book.setups", "-q")
    for words in (("selfplay", *first), ("train", *begin), ("deploy-gen", *book)):
        subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    made = ("run", "nano", "small", "plain:20x2")
    more = {**environment, "TRAIN": "--batch 8 --lr 2e-4 --steps 3 -q", "POOL": "heuristic small"}
    more["BOOK"], more["PLAY"] = "book.setups", "--max-no-attack 30"
    done = subprocess.run(
        [SCRIPT, *made], cwd=tmp_path, env=more, capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    (_, newest) = list_checkpoints(tmp_path / "run")[-1]
    metadata = read_metadata(newest)
    assert (metadata["net"], metadata["step"]) == ("plain:20x2", 3)
    assert metadata["rules"]["max_quiet"] == 30

    more["TRAIN"] = "-q"  # the rest is the run's
    steps = 3
    # Ctrl-C is for all of them; a supervisor may know the script alone.
    for send, number in ((os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)):
        with subprocess.Popen(
            [SCRIPT, *made],
            cwd=tmp_path,
            env=more,
            start_new_session=True,
            stderr=subprocess.PIPE,
        ) as script:
            deadline = time.monotonic() + PATIENCE
            metrics = tmp_path / "run/metrics.jsonl"
            while metrics.read_text().count("\n") < steps + 2 and time.monotonic() < deadline:
                time.sleep(0.1)
            send(script.pid, number)
            _, said = script.communicate(timeout=PATIENCE)
        assert script.returncode == 128 + number, said.decode()
        assert b"gpu.sh: these pipes are gone; the same gpu.sh command goes on\n" in said
        before, (steps, newest) = steps, list_checkpoints(tmp_path / "run")[-1]
        metadata = read_metadata(newest)
        assert steps >= before + 2
        assert (metadata["batch"], metadata["config"]["lr"]) == (8, 2e-4)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("tmp.")]


def test_a_self_play_that_cannot_begin_ends_it(
    tmp_path: pathlib.Path, environment: dict[str, str]
) -> None:
    made = ("run", "barrage", "barrage-easy", "fromto+deployment")  # the net of its weights
    more = {**environment, "TRAIN": "--batch 8 -q", "POOL": "nowhere"}
    done = subprocess.run(
        [SCRIPT, *made], cwd=tmp_path, env=more, capture_output=True, timeout=PATIENCE, check=False
    )
    said = done.stderr.decode()
    assert done.returncode == 1
    assert "selfplay: no built-in player, and no such file or folder: 'nowhere'" in said
    assert "empty: no header of an episode stream\n" in said


def test_words_that_are_missing(environment: dict[str, str]) -> None:
    done = subprocess.run([SCRIPT, "run"], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"usage: gpu.sh RUN GAME PLAYER NET\n")
