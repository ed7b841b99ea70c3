"""examples/demo.sh, which `make demo` runs, in a reduced form: few steps and few games."""

from __future__ import annotations

import os
import pathlib
import shlex
import signal
import subprocess

import pytest

from running import ROOT, forked_commands


@pytest.mark.parametrize("script", ["demo.sh", "slurm/check.sh"])
def test_a_folder_of_somebody_else_is_not_removed(tmp_path: pathlib.Path, script: str) -> None:
    (tmp_path / "notes").write_text("mine")
    done = subprocess.run(
        ["bash", ROOT / "examples" / script, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and f"{tmp_path}: is there already" in done.stderr
    assert (tmp_path / "notes").read_text() == "mine"


def test_the_demo_in_short(tmp_path: pathlib.Path) -> None:
    path = f"{forked_commands(tmp_path / 'bin')}:{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / "examples/demo.sh", tmp_path / "demo", "5", "2"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (
        "\n12 games of mini; Elo with 95 % intervals of differences from the anchors" in done.stdout
    )
    names = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("   ")}
    assert {"random", "heuristic", "untrained", "trained", "run@0", "run@5"} <= names
    for picture in ("ratings.png", "curve.png"):
        assert (tmp_path / "demo" / picture).read_bytes().startswith(b"\x89PNG")
    lines = (tmp_path / "demo/run/metrics.jsonl").read_text().splitlines()
    assert len(lines) == 5
    said, _, command = done.stderr.splitlines()[-1].partition(": ")
    assert said == "== Play against it in a browser"
    with subprocess.Popen(
        shlex.split(command), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as match:
        assert match.stdout and match.stdout.readline().startswith(b"http://127.0.0.1:")
        match.send_signal(signal.SIGINT)
