"""The bench of learning: it trains, stops, goes on, and rates, on a game of seconds."""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from running import PATIENCE, ROOT, run

BENCH = [sys.executable, str(ROOT / "bench/learning.py")]
SETTINGS = (
    *("--game", "kuhn", "--seeds", "1,2", "--jobs", "2", "--games", "4"),
    *("--setting", "mmd=--algorithm mmd --net mlp:8 --batch 16 | --max-ahead 64"),
)


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BENCH, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def test_it_stops_and_goes_on(tmp_path: pathlib.Path) -> None:
    """The clock counts what was used before; checkpoints of the minutes stay as they are."""
    words = (str(tmp_path), *SETTINGS, "--minutes", ".1,.2")
    process = subprocess.Popen([*BENCH, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = [tmp_path / f"mmd-{seed}/0.1.safetensors" for seed in (1, 2)]
    while not all(path.exists() for path in first):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    said = b"learning.py: stopped; the same command goes on\n"
    assert (process.returncode, out, err) == (1, b"", said)
    kept = [path.read_bytes() for path in first]
    clocks = [json.loads((tmp_path / f"mmd-{seed}/clock.json").read_text()) for seed in (1, 2)]
    assert all(clock["cpu"] >= 6 for clock in clocks)

    done = bench(*words)
    assert done.returncode == 0, done.stderr
    assert [path.read_bytes() for path in first] == kept
    for seed, before in zip((1, 2), clocks, strict=True):
        clock = json.loads((tmp_path / f"mmd-{seed}/clock.json").read_text())
        assert clock["marks"] == [0.1, 0.2]
        assert clock["cpu"] >= max(12, before["cpu"])
        assert clock["starts"] == 2 or before["cpu"] >= 12
    table = rows(done.stdout)
    assert [row[:2] for row in table[2:]] == [["mmd", "0.1"], ["mmd", "0.2"], ["random", ""]]
    steps = [int(row[2].replace(",", "")) for row in table[2:4]]
    assert 0 <= steps[0] < steps[1] and table[2][6].startswith("± ")
    assert len(table[2][7].split(", ")) == 2 and table[2][8].endswith("%")
    assert (tmp_path / "table.md").read_text() == done.stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")

    games = sorted((tmp_path / "games").glob("*.jsonl"))
    before = [path.read_bytes() for path in games]
    exact = bench(*words, "--measure", "nashconv")
    assert exact.returncode == 0, exact.stderr
    again = rows(exact.stdout)
    assert len(again) == 4 and all(0 < float(row[5]) < 1.5 for row in again[2:])
    assert len(before) == 4 and [path.read_bytes() for path in games] == before


def test_networks_of_a_pool_go_by_the_names_of_their_matches(tmp_path: pathlib.Path) -> None:
    """Training is over; a RUN and two checkpoints are in the pool."""
    games, run_, its = tmp_path / "a.eps", tmp_path / "known", tmp_path / "bench/mmd-1"
    assert run("selfplay", "--game", "kuhn", "-n", 64, "--seed", 1, "-o", games).status == 0
    learn = ("train", games, "--out", run_, "--algorithm", "mmd", "--net", "mlp:8", "--batch", 16)
    assert run(*learn, "--seed", 1, "--save-every", 1).status == 0
    (its / "run").mkdir(parents=True)
    (its / "clock.json").write_text('{"cpu": 6, "starts": 1, "marks": [0.1]}')
    first, *_, last = sorted((run_ / "checkpoints").iterdir())
    shutil.copy(last, its / "0.1.safetensors")
    shutil.copy(first, tmp_path / "copy.safetensors")
    shutil.copy(run_ / "metrics.jsonl", its / "run")
    pool = (str(run_), f"name=first,net=online,{first}", str(tmp_path / "copy.safetensors"))
    words = [word for spec in pool for word in ("--pool", spec)]
    done = bench(str(tmp_path / "bench"), *SETTINGS, "--seeds", "1", "--minutes", ".1", *words)
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    names = ["random", "known@4", "first", "copy.safetensors"]
    assert [row[0] for row in table[2:]] == ["mmd", *names]
    assert table[0][8:] == [f"against {name}" for name in names]


def test_what_it_refuses(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.json").write_text('{"game": "kuhn", "settings": {"mmd": ["--lr"]}}')
    cases = [
        ((*SETTINGS, "--minutes", "1"), "began with another game or ['mmd']"),
        ((*SETTINGS, "--minutes", "2,1"), "not ascending numbers: '2,1'"),
        ((*SETTINGS, "--minutes", "1", "--setting", "mmd="), "two settings have one name"),
        ((*SETTINGS, "--minutes", "1", "--setting", "a/b=--x"), "not NAME=OPTIONS"),
        *(
            ((*SETTINGS, "--minutes", "1", option, text), f"at least 1: '{text}'")
            for option in ("--jobs", "--games")
            for text in ("0", "-1", "1.5")
        ),
    ]
    for words, wrong in cases:
        done = bench(str(tmp_path), *words)
        assert done.returncode != 0 and wrong in done.stderr and "Traceback" not in done.stderr
    wrong_pool = bench(str(tmp_path / "y"), *SETTINGS, "--minutes", "1", "--pool", "heuristic")
    assert wrong_pool.returncode == 1 and "Traceback" not in wrong_pool.stderr
    assert "heuristic does not play kuhn" in wrong_pool.stderr
    assert not (tmp_path / "y/mmd-1").exists()  # nothing was learned in vain
    failing = bench(str(tmp_path / "x"), *SETTINGS[:-1], "mmd=--no-such", "--minutes", "1")
    assert failing.returncode == 1 and "Traceback" not in failing.stderr
    assert "training ended" in failing.stderr and "--no-such" in failing.stderr
