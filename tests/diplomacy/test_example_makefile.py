"""The Makefile of examples/diplomacy, SearchBot's figures in small, and its picture of shares."""

from __future__ import annotations

import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

from running import ROOT, run

EXAMPLE = ROOT / "examples/diplomacy"


def make(folder: pathlib.Path, *words: str) -> None:
    for name in ("Makefile", "guess.map"):
        shutil.copy(EXAMPLE / name, folder)
    path = {**os.environ, "PATH": f"{ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["make", *words], cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_game_of_seven_networks_as_a_page_of_maps(tmp_path: pathlib.Path) -> None:
    """As the site has it."""
    site = runpy.run_path(str(ROOT / "docs/make.py"))
    assert [site["played"](tmp_path)] == os.listdir(tmp_path) == ["maps.html"]
    page = (tmp_path / "maps.html").read_text()
    (data,) = re.findall(r'<script [^>]*id="game"[^>]*>(.*?)</script>', page, re.S)
    game = json.loads(data)
    assert game["phases"][0]["name"] == "S1901M" and len(game["phases"]) > 20
    assert all(power in str(game["phases"][0]["standing"]) for power in ("FRANCE", "TURKEY"))
    assert len({phase["layer"] for phase in game["phases"]}) == len(game["phases"])


def test_figure_1(tmp_path: pathlib.Path) -> None:
    make(tmp_path, "figure1.txt", "FEW=2", "FIGURE_1=figure1-2-0.jsonl figure1-2-1.jsonl")
    rows = (tmp_path / "figure1.txt").read_text().splitlines()
    assert sum(row.split()[:2] in (["2-0", "raw"], ["2-1", "raw"]) for row in rows) == 2


def test_a_picture_of_shares(tmp_path: pathlib.Path) -> None:
    """Of one player among others, and the other way round, by steps."""
    game = f"diplomacy:{EXAMPLE / 'three.map'}"
    words = ("name=network,heuristic", "random", "--game", game, "--seats", "1v2", "-n", 3)
    played = run("match", *words, "--seed", 1, "-q", "-o", "-")
    table = run("rate", "-", "--score", "squares", "--json", stdin=played.data)
    for step in (0, 9):
        (tmp_path / f"marks-{step}.json").write_text(table.out)
    curve = [sys.executable, EXAMPLE / "curve.py", "shares.png", "5", "marks-0.json"]

    def drawn(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*curve, *more], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    pictures = []
    for before in ((), ("--before", "28")):  # of imitation
        assert drawn("marks-9.json", *before).returncode == 0
        pictures.append((tmp_path / "shares.png").read_bytes())
    assert all(one.startswith(b"\x89PNG") for one in pictures) and pictures[0] != pictures[1]
    refused = drawn("--network", "nobody")
    why = "curve.py: marks-0.json: no table of nobody and another player\n"
    assert (refused.returncode, refused.stderr) == (1, why)
    (tmp_path / "marks-3.json").write_text("nonsense")
    refused = drawn("marks-3.json")
    why = "curve.py: marks-3.json: not of rate --score squares --json\n"
    assert (refused.returncode, refused.stderr) == (1, why)


def test_figure_3(tmp_path: pathlib.Path) -> None:
    """Where players must guess, average policies approach an equilibrium, and final ones do not."""
    make(tmp_path, "figure3.txt", "ITERATIONS=2 64", "REPEATS=2")
    rows = [row.split() for row in (tmp_path / "figure3.txt").read_text().splitlines()[2:]]
    assert rows[0][-1] == "local" and len(rows) == 1 + 1 + 2 * 2
    uniform, short, long, _, final = (float(row[-1]) for row in rows[1:])
    assert long < 0.5 * min(uniform, short, final)
