"""The bench of learning: it trains, stops, goes on, and rates, on a game of seconds."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from running import PATIENCE, ROOT, run
from stratkit.storage.atomic import lock

BENCH = [sys.executable, str(ROOT / "bench/learning.py")]
SETTINGS = (
    *("--game", "kuhn", "--seeds", "1,2", "--jobs", "2", "--games", "4"),
    *("--setting", "mmd=--algorithm mmd --net mlp:8 --batch 16 | --max-ahead 64"),
)


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BENCH, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def clock_of(folder: pathlib.Path, seed: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"mmd-{seed}/clock.json").read_text())
    return found


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def test_it_stops_and_goes_on(tmp_path: pathlib.Path) -> None:
    """The clock counts what was used before; checkpoints of the minutes stay as they are. One seed
    learns; the other is a copy of it."""
    words = (str(tmp_path), *SETTINGS, "--seeds", "1", "--minutes", ".04,.08")
    process = subprocess.Popen([*BENCH, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = tmp_path / "mmd-1/0.04.safetensors"
    while not first.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)  # Ctrl-C and SIGTERM are the same to it
    out, err = process.communicate(timeout=PATIENCE)
    said = b"learning.py: stopped; the same command goes on\n"
    assert (process.returncode, out, err) == (1, b"", said)
    kept, log = first.read_bytes(), tmp_path / "mmd-1/run/metrics.jsonl"
    before, metrics = clock_of(tmp_path, 1), log.read_bytes()
    assert before["cpu"] >= 2.4

    one = bench(*words)
    assert one.returncode == 0, one.stderr
    assert first.read_bytes() == kept and log.read_bytes().startswith(metrics)  # nothing anew
    after = clock_of(tmp_path, 1)
    assert after["marks"] == [0.04, 0.08] and after["cpu"] >= max(4.8, before["cpu"])
    assert after["starts"] == 2 or before["cpu"] >= 4.8
    assert [row[6] for row in rows(one.stdout)[2:4]] == ["", ""]  # one seed has no interval

    shutil.copytree(tmp_path / "mmd-1", tmp_path / "mmd-2")
    both = (str(tmp_path), *SETTINGS, "--minutes", ".04,.08")
    done = bench(*both)
    assert done.returncode == 0, done.stderr
    assert clock_of(tmp_path, 2) == after
    table = rows(done.stdout)
    assert [row[:2] for row in table[2:]] == [["mmd", "0.04"], ["mmd", "0.08"], ["random", ""]]
    steps = [int(row[2].replace(",", "")) for row in table[2:4]]
    # A slow machine may need the minutes for its starts: then a mark has the steps of the former.
    assert 0 <= steps[0] <= steps[1] and table[2][6].startswith("± ")
    assert len(table[2][7].split(", ")) == 2 and table[2][8].endswith("%")
    assert (tmp_path / "table.md").read_text() == done.stdout
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")

    games = sorted((tmp_path / "games").glob("*.jsonl"))
    records = [path.read_bytes() for path in games]
    metrics = log.read_bytes()
    exact = bench(*words[:-1], ".04,.08,.12", "--measure", "nashconv")  # and longer than was meant
    assert exact.returncode == 0, exact.stderr
    again = rows(exact.stdout)
    assert len(again) == 5 and all(0 < float(row[5]) < 1.5 for row in again[2:])
    assert [row[2] for row in again[2:4]] == [row[2] for row in table[2:4]]
    assert int(again[4][2].replace(",", "")) >= steps[1]
    assert log.read_bytes().startswith(metrics)
    assert len(records) == 4 and [path.read_bytes() for path in games] == records


def test_two_in_one_folder(tmp_path: pathlib.Path) -> None:
    with lock(tmp_path / "lock"):
        done = bench(str(tmp_path), *SETTINGS, "--minutes", ".04")
    said = f"learning.py: {tmp_path}/lock: in use by process {os.getpid()}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_networks_of_a_pool_go_by_the_names_of_their_matches(tmp_path: pathlib.Path) -> None:
    """Training is over; a RUN and two checkpoints are in the pool, and random, as always."""
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
    pool = (
        "random",
        str(run_),
        f"name=first,net=online,{first}",
        str(tmp_path / "copy.safetensors"),
    )
    words = [word for spec in pool for word in ("--pool", spec)]
    done = bench(str(tmp_path / "bench"), *SETTINGS, "--seeds", "1", "--minutes", ".1", *words)
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    names = ["random", "known@4", "first", "copy.safetensors"]
    assert [row[0] for row in table[2:]] == ["mmd", *names]
    assert table[0][8:] == [f"against {name}" for name in names]


def loaded() -> Any:
    """The bench as a module."""
    spec = importlib.util.spec_from_file_location("bench_learning", BENCH[1])
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_command_of_a_run_that_fails_goes_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is gone when the first checkpoint is to be kept."""
    module, stop = loaded(), threading.Event()
    begun: list[subprocess.Popen[bytes]] = []

    def start(*_: object) -> list[subprocess.Popen[bytes]]:
        begun.extend(subprocess.Popen(["sleep", "60"]) for _ in range(2))
        return begun[-2:]

    def keep(*_: object) -> bool:
        raise FileNotFoundError(2, "No such file or directory", "0.01.safetensors")

    monkeypatch.setattr(module, "start", start)
    monkeypatch.setattr(module, "keep", keep)
    monkeypatch.setattr(module, "cpu_seconds", lambda _: 30.0)
    run_ = module.Training(module.setting_of("mmd="), 1, tmp_path / "mmd-1")
    with pytest.raises(FileNotFoundError):
        module.learn(run_, "kuhn", [0.01, 1.0], stop)
    assert [one.poll() for one in begun] == [-signal.SIGKILL] * 2


def test_a_wrong_command_line_is_told_in_one_line(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, here = loaded(), str(tmp_path / "here")
    minutes = ("--minutes", "1")
    cases = [
        *(
            (("--minutes", text), f"argument --minutes: not ascending numbers: '{text}'")
            for text in ("nan", "inf", "1,inf", "x", "", "-1", "2,1", "1,1")
        ),
        *(
            ((*minutes, "--seeds", text), f"--seeds: not ascending whole numbers: '{text}'")
            for text in ("x", "1.5", "2,1")
        ),
        ((*minutes, "--before", "x"), "argument --before: not NAME=CHECKOUT: 'x'"),
        ((*minutes, "--before", f"mmd={here}"), f"no checkout with bin/train: '{here}'"),
        ((*minutes, "--before", f"other={ROOT}"), "--before names no setting"),
        ((*minutes, "--setting", "a='b"), """--setting: no closing quotation: "a='b\""""),
        ((*minutes, "--setting", "mmd="), "two settings have one name"),
        ((*minutes, "--setting", "a/b=--x"), "not NAME=OPTIONS"),
        ((*minutes, "--game", "kun"), "did you mean 'kuhn'?"),
        *(
            (
                (*minutes, option, text),
                f"a whole number from 1 to 2147483647 is needed, not '{text}'",
            )
            for option in ("--jobs", "--games")
            for text in ("0", "-1", "1.5")
        ),
    ]
    for words, wrong in cases:
        with pytest.raises(SystemExit) as caught:
            module.main([here, *SETTINGS, *words])
        said = capsys.readouterr().err
        assert caught.value.code == 2 and wrong in said and said.count("\n") == 1, said
    assert not (tmp_path / "here").exists()


def test_what_it_refuses(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.json").write_text('{"game": "kuhn", "settings": {"mmd": ["--lr"]}}')
    done = bench(str(tmp_path), *SETTINGS, "--minutes", "1")
    assert done.returncode == 1 and "began with another game or ['mmd']" in done.stderr
    wrong_pool = bench(str(tmp_path / "y"), *SETTINGS, "--minutes", "1", "--pool", "heuristic")
    assert wrong_pool.returncode == 1 and "Traceback" not in wrong_pool.stderr
    assert "heuristic does not play kuhn" in wrong_pool.stderr
    # Nothing was learned in vain, and what was not begun may be begun otherwise.
    assert not (tmp_path / "y/mmd-1").exists() and not (tmp_path / "y/settings.json").exists()
    failing = bench(str(tmp_path / "x"), *SETTINGS[:-1], "mmd=--no-such", "--minutes", "1")
    assert failing.returncode == 1 and "Traceback" not in failing.stderr
    assert "training ended" in failing.stderr and "--no-such" in failing.stderr
