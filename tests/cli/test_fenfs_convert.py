"""`fenfs convert`: every form to every other, which games, and where they go."""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import re
import signal
import subprocess
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from running import PATIENCE, command_line, run
from stratkit.engine.stratego import Position, variant
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.setups import setup_text
from stratkit.setups.constraints import constraints_of
from stratkit.setups.uniform import UniformSetups

GSN, XML = LOGS / "barrage.2003.9.2.7.gsn", LOGS / "barrage-2010.11-204.xml"
PLIES = {GSN: 71, XML: 38}


def converted(to: str, *arguments: object) -> str:
    """What comes out when all goes well."""
    status, out, said = fenfs("convert", "--to", to, *arguments)
    assert (status, said) == (0, [])
    return out


# ---- forms ----


@pytest.mark.parametrize("name", ["games.jsonl", "gravon.jsonl"])
def test_records_stay_what_they_were(name: str) -> None:
    assert converted("games", SAMPLES / name) == (SAMPLES / name).read_text()


def test_records_are_known_however_their_json_is_written(tmp_path: pathlib.Path) -> None:
    """A script may have changed them, and their name says nothing."""
    records = (SAMPLES / "games.jsonl").read_text()
    objects = list(map(json.loads, records.splitlines()))
    for blanks, ordered in itertools.product((None, (",", ":")), (False, True)):
        lines = [json.dumps(one, separators=blanks, sort_keys=ordered) for one in objects]
        (tmp_path / "games").write_text("".join(f"{line}\n" for line in lines))
        assert converted("games", tmp_path / "games") == records
        assert fenfs("check", tmp_path / "games") == (0, "", [])


def test_boards_of_other_lakes_or_names_are_no_others(tmp_path: pathlib.Path) -> None:
    """The same army stands on several boards: which one it is, its game tells, or --variant."""
    for seed, name in enumerate(("barrage", "barrage-blocked", "barrage:C5D5G10", "nano", "micro")):
        board, read = variant(name), variant("nano" if name == "micro" else name)
        red, blue = UniformSetups(constraints_of(board, (), ()), seed).draw(0, 2)
        start = tmp_path / "start.fenfs"
        start.write_text(f"{fenfs_of(Position.of_setups(board, red, blue))}\n")
        record = converted("games", start)
        assert json.loads(record.splitlines()[0])["game"] == read.name
        games, setups = tmp_path / "games.jsonl", tmp_path / "own.setups"
        games.write_text(record.replace(f'"game":"{read.name}"', f'"game":"{name}"'))
        setups.write_text(converted("setups", games))
        for words, counted in (
            ((start,), read.name),
            ((games,), name),
            ((games, "--scores"), name),
            ((setups, "--variant", name.partition(":")[0]), name.partition(":")[0]),
        ):
            status, out, said = fenfs("stats", "--json", *words)
            figures = json.loads(out)["inputs"]
            assert (status, said, [*figures["setups"]]) == (0, [], [counted]), words
            assert [*figures.get("scores", {})] == [name] * ("--scores" in words)
        other = "barrage" if name == "barrage-blocked" else "barrage-blocked"
        assert converted("setups", "--variant", other, start) == ""


def test_words_of_gravon_choose_setups(tmp_path: pathlib.Path) -> None:
    for word, name in (("duell", "duel"), ("ultimate lightning", "ultimate"), ("barrage", None)):
        board = variant(name or word)
        setups = tmp_path / "own.setups"
        drawn = UniformSetups(constraints_of(board, (), ()), 1).draw(0, 3)
        setups.write_text("".join(f"{setup_text(setup)}\n" for setup in drawn))
        assert converted("setups", "--variant", word, setups) == setups.read_text()
        assert converted("setups", "--variant", "classicfree", setups) == ""


def test_logs_and_their_records_say_the_same(tmp_path: pathlib.Path) -> None:
    records = tmp_path / "games.jsonl"
    records.write_text(converted("games", LOGS))
    for options in (["fenfs"], ["fenfs", "--view", "blue"], ["setups"]):
        assert converted(*options, records) == converted(*options, LOGS)
    for form in ("gsn", "xml"):
        # Of a log without setups there is no record.
        archive = tmp_path / f"{form}.zip"
        converted(form, records, "-o", archive)
        assert converted("fenfs", archive) != "" and len(members(archive)) == 10
        texts = [bare(text) for text in members(archive).values()]
        converted(form, LOGS, "-o", f"{tmp_path / form}/")
        there = [bare(p.read_text()) for p in (tmp_path / form).iterdir()]
        assert set(texts) < set(there) and len(there) == 12


def bare(log: str) -> str:
    """A log without what a record does not have: the words of the header, and rescues."""
    return re.sub(r"#\S+ (.*)v.|\w+:\w+\n", "", log)


def members(path: pathlib.Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_episodes_are_games_too() -> None:
    episodes = SAMPLES / "episodes.eps"
    status, out, [line] = fenfs("convert", "--to", "games", episodes)
    assert status == 3 and line.startswith(f"fenfs: {episodes}: game 3: begins within a game")
    header, *games = map(json.loads, out.splitlines())
    told = json.loads((SAMPLES / "episodes.json").read_text())
    assert header["game"] == "mini" and header["seed"] == told["header"]["seed"]
    assert [game["number"] for game in games] == [0, 1]
    assert fenfs("check", episodes) == (0, "", [])


def test_positions_are_games_again(tmp_path: pathlib.Path) -> None:
    """Of records, logs and several files; also where one game begins right after another."""
    steps = tmp_path / "steps.fenfs"
    steps.write_text(converted("fenfs", LOGS))
    games = tmp_path / "games.jsonl"
    games.write_text(converted("games", steps, "--jobs", 2))
    records = [json.loads(line) for line in games.read_text().splitlines()]
    assert [r["setups"]["from"] for r in records if "stratkit" in r] == ["fenfs"] * 10
    assert converted("fenfs", games) == steps.read_text()
    converted("xml", steps, "-o", f"{tmp_path}/logs/")
    assert converted("fenfs", tmp_path / "logs").count(" r 0") == 10
    # A line that does not follow: what is before it is kept if that is wanted.
    lines = steps.read_text().splitlines()
    lines[3] = lines[3].replace("a", "C", 1)
    steps.write_text("\n".join(lines[:9]))
    status, out, said = fenfs("convert", "--to", "games", "--salvage", steps)
    assert status == 3 and json.loads(out.splitlines()[1])["plies"] == 2
    assert "line 4: no legal move leads from the position before to this one" in said[0]
    steps.write_text("\n".join(lines[5:9]))
    status, out, [line] = fenfs("convert", "--to", "games", steps)
    assert (status, out) == (3, "") and "line 1: positions from ply 5 on are no game" in line


def test_positions_stay_positions_and_starts_give_setups(tmp_path: pathlib.Path) -> None:
    moved = tmp_path / "a.fenfs"
    moved.write_text(converted("fenfs", "--moved", XML))
    plain = (SAMPLES / "barrage.fenfs").read_text()
    assert moved.read_text() == (SAMPLES / "barrage.moved.fenfs").read_text()
    assert converted("fenfs", moved) == plain
    assert converted("fenfs", "--moved", moved) == moved.read_text()
    assert converted("fenfs", "--view", "red", moved) == (SAMPLES / "barrage.red.fenfs").read_text()
    assert converted("setups", moved) == converted("setups", XML)
    status, out, lines = fenfs("convert", "--to", "fenfs", "--moved", SAMPLES / "barrage.fenfs")
    assert (status, out, len(lines)) == (3, "", 39) and "does not say which" in lines[0]
    status, out, [line] = fenfs("convert", "--to", "gsn", SAMPLES / "barrage.red.fenfs")
    assert (status, out) == (3, "") and "only the observer's positions tell the moves" in line


def test_setups_stay_setups(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.setups"
    path.write_text(converted("setups", "--regular", LOGS))
    assert converted("setups", path) == path.read_text()
    barrage = converted("setups", "--variant", "barrage", path)
    assert barrage == converted("setups", "--variant", "barrage", LOGS) != ""
    assert fenfs("convert", "--to", "games", path)[0] == 3


def test_a_range_of_plies() -> None:
    lines = converted("fenfs", XML).splitlines()
    assert converted("fenfs", "--ply", "3..5", XML).splitlines() == lines[3:6]
    assert converted("fenfs", "--ply", "37..", XML).splitlines() == lines[37:]
    assert converted("fenfs", "--ply", "0", LOGS, "--player", "quickstep").splitlines() == lines[:1]
    assert converted("fenfs", "--ply", "900..", XML) == ""


# ---- which games ----


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--variant", "barrage"], "barrage"),
        (["--variant", "classicfree"], "classicfree|freesetup"),
        (["--variant", "duel", "--variant", "ultimate"], "duell|ultimate"),
        (["--player", "QUICKstep"], "barrage-2010"),
        (["--ending", "forfeit"], "classic.2004.5.12.33"),
        (["--result", "blue", "--moves", "..50"], "barrage-2010"),
        (["--moves", "71"], "barrage.2003"),
        (["--date", "2003"], "barrage.2003"),
        (["--date", "2009.3..2010"], "classic-2009|barrage-2010"),
        (["--date", "..2002.12.30"], "freesetup.2002"),
        (["--date", "2011.2.1.."], "duell-2011"),
        (["--variant", "classic", "--regular"], "classic[.-].*(17|33)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_selecting(options: list[str], kept: str, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.zip"
    converted("gsn", *options, LOGS, "-o", out)
    expected = {p.stem for p in LOGS.iterdir() if re.match(kept, p.name)}
    assert {pathlib.Path(name).stem for name in members(out)} == expected != set()


@pytest.mark.parametrize("to", ["gsn", "games", "fenfs"])
@pytest.mark.parametrize(
    "options", [["--player", "nobody"], ["--date", "..2002.12.29"], ["--game", 99]], ids=str
)
def test_selecting_nothing(to: str, options: list[object], tmp_path: pathlib.Path) -> None:
    """The line of list and show, no file, and nothing on standard output."""
    out = tmp_path / ("out.zip" if to == "gsn" else "out")
    said = ["fenfs: no such game in the input"]
    assert fenfs("convert", "--to", to, *options, LOGS, "-o", out) == (1, "", said)
    assert fenfs("convert", "--to", to, *options, LOGS) == (1, "", said)
    assert list(tmp_path.iterdir()) == []


def test_a_match_without_games_is_converted(tmp_path: pathlib.Path) -> None:
    """Nothing was selected: there is nothing yet."""
    path = tmp_path / "g.jsonl"
    path.write_text((SAMPLES / "games.jsonl").read_text().splitlines(keepends=True)[0])
    assert converted("games", path) == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--date", "2005.x"], "is not a range of dates"),
        (["--date", "1.2.3.4"], "is not a range of dates"),
        (["--date", "2005.99"], "is not a range of dates"),
        (["--date", "2005.0"], "is not a range of dates"),
        (["--date", "2004..2005.12.32"], "is not a range of dates"),
        (["--date", "2006.2..2005"], "ends before it begins"),
        (["--moves", "5..3"], "ends before it begins"),
        (["--moves", "a..b"], "is not a range of whole numbers"),
        (["--moves", "1.5"], "is not a range of whole numbers"),
        (["--ending", "forfiet"], "did you mean 'forfeit'?"),
        (["--jobs", "0"], "--jobs"),
        (["--moved"], "--moved goes with --to fenfs, not with --to gsn"),
        (["--ply", "3"], "--ply goes with --to fenfs, not with --to gsn"),
    ],
)
def test_what_cannot_be_selected(options: list[str], said: str) -> None:
    status, out, [line] = fenfs("convert", "--to", "gsn", *options, GSN)
    assert (status, out) == (2, "") and said in line


# ---- faults ----


@pytest.fixture
def faulty(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder: a log with an illegal move between two sound ones."""
    folder = tmp_path / "faulty"
    folder.mkdir()
    (folder / "a.gsn").write_bytes(GSN.read_bytes())
    lines = GSN.read_bytes().split(b"\r\n")
    (folder / "b.gsn").write_bytes(b"\n".join([*lines[:9], b"A1-A9", *lines[9:]]))
    (folder / "c.xml").write_bytes(XML.read_bytes())
    return folder


def test_salvaging(faulty: pathlib.Path) -> None:
    whole = converted("fenfs", GSN)
    status, out, [line] = fenfs("convert", "--to", "fenfs", faulty)
    assert (status, out) == (3, whole + converted("fenfs", XML))
    assert line.startswith(f"fenfs: {faulty}/b.gsn: line 10, move 7: illegal move: ")
    status, out, again = fenfs("convert", "--to", "fenfs", "--salvage", faulty / "b.gsn")
    assert (status, again) == (3, [line])
    assert out == "".join(whole.splitlines(keepends=True)[:7])


def test_strict_stops_at_the_first_fault(faulty: pathlib.Path, tmp_path: pathlib.Path) -> None:
    status, _, [line] = fenfs("convert", "--to", "fenfs", "--strict", faulty)
    assert status == 3 and "b.gsn: line 10, move 7: illegal move" in line
    out = tmp_path / "out"
    assert fenfs("convert", "--to", "fenfs", "--strict", faulty, "-o", out)[0] == 3
    assert not out.exists()


def test_processes_change_nothing(tmp_path: pathlib.Path, faulty: pathlib.Path) -> None:
    archive = tmp_path / "many.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for n in range(10):
            for path in sorted([*LOGS.iterdir(), *faulty.iterdir()]):
                out.writestr(f"{n}/{path.name}", path.read_bytes())
    single = fenfs("convert", "--to", "games", archive)
    assert single[0] == 3 and len(single[2]) == 10 and single[1].count("\n") > 200
    done = run("fenfs", "convert", "--to", "games", "--jobs", 3, archive)
    assert (done.status, done.out, done.err.splitlines()) == single


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_the_command(number: int) -> None:
    with subprocess.Popen(
        command_line("fenfs", "convert", "--to", "fenfs", "--jobs", 2, "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        process.stdin.write((SAMPLES / "gravon.jsonl").read_bytes() * 8)  # more than one chunk
        process.stdin.flush()
        eventually(lambda: len(children(process.pid)) == 2)
        workers = children(process.pid)
        process.send_signal(number)
        # A signal that comes just before Python sleeps in a read is seen with the next one.
        with contextlib.suppress(AssertionError):
            eventually(lambda: not any(map(runs, workers)), 30)
        process.send_signal(number)
        eventually(lambda: not any(map(runs, workers)))


def children(parent: int) -> list[int]:
    """The processes that it has started."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def runs(process: int) -> bool:
    """Whether it does, and is not only remembered because nobody asked how it ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def eventually(found: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What `found` gives as soon as that is something."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return value


# ---- where logs go ----


def test_a_zip_is_the_same_bytes_every_time(tmp_path: pathlib.Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    for path in (first, second):
        converted("xml", LOGS, "-o", path)
    assert first.read_bytes() == second.read_bytes()
    again = tmp_path / "c.zip"
    converted("xml", first, "-o", again)
    assert again.read_bytes() == first.read_bytes()
    assert fenfs("check", first) == (0, "", [])


def test_a_file_of_these_forms_is_one_game(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "a.gsn"
    converted("gsn", XML, "-o", out)
    assert converted("xml", out) == converted("xml", XML)
    status, _, [line] = fenfs("convert", "--to", "gsn", LOGS, "-o", tmp_path / "b.gsn")
    assert status == 1 and "a file of this form is one game" in line
    assert not (tmp_path / "b.gsn").exists()
    for form in ("gsn", "xml"):  # nor has stdout got the first of several
        assert fenfs("convert", "--to", form, LOGS) == (1, "", [line.replace("gsn'", f"{form}'")])


def test_names_in_zips_lead_out_of_no_folder(tmp_path: pathlib.Path) -> None:
    archive, out = tmp_path / "in.zip", tmp_path / "out"
    names = [
        "../../up.gsn",
        "/etc/root.gsn",
        "..\\back.gsn",
        "a/same.gsn",
        "b/same.gsn",
        "x\x1b.gsn",
    ]
    with zipfile.ZipFile(archive, "w") as file:
        for name in names:
            file.writestr(name, GSN.read_bytes())
    converted("xml", archive, "-o", f"{out}/")
    found = sorted(p.name for p in out.iterdir())
    assert found == ["__back.xml", "root.xml", "same-2.xml", "same.xml", "up.xml", "x_.xml"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.zip", "out"]
    status, _, [line] = fenfs("convert", "--to", "xml", archive, "-o", out)
    assert status == 1 and "exists already; -f overwrites it" in line
    converted("xml", "-f", archive, "-o", out)


def test_the_words_of_selections_are_those_of_records() -> None:
    """The options' lists are written by hand, so that --help is fast: here are their sources."""
    from stratkit.cli.fenfs import options
    from stratkit.engine import Game
    from stratkit.engine.stratego import VARIANTS
    from stratkit.notation.gravon_words import KINDS, REASONS

    assert set(options.WORDS_OF_VARIANTS) == {*VARIANTS, *KINDS}
    page = (SAMPLES.parent / "games.md").read_text()
    not_played_out = set(re.findall(r"^\| `(\w+)` \| `", page, re.M))
    assert {"resigned", "agreed", "silence"} < not_played_out
    engine = {ending for name in VARIANTS for ending in Game(name).endings} - {""}
    assert set(options.ENDINGS) == engine | set(REASONS.values()) | not_played_out | {"cut"}


@pytest.mark.parametrize("ending", ["resigned", "agreed", "surrender", "illegal_move", "cut"])
def test_endings_of_matches_select_their_games(tmp_path: pathlib.Path, ending: str) -> None:
    header, *games = (SAMPLES / "games.jsonl").read_text().splitlines()
    one = json.loads(games[0]) | {"reason": ending}
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join([header, json.dumps(one, separators=(",", ":")), *games[1:], ""]))
    _, out, _ = fenfs("stats", "--json", "--ending", ending, path)
    figures = json.loads(out)["inputs"]
    assert figures["endings"] == {ending: 1} and figures["games"] == 1


def test_gravons_words_select_variants() -> None:
    for word, games in (("ultimate lightning", 2), ("ultimate", 2), ("duell", 2), ("duel", 2)):
        _, out, _ = fenfs("stats", "--json", "--variant", word, LOGS)
        assert json.loads(out)["inputs"]["games"] == games, word


def test_free_setups_anywhere_survive_every_form(tmp_path: pathlib.Path) -> None:
    """A red piece beyond its ranks; only a line of setups has no place for it."""
    log = LOGS / "freesetup.2002.12.30.1.gsn"
    lines = log.read_text().splitlines()
    empty = lines[2].rindex("A")
    lines[2] = lines[2][:empty] + "M" + lines[2][empty + 1 :]
    path = tmp_path / "free.gsn"
    path.write_text("\n".join([*lines[:4], "END", "A vs B result 3 winner 2", ""]))
    assert fenfs("check", path) == (0, "", [])
    whole = converted("fenfs", path)
    for form, suffix in (("games", "jsonl"), ("xml", "xml"), ("fenfs", "fenfs")):
        other = tmp_path / f"free.{suffix}"
        assert fenfs("convert", "--to", form, path, "-o", other) == (0, "", [])
        assert converted("games" if form == "fenfs" else "fenfs", other)
        if form != "fenfs":
            assert converted("fenfs", other) == whole
    [_, record] = map(json.loads, (tmp_path / "free.jsonl").read_text().splitlines())
    assert [len(setup) for setup in record["setups"]] == [100, 40]
    broken = {**record, "setups": [record["setups"][0], "M" * 100]}
    header = (tmp_path / "free.jsonl").read_text().splitlines()[0]
    (tmp_path / "two.jsonl").write_text(f"{header}\n{json.dumps(broken, separators=(',', ':'))}\n")
    _, _, [line] = fenfs("check", tmp_path / "two.jsonl")
    assert "two on one square" in line
    _, out, said = fenfs("convert", "--to", "setups", "-v", path)
    assert out == "" and "beyond their own ranks: left out" in said[0]
