"""The files that a match reads and writes: none is lost to another, or to an interrupt."""

from __future__ import annotations

import fcntl
import pathlib
import signal
import subprocess
import time

import pytest

from running import PATIENCE, command_line, run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.match import PLAYERS
from stratkit.match.contestants import network_rows
from stratkit.players.registry import parse_player

TWO = ("heuristic", "random", "--game", "mini", "-n", 2, "--seed", 1)


@pytest.mark.parametrize(
    "options",
    ["-o g.jsonl --explain ./g.jsonl -f", "-o - --explain -", "-o s --setups s -f",
     "-o g.jsonl --explain s --setups s -f", "-o link --setups s -f", "net -o net -f"],
)  # fmt: skip
def test_every_file_has_one_task(tmp_path: pathlib.Path, options: str) -> None:
    for name in ("g.jsonl", "s", "net"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("s")
    done = run("match", *TWO, *options.split(), cwd=tmp_path)
    assert (
        done.status == 2
        and "-o and --explain must not name an input, a log= or each other: " in done.error_line
    )
    assert {path.read_text() for path in tmp_path.iterdir()} == {"g.jsonl", "s", "net"}


def test_a_refused_explanation_costs_no_games(tmp_path: pathlib.Path) -> None:
    games, log = tmp_path / "g.jsonl", tmp_path / "log"
    games.write_text("old")
    words = ("random", "name=b,random", "--game", "diplomacy:fva", "-n", 2, "-o", games, "-f")
    done = run("match", *words, "--explain", log)
    what = "--explain is for games with a drawn board and for public belief states"
    said = f"match: {what}, not for diplomacy:fva"
    assert (done.status, done.error_line) == (2, said)
    assert games.read_text() == "old"
    games.unlink()
    log.write_text("old")
    done = run("match", *TWO, "-o", games, "--explain", log)
    assert done.error_line == f"match: {log}: exists already; -f overwrites it"
    assert not games.exists() and log.read_text() == "old"


def test_nothing_is_emptied_before_the_record_is_locked(tmp_path: pathlib.Path) -> None:
    """A record that another match writes stays as it is, and so does its log."""
    games, log = tmp_path / "g.jsonl", tmp_path / "log"
    log.write_text("old")
    with open(games, "w") as other:
        other.write("theirs")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        done = run("match", *TWO, "-o", games, "--explain", log, "-f")
        assert done.status == 1 and "in use by" in done.error_line
        assert (games.read_text(), log.read_text()) == ("theirs", "old")
        done = run("match", *TWO, "-o", games, "--explain", tmp_path / "new")
        assert done.status == 1 and not (tmp_path / "new").exists()
    done = run("match", *TWO, "-o", games, "--explain", log, "-f")
    assert done.status == 0 and "--explain: none of these players can tell" in done.err
    assert games.read_text().count("\n") == 3 and log.read_text() == ""
    done = run("match", *TWO, "-o", games, "--explain", tmp_path / "no" / "log", "-f")
    assert done.status == 1 and games.read_text().count("\n") == 3


def test_an_explanation_survives_an_interrupt_and_goes_on(tmp_path: pathlib.Path) -> None:
    network, games, log = (tmp_path / name for name in ("net.safetensors", "g.jsonl", "log"))
    save_network(network, "plain", Game("mini"))
    deep = f"name=net,search=mmd,rollouts=1,depth=0,{network}"
    two = (deep, "random", "--game", "mini", "-n", 24, "--slots", 1, "--seed", 1, "--resign",
           "0.05,3")  # fmt: skip
    command = command_line("match", *two, "-o", games, "--explain", log, "-vf")
    playing = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not (games.exists() and games.read_text().count("\n") > 3):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    playing.send_signal(signal.SIGINT)
    told = playing.communicate(timeout=PATIENCE)[1].splitlines()
    assert playing.returncode == 130 and told[-1] == "match: interrupted"
    assert told[-2].endswith(f"--explain {log} -v --resume")
    before = log.read_text()
    assert before.count("net: ") > 3
    more = ("--explain", log, "--resume", "--seed", 1)
    assert run("match", *two, "-o", games, *more).status == 0
    assert log.read_text().startswith(before) and len(log.read_text()) > len(before)
    assert games.read_text().count("\n") == 25
    assert run("match", *two, "-o", tmp_path / "whole.jsonl").status == 0
    assert games.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert 0 < games.read_text().count('"resign 0.05,3"') < 24


@pytest.mark.parametrize("output", ["/proc/self/fd/1", "-"])
def test_a_reader_that_goes_away_ends_the_match(output: str) -> None:
    arguments = ("random", "heuristic", "--game", "mini", "-n", 100_000, "-o", output)
    playing = subprocess.Popen(command_line("match", *arguments, "-q"), stdout=subprocess.PIPE)
    assert playing.stdout and playing.stdout.readline()
    playing.stdout.close()
    assert playing.wait(PATIENCE) == -signal.SIGPIPE


def test_of_a_long_match_only_what_is_played_takes_memory(tmp_path: pathlib.Path) -> None:
    """Ten million games are natural where --sprt says when to stop; half a gigabyte is not."""
    arguments = ("random", "heuristic", "--game", "mini", "-n", 10_000_000, "-q")
    command = command_line("match", *arguments, "-o", tmp_path / "g.jsonl")
    playing = subprocess.Popen(command)
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "g.jsonl").exists() or (tmp_path / "g.jsonl").stat().st_size < 10_000:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    status = pathlib.Path(f"/proc/{playing.pid}/status").read_text()
    playing.kill()
    playing.wait()
    (peak,) = (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    assert peak < 250_000  # KiB


def test_how_many_views_a_network_sees_at_once() -> None:
    """One where one is asked for: 64 would take as many times as long."""
    for players, rows in (
        (("run", "ucc:bot"), 1),
        (("run", "ucc:a", "ucc:b"), 1),
        (("run", "human"), 1),
        (("run", "random"), 64),
        (("run", "other", "ucc:bot"), 64),
    ):
        assert network_rows([parse_player(text, PLAYERS) for text in players], 128) == rows
    assert network_rows([parse_player("run"), parse_player("random")], 8) == 8


def test_who_is_no_person(tmp_path: pathlib.Path) -> None:
    """A checkpoint and a program whose names end so."""
    save_network(tmp_path / "x,human", "plain", Game("mini"))
    arguments = ("./x,human", "random", "--game", "mini", "-n", 2, "--max-plies", 4, "-o", "g")
    assert run("match", *arguments, cwd=tmp_path).status == 0
    arguments = ("ucc:nobody --style bold,human", *TWO[1:], "-o", "h")
    done = run("match", *arguments, cwd=tmp_path)
    assert "no such program, or not executable: nobody" in done.error_line


def test_bytes_that_are_no_text(tmp_path: pathlib.Path) -> None:
    """In a strict locale, too."""
    utf8 = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-8:strict"}
    serve = ("match", "--serve", "random", "--game", "mini")
    done = run(*serve, stdin=b"\xff\n", fresh=True, **utf8)
    assert done.status == 1 and "first line is no COLOUR OPPONENT" in done.error_line
    person = ("human", "random", "--game", "mini", "-n", 2, "-o", tmp_path / "g.jsonl")
    done = run("match", *person, stdin=b"\xff\nsave\n", fresh=True, **utf8)
    assert done.status == 0, done.err
