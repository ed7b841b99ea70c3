"""Matches with programs: what they are told, what they may do wrong, and that none is left."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from running import PATIENCE, ROOT, Done, command_line, forked_line, run

BOT = ROOT / "tests" / "ucc" / "ucc_bot.py"
FREE = ("--two-squares", "off", "--more-squares", "off")


def bot(mode: str = "") -> str:
    """The bot as the COMMAND of a PLAYER."""
    return "ucc:" + shlex.join([sys.executable, "-I", "-S", str(BOT), mode])


def processes(tag: str) -> list[str]:
    """What runs with `tag` in its environment."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if tag.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # it ended meanwhile
    return found


def left(tag: str) -> list[str]:
    """What does not end: a program's child that was killed may be seen a moment longer."""
    deadline = time.monotonic() + PATIENCE
    while (found := processes(tag)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


@pytest.fixture
def tag(tmp_path: pathlib.Path) -> Iterator[str]:
    """A word for the environment of a match; after the test no process may have it."""
    yield f"BOT_TAG={tmp_path}"
    assert left(f"BOT_TAG={tmp_path}") == []


def play(tag: str, *arguments: object, **environment: str) -> Done:
    key, value = tag.split("=", 1)
    return run("match", *arguments, *FREE, "--game", "mini", **{key: value}, **environment)


def games(path: pathlib.Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


# --- what goes wrong ------------------------------------------------------------------------------

FAULTS = {
    "crash on move 7": ("exit", "killed by signal 11"),
    "exit": ("exit", "exit status 0"),
    "exit 255": ("exit", "exit status 255"),
    "silence": ("silence", "no line in 1 s"),
    "half a line": ("silence", "no line in 1 s, only '"),
    "flood": ("flood", "unasked output of over 4096 bytes"),
    "megabyte line": ("flood", "a line of over 1000 bytes"),
    "illegal move": ("illegal_move", "off the board: '0 0 UP'"),
    "unreadable move": ("unreadable_move", r"no move: 'c2 to ç3\x1b[31m'"),
    "illegal setup": ("illegal_setup", "a setup of mini has 1 of type flag, not 0"),
}


def printed(text: str) -> str:
    """As a terminal may see it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@pytest.mark.parametrize("mode", FAULTS)
def test_a_fault_loses_the_game(mode: str, tmp_path: pathlib.Path, tag: str) -> None:
    """The reason is in the record, the table counts it, and after three in a row nobody asks."""
    reason, text = FAULTS[mode]
    path = tmp_path / "g"
    limit = 1 if reason == "silence" else 60
    player = f"name=bad,time={limit},startup=60,{bot(mode)}"
    done = play(tag, "random", player, "-n", 6, "--seed", 1, "-o", path, "--concurrency", 1)
    records = games(path)
    assert [record["number"] for record in records] == [0, 1, 2]
    for record in records:
        assert record["returns"][record["players"].index(1)] == -1
        assert record["adjudicator"] == "referee"
        if mode == "flood" and record["reason"] == "illegal_move":
            continue  # the first of the lines that it wrote ahead may be read before the others
        assert (record["reason"], record["fault"][: len(text)]) == (reason, text)
    assert left(tag) == [] and done.status == 1
    told, first, table, faults, last = done.err.splitlines()
    if mode != "flood":
        assert told.startswith(f"match: game 1: bad lost by a fault: {reason}: {printed(text)}")
    assert first.startswith("match: bad lost 3 games in a row by faults and is not asked any more")
    assert table.startswith("random - bad: +3 =0 -0, 100.0 %")
    assert faults.startswith("bad: 3 games lost by faults: ") and (
        reason in faults or mode == "flood"
    )
    assert last == "match: 3 games were not played; --resume asks for them again"


@pytest.mark.parametrize("mode", ["ignores the end", "forks a child", ""])
def test_a_game_ends_and_so_do_all_processes(mode: str, tmp_path: pathlib.Path, tag: str) -> None:
    path = tmp_path / "g"
    player = f"name=bot,time=60,startup=60,{bot(mode)}"
    done = play(tag, "random", player, "-n", 4, "--seed", 1, "-o", path)
    assert left(tag) == [] and done.status == 0
    assert len(done.err.splitlines()) == 1  # nobody lost by a fault
    assert [(r["number"], r["fault"]) for r in games(path)] == [(n, None) for n in range(4)]
    assert all(min(record["times"]) >= 0 for record in games(path))


@pytest.mark.parametrize(
    ("player", "status", "what"),
    [
        (bot("crash at start"), 1, "cannot start: exit: exit status 7"),
        (f"startup=1,ucc:{sys.executable} -c 'import time; time.sleep(99)'", 1, "no line in 1 s"),
        ("ucc:./nowhere", 1, "no such program, or not executable: ./nowhere"),
        ("ucc:", 2, "ucc: needs a COMMAND"),
        ("ucc:'a", 2, "no closing quotation"),
        ("net=online,ucc:x", 2, "net= is for networks"),
        ("time=0,ucc:x", 2, "time=0: a number of seconds above 0, at most 86400 is needed"),
        ("time=nan,ucc:x", 2, "a number of seconds above 0"),
        ("nodes=1.5,ucc:x", 2, "a whole number from 1 to 999999999999999999 is needed"),
        ("time=1,heuristic", 2, "time= needs search="),
        ("nodes=1,heuristic", 2, "nodes= needs search=pimc|pc-pimc"),
        ("clock=0,ucc:x", 2, "clock=0: SECONDS above 0, or SECONDS+INCREMENT is needed"),
        ("clock=9+,ucc:x", 2, "SECONDS+INCREMENT is needed"),
        ("clock=9+-1,ucc:x", 2, "SECONDS+INCREMENT is needed"),
        ("clock=inf,ucc:x", 2, "SECONDS+INCREMENT is needed"),
        ("reuse=maybe,ucc:x", 2, "one of on, off is needed"),
        (f"log=/nowhere/x,{bot()}", 1, "/nowhere/x: No such file or directory"),
    ],
)
def test_who_cannot_start_is_an_error_before_the_first_game(
    player: str, status: int, what: str, tmp_path: pathlib.Path, tag: str
) -> None:
    done = play(tag, "random", player, "-n", 2, "--seed", 1, "-o", tmp_path / "g")
    assert (done.status, os.listdir(tmp_path)) == (status, [])
    assert what in done.error_line


def test_programs_get_no_setups_and_play_only_stratego(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.setups").write_text("AKBAADACLMDE\nMEDBCKLAAADA\n")
    common = ("random", bot(), "-n", 2, "-o", tmp_path / "g")
    done = run("match", *common, "--game", "mini", "--setups", tmp_path / "x.setups")
    assert done.status == 2 and "which set up by themselves" in done.error_line
    done = run("match", *common, "--game", "kuhn")
    assert done.status == 1 and "programs do not play kuhn" in done.error_line
    done = run("deploy-gen", "--game", "mini", "-n", 1, "--from", bot())
    assert done.status == 2 and "programs play matches, and nothing else" in done.error_line


def test_the_command_sees_no_shell(tmp_path: pathlib.Path, tag: str) -> None:
    path = tmp_path / "g"
    player = f"name=$(x),time=60,startup=60,{bot()} '; touch x' '*' $HOME"
    done = run(
        "match", player, "random", "-n", 2, "--game", "mini", *FREE, "-o", path, cwd=tmp_path
    )
    assert done.status == 0 and os.listdir(tmp_path) == ["g"]
    header = json.loads(path.read_text().splitlines()[0])
    spec = header["players"][0]
    assert spec == {"name": "$(x)", "spec": player.split(",", 1)[1], "sha256": None}


def test_limits_are_in_the_environment(tmp_path: pathlib.Path) -> None:
    code = (
        "import os; open('limits', 'w').write(os.environ['MATCH_TIME'] + os.environ['MATCH_NODES'])"
    )
    player = f"time=2.5,nodes=70,ucc:{shlex.join([sys.executable, '-c', code])}"
    run("match", player, "random", "-n", 2, "--game", "mini", "-o", "g", cwd=tmp_path)
    assert (tmp_path / "limits").read_text() == "2.570"


# --- interrupting and resuming --------------------------------------------------------------------


def started(path: pathlib.Path, tag: str, mode: str, more: int = 1) -> subprocess.Popen[bytes]:
    """A match between two programs that has written some games."""
    arguments = (f"name=a b,time=60,startup=60,{bot(mode)}", f"name=c,{bot()}", "-n", 2000)
    key, value = tag.split("=", 1)
    process = subprocess.Popen(
        command_line("match", *arguments, "--game", "mini", *FREE, "-o", path),
        env={**os.environ, key: value},
        stderr=subprocess.PIPE,
    )
    while not path.exists() or path.read_bytes().count(b"\n") <= more:
        assert process.poll() is None
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("mode", ["forks a child", "ignores the end"])
def test_no_program_outlives_a_killed_match(mode: str, tmp_path: pathlib.Path, tag: str) -> None:
    process = started(tmp_path / "g", tag, mode)
    while len(processes(tag)) == 1:  # the match alone: it is between two games
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    # The rest is the fixture's: soon nothing is left.


def test_an_interrupt_ends_the_programs_and_prints_what_to_do(
    tmp_path: pathlib.Path, tag: str
) -> None:
    path = tmp_path / "it's here"
    process = started(path, tag, "")
    process.send_signal(signal.SIGINT)
    *_, how, line = process.communicate()[1].decode().splitlines()
    assert (process.returncode, left(tag), line) == (130, [], "match: interrupted")
    words = shlex.split(how.removeprefix("match: to go on: "))
    assert words[:2] == ["match", f"name=a b,time=60,startup=60,{bot()}"]
    assert words[-1] == "--resume" and str(path) in words
    numbers = [record["number"] for record in games(path)]
    assert numbers == list(range(len(numbers)))


def test_resume_asks_again_for_the_games_that_were_not_played(
    tmp_path: pathlib.Path, tag: str
) -> None:
    """The program was mended meanwhile."""
    path, script = tmp_path / "g", tmp_path / "program"

    def write(mode: str) -> None:
        script.write_text(f"#!/bin/sh\nexec {bot(mode).removeprefix('ucc:')}\n")
        script.chmod(0o755)

    write("illegal setup")
    player = f"name=p,time=60,startup=60,ucc:{script}"
    arguments = ("heuristic", player, "random", "-n", 4, "--seed", 1, "--concurrency", 1)
    assert play(tag, *arguments, "-o", path).status == 1
    # Pairings: heuristic - p (0 to 3), heuristic - random (4 to 7), p - random (8 to 11).
    assert [record["number"] for record in games(path)] == [0, 1, 2, 4, 5, 6, 7]
    write("")
    assert run("match", *arguments[:3], "--resume", "-o", path).status == 0
    played = games(path)
    assert sorted(record["number"] for record in played) == list(range(12))
    assert [record["number"] for record in played if record["fault"]] == [0, 1, 2]


def test_resume_starts_no_command_that_a_record_names(tmp_path: pathlib.Path, tag: str) -> None:
    """The record may be anybody's. What it names is shown, to be given by whoever trusts it."""
    path, touched = tmp_path / "g", tmp_path / "touched"
    program = f"ucc:{shlex.join(['touch', str(touched)])}"
    fine = ("name=a,random", "heuristic", "-n", 2, "--game", "mini", "--seed", 1)
    assert run("match", *fine, "-o", path).status == 0
    record = path.read_text()
    commands = (program, f"time=1,{program}", "py:this_module_runs_code:Player")
    for spec in commands:
        path.write_text(record.replace('"spec":"random"', f'"spec":{json.dumps(spec)}'))
        before = path.read_text()
        done = run("match", "--resume", "-o", path)
        assert done.status == 2 and path.read_text() == before
        what = "--resume runs no program, class or mixture that a record names; if you trust "
        what += "these, give them: "
        given = shlex.join([f"name=a,{spec}", "name=heuristic,heuristic"])
        assert done.error_line == f"match: {path}: {what}{given}"
    assert not touched.exists()
    path.write_text(record.replace('"spec":"random"', f'"spec":{json.dumps(program)}'))
    run("match", f"name=a,{program}", "heuristic", "--resume", "-o", path)
    assert touched.exists()  # the user has said so


# --- what a program is told -----------------------------------------------------------------------

LETTERS = {"M": "F", "C": "s", "D": "9", "E": "8", "B": "B"}  # of setups, to the protocol's
LETTERS |= {letter: str(7 - place) for place, letter in enumerate("FGHIJKL")}
STEPS = {(0, 1): "DOWN", (0, -1): "UP", (1, 0): "RIGHT", (-1, 0): "LEFT"}


def won(attacker: str, defender: str) -> bool | None:
    """Whether the attacker wins; None: both are lost."""
    if attacker == defender:
        return None
    if defender == "B":
        return attacker == "8"
    if defender in "Fs" or (attacker, defender) == ("s", "1"):
        return True
    return attacker != "s" and int(attacker) < int(defender)


def square(text: str) -> tuple[int, int]:
    return "ABCDEFGHIK".index(text[0]), int(text[1:]) - 1


def told(record: dict, colour: int, size: int, lakes: set[tuple[int, int]]) -> list[str]:  # type: ignore[type-arg]
    """What the referee may tell `colour` of a game: a slow model that shares nothing with it."""
    board: dict[tuple[int, int], tuple[int, str]] = {}
    for side, setup in enumerate(record["setups"]):
        for at, letter in enumerate(setup):
            if letter != "A":
                x, y = at % size, at // size
                where = (x, y) if side == 0 else (size - 1 - x, size - 1 - y)
                board[where] = (side, LETTERS[letter])
    lines, last = [f"{('RED', 'BLUE')[colour]} X {size} {size}"], "START"

    def rows() -> list[str]:
        squares = [[(x, y) for x in range(size)] for y in range(size)]
        return ["".join(shown(board, lakes, colour, at) for at in row) for row in squares]

    for ply, move in enumerate(record["moves"].split()):
        words = re.fullmatch(r"(\w\d+)(\w\d+)", move)
        assert words
        (x, y), (tx, ty) = square(words[1]), square(words[2])
        side = ply % 2
        if side == colour:
            lines += [last, *rows()]
        count = max(abs(tx - x), abs(ty - y))
        step = STEPS[(tx - x) // count, (ty - y) // count]
        _, mover = board.pop((x, y))
        _, target = board.get((tx, ty), (None, ""))
        outcome = "OK"
        if target:
            result = won(mover, target)
            word = {True: "KILLS", False: "DIES", None: "BOTHDIE"}[result]
            outcome = f"{word} {mover} {target}"
            if result is None:
                del board[tx, ty]
        if not target or outcome.startswith("KILLS"):
            board[tx, ty] = (side, mover)
        last = f"{x} {y} {step}{f' {count}' if count > 1 else ''} {outcome}"
        over = ply == record["plies"] - 1 and record["reason"] != "surrender"
        lost = [
            all(letter in "FB" for owner, letter in board.values() if owner == it) for it in (0, 1)
        ]
        assert over or not any(lost)
        if any(lost) and outcome.split()[-1] != "F":
            loser = lost.index(True)
            assert record["result"] == ("draw" if all(lost) else ("blue", "red")[loser])
            attrition = lost[side] and not lost[1 - side]
            assert (record["reason"] == "attrition") == attrition
        if side == colour and not over:
            lines.append(last)
    return lines + ([last, *rows()] if record["reason"] == "surrender" else [])


def shown(
    board: dict[tuple[int, int], tuple[int, str]],
    lakes: set[tuple[int, int]],
    colour: int,
    where: tuple[int, int],
) -> str:
    side, letter = board.get(where, (None, "+" if where in lakes else "."))
    return letter if side in (None, colour) else "#"


LAKES = {(x, y) for x in (2, 3, 6, 7) for y in (4, 5)}


@pytest.mark.parametrize(("game", "count"), [("mini", 24), ("barrage", 4), ("classic", 2)])
def test_a_program_is_told_what_its_side_may_know(
    game: str, count: int, tmp_path: pathlib.Path, tag: str
) -> None:
    """All lines to a program, of whole games, are exactly those of a slow model: of the enemy it
    shows where pieces stand, and a rank only in a fight."""
    size, lakes = (6, set()) if game == "mini" else (10, LAKES)
    path, log = tmp_path / "g", tmp_path / "log"
    key, value = tag.split("=", 1)
    environment = {key: value, "BOT_LOG": str(log), "BOT_SEED": "time", "BOT_GAME": game}
    player = f"name=bot,time=60,startup=60,{bot()}"
    done = run("match", "heuristic", player, "-n", count, "--game", game, *FREE, "--seed", 3,
               "--max-plies", 300, "-o", path, **environment)  # fmt: skip
    assert done.status == 0, done.err
    heard, ends = [], []
    for file in tmp_path.glob("log.*"):
        lines = [line[3:] for line in file.read_text().splitlines() if line.startswith(">> ")]
        if lines[-1].startswith("QUIT"):  # otherwise it was only asked whether it starts
            ends.append(lines.pop())
            heard.append([lines[0].replace("heuristic", "X"), *lines[1:]])
    records = games(path)
    expected = [told(r, r["players"].index(1), size, lakes) for r in records]
    assert len(expected) == count
    assert sorted(heard) == sorted(expected)
    for end in ends:
        assert re.fullmatch(r"QUIT (bot|heuristic) (RED|BLUE) [A-Z_]+ \d+ \d+ \d+", end)


def test_a_side_that_attacks_with_its_last_movable_piece_and_loses_it_has_lost(
    tmp_path: pathlib.Path, tag: str
) -> None:
    """Nobody is asked for a move after it; two sides without movable pieces have drawn."""
    path = tmp_path / "g"
    done = play(tag, "random", f"time=60,startup=60,{bot()}", "-n", 40, "--seed", 1, "-o", path)
    assert done.status == 0 and "faults" not in done.err
    records = games(path)
    for record in records:
        told(record, 0, 6, set())  # which checks how it ended
    early = [record for record in records if record["reason"] == "attrition"]
    assert {record["result"] for record in early} == {"red", "blue"}
    assert {(record["adjudicator"], record["fault"]) for record in early} == {("referee", None)}


@pytest.mark.skipif("UCC_BOTS" not in os.environ, reason="UCC_BOTS names no folder of programs")
def test_real_bots(tmp_path: pathlib.Path) -> None:
    """Every program in the folder `UCC_BOTS` plays a pair of games without a fault."""
    folder = pathlib.Path(os.environ["UCC_BOTS"])
    bots = [
        file for file in sorted(folder.iterdir()) if file.is_file() and os.access(file, os.X_OK)
    ]
    assert bots, f"no program in {folder}"
    for program in bots:
        path = tmp_path / program.name
        player = f"name=it,ucc:{shlex.quote(str(program))}"
        long = ("--max-plies", 5000, "--max-no-attack", "off")
        done = run("match", "random", player, "-n", 2, "--game", "classic", *FREE, *long,
                   "-o", path)  # fmt: skip
        assert done.status == 0, done.err
        assert [record["fault"] for record in games(path)] == [None, None], program


# --- our players under a manager, and the check ---------------------------------------------------


def served(player: str, seed: int) -> str:
    """A player of ours as a program."""
    options = ("--serve", player, "--game", "mini", "--seed", seed)
    return "ucc:" + shlex.join(forked_line("match", *options))


@pytest.mark.parametrize("red", [True, False])
def test_a_served_player_plays_as_it_does_among_us(red: bool, tmp_path: pathlib.Path) -> None:
    """It sees the same observations although it is told less, and so makes the same moves."""
    moves = []
    for own, name in (("heuristic", "a"), (served("heuristic", 5), "b")):
        first, second = (own, "name=other,heuristic") if red else ("name=other,heuristic", own)
        pair = [f"name=own,{first}", second] if red else [first, f"name=own,{second}"]
        pair = [p.replace("name=own,ucc", "name=own,time=60,startup=60,ucc") for p in pair]
        done = run("match", *pair, "-n", 2, "--game", "mini", "--seed", 5, *FREE, "--max-plies",
                   "off", "--max-no-attack", 100, "-o", tmp_path / name)  # fmt: skip
        assert done.status == 0, done.err
        record = games(tmp_path / name)[0]
        moves.append((record["setups"], record["moves"], record["reason"]))
    assert moves[0] == moves[1]
    assert len(moves[0][1].split()) > 10


def test_a_served_player_says_what_it_does_not_understand() -> None:
    for lines, what in (
        (b"RED x 10 10\n", "the manager's is: '10 x 10'"),
        (b"hello\n", "no COLOUR OPPONENT WIDTH HEIGHT"),
        (b"BLUE x 6 6\nrubbish\n", "no move and its outcome: 'rubbish'"),
    ):
        done = run("match", "--serve", "random", "--game", "mini", stdin=lines)
        assert done.status == 1 and what in done.error_line
    for lines, answer in ((b"", 0), (b"RED x 6 6\nQUIT a RED DRAW 1 1 1\n", 2)):
        done = run("match", "--serve", "random", "--game", "mini", stdin=lines)
        assert (done.status, done.err, len(done.out.splitlines())) == (0, "", answer)


@pytest.mark.parametrize(
    ("mode", "wrong"),
    [
        ("", []),
        (
            "illegal setup",
            [
                "RED: no setup: illegal_setup: a setup of mini has 1 of type flag",
                "BLUE: no setup: ill",
            ],
        ),
        ("unreadable move", ["RED: move 2: unreadable_move", "BLUE: move 2: unreadable_move"]),
        ("illegal move", ["RED: move 2: illegal_move", "BLUE: move 2: illegal_move"]),
        ("exit", ["RED: move 3: exit", "BLUE: move 3: exit"]),
        ("silence", ["RED: move 3: silence", "BLUE: move 3: silence"]),
        ("megabyte line", ["RED: move 2: flood", "BLUE: move 2: flood"]),
        ("late, and unreadable", ["RED: move 2: unreadable_move", "BLUE: move 2: unreadable_move"]),
        (
            "ignores the end",
            [
                "RED: does not end after QUIT",
                "BLUE: does not end after QUIT",
                "does not end when its input ends",
            ],
        ),
        ("crash at start", ["RED: no setup: exit: exit status 7", "BLUE: no setup"]),
    ],
)
def test_check_says_what_a_program_does_wrong(mode: str, wrong: list[str], tag: str) -> None:
    key, value = tag.split("=", 1)
    player = f"time={1 if mode == 'silence' else 60},startup=60,{bot(mode)}"
    done = run("match", "--check", player, "--game", "mini", "--seed", 1, **{key: value})
    said = [line.removeprefix("wrong: ") for line in done.out.splitlines() if line[:5] == "wrong"]
    said = [line for line in said if "the original manager waits" not in line]  # a busy machine
    assert (done.err, len(said)) == ("", len(wrong)), done.out
    assert all(line.startswith(what) for line, what in zip(said, wrong, strict=True))
    assert done.status == (3 if wrong else done.status)


def test_check_of_a_program_that_starts_twice(tag: str, tmp_path: pathlib.Path) -> None:
    """It is then asked for a setup again, and never for a move."""
    starts, (key, value) = shlex.quote(str(tmp_path / "starts")), tag.split("=", 1)
    again = f"echo >> {starts}; test $(wc -l < {starts}) -le 2 && exec {bot()[4:]}; exit 7"
    player = f"startup=60,ucc:{shlex.join(['sh', '-c', again])}"
    done = run("match", "--check", player, "--game", "mini", **{key: value})
    wrong = [line for line in done.out.splitlines() if line.startswith("wrong: ")]
    wrong = [line for line in wrong if "the original manager waits" not in line]
    assert (done.status, done.err) == (3, "") and wrong == [
        "wrong: RED: setup: exit: exit status 7",
        "wrong: BLUE: setup: exit: exit status 7",
        "wrong: does not set up every time: exit: exit status 7",
    ]
