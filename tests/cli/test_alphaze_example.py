"""examples/alphaze: its Makefile, in a reduced form."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

import numpy as np

from running import ROOT, forked_commands
from stratkit.engine import Batch, Game
from stratkit.storage.checkpoints import load_network

MAKEFILE = ROOT / "examples/alphaze/Makefile"


def make(folder: pathlib.Path, *words: str, makefile: pathlib.Path = MAKEFILE) -> None:
    """The Makefile in a small game, with two steps of learning and two games a pairing."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    commands = folder / "bin"
    found = commands if commands.exists() else forked_commands(commands)
    environment["PATH"] = f"{found}:{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    search = "SEARCH=search=pc-pimc,worlds=4,nodes=4,pick=drawn"
    line = ["make", "-s", "-f", makefile, "PYTHON=python", "NET=mlp:8", search]
    line += ["GAME=dark_hex:2", "OPEN=hex:2", "STEPS=2", "EVERY=1", "SIGHT=1", "GAMES=2"]
    subprocess.run([*line, *words], cwd=folder, env=environment, check=True)


def would_do(folder: pathlib.Path, *words: str) -> str:
    """What `make` of these words would do as a user calls it, without doing it."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    line = ["make", "-n", "-f", MAKEFILE, *words]
    return subprocess.run(
        line, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def entrants(record: pathlib.Path) -> dict[str, str]:
    """The players of a record by name, without what they do."""
    players = json.loads(record.read_text().splitlines()[0])["players"]
    return {player["name"]: player["spec"].rpartition(",")[2] for player in players}


def test_the_example_goes_on_where_it_was(tmp_path: pathlib.Path) -> None:
    """Two runs, all checkpoints of which meet; games that were played are not played again."""
    record, table = tmp_path / "elo-2.jsonl", tmp_path / "elo.json"
    for _ in range(2):
        make(tmp_path, "elo.json")
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


def test_a_picture_of_several_seeds(tmp_path: pathlib.Path) -> None:
    """Their mean with their range; of one seed its interval."""
    script = ROOT / "examples/alphaze/elo_by_step.py"
    heights = runpy.run_path(str(script))["heights"]
    one, other = ([{"elo": elo, "low": elo - 5, "high": elo + 5}] for elo in (10.0, 30.0))
    assert heights([one]) == [(10, 5, 15)] and heights([one, other]) == [(20, 10, 30)]
    players = [{"name": "run@1", **one[0]}, {"name": "random", **other[0]}]
    told = {"players": players, "anchors": [{"name": "random"}], "game": "dark_hex:3"}
    (tmp_path / "a.json").write_text(json.dumps(told))
    names = [tmp_path / name for name in ("a.json", "a.json", "a.png")]
    subprocess.run([sys.executable, script, *names], check=True)
    assert names[-1].read_bytes()[:4] == b"\x89PNG"


def test_its_other_experiments(tmp_path: pathlib.Path) -> None:
    make(tmp_path, "hex.png", "worlds.txt", "nodes.txt", "random.txt", "WORLDS=1 2", "NODES=3")
    assert (tmp_path / "hex.png").read_bytes()[:4] == b"\x89PNG"
    its, metadata, _ = load_network(tmp_path / "hex/checkpoints/step-00000000.safetensors", None)
    taught, by, _ = load_network(tmp_path / "open/checkpoints/step-00000002.safetensors", None)
    assert (metadata["game"], by["game"]) == ("dark_hex:2", "hex:2")
    assert all(np.array_equal(its[name], taught[name]) for name in taught)
    for name, tables in ("worlds", 2), ("nodes", 1), ("random", 1):
        assert (tmp_path / f"{name}.txt").read_text().count("rank ") == tables
    assert entrants(tmp_path / "random-2.jsonl") == {
        "random": "random",
        "raw": "tsl/checkpoints/step-00000002.safetensors",
        "search": "tsl/checkpoints/step-00000002.safetensors",
        "plain": "plain/checkpoints/step-00000002.safetensors",
        "plain-search": "plain/checkpoints/step-00000002.safetensors",
        "untrained": "random",
    }


def test_worlds_by_other_weights(tmp_path: pathlib.Path) -> None:
    """Whatever network is there already; nothing is learned for it."""
    made = tmp_path / "its.safetensors"
    make(tmp_path, "plain/checkpoints/step-00000002.safetensors")
    made.write_bytes((tmp_path / "plain/checkpoints/step-00000002.safetensors").read_bytes())
    more = "WEIGHTS=its.safetensors", "TREE=3", "PICK=best", "WORLDS=2", "SPLIT=on"
    make(tmp_path, "worlds.txt", *more)
    assert not (tmp_path / "tsl").exists()
    assert set(entrants(tmp_path / "worlds-2-2.jsonl").values()) == {"its.safetensors"}
    said = (tmp_path / "worlds-2-2.jsonl").read_text()
    assert "nodes=3" in said and "pick=drawn" not in said and said.count("split=on") == 3


def test_barrage_open_and_blocked(tmp_path: pathlib.Path) -> None:
    """Three boards for the same players."""
    make(tmp_path, "open.txt", "blocked.txt", "PLAYER=name=network,random")
    games = {}
    for name in "shut", "open", "blocked":
        assert "network" in (tmp_path / f"{name}.txt").read_text()
        first = json.loads((tmp_path / f"{name}-2.jsonl").read_text().splitlines()[0])
        games[name] = first["game"], bool(first["rules"].get("open"))
    assert games == {
        "shut": ("barrage", False),
        "open": ("barrage", True),
        "blocked": ("barrage-blocked", False),
    }


def test_a_model_searches_on_open_and_blocked_boards(tmp_path: pathlib.Path) -> None:
    """Which it did not learn on: one model, of the board as it is."""
    boards = "GAME=nano", "NET=plain:4x1", "BOARD=nano", "BLOCKED=nano:B2", "SHOWN=spy"
    make(tmp_path, "open.txt", "blocked.txt", "PLAYER=search", "OTHER=random", "TREE=3", *boards)
    last = "tsl/checkpoints/step-00000002.safetensors"
    for name, game in ("shut", "nano"), ("open", "nano"), ("blocked", "nano:B2"):
        record = tmp_path / f"{name}-2.jsonl"
        first = json.loads(record.read_text().splitlines()[0])
        assert first["game"] == game and bool(first["rules"].get("open")) == (name == "open")
        assert entrants(record) == {"search": last, "random": "random"}
        assert "worlds=4,nodes=3,sees=world,pick=drawn" in first["players"][0]["spec"]


def test_what_it_does_by_itself(tmp_path: pathlib.Path) -> None:
    """All experiments of a thousand games each; values where a search to the end is possible."""
    whole = would_do(tmp_path)
    matches = re.findall(r"\bmatch .*?(?:\|\||$)", whole.replace("\\\n", ""), re.MULTILINE)
    assert len(matches) == 10 and all(" -n 1000 " in line for line in matches), matches
    assert "hex_values.py open/" in whole
    assert "hex_values.py" not in would_do(tmp_path, "all", "GAME=dark_hex:5", "OPEN=hex:5")
    assert "--game mini" not in whole
    weights = "mini/alphaze-1/60.safetensors"
    hour = would_do(tmp_path, "worlds.txt", "GAME=mini", f"WEIGHTS={weights}", "TREE=24")
    learns, plays = (hour.index(word) for word in ("learning.py mini --game mini", "match"))
    assert learns < plays and hour.count(f"nodes=24,split=off,{weights}") == 3
    assert "--minutes 10,20,30,45,60 --seeds 1 --pool heuristic" in hour


def test_values_beside_exact_ones(tmp_path: pathlib.Path) -> None:
    make(tmp_path, "values.txt")
    title, first, last = (tmp_path / "values.txt").read_text().splitlines()
    at = dict(zip(title.split("\t"), last.split("\t"), strict=True))
    assert at["step"] == "2" and first.split("\t")[1] == "1"
    assert 5 < int(at["positions"]) <= 40 and 0 < float(at["mean error"]) <= float(at["rms"]) < 2


def test_its_exact_values_are_those_of_the_engine() -> None:
    """In positions of 3 x 3 the search to the end finds what the rules of the engine come to."""
    script = runpy.run_path(str(ROOT / "examples/alphaze/hex_values.py"))
    wins, game = script["solver"](3), Game("hex:3")

    @functools.cache
    def acting_wins(cells: tuple[int, ...]) -> bool:
        for cell in set(range(9)) - set(cells):
            batch = Batch(game, 1)
            for action in (*cells, cell):
                batch.apply(np.array([action], np.int32))
            if batch.actors()[0] < 0:
                assert batch.returns()[0, len(cells) % 2] == 1
                return True
            if not acting_wins((*cells, cell)):
                return True
        return False

    seen = set()
    for row in np.random.default_rng(1).permuted(np.tile(np.arange(9), (60, 1)), axis=1):
        cells = tuple(int(cell) for cell in row[:5])
        batch = Batch(game, 1)
        for action in cells:
            batch.apply(np.array([action], np.int32))
        if batch.actors()[0] < 0:
            continue
        red, blue = (sum(1 << cell for cell in cells[side::2]) for side in (0, 1))
        own, other = (script["transposed"](stones, 3) for stones in (blue, red))
        seen.add(truth := acting_wins(cells))
        assert wins(own, other) == truth, cells
    assert seen == {True, False}


def test_it_learns_beside_other_algorithms(tmp_path: pathlib.Path) -> None:
    """One table is made, in a copy whose commands need no time to start; the other is of the same
    script, which has tests of its own."""
    copy = tmp_path / "examples/alphaze/Makefile"
    for path in (MAKEFILE, ROOT / "bench/learning.py"):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    make(tmp_path, "nashconv.txt", "MINUTES=0", "SEEDS=1", "SOLVED=kuhn", makefile=copy)
    said = (tmp_path / "nashconv.txt").read_text()
    assert all(f"| {algorithm} |" in said for algorithm in ("alphaze", "mmd", "rnad"))
    others = would_do(tmp_path, "others.txt", "MINUTES=.01", "SEEDS=1", "GAME=mini")
    assert others.count("match ") == 1 and "name=search," in others
    assert "learning.py" in others and "--game mini" in others and "--measure" not in others
    assert all(f"--setting {algorithm}=" in others for algorithm in ("alphaze", "mmd", "rnad"))
