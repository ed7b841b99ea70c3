"""A person at the terminal, through whole games of the command match."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import subprocess

import pytest

from running import PATIENCE, command_line, run
from stratkit.notation.drawing import UNICODE

PLAY = ("human", "heuristic", "-n", 2, "--game", "mini", "--max-plies", 60, "--seed", 3)


def play(*arguments: object) -> tuple[str, str]:
    """Plays all games, taking every setup and the last of the legal moves; what was written."""
    playing = subprocess.Popen(
        command_line("match", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert playing.stdin and playing.stdout and playing.stderr
    told = b""
    while part := os.read(playing.stdout.fileno(), 1 << 16):
        told += part
        if not told.endswith(b"> "):
            continue
        last = told.decode().splitlines()
        word = "" if last[-1].startswith("Your setup") else "moves"
        if re.fullmatch(r"(?:[A-F][1-6]){2}(?: (?:[A-F][1-6]){2})*", last[-2].split("> ")[-1]):
            word = last[-2].split()[-1]
        playing.stdin.write(f"{word}\n".encode())
        playing.stdin.flush()
    playing.stdin.close()
    errors = playing.stderr.read().decode()
    assert playing.wait(PATIENCE) == 0, errors
    return told.decode(), errors


def test_whole_games_are_told(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    told, errors = play(*PLAY, "-o", games)
    _, *records = (json.loads(line) for line in games.read_text().splitlines())
    assert len(records) == 2 and "seen by red" in told and "seen by blue" in told
    for number, record in enumerate(records, 1):
        assert f"game {number}: you play {('red', 'blue')[number - 1]}" in told
        assert f"game {number}: you " in errors and f"({record['reason']})" in errors
        end = told.split(f"the end of game {number}, ply {record['plies']}: both armies\n")[1]
        board = end.split("\n")[: 6 + 2]
        assert board[0].split()[0] == ("A", "F")[number - 1]  # the person's side is below
        assert "?" not in "".join(board) and "!" not in "".join(board)
        assert "rF" in "".join(board) or "bF" in "".join(board)
    assert re.search(r"your \w+ met their \w+ on [A-F][1-6]: ", told)
    assert re.search(r"their \w+ met your \w+ on [A-F][1-6]: ", told)
    before = told.split("both armies")[0].split("the end of")[0]
    hidden = [line for line in before.splitlines() if line.startswith(" ") and "b" in line]
    assert any(" b?" in line for line in hidden)
    assert not (tmp_path / "g.jsonl.said").exists()


@pytest.mark.parametrize("options", [(), ("--style", "unicode"), ("--colour", "always")])
def test_boards_are_drawn_as_asked(tmp_path: pathlib.Path, options: tuple[str, ...]) -> None:
    done = run("match", *PLAY, "-o", tmp_path / "g.jsonl", *options, stdin=b"\nhelp\nsave\n")
    assert done.status == 0, done.err
    assert ("┌" in done.out and UNICODE.key in done.out) == ("unicode" in options)
    assert ("\x1b[1;31m" in done.out) == ("always" in options)


@pytest.mark.parametrize("said", [b"\nsave\n", b"\n"])
def test_who_leaves_has_decided_no_test(tmp_path: pathlib.Path, said: bytes) -> None:
    for name, test, status in (("a", (), 0), ("b", ("--sprt", "elo0=0,elo1=50"), 4)):
        done = run("match", *PLAY, *test, "-o", tmp_path / name, stdin=said)
        assert done.status == status and done.err.startswith("match: to go on: "), done.err


@pytest.mark.parametrize("no_color", [None, "1"])
def test_a_terminal_has_colours_unless_they_are_unwanted(
    tmp_path: pathlib.Path, no_color: str | None
) -> None:
    terminal, inside = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    if no_color:
        environment["NO_COLOR"] = no_color
    playing = subprocess.Popen(
        command_line("match", *PLAY, "-o", tmp_path / "g.jsonl"),
        stdin=subprocess.PIPE,
        stdout=inside,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    os.close(inside)
    assert playing.stdin
    playing.stdin.write(b"\nsave\n")
    playing.stdin.close()
    told = b""
    try:
        while part := os.read(terminal, 1 << 16):
            told += part
    except OSError:
        pass  # the end of a terminal
    os.close(terminal)
    assert playing.wait(PATIENCE) == 0
    assert b"seen by red" in told and (b"\x1b[1;31m" in told) == (no_color is None)


def test_how_a_person_plays_needs_a_person(tmp_path: pathlib.Path) -> None:
    done = run("match", "random", *PLAY[1:], "--style", "unicode", "-o", tmp_path / "g.jsonl")
    assert (done.status, done.error_line) == (
        2,
        "match: --style is for human, and no player is one",
    )
    assert not (tmp_path / "g.jsonl").exists()
