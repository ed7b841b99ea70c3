"""The bench of networks runs where there is no GPU, too, on a small board."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import msgspec
import pytest
import torch

from running import PATIENCE, ROOT, forked_commands
from stratkit.learn.optimizer import Optimizer
from stratkit.storage.checkpoints import list_checkpoints

SLICED = "fromto+mirrored"


def test_the_table_has_its_rows() -> None:
    done = subprocess.run(
        [ROOT / "bench/gpu.sh"],
        env={
            **os.environ,
            "PYTHON": sys.executable,
            "SIZE": "tiny",
            "DEVICE": "cpu",
            "LIMIT": "100000",
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, rates, _, heading, _, *rows = done.stdout.splitlines()
    assert first.startswith("CPU, ") and rates.startswith("f32 matrices of 256: ")
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in (heading, *rows)]
    assert [row[:3] for row in cells[1:]] == [
        ["mmd, 8 slices", SLICED, "29,644"],
        ["mmd, 8 slices, recorded", SLICED, "29,644"],
        ["mmd, 8 slices, no filter", SLICED, "29,644"],
        ["mmd, 8 slices, recorded, no filter", SLICED, "29,644"],
        ["learner, chunk 100", "plain", "16,770"],
        ["self-play, 16 games", "plain", "16,770"],
        ["learner, chunk 100", "plain", "16,770"],
        ["both, through a pipe", SLICED, "29,644"],
    ], done.stderr
    for row in cells[1:]:
        assert len(row) == len(cells[0]) and float(row[4].replace(",", "")) > 0


def beside(folder: pathlib.Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """bench/gpu_rnad.sh in this folder, a second of each algorithm, two games of each pair."""
    commands = folder / "bin"
    path = f"{commands if commands.exists() else forked_commands(commands)}:{os.environ['PATH']}"
    small = {"SIZE": "tiny", "MINUTES": ".02", "TMPDIR": str(folder), "PATH": path}
    return subprocess.run(
        [ROOT / "bench/gpu_rnad.sh", folder / "new"],
        env={**os.environ, **small, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_rnad_beside_mmd(tmp_path: pathlib.Path) -> None:
    """Both learn for their time, are saved, and rated; what is wrong has one line."""
    done = beside(tmp_path)
    assert done.returncode == 0, done.stderr
    rated = set(re.findall(r"^ +\d+ +(\S+?)(?:@\d+)? ", done.stdout, re.M))
    assert rated == {"rnad", "mmd", "heuristic", "random"}
    assert "12 games of nano" in done.stdout and "rnad: nano by rnad, network plain" in done.stdout
    for name in ("rnad", "mmd"):
        run = tmp_path / "new" / name
        last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"]
        assert list_checkpoints(run)[-1][0] == last
    assert "12 games" in (tmp_path / "new/rating.html").read_text()
    for more, status, what in (
        ({}, 1, f"gpu_rnad.sh: {tmp_path}/new: is there already: name another one"),
        ({"MINUTES": "abc"}, 2, "gpu_rnad.sh: MINUTES is a number above 0: abc"),
        ({"MINUTES": "0"}, 2, "gpu_rnad.sh: MINUTES is a number above 0: 0"),
        ({"GAMES": "0"}, 2, "gpu_rnad.sh: GAMES is a whole number of at least 1: 0"),
        ({"BATCH": "x"}, 2, "gpu_rnad.sh: BATCH is a whole number of at least 1: x"),
        ({"SEED": "-1"}, 2, "gpu_rnad.sh: SEED is a whole number of at least 0: -1"),
        ({"SIZE": "huge"}, 2, "gpu_rnad.sh: SIZE is full, cpu or tiny: huge"),
    ):
        refused = beside(tmp_path, **more)
        assert (refused.returncode, refused.stderr) == (status, f"{what}\n")


def test_all_plans_are_of_the_kinds_that_they_declare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most rows of the larger ones run on a GPU only."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    import gpu

    for plan in gpu.PLANS.values():
        assert msgspec.convert(dataclasses.asdict(plan), gpu.Plan).game == plan.game


def test_recorded_updates_have_the_gradient_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here nothing is recorded: the parts are as for that, filled up to the chunk."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    import gpu
    from captured_updates import CapturedOptimizer

    bench = gpu.Bench("tiny", "cpu", limit=60)
    batch = gpu.random_slices(bench.sliced, 8)
    for share in (0.75, 0.0):
        options = {"advantage_filter": share, "chunk": 100}
        gradients = []
        for kind in (Optimizer, CapturedOptimizer):
            learner = bench.learner(bench.sliced, SLICED, "mmd", options, kind)
            learner.update(batch)
            gradients.append(learner._sums.flat)
        torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)
