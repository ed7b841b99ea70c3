"""The command `rate`."""

from __future__ import annotations

import json
import os
import pathlib
import random
import re

import pytest

from rating_games import changed, header, record, write
from running import ROOT, run
from stratkit.rating.plot import step_of

SAMPLES = ROOT / "formats/samples"


@pytest.fixture
def games(tmp_path: pathlib.Path) -> pathlib.Path:
    rng = random.Random(5)
    three = header("random", "heuristic", "run@7")
    records = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for swap in [False, True] * 20:
            result = rng.choices(("red", "draw", "blue"), (6, 1, 3) if swap else (3, 1, 6))[0]
            records.append(record(len(records), *((b, a) if swap else (a, b)), result))
    return write(tmp_path / "games.jsonl", three, records)


def test_the_tables(games: pathlib.Path) -> None:
    done = run("rate", "--anchor", "random", games)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("120 games of mini; Elo with 95 % intervals, relative to random")
    assert [line.split()[1] for line in lines[3:6]] == ["run@7", "heuristic", "random"]
    assert lines[5].split()[2:5] == ["0", "0", "0"]
    assert len(lines) == 11


def test_the_golden_sample_and_its_page() -> None:
    arguments = ["--json", "--prior", "1", "--anchor", "B", SAMPLES / "games.jsonl"]
    golden = (SAMPLES / "rating.json").read_text()
    assert run("rate", *arguments).out == golden
    page = (ROOT / "formats/rating.md").read_text()
    described = re.findall(r"^\| ([\w, ]+) \|", page.replace("| field |", ""), re.M)
    value = json.loads(golden)
    fields = [*value, *value["players"][0], *value["meetings"][0]]
    assert ", ".join(described).split(", ") == fields


def test_an_anchor_with_a_rating(games: pathlib.Path) -> None:
    plain = json.loads(run("rate", "--json", "--anchor", "heuristic", games).out)
    moved = json.loads(run("rate", "--json", "--anchor", "heuristic=-12.5", games).out)
    for one, other in zip(plain["players"], moved["players"], strict=True):
        assert other["elo"] == pytest.approx(one["elo"] - 12.5, abs=0.011)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--anchor", "randon"], "--anchor: no player is called 'randon' (did you mean 'random'?)"),
        (["--anchor", "random=x"], "--anchor: not a rating: 'x'"),
        (["--anchor", "random=inf"], "--anchor: not a rating: 'inf'"),
        (["--plot", "-"], "a picture cannot go where the table goes: name a file"),
        (["--anchr", "x"], "no such option: --anchr (did you mean '--anchor'?)"),
    ],
)
def test_wrong_command_lines(games: pathlib.Path, arguments: list[str], line: str) -> None:
    done = run("rate", *arguments, games)
    assert (done.status, done.data, done.error_line) == (2, b"", f"rate: {line}")


def test_groups_that_never_met(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b"), [record(0, 0, 1, "draw")])
    two = write(tmp_path / "2", header("c", "d"), [record(0, 0, 1, "draw")])
    done = run("rate", one, two)
    assert (done.status, done.data) == (3, b"")
    assert done.error_line == "rate: groups that never met cannot be compared: a, b; c, d"


def test_only_wins_need_a_prior(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(0, 0, 1, "red")])
    done = run("rate", path)
    assert done.status == 0
    assert done.error_line.startswith("rate: a won every game against b: --prior 1, ")
    told = run("rate", "--prior", 1, path)
    assert (told.status, told.out, told.err) == (0, done.out, "")
    assert "draws added for each two who met: 1" in done.out
    refused = run("rate", "--prior", 0, path)
    assert (refused.status, refused.data) == (3, b"")
    assert refused.error_line.startswith("rate: a won every game against b: no rating is finite")


def test_from_a_pipe_and_repeated(games: pathlib.Path) -> None:
    done = run("rate", games, "-", stdin=games.read_bytes())
    assert done.status == 0
    assert done.error_line == "rate: 120 games were met again and counted once"
    assert done.out == run("rate", "-", stdin=games.read_bytes()).out


def test_a_torn_last_line_is_left_out(games: pathlib.Path) -> None:
    games.write_bytes(games.read_bytes()[:-9])
    assert run("rate", games).out.startswith("119 games of mini")


def test_a_picture_does_not_replace_the_games(games: pathlib.Path) -> None:
    before = games.read_bytes()
    for arguments in (("--plot", games), ("--plot", "x", "--curve", games.parent / "." / "x")):
        done = run("rate", games, "-f", *arguments, cwd=games.parent)
        assert done.status == 2 and "a picture cannot go where another file is" in done.error_line
    assert games.read_bytes() == before


def test_names_cannot_harm_the_terminal(tmp_path: pathlib.Path) -> None:
    names = header("a\x1b[31m", "b\n$_{")
    path = write(tmp_path / "g", names, [record(0, 0, 1, "red"), record(1, 0, 1, "blue")])
    done = run("rate", "--plot", tmp_path / "g.png", path)
    assert done.status == 0
    assert r"a\x1b[31m" in done.out and r"b\n$_{" in done.out and "\x1b" not in done.out


def broken_files(path: pathlib.Path) -> dict[str, bytes]:
    """What is wrong -> the file's bytes."""
    good = path.read_bytes()

    def edited(line: int, **fields: object) -> bytes:
        path.write_bytes(good)
        changed(path, line, **fields)
        return path.read_bytes()

    return {
        "empty": b"",
        "no header": b"\n".join(good.splitlines()[1:]) + b"\n",
        "not JSON": good.replace(b'"pair":3', b'"pair":3,,', 1),
        "not text": good[:400] + b"\xff\xfe\x00" + good[403:],
        "a binary": b"\x7fELF" + bytes(range(256)) * 40 + b"\n",
        "another format": edited(0, stratkit="episodes"),
        "a later version": edited(0, version=2),
        "an unknown player": edited(5, players=[0, 9]),
        "a result that is none": edited(5, result="\x1b[2Jred"),
        "a number that is none": edited(5, number=-1),
        "a missing field": edited(5, plies=None),
        "endless": b"[" * 5_000_000,
    }


def test_broken_files_get_one_line(games: pathlib.Path) -> None:
    for wrong, data in broken_files(games).items():
        path = games.with_name("broken.jsonl")
        path.write_bytes(data)
        done = run("rate", path)
        assert (done.status, done.data) == (1, b""), wrong
        assert re.match(r"rate: \S+/broken\.jsonl: (line \d+: |empty)", done.error_line), wrong
        assert done.error_line.isprintable(), wrong


def test_the_picture(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    picture = tmp_path / "out.png"
    done = run("rate", "--plot", picture, games)
    assert (done.status, done.err) == (0, "")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 5000

    again = run("rate", "--plot", picture, games)
    assert (again.status, again.data) == (1, b"")
    assert again.error_line == f"rate: {picture}: exists already; -f overwrites it"
    assert run("rate", "-f", "--plot", picture, games).status == 0
    assert picture.read_bytes() == data


def test_the_curve(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    picture = tmp_path / "curve.png"
    assert run("rate", "--curve", picture, games).status == 0  # one player is run@7
    assert picture.read_bytes().startswith(b"\x89PNG")
    changed(games, 0, players=[{"name": n, "spec": "x", "sha256": None} for n in ("a", "b", "c@")])
    done = run("rate", "-f", "--curve", picture, games)
    assert done.status == 1 and "no player's name ends with a step" in done.error_line
    assert [step_of(n) for n in ("run@12", "d/step-00000300.safetensors", "step", "x@y", "v2")] == [
        12,
        300,
        None,
        None,
        None,
    ]


def test_a_picture_is_whole_or_absent(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    done = run("rate", "--plot", folder / "out.png", games, largest_file=2000)
    assert (done.status, done.error_line) == (1, f"rate: {folder}/out.png: File too large")
    assert list(folder.iterdir()) == []
    full = run("rate", "--plot", "/dev/full", games)
    assert (full.status, full.error_line) == (1, "rate: /dev/full: No space left on device")


def test_pictures_need_the_extra(games: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError\n")
    done = run("rate", "--plot", tmp_path / "g.png", games, PYTHONPATH=str(tmp_path))
    assert done.status == 1
    assert done.error_line == "rate: pictures need matplotlib: pip install 'stratkit[plot]'"
    assert not (tmp_path / "g.png").exists()


def test_a_full_disk(games: pathlib.Path) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    done = run("rate", games, stdout=descriptor)
    os.close(descriptor)
    assert (done.status, done.error_line) == (1, "rate: standard output: No space left on device")
