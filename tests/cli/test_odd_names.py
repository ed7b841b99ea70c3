"""Names of files with a line feed, with bytes that are no UTF-8, and of 3,000 characters."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from running import Done, run
from stratkit.cli.messages import command_to_go_on
from stratkit.errors import InputError, named

LINE_FEED, BYTE, LONG = "a\nb", os.fsdecode(b"n\xff"), "/".join(["d" * 200] * 15)
ODD = pytest.mark.parametrize(
    ("name", "shown"),
    [(LINE_FEED, r"a\nb"), (BYTE, r"n\udcff"), (LONG, "d" * 100 + "...")],
    ids=["line feed", "byte", "long"],
)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("learned")
    play = ("--game", "kuhn", "-n", 8, "--seed", 1, "-o", folder / "games.eps")
    assert run("selfplay", *play).status == 0
    assert learn(folder, "run").status == 0
    return folder


def learn(folder: pathlib.Path, name: str) -> Done:
    learn = ("--out", name, "--steps", 1, "--batch", 4, "--net", "mlp:8", "--seed", 1)
    return run("train", "games.eps", *learn, cwd=folder)


@pytest.fixture
def folder(learned: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    shutil.copy(learned / "games.eps", tmp_path)
    shutil.copytree(learned / "run", tmp_path / "run")
    return tmp_path


def lines(done: Done) -> list[str]:
    """All lines that are for people, none of which is long."""
    found = (done.out + done.err).splitlines()
    assert max(map(len, found), default=0) < 400, found
    return found


@ODD
@pytest.mark.parametrize(
    "command",
    [
        "train NAME --out x",
        "rate NAME",
        "fenfs check NAME",
        "exploit kuhn NAME",
        "finetune NAME x --out y",
    ],
)
def test_an_error_is_one_short_line(
    tmp_path: pathlib.Path, name: str, shown: str, command: str
) -> None:
    tool, *words = command.split()
    done = run(tool, *(name if word == "NAME" else word for word in words), cwd=tmp_path)
    assert done.status in (1, 2, 3) and not done.data
    [line] = lines(done)
    assert line.startswith(f"{tool}: ") and (shown in line or shown[:50] in line)


@ODD
def test_a_run_of_such_a_name_is_used_like_others(
    folder: pathlib.Path, name: str, shown: str
) -> None:
    made = folder / name
    made.parent.mkdir(parents=True, exist_ok=True)
    (folder / "run").rename(made)
    match = ("match", name, "random", "--game", "kuhn", "-n", 2, "--seed", 1, "-o", "g.jsonl")
    played = run(*match, cwd=folder)
    assert played.status == 0 and len(lines(played)) == 1, played.err
    header, *games = (folder / "g.jsonl").read_bytes().splitlines()
    assert header.isascii() and len(games) == 2
    assert json.loads(header)["players"][0]["spec"].endswith("step-00000001.safetensors")
    assert run("match", "--resume", "-o", "g.jsonl", cwd=folder).status == 0
    rated = run("rate", "g.jsonl", "--json", cwd=folder)
    assert rated.status == 0 and json.loads(rated.out)
    told = run("stratkit", "status", name, cwd=folder)
    assert told.status == 0 and len(lines(told)) == 6 and shown in lines(told)[0]
    assert json.loads(run("stratkit", "status", "--json", name, cwd=folder).out)["run"] == name
    solved = run("exploit", "kuhn", name, cwd=folder)
    assert solved.status == 0 and len(lines(solved)) == 5
    done = learn(folder, name)
    assert done.status == 1 and shown in done.error_line and "holds files already" in done.err


@ODD
def test_what_train_says_of_such_a_run(folder: pathlib.Path, name: str, shown: str) -> None:
    done = learn(folder, name)
    assert done.status == 0 and shown in done.error_line and len(done.error_line) < 400
    assert done.error_line.endswith("step-00000001.safetensors")


@pytest.mark.parametrize("name", ["mmd", "cfr"])
def test_a_run_that_is_called_like_a_solver(folder: pathlib.Path, name: str) -> None:
    wrong = f"exploit: a number of iterations is needed, as in {name}:1000"
    done = run("exploit", "kuhn", name, cwd=folder)
    assert (done.status, done.error_line) == (2, f"{wrong}: {name!r}")
    (folder / "run").rename(folder / name)
    done = run("exploit", "kuhn", name, cwd=folder)
    assert done.error_line == f"{wrong}; a file or folder of this name is ./{name}: {name!r}"
    assert run("exploit", "kuhn", f"./{name}", cwd=folder).status == 0


def test_both_ends_of_a_long_name_are_shown() -> None:
    assert named("x" * 200) == "x" * 200
    assert named("a" * 101 + "b" * 101) == "a" * 100 + "..." + "b" * 100
    assert str(InputError("wrong", file="a\n" + "b" * 300)).startswith(r"a\nbb")


@pytest.mark.parametrize("name", [LINE_FEED, BYTE, "it's \\ \n", "plain", "two words"])
def test_the_command_to_go_on_is_one_line_that_a_shell_reads(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["train", name])
    line = command_to_go_on()
    assert line.isprintable()
    command = f"printf %s {line.partition(' ')[2].removesuffix(' --resume')}"
    printed = subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout
    assert os.fsdecode(printed) == name
