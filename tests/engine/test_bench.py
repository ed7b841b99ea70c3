"""`make bench` in short: every row is there and is a number."""

from __future__ import annotations

import re
import subprocess
import sys

from fingerprint import fingerprint
from running import ROOT


def test_the_table_of_make_bench() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "cengine/bench/bench.py", "--plies", "4000", "--steps", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"fingerprint {fingerprint()}\n" in done.stdout
    rows = re.findall(r"^\| (.+?) \| ([0-9.]+) (M/s|ns|x)", done.stdout, re.MULTILINE)
    assert len(rows) == 13
    assert all(float(number) > 0 for _, number, _ in rows)
