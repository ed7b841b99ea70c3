"""`fenfs list`, and the choice of games by number and player in all commands of `fenfs`."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import subprocess
import zipfile

import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from running import PATIENCE, ROOT, command_line, run

GAMES = [json.loads(line) for line in (SAMPLES / "games.jsonl").read_text().splitlines()]
NUMBERS = {  # of some logs, in the order of the names
    2: "barrage.2003.9.2.7.gsn",
    3: "classic-2009.3-17.xml",
    9: "duell.2005.4.1.2.gsn",
}


@pytest.fixture
def logs(tmp_path: pathlib.Path) -> pathlib.Path:
    """The sample logs in a zip."""
    path = tmp_path / "logs.zip"
    with zipfile.ZipFile(path, "w") as out:
        for log in LOGS.iterdir():
            out.write(log, log.name)
    return path


def test_the_golden_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status, out, said = fenfs("list", "--json", LOGS.relative_to(ROOT))
    assert (status, said) == (0, [])
    assert out == (SAMPLES / "gravon.list.json").read_text()
    told = json.loads(out)
    assert [game["game"] for game in told["games"]] == list(range(1, 13))
    page = (SAMPLES.parent / "list.md").read_text()
    assert all(f"\n| {name} | " in page for name in {*told, *told["games"][0]})


def test_the_table_says_the_same(logs: pathlib.Path) -> None:
    games = json.loads(fenfs("list", "--json", logs)[1])["games"]
    status, out, said = fenfs("list", "--jobs", 2, logs)
    head, *lines = out.splitlines()
    assert (status, said, len(lines)) == (0, [], 12)
    for game, line in zip(games, lines, strict=True):
        number, date, *_ = line.split()
        assert (int(number), date) == (game["game"], game["date"])
        values = (game["type"], game["result"], game["ending"], *game["players"], game["file"])
        columns = [head.index(name) for name in ("type", "result", "ending", "red", "blue", "file")]
        for at, value in zip(columns, values, strict=True):
            assert line[at:].startswith(value)
        assert line[: head.index("plies") + 5].endswith(f" {game['plies']}")


def test_messages_count_games_as_the_list_does(tmp_path: pathlib.Path) -> None:
    """Whatever their own numbers, and over all inputs."""
    games, path = SAMPLES / "games.jsonl", tmp_path / "g.jsonl"
    header, *lines = games.read_text().splitlines()
    wrong = json.loads(lines[0]) | {"number": 77, "plies": 5000}
    path.write_text("\n".join([header, lines[1], json.dumps(wrong), ""]))
    status, _, [line] = fenfs("check", path)
    assert status == 3 and line.startswith(f"fenfs: {path}: game 2: it says 5000 plies")
    assert fenfs("check", "--game", 2, path) == (3, "", [line])
    before = len(lines)
    assert fenfs("check", games, path)[2] == [line.replace("game 2", f"game {before + 2}")]
    assert fenfs("check", "--jobs", 2, "--game", before + 1, games, path)[0] == 0
    for file, number in ((path, 1), (SAMPLES / "episodes.eps", 2)):
        _, _, [line] = fenfs("show", file, "--game", number, "--ply", 9999)
        assert line.startswith(f"fenfs: {file}: game {number}: the game has ")


def test_records_and_episodes_have_their_place(tmp_path: pathlib.Path) -> None:
    out = fenfs("list", "--json", SAMPLES / "games.jsonl", SAMPLES / "searched.eps")[1]
    games = json.loads(out)["games"]
    names = [player["name"] for player in GAMES[0]["players"]]
    first = games[0]
    assert first["place"] == f"game {GAMES[1]['number']}" and first["date"] is None
    assert first["players"] == [names[i] for i in GAMES[1]["players"]]
    assert (first["plies"], first["result"]) == (GAMES[1]["plies"], GAMES[1]["result"])
    assert games[-1]["file"].endswith("searched.eps") and games[-1]["players"] == ["red", "blue"]
    assert [game["game"] for game in games] == list(range(1, len(games) + 1))


def test_a_selection_does_not_change_the_numbers(logs: pathlib.Path) -> None:
    for number, name in NUMBERS.items():
        nick = (LOGS / name).name
        [game] = json.loads(fenfs("list", "--json", "--game", number, logs)[1])["games"]
        assert game["game"] == number and game["file"].endswith(nick)
        player = game["players"][1].upper()
        [again] = json.loads(fenfs("list", "--json", "--player", player, logs)[1])["games"]
        assert again == game
    some = json.loads(fenfs("list", "--json", "--game", "4..", "--variant", "duel", logs)[1])
    assert [game["game"] for game in some["games"]] == [8, 9]
    assert json.loads(fenfs("list", "--json", "--game", 13, logs)[1])["games"] == []


def test_faults_are_told_and_keep_their_number(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.gsn").write_bytes(b"rubbish")
    (tmp_path / "b.gsn").write_bytes((LOGS / NUMBERS[2]).read_bytes())
    (tmp_path / "c.setups").write_text((SAMPLES / "gravon.setups").read_text() * 2)
    status, out, said = fenfs("list", "--json", tmp_path)
    assert status == 3 and len([line for line in said if "a game is needed" in line]) == 1
    assert any("a.gsn: neither a .gsn nor" in line for line in said)
    assert [game["game"] for game in json.loads(out)["games"]] == [2]
    status, out, [line] = fenfs("list", tmp_path / "nothing.gsn")
    assert (status, out) == (1, "") and "No such file" in line
    evil = (LOGS / NUMBERS[2]).read_bytes().replace(b"Nine Lives", b"\x1b]0;pwned\x07")
    (tmp_path / "d.gsn").write_bytes(evil)
    assert "\x1b" not in fenfs("list", tmp_path / "d.gsn")[1]


def test_every_command_takes_one_game_of_many(logs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for number, name in NUMBERS.items():
        alone = LOGS / name
        for command in (
            ["show", "--ply", 5],
            ["replay"],
            ["convert", "--to", "games"],
            ["convert", "--to", "fenfs"],
            ["check", "-v"],
        ):
            status, out, _ = fenfs(*command, "--game", number, logs)
            assert (status, out) == fenfs(*command, alone)[:2]
        told = json.loads(fenfs("stats", "--json", "--game", number, logs)[1])
        assert told == json.loads(fenfs("stats", "--json", alone)[1])
    picture = tmp_path / "a.svg"
    assert fenfs("show", "--game", 3, "--ply", 40, logs, "-o", picture)[0] == 0
    assert "Old Marshal" in picture.read_text()
    status, _, [line] = fenfs("show", logs, "-o", tmp_path / "b.svg")
    assert status == 1 and "choose a game with --game N" in line
    for command in (["show"], ["replay"]):
        status, _, [line] = fenfs(*command, "--player", "nobody", logs)
        assert (status, line) == (1, "fenfs: no such game in the input")
    for wanted in (["--player", "nobody"], ["--game", 99]):
        assert fenfs("list", *wanted, logs) == (0, "", ["fenfs: no such game in the input"])


def test_only_what_is_asked_for_is_checked(tmp_path: pathlib.Path) -> None:
    lines = (LOGS / NUMBERS[2]).read_bytes().split(b"\r\n")
    (tmp_path / "a.gsn").write_bytes(b"\n".join([*lines[:3], b"A1-A9", *lines[3:]]))
    (tmp_path / "b.xml").write_bytes((LOGS / NUMBERS[3]).read_bytes())
    assert fenfs("check", tmp_path)[0] == 3
    assert fenfs("check", "--player", "old marshal", tmp_path)[0] == 0
    assert fenfs("check", "--game", 2, tmp_path)[0] == 0
    assert fenfs("check", "--game", "..1", tmp_path)[0] == 3


def test_what_cannot_be_chosen(tmp_path: pathlib.Path) -> None:
    status, _, [line] = fenfs("show", "--game", 1, SAMPLES / "barrage.fenfs")
    assert status == 2 and "a choice of games goes with a game: a FENfS is one position" in line
    status, _, [line] = fenfs("list", "--game", "one", LOGS)
    assert status == 2 and "is not a range of whole numbers" in line


def test_what_a_player_won(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "games.jsonl"
    players = ["name=Ann,heuristic", "name=ben,random", "random"]
    assert run("match", *players, "-n", 4, "--game", "mini", "--seed", 1, "-o", path).status == 0
    header, *games = [json.loads(line) for line in path.read_text().splitlines()]
    names = [player["name"] for player in header["players"]]
    counts = {name: {"won": 0, "drawn": 0, "lost": 0} for name in names}
    for game in games:
        for player, value in zip(game["players"], game["returns"], strict=True):
            counts[names[player]][{1: "won", 0: "drawn", -1: "lost"}[value]] += 1
    assert json.loads(fenfs("stats", "--json", path)[1])["inputs"]["players"] == counts
    ann = counts["Ann"]
    rows = fenfs("stats", "--player", "ANN", path)[1].splitlines()
    at = next(i for i, row in enumerate(rows) if row.startswith("games of ANN"))
    assert rows[at].split()[-1] == "8"
    for row, outcome in zip(rows[at + 1 :], ("won", "drawn", "lost"), strict=False):
        assert row.split() == [outcome, str(ann[outcome]), f"{ann[outcome] / 0.08:.1f}", "%"]
    out = fenfs("stats", "--players", "--jobs", 2, path)[1]
    title, head, *table = out.split("\n\n")[-1].splitlines()
    assert title == f"players, {path}" and head.split()[-1] == "player"
    for row in table:
        games_, won, drawn, lost, score, _, name = row.split()
        assert counts[name] == {"won": int(won), "drawn": int(drawn), "lost": int(lost)}
        assert games_ == "8" and float(score) == pytest.approx(
            100 * (int(won) + int(drawn) / 2) / 8, abs=0.051
        )
    assert [row.split()[-1] for row in table] == sorted(names)


def test_a_zip_within_a_zip_is_said_to_be_one(logs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as out:
        out.write(logs, "inner/logs.zip")
    what = f"fenfs: {outer}/inner/logs.zip: a zip within a zip, not read: unpack it"
    assert fenfs("list", outer) == (3, "", [what])
    with zipfile.ZipFile(outer, "a") as out:
        out.write(LOGS / NUMBERS[2], "game.gsn")
    status, out_, said = fenfs("list", outer)
    assert (status, said) == (3, [what]) and "Nine Lives" in out_


def test_fenfs_alone_names_its_commands() -> None:
    for arguments in ([], ["-v"]):
        status, out, [line] = fenfs(*arguments)
        assert (status, out) == (2, "") and line.startswith("fenfs: missing command: ")
        names = ("list", "show", "replay", "convert", "check", "stats", "legal")
        assert line.partition("command: ")[2].partition(" (")[0].split(", ") == [*names]


@pytest.mark.parametrize("command", ["show", "legal"])
def test_who_waits_at_a_terminal_is_told(command: str) -> None:
    ours, theirs = pty.openpty()
    lines = (SAMPLES / "barrage.fenfs").read_text().splitlines()[:4]  # more than a first look takes
    position = "\n".join(lines)
    os.write(ours, f"{position}\n\x04".encode())
    done = subprocess.run(
        command_line("fenfs", command),
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    os.close(ours)
    os.close(theirs)
    first = done.stderr.splitlines()[0]
    assert first.startswith("fenfs: lines of FENfS") and "Ctrl-D ends them" in first
    assert done.returncode == 0 and done.stdout
    assert "terminal" not in run("fenfs", command, stdin=f"{position}\n".encode()).err
