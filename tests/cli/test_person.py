"""A person at the terminal, through whole games of the command match."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import subprocess

import pytest

from fenfs_here import SAMPLES
from running import PATIENCE, command_line, run
from stratkit.notation.drawing import UNICODE

BARRAGE_OF_RED = (
    "aaMaEaaaaaaaBaaaLaKaaaaaaDaCaaaaaaaaaaaaaa__aa__aaaa__aa__aaaaaaaaaaa??aaaaaaaaa?aaaa?aaaa?a?ad?paaa"
    " r 2"
)
PLAY = ("human", "heuristic", "-n", 2, "--game", "mini", "--max-plies", 60, "--seed", 3)


def play(
    *arguments: object, moves: int | None = None, path: pathlib.Path | None = None
) -> tuple[str, str]:
    """Plays all games, or saves after so many moves, taking every setup and the last of the legal
    moves; what was written. `path`: where players of one's own are."""
    playing = subprocess.Popen(
        command_line("match", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.fspath(path)} if path else None,
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
            moves = moves if moves is None else moves - 1
        elif moves == 0 and word == "moves":
            word = "save"
        playing.stdin.write(f"{word}\n".encode())
        playing.stdin.flush()
    playing.stdin.close()
    errors = playing.stderr.read().decode()
    assert playing.wait(PATIENCE) == 0, errors
    return told.decode(), errors


def turns(told: str) -> list[str]:
    """What was written before each prompt."""
    return re.split("(?:red|blue)> ", told)


def test_whole_games_are_told(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    told, errors = play(*PLAY, "-o", games)
    _, *records = (json.loads(line) for line in games.read_text().splitlines())
    assert len(records) == 2 and "seen by red" in told and "seen by blue" in told
    for number, record in enumerate(records, 1):
        assert f"game {number}: you play {('red', 'blue')[number - 1]}" in told
        assert (
            f"game {number}: you " in errors and f"({record['reason'].replace('_', ' ')})" in errors
        )
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


SETUP = "MDBaaaCDEKLa".replace("a", "A")
MISFIT = "does not fit this game, which begins again without this file"
MOODY = """
import os
import numpy as np
from stratkit.players.player import Decision, Player

class Moody(Player):
    def act(self, views):
        mood = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
        chosen = [mood.choice(np.flatnonzero(legal)) for legal in views.legal]
        return Decision(np.array(chosen, np.int32), np.ones(len(views), np.float32))

class GivesUp(Moody):
    def act(self, views):
        decision, gone = super().act(views), (views.numbers >= 16) & (views.sides == 1)
        actions = np.where(gone, -1, decision.actions).astype(np.int32)
        return Decision(actions, decision.mu, resigned=gone)
"""


@pytest.mark.parametrize("other", ["time=.02,search=mmd,heuristic", "py:moody:Moody"])
def test_a_game_goes_on_where_it_was_whatever_the_other_would_play_now(
    tmp_path: pathlib.Path, other: str
) -> None:
    """A search by the clock plays otherwise each time, and so may a player of one's own."""
    (tmp_path / "moody.py").write_text(MOODY)
    if other == "py:moody:Moody":
        (tmp_path / "torch.py").write_text("raise ImportError")  # who has no network needs none
    games = tmp_path / "g.jsonl"
    words = ("human", other, *PLAY[2:6], "--max-plies", 24, "--seed", 3, "-o", games)
    told, _ = play(*words, moves=6, path=tmp_path)
    left = turns(told)[-2]  # the last board, before `save`
    for moves in (0, 0, 3):
        told, _ = play(*words, "--resume", moves=moves, path=tmp_path)
        assert turns(told)[0].endswith(left[-200:])
    rest = play(*words, "--resume", path=tmp_path)[0]
    assert turns(told)[-2][-200:] in rest
    assert run("fenfs", "check", games).status == 0 and not (tmp_path / "g.jsonl.said").exists()


def test_an_opponent_that_has_resigned_is_no_obstacle(tmp_path: pathlib.Path) -> None:
    """Of the game that it gave up nothing is kept that could not be read."""
    (tmp_path / "moody.py").write_text(MOODY)
    games = tmp_path / "g.jsonl"
    words = ("human", "py:moody:GivesUp", *PLAY[2:6], "--seed", 4, "-o", games)
    _, errors = play(*words, moves=2, path=tmp_path)
    assert "game 1: you won (resigned)" in errors
    play(*words, "--resume", path=tmp_path)
    _, *records = (json.loads(line) for line in games.read_text().splitlines())
    assert len(records) == 2 and records[0]["reason"] == "resigned"


def test_a_setup_of_a_file_stays_that_of_the_game_that_began_with_it(
    tmp_path: pathlib.Path,
) -> None:
    games, setups = tmp_path / "g.jsonl", tmp_path / "my.setups"
    for seed, more in ((1, (f"setup={setups},human", *PLAY[1:])), (77, ("--resume",))):
        made = run("deploy-gen", "--game", "mini", "-n", 1, "--seed", seed, "-f", "-o", setups)
        assert made.status == 0
        play(*more, "-o", games, moves=None if seed == 77 else 3)
    first, second = (json.loads(line)["setups"] for line in games.read_text().splitlines()[1:])
    assert second[1] == setups.read_text().split()[0] != first[0]


def test_setups_have_names(tmp_path: pathlib.Path) -> None:
    """A name chooses a setup; favourites are offered by theirs; what is not there is told."""
    games, setups = tmp_path / "g.jsonl", tmp_path / "my.setups"
    lines = run("deploy-gen", "--game", "mini", "-n", 2, "--seed", 1).out.split()
    setups.write_text(f"{lines[0]} a\n{lines[1]} b c\n")
    play(f"setup={setups}#b c,human", *PLAY[1:], "-o", games, moves=1)
    play("--resume", "-o", games)
    first, second = (json.loads(line)["setups"] for line in games.read_text().splitlines()[1:])
    assert first[0] == second[1] == lines[1]
    said = b"b c\n\nsave\n"
    done = run("match", f"favourites={setups},human", *PLAY[1:], "-f", "-o", games, stdin=said)
    assert done.status == 0 and "favourites, by name: a, b c" in done.out
    assert f"0 {lines[1]}" in (tmp_path / "g.jsonl.said").read_text().splitlines()
    for player in (f"setup={setups}#d,human", f"favourites={tmp_path / 'none.setups'},human"):
        (tmp_path / "none.setups").write_text(f"{lines[0]}\n")
        done = run("match", player, *PLAY[1:], "-f", "-o", games, stdin=b"")
        assert done.status == 1
        told = "no setup is called 'd'; there are 'a', 'b c'"
        assert done.error_line.endswith(told if "#d" in player else "no setup in it has a name")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("0 > 1000", f"what was played {MISFIT}: '1000'"),
        ("0 > x", "not a word of a game: '0 > x'"),
        ("0 A9A8", f"what was said {MISFIT}: 'A9A8'"),
    ],
)
def test_what_was_kept_is_checked(tmp_path: pathlib.Path, line: str, what: str) -> None:
    games, words = tmp_path / "g.jsonl", tmp_path / "g.jsonl.said"
    assert run("match", *PLAY, "-o", games, stdin=b"\nsave\n").status == 0
    begun = words.read_text().splitlines()
    number = next(n for n, kept in enumerate(begun) if (">" in kept) == (">" in line))
    words.write_text("".join(f"{kept}\n" for kept in [*begun[:number], line]))
    done = run("match", "--resume", "-o", games, stdin=b"")
    assert (done.status, done.err.splitlines()[-1]) == (1, f"match: {words}: {what}")


@pytest.mark.parametrize("torn", ["0 A4", "0 > 1"])
def test_a_torn_line_costs_no_later_word(tmp_path: pathlib.Path, torn: str) -> None:
    """Of a line that a full disk or a power cut left unfinished nothing is joined to the next."""
    games, words = tmp_path / "g.jsonl", tmp_path / "g.jsonl.said"
    assert run("match", *PLAY, "-o", games, stdin=b"\nsave\n").status == 0
    whole = words.read_text()
    words.write_text(whole + torn)
    done = run("match", *PLAY, "-o", games, "--resume", stdin=b"moves\nsave\n")
    assert done.status == 0 and words.read_text() == whole
    move = re.findall(r"\b[A-K]\d+[A-K]\d+\b", done.out)[0]
    words.write_text(whole + torn)
    played = run("match", *PLAY, "-o", games, "--resume", stdin=f"{move}\nsave\n".encode())
    assert played.status == 0 and words.read_text().startswith(f"{whole}0 {move}\n0 > ")
    assert run("match", *PLAY, "-o", games, "--resume", stdin=b"save\n").status == 0


@pytest.mark.parametrize("level", [0, 9])
def test_a_level_that_was_kept_is_checked(tmp_path: pathlib.Path, level: int) -> None:
    games, words = tmp_path / "g.jsonl", tmp_path / "g.jsonl.said"
    play = ("match", "human", "level=any", "--game", "barrage", "-n", 2, "--seed", 3, "-o", games)
    assert run(*play, stdin=b"2\nsave\n").status == 0
    assert words.read_text() == "0 level 2\n"
    words.write_text(f"0 level {level}\n")
    done = run(*play, "--resume", stdin=b"save\n")
    told = f"match: {words}: levels are 1 to 8: '{level}'"
    assert (done.status, done.err.splitlines()[-1]) == (1, told)


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


def test_nothing_is_kept_beside_a_record_that_is_none() -> None:
    done = run("match", *PLAY, "-o", "/dev/null", stdin=b"\nsave\n")
    assert (done.status, done.err) == (0, "")
    assert not os.path.exists("/dev/null.said")


def test_how_a_person_plays_needs_a_person(tmp_path: pathlib.Path) -> None:
    done = run("match", "random", *PLAY[1:], "--style", "unicode", "-o", tmp_path / "g.jsonl")
    assert (done.status, done.error_line) == (
        2,
        "match: --style is for human, and no player is one",
    )
    assert not (tmp_path / "g.jsonl").exists()


def test_games_of_a_person_are_found_by_date(tmp_path: pathlib.Path) -> None:
    games = tmp_path / "g.jsonl"
    play = ("match", "human", "random", "--game", "nano", "-n", 2, "--seed", 1, "-o", games)
    assert run(*play, stdin=b"\nresign\n" * 2).status == 0
    lines = games.read_text().splitlines()
    dates = ("2026-11-09T20:15:00Z", "2026-12-01T00:00:00Z")
    for at, date in enumerate(dates, 1):
        lines[at] = json.dumps(json.loads(lines[at]) | {"date": date})
    games.write_text("\n".join([*lines, ""]))
    listed = json.loads(run("fenfs", "list", "--json", games).out)["games"]
    assert [one["date"] for one in listed] == ["2026.11.9", "2026.12.1"]
    listed = json.loads(run("fenfs", "list", "--json", "--date", "2026.12..", games).out)["games"]
    assert [one["game"] for one in listed] == [2]


def test_one_record_for_all_evenings(tmp_path: pathlib.Path) -> None:
    """A larger -n goes on, games have a date, and `rate` shows each day."""
    games = tmp_path / "g.jsonl"
    play = ("match", "human", "random", "--game", "kuhn", "-o", games)
    words = b"pass\n" * 12
    assert run(*play, "-n", 2, stdin=words).status == 0
    done = run(*play, "-n", 4, "--resume", stdin=words)
    assert done.status == 0, done.err
    lines = [json.loads(line) for line in games.read_text().splitlines()]
    assert [line.get("games") for line in lines] == [2, None, None, 4, None, None]
    dates = [line["date"] for line in lines if "date" in line]
    assert len(dates) == 4 and all(
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", d) for d in dates
    )
    assert run("match", "--resume", "-o", games).status == 0  # nothing is left to play
    rated = run("rate", games, "--by-day", "human", "--prior", 1)
    assert rated.out.startswith("4 games of kuhn") and f"human {dates[0][:10]}" in rated.out


def test_a_move_is_taken_back(tmp_path: pathlib.Path) -> None:
    """The other one answers the next as it does; the record says how often, also when resumed."""
    games, straight = tmp_path / "g.jsonl", tmp_path / "s.jsonl"
    play = ("match", "human", "heuristic", "-n", 2, "--game", "mini", "--seed", 3)
    words = [SETUP, "B2B3", "undo", "A2A3", "B2B3", "undo", "B2B3"]
    text = "".join(f"{word}\n" for word in words).encode()
    assert run(*play, "-o", games, stdin=text).status == 0  # the input ends: saved
    told = run(*play, "-o", games, "--resume", stdin=b"resign\nsave\n")
    assert told.status == 0, told.err
    plain = f"{SETUP}\nA2A3\nB2B3\nresign\nsave\n".encode()
    assert run(*play, "-o", straight, stdin=plain).status == 0
    one, other = (json.loads(path.read_text().splitlines()[1]) for path in (games, straight))
    assert one.pop("undone") == 2 and "undone" not in other
    assert one.pop("date") and other.pop("date") and one == other
    done = run(*play, "-f", "-o", straight, stdin=b"undo\nundo\n\nundo\n\nsave\n")
    assert done.status == 0 and done.out.count("you play red") == 2


def test_a_person_goes_on_from_a_game(tmp_path: pathlib.Path) -> None:
    """On either side; what it has seen until then is told; the record marks it."""
    source, games = tmp_path / "s.jsonl", tmp_path / "g.jsonl"
    run("match", "heuristic", "random", "-n", 2, "--game", "mini", "--seed", 3, "-o", source)
    old = [json.loads(line) for line in source.read_text().splitlines()[1:]]
    play = ("match", "human", "heuristic", "-n", 2, "--game", "mini", "-o", games)
    done = run(*play, "--from-game", f"{source}:2:7", stdin=b"resign\nresign\n")
    assert done.status == 0, done.err
    new = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    for game, plies in zip(new, (8, 7), strict=True):
        assert game["setups"] == old[1]["setups"] and game["led"] == 7
        assert game["moves"].split()[:7] == old[1]["moves"].split()[:7]
        assert game["plies"] == plies or game["plies"] == 7
    assert "you lost (resigned)" in done.err and not (tmp_path / "g.jsonl.said").exists()
    for text, status, what in (
        (f"{source}:3:1", 1, "there is no game 3"),
        (f"{source}:1:9999", 1, "no such ply to go on from: '9999'"),
        (f"{source}:1:{old[0]['plies']}", 1, f"no such ply to go on from: '{old[0]['plies']}'"),
        ("s.jsonl", 2, "--from-game wants FILE:GAME:PLY or a FENfS: 's.jsonl'"),
    ):
        done = run(*play, "-f", "--from-game", text)
        assert done.status == status and what in done.err
    fenfs = run("fenfs", "convert", "--to", "fenfs", SAMPLES / "games.jsonl").out.splitlines()[0]
    kuhn = ("match", "human", "random", "-n", 2, "--game", "kuhn", "-f", "-o", games, "--from-game")
    for text in (fenfs, f"{source}:1:1"):
        done = run(*kuhn, text)
        what = "--from-game is for games with setups, not for kuhn"
        assert done.status == 2 and what in done.error_line
    done = run("match", "random", "heuristic", *play[3:], "-f", "--from-game", f"{source}:1:1")
    assert done.status == 2 and "--from-game is for human, and no player is one" in done.err


def test_a_person_goes_on_from_positions_and_logs(tmp_path: pathlib.Path) -> None:
    """From the last of a game's positions in FENfS, and from a log of Gravon's. A FENfS that is
    none, and a game that broke the rules of this match are a sentence each."""
    text = run("fenfs", "convert", "--to", "fenfs", "--game", 2, SAMPLES / "games.jsonl").out
    lines = text.splitlines()[:8]
    for name, kept in (("g", lines), ("alone", lines[7:]), ("none", ["aaMaa r 0"])):
        (tmp_path / f"{name}.fenfs").write_text("".join(f"{line}\n" for line in kept))
    play = ("match", "human", "random", "-n", 2, "-f", "-o", tmp_path / "o.jsonl")
    mini = (*play, "--game", "mini", "--from-game")
    done = run(*mini, f"{tmp_path}/g.fenfs:1:7", stdin=b"resign\nresign\n")
    assert done.status == 0, done.err
    games = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()[1:]]
    source = json.loads((SAMPLES / "games.jsonl").read_text().splitlines()[2])["moves"].split()
    assert all(game["moves"].split()[:7] == source[:7] and game["led"] == 7 for game in games)
    log = next((SAMPLES / "gravon").glob("barrage*"))
    done = run(*play, "--game", "barrage", "--from-game", f"{log}:1:20", stdin=b"resign\nsave\n")
    assert done.status == 0 and "ply 20" in done.out, done.err
    for place, what in (
        ("alone.fenfs:1:8", "no position has this ply number: '8'"),
        ("none.fenfs:1:0", "no board has 5 squares"),
        ("g.fenfs:1:8", "the game has no such ply to go on from: '8'"),
        ("g.fenfs:2:1", "there is no game 2"),
        ("missing.fenfs:1:1", "No such file"),
    ):
        done = run(*mini, f"{tmp_path}/{place}")
        assert done.status == 1 and what in done.error_line
    done = run(*play, "--game", "classic", "--from-game", f"{log}:1:1")
    assert done.status == 1 and "it is of barrage, not of classic" in done.error_line


def test_a_person_goes_on_from_a_position_alone(tmp_path: pathlib.Path) -> None:
    """On either side; the record begins there, for all who read it; one that hides pieces deals
    them; a game that began so is gone on from, too."""
    convert = ("fenfs", "convert", "--to", "fenfs", "--game", 2, SAMPLES / "games.jsonl")
    whole, red = (run(*convert, *words).out.splitlines() for words in (["--moved"], ["--view=red"]))
    games, again = tmp_path / "g.jsonl", tmp_path / "again.jsonl"
    play = ("match", "human", "heuristic", "-n", 2, "--game", "mini", "--seed", 5, "-f")
    done = run(*play, "-o", games, "--from-game", whole[7], stdin=b"moves\nresign\nsave\n")
    assert done.status == 0, done.err
    before = games.read_bytes()
    (tmp_path / "q.setups").write_text("\n".join(map(SETUP.__add__, (" a", " b"))))
    setups = ("--setups", tmp_path / "q.setups")
    for words in (("--from-game", whole[7]), ("--from-game", f"{games}:1:1"), ("--resume",)):
        told = run(*play[: -1 if "--resume" in words else None], "-o", games, *words, *setups)
        what = "--setups and setup= do not go with games that begin as --from-game says"
        assert told.status == 2 and what in told.error_line and games.read_bytes() == before
    told = run("match", "human", f"setup={tmp_path}/q.setups,random", *play[3:], "-o", games,
               "--from-game", whole[7])  # fmt: skip
    assert told.status == 2 and what in told.error_line and games.read_bytes() == before
    done = run("match", "--resume", "-o", games, stdin=b"resign\n")  # the record says from where
    assert done.status == 0 and "blue to move, ply 7" in done.out, done.err
    header, one, other = map(json.loads, games.read_text().splitlines())
    assert header["start"] == whole[7] and header["setups"] is None
    assert one["plies"] == len(one["moves"].split()) == 1 and other["plies"] == 0
    assert one["setups"] is None and "led" not in one
    assert run("fenfs", "check", games).status == 0
    shown = run("fenfs", "convert", "--to", "fenfs", "--moved", "--game", 1, games).out
    assert shown.splitlines()[0] == whole[7] and shown.splitlines()[1].split()[1:3] == ["r", "8"]
    assert run("fenfs", "convert", "--to", "games", games).out == games.read_text()
    assert run("rate", games, "--check", "--prior", 1).out.startswith("2 games of mini")
    for form, what in (
        ("gsn", "which no gsn tells"),
        ("csv", "the CSV of games begins with"),
        ("setups", "it began at a position, and not with setups"),
    ):
        done = run("fenfs", "convert", "--to", form, "-o", tmp_path / form, games)
        assert done.status == 3 and what in done.err
    eps = tmp_path / "g.eps"
    done = run("fenfs", "convert", "--to", "episodes", "--game", 1, "-o", eps, games)
    assert done.status == 0 and run("fenfs", "check", eps).status == 0
    run(*play, "-o", again, "--from-game", f"{games}:1:1", stdin=b"resign\nresign\n")
    new = [json.loads(line) for line in again.read_text().splitlines()]
    assert new[0]["start"] == whole[7] and [game["led"] for game in new[1:]] == [1, 1]
    assert all(game["moves"].split()[0] == one["moves"] for game in new[1:])
    done = run(*play, "-o", again, "--from-game", red[0], stdin=b"resign\nresign\n")
    start = json.loads(again.read_text().splitlines()[0])["start"]
    assert done.status == 0 and sorted(start.split()[0]) == sorted(whole[0].split()[0])
    (tmp_path / "one.fenfs").write_text(f"{red[7]}\n")
    for text, what in (
        (f"{tmp_path}/one.fenfs:1:7", "hidden pieces, where a game begins"),
        (BARRAGE_OF_RED, "not a board of mini"),
        (red[8], "6 hidden pieces, and 8 that it could be: which are left?"),
        (whole[7].replace("b 7", "b 8"), "red moves at even plies, and blue at odd ones"),
    ):
        done = run(*play, "-o", again, "--from-game", text)
        assert done.status == 1 and what in done.error_line


def test_a_level_is_chosen_before_each_game(tmp_path: pathlib.Path) -> None:
    """On either side, and once for a game that is resumed; the record has it, and after three games
    another one is suggested."""
    games = tmp_path / "g.jsonl"
    play = ("match", "human", "level=any", "--game", "barrage", "-n", 6, "--seed", 3, "-o", games)
    lost = "resign\n"
    text = f"9\n2\n\nundo\n\n{lost}2\n\n{lost}2\n\n{lost}4\n\n"
    done = run(*play, stdin=text.encode())
    assert done.status == 0, done.err
    assert "1 is the weakest level, 8 the strongest\nlevel: 1, 2, 3" in done.out
    assert "levels are 1 to 8: '9'" in done.out
    told = "you have 0 of 3 against level=2: try level=1\n"
    assert done.out.count(told) == 2  # at the end of the third game, and before the fourth
    again = run(*play, "--resume", stdin=f"{lost}save\n".encode())
    assert again.status == 0 and again.out.count("level> ") == 1, again.err
    lines = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    two, four = "level=2", "level=4"
    assert [line["drawn"] for line in lines] == [[None, two], [two, None], [None, two],
                                                 [four, None]]  # fmt: skip
    what = "match: the level of this player is chosen by a person, and no player is one"
    told = f"setup={tmp_path / 'own.setups'},level="
    (tmp_path / "own.setups").write_text(run("deploy-gen", "--game", "barrage", "-n", 1).out)
    for other in ("level=any", f"{told}any"):
        done = run("match", "random", other, *play[3:5], "-n", 2, "-o", tmp_path / "no.jsonl")
        assert (done.status, done.error_line) == (2, f"{what}: 'level=any'")
        assert not (tmp_path / "no.jsonl").exists()
    done = run("match", "human", f"{told}2", *play[3:-1], games, "-f", stdin=3 * b"\nresign\n")
    assert done.out.count("you have 0 of 3 against level=2: try level=1\n") == 1, done.err
    assert json.loads(games.read_text().splitlines()[0])["players"][1]["spec"] == f"{told}2"
