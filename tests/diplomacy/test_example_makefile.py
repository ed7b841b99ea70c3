"""The Makefile of examples/diplomacy: the figures of SearchBot in small."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

from running import ROOT

EXAMPLE = ROOT / "examples/diplomacy"


def make(folder: pathlib.Path, *words: str) -> None:
    for name in ("Makefile", "three.map"):
        shutil.copy(EXAMPLE / name, folder)
    path = {**os.environ, "PATH": f"{ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["make", *words], cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_figure_1(tmp_path: pathlib.Path) -> None:
    make(tmp_path, "figure1.txt", "FEW=2", "FIGURE_1=figure1-2-0.jsonl figure1-2-1.jsonl")
    rows = (tmp_path / "figure1.txt").read_text().splitlines()
    assert sum(row.split()[:2] in (["2-0", "raw"], ["2-1", "raw"]) for row in rows) == 2


def test_figure_3(tmp_path: pathlib.Path) -> None:
    make(tmp_path, "figure3.txt", "ITERATIONS=2 64", "REPEATS=2")
    rows = [row.split() for row in (tmp_path / "figure3.txt").read_text().splitlines()[2:]]
    assert len(rows) == 1 + 1 + 2 * 2
    uniform, _, long, *_ = (float(row[rows[0].index("local") + 2]) for row in rows[1:])
    assert long < uniform  # values are three columns
