"""examples/slurm: what its jobs give to selfplay and train. rating/test_cron.py has the night."""

from __future__ import annotations

import os
import pathlib
import subprocess

from running import PATIENCE, ROOT, forked_commands, run


def job(name: str, folder: pathlib.Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A job in this folder, as Slurm starts it, with one rank that no torchrun starts."""
    path = f"{forked_commands(folder / 'bin')}:{os.environ['PATH']}"
    (folder / "bin/torchrun").write_text('#!/bin/sh\nshift 3\nexec "$@"\n')
    (folder / "bin/torchrun").chmod(0o755)
    return subprocess.run(
        ["sh", ROOT / "examples/slurm" / name],
        env={**os.environ, "PATH": path, "GAME": "kuhn", **more},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_tasks_of_an_array_are_parts(tmp_path: pathlib.Path) -> None:
    """Whatever number the first one has. This one is behind the last, which selfplay refuses."""
    array = {"SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "4"}
    done = job("selfplay.sbatch", tmp_path, SLURM_ARRAY_TASK_ID="9", **array)
    assert done.returncode == 2 and "5/4" in done.stderr and "--part" in done.stderr
    assert done.stderr.count("\n") == 1


def test_old_checkpoints_are_deleted(tmp_path: pathlib.Path) -> None:
    """But for milestones, of which TRAIN may have more."""
    (tmp_path / "episodes").mkdir()
    games = ("selfplay", "--game", "kuhn", "-n", 48, "--seed", 1)
    assert run(*games, "-o", tmp_path / "episodes/a.eps").status == 0
    words = "--net mlp:8 --batch 8 --steps 6 --save-every 1 --milestone 2 --no-wait"
    done = job("learner.sbatch", tmp_path, TRAIN=words)
    assert done.returncode == 0, done.stderr
    kept = sorted(path.stem for path in (tmp_path / "run/checkpoints").iterdir())
    assert kept == [f"step-{step:08d}" for step in (0, 2, 4, 5, 6)]
