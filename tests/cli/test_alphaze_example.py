"""examples/alphaze: its Makefile, in a reduced form."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess

from running import ROOT, forked_commands


def test_the_example_goes_on_where_it_was(tmp_path: pathlib.Path) -> None:
    """Two runs, all checkpoints of which meet; games that were played are not played again."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    environment["PATH"] = f"{forked_commands(tmp_path / 'bin')}:{environment['PATH']}"
    search = "SEARCH=search=pc-pimc,worlds=1,nodes=4,pick=drawn"
    make = ["make", "-s", "-f", ROOT / "examples/alphaze/Makefile", "NET=mlp:8", search]
    make += ["GAME=dark_hex:2", "STEPS=2", "EVERY=1", "SIGHT=1", "elo.json"]
    record, table = tmp_path / "elo-2.jsonl", tmp_path / "elo.json"
    for _ in range(2):
        subprocess.run([*make, "GAMES=2"], cwd=tmp_path, env=environment, check=True)
        told = json.loads(table.read_text())
        assert told["games"] == 20
        lines = record.read_text().splitlines(keepends=True)
        record.write_text("".join(lines[:8]))  # as if it had been stopped
        table.unlink()
    assert [json.loads(line)["number"] for line in lines[1:]] == list(range(20))
    for run in ("tsl", "plain"):  # neither has gone on learning
        assert len((tmp_path / run / "metrics.jsonl").read_text().splitlines()) == 2
    script = runpy.run_path(str(ROOT / "examples/alphaze/elo_by_step.py"))
    runs = script["by_run"](told["players"])
    assert {run: [p["step"] for p in found] for run, found in runs.items()} == {
        "plain": [1, 2],
        "tsl": [1, 2],
    }
