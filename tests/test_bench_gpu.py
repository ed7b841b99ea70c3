"""The bench of networks runs where there is no GPU, too, on a small board."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import msgspec
import pytest
import torch

from running import PATIENCE, ROOT
from stratkit.learn.optimizer import Optimizer

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
