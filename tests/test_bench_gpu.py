"""The bench of networks runs where there is no GPU, too, on a small board."""

from __future__ import annotations

import os
import subprocess
import sys

from running import PATIENCE, ROOT


def test_the_table_has_its_rows() -> None:
    done = subprocess.run(
        [ROOT / "bench/gpu.sh"],
        env={**os.environ, "PYTHON": sys.executable, "SIZE": "tiny", "DEVICE": "cpu"},
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
        ["learner, chunk 100", "plain", "16,770"],
        ["self-play, 16 games", "plain", "16,770"],
        ["learner, chunk 100", "plain", "16,770"],
        ["both, through a pipe", "plain", "16,770"],
    ]
    for row in cells[1:]:
        assert len(row) == len(cells[0]) and float(row[4].replace(",", "")) > 0
