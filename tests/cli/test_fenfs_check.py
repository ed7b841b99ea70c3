"""`fenfs check`, `fenfs stats` and pictures; and files that are made to do harm."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import struct
import subprocess
import zipfile
from typing import Any

import numpy as np
import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from running import run
from stratkit.convert.raw import MAX_LINES
from stratkit.notation.picture import MARGIN, SIZE
from stratkit.notation.replay_page import board_parts
from stratkit.storage.columns import Episodes
from stratkit.storage.episodes import EpisodeReader, EpisodeWriter

GSN, XML = LOGS / "barrage.2003.9.2.7.gsn", LOGS / "barrage-2010.11-204.xml"


def shuttling(tmp_path: pathlib.Path) -> pathlib.Path:
    """A game in which both sides move to and fro: red breaks the two-squares rule at move 11."""
    lines = GSN.read_text().splitlines()
    red, blue = (move.split("-") for move in lines[3:5])
    moves = ["-".join(m) for m in (red, blue, red[::-1], blue[::-1])] * 4
    path = tmp_path / "shuttle.gsn"
    end = lines[-1].replace("result 0", "result 3")
    path.write_text("\n".join([*lines[:3], *moves, "END", end, ""]))
    return path


def test_breaches_of_repetition_rules_are_told_and_no_fault(tmp_path: pathlib.Path) -> None:
    path = shuttling(tmp_path)
    what = "the two-squares rule ({}) forbids this move, and perhaps later ones: no fault here"
    for number, move in ((5, 11), (3, 7)):
        status, out, [line] = fenfs("check", "--two-squares", number, path)
        assert (status, out) == (0, "")
        assert line.startswith(
            f"fenfs: {path}: line {move + 3}, move {move}: {what.format(number)}"
        )
    assert fenfs("check", "--two-squares", 0, path) == (0, "", [])
    assert fenfs("convert", "--to", "setups", path)[::2] == (0, [])


def test_salvage_keeps_the_sound_part_of_everything(tmp_path: pathlib.Path) -> None:
    there, kept = tmp_path / "in", tmp_path / "kept"
    there.mkdir()
    games = (SAMPLES / "games.jsonl").read_text().splitlines(keepends=True)
    broken = json.loads(games[1])
    broken["moves"] = " ".join([*broken["moves"].split()[:4], "A1A1"])
    (there / "g.jsonl").write_text(games[0] + json.dumps(broken) + "\n" + games[2])
    (there / "p.fenfs").write_text((SAMPLES / "barrage.fenfs").read_text() + "rubbish\n")
    lines = GSN.read_text().splitlines()
    (there / "l.gsn").write_text("\n".join([*lines[:9], "A1-A9", *lines[9:]]))
    status, out, said = fenfs("check", "--salvage", kept, there)
    assert (status, out, len(said)) == (3, "", 3)
    status, _, [record, log] = fenfs("check", kept)  # the results stay what they were
    assert status == 3 and "the result says so, but no move captures a flag" in record
    assert "the result says so, but blue can move: 'no legal move, red wins'" in log
    assert (kept / "p.fenfs").read_text() == (SAMPLES / "barrage.fenfs").read_text()
    assert (kept / "l.gsn").read_text() == "\n".join([*lines[:9], *lines[-2:], ""])
    first, second, third = map(json.loads, (kept / "g.jsonl").read_text().splitlines())
    assert (first, third) == (json.loads(games[0]), json.loads(games[2]))
    assert second["moves"].split() == broken["moves"].split()[:4] and second["plies"] == 4
    status, _, [line] = fenfs("check", "--salvage", kept, there / "p.fenfs")
    assert status == 1 and "exists already" in line


@pytest.mark.parametrize("wrong", ["rule", "itself"])
def test_salvage_keeps_no_game_that_rate_refuses(wrong: str, tmp_path: pathlib.Path) -> None:
    """What is wrong with a header or with who played, no part of a game mends."""
    games = (SAMPLES / "games.jsonl").read_text().splitlines(keepends=True)
    there, kept = tmp_path / "g.jsonl", tmp_path / "kept"
    if wrong == "rule":
        bad = games[0].replace('"rules":{', '"rules":{"flying":1,') + games[1]
    else:
        bad = games[0] + games[2].replace(
            '1,"pair":0,"players":[1,0]', '9,"pair":0,"players":[1,1]'
        )
    there.write_text(bad + "".join(games))
    assert bad not in "".join(games) and fenfs("check", "--salvage", kept, there)[0] == 3
    assert (kept / "g.jsonl").read_text() == "".join(games)


# ---- stats ----


def test_the_golden_statistics() -> None:
    status, out, said = fenfs("stats", "--json", LOGS)
    assert (status, said) == (0, [])
    told = json.loads(out)
    assert told == json.loads((SAMPLES / "gravon.stats.json").read_text())
    assert sum(told["inputs"]["types"].values()) == told["inputs"]["games"] == 12
    page = (SAMPLES.parent / "stats.md").read_text()
    named = {*told, *told["inputs"], *told["inputs"]["setups"]["classic"], "versus"}
    assert all(f"\n| {name} | " in page for name in named)


def test_attacks_by_player(tmp_path: pathlib.Path) -> None:
    """As a table and as JSON, the same from one process and from two; only when asked for."""
    told = json.loads(fenfs("stats", "--json", "--attacks", "--jobs", 2, LOGS)[1])["inputs"]
    assert told == json.loads(fenfs("stats", "--json", "--attacks", LOGS)[1])["inputs"]
    by_player = told.pop("attacks")
    assert told == json.loads((SAMPLES / "gravon.stats.json").read_text())["inputs"]
    assert set(by_player) == set(told["players"])
    assert sum(one["plies"] for one in by_player.values()) == told["moves"]["mean"] * told["games"]
    page = (SAMPLES.parent / "stats.md").read_text()
    names = list(next(iter(by_player.values())))
    assert all(f"\n| {name} | " in page for name in ("attacks", *names))
    out = fenfs("stats", "--attacks", LOGS)[1].split("\n\n")[-1].splitlines()
    assert out[0] == f"attacks, {LOGS}" and len(out) == 2 + len(by_player)
    most = max(by_player.values(), key=lambda one: one["plies"])
    assert out[2].split()[: len(names)] == [str(most[name]) for name in names]


def test_two_sources_side_by_side(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.setups"
    path.write_text(fenfs("convert", "--to", "setups", "--regular", LOGS)[1])
    arguments = ["--variant", "classic", "--regular", LOGS, "--versus", path]
    status, out, said = fenfs("stats", "--maps", *arguments)
    assert (status, said) == (0, [])
    [row] = [line for line in out.splitlines() if line.startswith("setups, classic")]
    assert row.split()[2:] == ["4", "4"]
    maps = out.split("\n\n")[1:]
    assert len(maps) == 24 and maps[0].startswith(f"marshal, classic, {LOGS}")
    for text, other in zip(maps[:12], maps[12:], strict=True):
        assert text.splitlines()[1:] == other.splitlines()[1:]
    status, out, [line] = fenfs("stats", *arguments, "--plot", "maps.webp")
    assert (status, out) == (2, "") and "pictures are .png or .svg, not .webp" in line
    status, out, [line] = fenfs("stats", "--plot", tmp_path / "b.png", LOGS)
    assert status == 1 and "choose one with --variant" in line
    assert out == fenfs("stats", LOGS)[1] != ""  # what cannot be drawn is printed all the same
    drawn = tmp_path / "maps.svg"
    assert fenfs("stats", *arguments, "--plot", drawn)[0] == 0
    said = re.findall(r"<!-- (.*) -->", drawn.read_text())
    (title,) = [text for text in said if text.startswith("classic, ")]
    assert title.count(": 4 setups") == 2
    assert said.count("front") == said.count("back") == said.count("K") == 12 * 2
    assert said.count("% of the setups") == 1


# ---- pictures ----


@pytest.mark.parametrize("view", ["observer", "red", "blue"])
def test_pictures(view: str, tmp_path: pathlib.Path) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    for path in (png, svg):
        assert fenfs("show", "--ply", 9, "--view", view, XML, "-o", path) == (0, "", [])
    assert png.read_bytes().startswith(b"\x89PNG") and png.stat().st_size > 5000
    text = svg.read_text()
    assert text.count("<line") == 1 and "marker-end" in text
    assert text.count(">10<") == {"observer": 2}.get(view, 1) + 2  # the tenth rank's labels
    colours, of_pages = (set(re.findall(r"#\w{6}", each)) for each in (text, board_parts()[0]))
    assert colours - {"#333333", "#ffffff"} <= of_pages
    status, _, [line] = fenfs("show", SAMPLES / "barrage.fenfs", "-o", tmp_path / "b.svg")
    assert status == 1
    assert line.startswith("fenfs: a picture shows one position, and there are more")


def test_a_picture_of_a_fenfs_with_a_move(tmp_path: pathlib.Path) -> None:
    fenfs_text = (SAMPLES / "barrage.fenfs").read_text().splitlines()[1]
    svg = tmp_path / "a.svg"
    assert fenfs("show", "--last", "A2A6", fenfs_text, "-o", svg)[0] == 0
    [line] = re.findall(r'<line x1="(.*)" y1="(.*)" x2="(.*)" y2="(.*)" stroke=', svg.read_text())
    start_x, start_y, x, y = map(float, line)
    middle = MARGIN + SIZE / 2
    assert (start_x, start_y) == (middle, middle + 8 * SIZE)  # A2
    # The arrow ends where the piece on A6 begins, whose side is .8 of a square.
    assert x == middle and y == pytest.approx(middle + 4.41 * SIZE, abs=1)
    assert 'refX="10"' in svg.read_text()  # the tip is the end
    status, out, [line] = fenfs("show", "--last", "A2", fenfs_text)
    assert (status, out) == (2, "") and "--last: a move is written like A4A5: 'A2'" in line
    assert fenfs("show", "--style", "unicode", fenfs_text)[1].count("≈≈") == 8


def test_the_last_move_without_colours() -> None:
    """The heading names it, of a FENfS and of a game; with colours its squares are marked."""
    fenfs_text = (SAMPLES / "barrage.fenfs").read_text().splitlines()[1]
    plain = fenfs("show", fenfs_text)[1]
    status, out, _ = fenfs("show", "--last", "A2A6", fenfs_text)
    heading = "blue to move, ply 1, seen by the observer"
    assert (status, out) == (0, plain.replace(heading, f"{heading}, last move A2A6"))
    assert f"{heading}, last move A2A6\n" in fenfs("show", "--ply", 1, XML)[1]
    coloured = fenfs("show", "--colour", "always", "--last", "A2A6", fenfs_text)[1]
    assert coloured.startswith(f"{heading}\n") and coloured.count("\x1b[7m") == 2


@pytest.mark.parametrize(
    "move, why",
    [
        ("A6A7", "the position is the one after the move, and a piece stands on A6"),
        ("Z1Z2", "unknown square (A1 to K10)"),
        ("", "a move is written like A4A5"),
    ],
)
def test_a_last_move_that_cannot_be(move: str, why: str, tmp_path: pathlib.Path) -> None:
    fenfs_text = (SAMPLES / "barrage.fenfs").read_text().splitlines()[1]
    for more in ([], ["-o", tmp_path / "a.svg"]):
        told = fenfs("show", "--last", move, fenfs_text, *more)
        assert told == (2, "", [f"fenfs: --last: {why}: '{move}'"])
    assert not (tmp_path / "a.svg").exists()


# ---- files that are made to do harm ----


def overlapping(path: pathlib.Path) -> None:
    """A zip all of whose members are the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.gsn", bytes(1 << 20))
        first = archive.infolist()[0]
        archive.filelist += [first] * 1000  # type: ignore[attr-defined]


def long_list(path: pathlib.Path) -> None:
    """A zip that says that its list of contents is 2 GiB."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.gsn", GSN.read_bytes())
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<I", 1 << 31)
    path.write_bytes(data)


def long_list_elsewhere(path: pathlib.Path) -> None:
    """The same, said in the record for zips of many members; the usual one says little."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.gsn", GSN.read_bytes())
    data = path.read_bytes()
    at = data.rindex(b"PK\x05\x06")
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 31, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    path.write_bytes(data[:at] + record + locator + data[at:])


def long_list_of_marks(path: pathlib.Path) -> None:
    """The length of the list looks like the mark of the record that it is in."""
    long_list(path)
    data = bytearray(path.read_bytes())
    data[-10:-6] = b"PK\x05\x06"
    path.write_bytes(data)


def one_line(path: pathlib.Path) -> None:
    path.write_bytes(b"A" * (8 << 20))


def log_of_one_line(path: pathlib.Path) -> None:
    path.write_bytes(b"#" + b"vs " * (4 << 20))


def results(path: pathlib.Path) -> None:
    """A line that a careless pattern would try to cut in a million ways."""
    path.write_bytes(b"#X Stratego-Notation v1\ntype 0\nEND\n" + b" vs " * (1 << 17))


def depth(path: pathlib.Path) -> None:
    path.write_bytes(b"<stratego>" * 50_000)


def brackets(path: pathlib.Path) -> None:
    path.write_bytes(b'{"stratkit":"games"' + b"[" * 100_000 + b"\n")


HOSTILE = {
    overlapping: "damaged zip: its members overlap",
    long_list: "zip whose list of contents has over 32 MiB",
    long_list_elsewhere: "zip whose list of contents has over 32 MiB",
    long_list_of_marks: "zip whose list of contents has over 32 MiB",
    one_line: "line 1: a line of over 1000 bytes",
    log_of_one_line: "a log of over 1 MiB",
    results: "a result like",
    depth: "line 1: unknown element in <stratego>: 'stratego'",
    brackets: "line 1: not a game record",
}


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_hostile_files_are_refused_with_one_line(make, tmp_path: pathlib.Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "hostile"
    make(path)
    for command in (["check"], ["convert", "--to", "games"], ["stats"]):
        status, _, [line] = fenfs(*command, path)
        assert status == 3 and HOSTILE[make] in line and len(line) < 400


def test_folders_within_folders_within_folders(tmp_path: pathlib.Path) -> None:
    here, top = os.getcwd(), tmp_path / "top"
    top.mkdir()
    os.chdir(top)
    try:
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
        pathlib.Path("a.gsn").write_bytes(GSN.read_bytes())
        os.chdir(here)
        status, out, _ = fenfs("convert", "--to", "setups", top)
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-rf", top], check=True)  # Python's own way would not get so deep
    assert (status, out.count("\n")) == (0, 2)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"start": b"\xff" * 41}, ["its start is no position of the game"]),
        ({"actions": 3}, ["action 3, 0, is not legal"]),
        ({"ending": 2}, ["the result is not that of the board (flag_captured): 'no_legal_move'"]),
        ({"returns": np.array([-1, 1], np.float32)}, ["the result is not that of the board"]),
    ],
    ids=["sound", "start", "action", "ending", "returns"],
)
def test_an_episode_that_begins_within_a_game_is_played_out(
    tmp_path: pathlib.Path, change: dict[str, Any], told: list[str]
) -> None:
    with (SAMPLES / "episodes.eps").open("rb") as stream:
        reader = EpisodeReader(stream, "sample")
        (episode,) = (one for one in reader if one.start)
    if "actions" in change:
        actions = episode.actions.copy()
        actions[change["actions"] - 1] = 0
        change = {"actions": actions}
    path = tmp_path / "one.eps"
    with path.open("wb") as out, EpisodeWriter(out, reader.header) as writer:
        writer.write(Episodes.of([dataclasses.replace(episode, **change)]))
    status, _, said = fenfs("check", path)
    assert (status, len(said)) == (3 if told else 0, len(told))
    for line, what in zip(said, told, strict=True):
        assert line.startswith(f"fenfs: {path}: game 1: {what}")


def changed_records(tmp_path: pathlib.Path, **changes: Any) -> pathlib.Path:
    """The sample of game records with another header; its first game only."""
    header, game, *_ = (SAMPLES / "games.jsonl").read_text().splitlines()
    path = tmp_path / "g.jsonl"
    head = json.dumps(json.loads(header) | changes, separators=(",", ":"))
    path.write_text(f"{head}\n{game}\n")
    return path


def test_what_train_and_rate_refuse_is_no_sound_file(tmp_path: pathlib.Path) -> None:
    header = json.loads((SAMPLES / "games.jsonl").read_text().splitlines()[0])
    sound = changed_records(tmp_path)
    assert fenfs("check", sound) == (0, "", [])
    path = changed_records(tmp_path, rules=header["rules"] | {"three_squares": 1})
    status, _, [line] = fenfs("check", path)
    assert status == 3
    assert line == f"fenfs: {path}: game 1: game mini: unknown rule 'three_squares'"
    assert run("rate", "--prior", 1, path).status == 0  # which only counts results
    path = changed_records(tmp_path, rules=header["rules"] | {"two_squares": -1})
    assert fenfs("check", path)[0] == 3
    path = changed_records(tmp_path, game="minni")
    what = "no games of Stratego (did you mean 'mini'?): 'minni'"
    assert fenfs("check", path) == (3, "", [f"fenfs: {path}: {what}"])
    one, other = header["players"][:2]
    path = changed_records(tmp_path, players=[one, {**other, "name": one["name"]}])
    refused = run("rate", path)
    assert refused.status == 1 and one["name"] in refused.err
    assert fenfs("check", path) == (3, "", [refused.err.strip().replace("rate:", "fenfs:", 1)])


@pytest.mark.parametrize("command", ["check", "check --jobs 2", "list", "stats"])
def test_a_file_of_another_game_is_one_fault_to_tell(command: str, tmp_path: pathlib.Path) -> None:
    """More games than a worker gets at a time, in two files; what else is wrong is told, too."""
    path, other, records = tmp_path / "kuhn.eps", tmp_path / "leduc.eps", tmp_path / "g.jsonl"
    for game, file, games in (("kuhn", path, 150), ("leduc", other, 2)):
        run("selfplay", "--game", game, "--policy", "random", "-n", games, "-o", file, "-q")
    players = ("name=a,random", "name=b,random")
    run("match", *players, "--game", "kuhn", "-n", 2, "-o", records, "-q")
    status, _, said = fenfs(*command.split(), path, GSN, other, records, tmp_path / "none")
    files = [(path, "kuhn"), (other, "leduc"), (records, "kuhn")]
    wanted = [f"fenfs: {file}: no games of Stratego: {game!r}" for file, game in files]
    wanted.append(f"fenfs: {tmp_path / 'none'}: cannot read: No such file or directory")
    assert status == 3 and sorted(line for line in said if ": sound" not in line) == sorted(wanted)


def test_a_long_file_without_games_is_one_fault_to_tell(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "many.setups"
    path.write_bytes((SAMPLES / "gravon.setups").read_bytes().splitlines(True)[0] * 3 * MAX_LINES)
    assert fenfs("list", path) == (3, "", [f"fenfs: {path}: a game is needed"])


def test_a_name_is_one_player_in_all_files(tmp_path: pathlib.Path) -> None:
    header = json.loads((SAMPLES / "games.jsonl").read_text().splitlines()[0])
    files = []
    for number, weights in enumerate(("0" * 64, "1" * 64, "0" * 64)):
        folder = tmp_path / str(number)
        folder.mkdir()
        players = [{**header["players"][0], "sha256": weights}, *header["players"][1:]]
        files.append(changed_records(folder, players=players, seed=number))
    assert fenfs("check", files[0], files[2])[0] == 0
    refused = run("rate", *files)
    assert refused.status == 1 and "has other weights than in" in refused.err
    lines = [refused.err.strip().replace("rate:", "fenfs:", 1)]
    assert fenfs("check", *files) == (3, "", lines)
    assert fenfs("check", "--jobs", 2, *files) == (3, "", lines)


def test_rules_of_episodes_that_nobody_knows_are_a_fault(tmp_path: pathlib.Path) -> None:
    with (SAMPLES / "episodes.eps").open("rb") as stream:
        reader = EpisodeReader(stream, "episodes")
        episodes = list(reader)
    header = dataclasses.replace(reader.header, rules={**reader.header.rules, "no_such": 1})
    path = tmp_path / "rules.eps"
    with path.open("wb") as out, EpisodeWriter(out, header) as writer:
        writer.write(Episodes.of(episodes[:1]))
    status, _, [line] = fenfs("check", path)
    assert status == 3 and line.endswith("game mini: unknown rule 'no_such'")
    refused = run("train", path, "--out", tmp_path / "run", "--steps", 1)
    assert refused.status == 1 and "unknown rule 'no_such'" in refused.err


def test_records_that_contradict_themselves_are_faults(tmp_path: pathlib.Path) -> None:
    header, *games = (SAMPLES / "games.jsonl").read_text().splitlines()
    first, second = map(json.loads, games[:2])
    moves = len(second["moves"].split())
    path, kept = tmp_path / "g.jsonl", tmp_path / "kept"
    other = second | {"number": first["number"]}
    what = f"its number in the match, {first['number']}, is an earlier game's, too"
    for number, (change, told, sound) in enumerate(
        (
            (second | {"plies": 3}, f"it says 3 plies, but has {moves} moves", second),
            (
                second | {"returns": [5 * value for value in second["returns"]]},
                "returns that no game of mini has: ",
                second,
            ),
            (other, what, None),  # another game
            (first, what, None),  # the same line
        )
    ):
        path.write_text("\n".join([header, games[0], json.dumps(change), ""]))
        folder = kept / str(number)
        for jobs in (1, 2):
            status, _, [line] = fenfs("check", "--jobs", jobs, path)
            assert status == 3 and line.startswith(f"fenfs: {path}: game ") and told in line
        assert fenfs("check", "--salvage", folder, path)[0] == 3
        lines = [json.loads(line) for line in (folder / "g.jsonl").read_text().splitlines()]
        assert lines[1:] == [first, *filter(None, [sound])]
    path.write_text(f"{header}\n{games[0]}\n")
    (tmp_path / "copy.jsonl").write_bytes(path.read_bytes())  # of which `rate` counts a game once
    again = header.replace('"seed":', '"seed":1')
    path.write_text(f"{header}\n{games[0]}\n{again}\n{games[0]}\n")
    assert fenfs("check", path, tmp_path / "copy.jsonl") == (0, "", [])
