"""How programs are run: their stderr, a clock for the game, one process for many games, and what a
match says of faults."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import select
import shlex
import sys
from collections import Counter

import pytest

from running import PATIENCE, run
from stratkit.engine import Game
from stratkit.engine.arbiter import Arbiter, IllegalMove
from stratkit.notation.board import Board
from stratkit.players.clock import Clock
from stratkit.ucc.process import Process, Program
from stratkit.ucc.stderr import CHUNK, Stderr
from test_programs import FREE, bot, games, play, served, tag

__all__ = ["tag"]

PATIENT = "time=60,startup=60"

# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_program_that_lost_by_faults_is_one_status(
    count: int, tmp_path: pathlib.Path, tag: str
) -> None:
    """However many games there are; after the program was mended the rest of the match is fine."""
    path = tmp_path / "g"
    bad = f"name=p,{PATIENT},{bot('exit')}"
    done = play(tag, "random", bad, "-n", count, "--seed", 1, "--concurrency", 1, "-o", path)
    assert done.status == 1
    told = [line for line in done.err.splitlines() if " lost by a fault: " in line]
    assert told == ["match: game 1: p lost by a fault: exit: exit status 0"]
    assert len(games(path)) == min(count, 3)


def test_a_sequential_test_keeps_its_statuses(tmp_path: pathlib.Path, tag: str) -> None:
    bad = f"name=p,{PATIENT},{bot('exit')}"
    test = ("--sprt", "elo0=0,elo1=20", "-n", 2, "--concurrency", 1)
    done = play(tag, "random", bad, *test, "--seed", 1, "-o", tmp_path / "g")
    assert done.status == 4 and "p: 2 games lost by faults: 2 exit" in done.err


def test_the_last_lines_of_its_stderr_stand_beside_the_fault(
    tmp_path: pathlib.Path, tag: str
) -> None:
    """Also after far more than a pipe holds; control characters reach no terminal."""
    path, log = tmp_path / "g", tmp_path / "log"
    player = f"name=bad,{PATIENT},{bot('last words')}"
    done = play(tag, "random", player, "-n", 2, "--seed", 1, "-o", path, "--concurrency", 1)
    for record in games(path):
        assert record["fault"].startswith("exit status 1; its stderr ends: '")
        assert record["fault"].endswith(r"ValueError: no such square\x1b[31m'")
        assert record["fault"].count(" | ") == 2
    assert "no such square" in done.err.splitlines()[0] and "\x1b" not in done.err
    # All of it goes to a log, each line with its game, and two programs may share it.
    shared = [f"name={name},log={log},{PATIENT},{bot('last words')}" for name in "ab"]
    done = play(tag, *shared, "-n", 4, "-o", path, "-f", "--concurrency", 2)
    assert done.status == 1
    lines = log.read_text().splitlines()
    counts = Counter(line.split(": ", 1)[0] for line in lines if line.endswith(": thinking"))
    assert counts == {f"game {number}": 20_000 for number in range(1, 5)}
    assert all(re.match(r"(game \d|start): ", line) for line in lines)
    assert "no such square" in games(path)[0]["fault"]
    # The record does not name the log, so that another one may be given.
    header = json.loads(path.read_text().splitlines()[0])
    assert all("log=" not in player["spec"] for player in header["players"])


def test_a_log_overwrites_nothing(tmp_path: pathlib.Path, tag: str) -> None:
    path = tmp_path / "g"
    player = f"log={path},{PATIENT},{bot()}"
    done = play(tag, "random", player, "-n", 2, "-o", path)
    assert done.status == 2 and "must not name an input, a log= or each other" in done.error_line
    assert not path.exists()


def test_talkative_matches_show_stderr_themselves(tmp_path: pathlib.Path, tag: str) -> None:
    player = f"name=bad,{PATIENT},{bot('last words')}"
    one = (
        "-n",
        2,
        "--seed",
        1,
        "--concurrency",
        1,
    )  # two at once would write into each other's lines
    done = play(tag, "random", player, *one, "-v", "-o", tmp_path / "g")
    assert done.err.count("thinking\n") == 40_000
    assert [record["fault"] for record in games(tmp_path / "g")] == ["exit status 1"] * 2


def test_a_log_on_a_full_disk_is_told_once_and_ends_no_match(
    tmp_path: pathlib.Path, tag: str
) -> None:
    player = f"name=bad,log=/dev/full,{PATIENT},{bot('last words')}"
    one = ("-n", 2, "--seed", 1, "--concurrency", 1)
    done = play(tag, "random", player, *one, "-o", tmp_path / "g")
    assert done.err.count("match: bad: log=/dev/full: No space left on device\n") == 1
    found = [record["fault"] for record in games(tmp_path / "g")]
    assert len(found) == 2 and all("no such square" in fault for fault in found)


def test_a_repetition_rule_names_what_waives_it(tmp_path: pathlib.Path, tag: str) -> None:
    path = tmp_path / "g"
    player = f"name=fro,{PATIENT},{bot('to and fro')}"
    common = ("random", player, "-n", 2, "--game", "mini", "--seed", 1, "--concurrency", 1)
    done = run("match", *common, "-o", path)
    waived = "rules=off waives it for this program, --two-squares off for both"
    what = f"the two-squares rule forbids it ({waived})"
    assert done.status == 1 and f"game 1: fro lost by a fault: illegal_move: {what}: '" in done.err
    done = run("match", *common, "--two-squares", "off", "-o", path, "-f")
    assert not any("two-squares" in (record["fault"] or "") for record in games(path))


def test_the_rule_is_the_one_that_forbids() -> None:
    """Waiving it makes the move legal; in a scene of the chase it is the other rule."""
    found = 0
    for seed in range(6):
        board, steps = Arbiter(Game("nano", {"max_plies": 100, "max_quiet": 0})), 0
        while board.turn is not None:
            legal = board.batch.legal()[0].nonzero()[0].tolist()
            board.act(legal[(seed + steps * 7) % len(legal)])
            steps += 1
            if board.deploying or len(board.actions) % 2 or board.turn is None:
                continue
            assert not any(board.broken_rule(*move) for move in board.legal())
            for move in set(board.position().legal()) - set(board.legal()):
                rule = board.broken_rule(*move)
                waived = Arbiter(Game("nano", {**board.game.rules, rule: 0}))
                for action in board.actions:
                    waived.act(action)
                assert move in waived.legal()
                what = f"the {rule.replace('_', '-')} rule forbids it"
                assert board.why_illegal(*move) == what
                found += 1
    assert found > 5
    chase = Board.from_fenfs("MaaaaaaaaaaaaLaQaaaaaaaaaaaaaaaaaaaY r 0")
    for word in ["B3C3", "D3D4", "C3D3", "D4C4", "D3D4", "C4C3", "D4C4", "C3D3"]:
        chase.push(word)
    with pytest.raises(IllegalMove, match="C4C3: the more-squares rule forbids it"):
        chase.push("C4C3")


def test_the_check_tells_of_rules_that_matches_have(tag: str) -> None:
    """It is sound by the protocol, and told what a match will want; a rule that is asked for is
    in force."""
    common = ("--check", f"{PATIENT},{bot('to and fro')}", "--game", "mini", "--seed", 1)
    done = run("match", *common)
    told = [line for line in done.out.splitlines() if line.startswith("ok, but: ")]
    assert len(told) == 2 and "wrong: BLUE: pl" not in done.out
    for line, colour in zip(told, ("RED", "BLUE"), strict=True):
        pattern = rf"{colour}: broke the two-squares rule at move \d+; matches need "
        assert re.fullmatch(f"ok, but: {pattern}rules=off, or --two-squares off", line)
    done = run("match", *common, "--two-squares", "3")
    assert done.status == 3 and "illegal_move: the two-squares rule forbids it" in done.out
    assert "ok, but" not in done.out
    done = run("match", "--check", f"{PATIENT},{bot()}", "--game", "mini", "--seed", 1)
    assert "ok, but" not in done.out


# --- a clock --------------------------------------------------------------------------------------


def test_a_clock_runs_over_all_moves_of_a_game(tmp_path: pathlib.Path, tag: str) -> None:
    """The bot takes 0.3 s for a move: a second is over in the fourth at the latest. Increments keep
    it alive for longer than its clock has at the start."""
    path = tmp_path / "g"
    short = ("-n", 2, "--max-plies", 40, "--concurrency", 2, "--seed", 1, "-o", path)
    done = play(tag, "random", f"name=slow,clock=1,{PATIENT},{bot('slow')}", *short)
    assert done.status == 1
    for record in games(path):
        assert (record["reason"], record["fault"]) == ("clock", "its clock of 1 s ran out")
        assert record["plies"] < 8
    done = play(tag, "random", f"name=slow,clock=4+60,{PATIENT},{bot('slow')}", *short, "-f")
    assert done.status == 0, done.err
    assert max(max(record["times"]) for record in games(path)) > 4.5
    assert '"spec":"clock=4+60,time=60' in path.read_text()


def test_the_program_is_told_of_its_clock(tmp_path: pathlib.Path) -> None:
    code = "import json, os; json.dump(dict(os.environ), open('told', 'w'))"
    player = f"clock=12345.25+0.5,reuse=on,ucc:{shlex.join([sys.executable, '-c', code])}"
    run("match", player, "random", "-n", 2, "--game", "mini", "-o", "g", cwd=tmp_path)
    told = {
        "MATCH_TIME": "5",
        "MATCH_CLOCK": "12345.25",
        "MATCH_INCREMENT": "0.5",
        "MATCH_REUSE": "on",
    }
    environment = json.loads((tmp_path / "told").read_text())
    assert {key: value for key, value in environment.items() if key in told} == told


@pytest.mark.parametrize("text", ["", "+1", "1+", "x", "1_0", "-1", "nan", "1e9", "1+nan", "1+1+1"])
def test_what_is_no_clock(text: str) -> None:
    assert Clock.read("60") == Clock(60, 0) and str(Clock.read("60+.5")) == "60+0.5"
    with pytest.raises(ValueError):
        Clock.read(text)


# --- one process for many games -------------------------------------------------------------------


def started(folder: pathlib.Path) -> int:
    """How many processes of the bot wrote a log, besides the one that was only tried."""
    logs = [path.read_text() for path in folder.glob("log.*")]
    return sum("START" in text or "QUIT" in text for text in logs)


def test_one_process_plays_many_games(tmp_path: pathlib.Path, tag: str) -> None:
    """What a game is told does not depend on it; every process is used as long as there are games,
    and ends after the last."""
    environment = {"BOT_LOG": str(tmp_path / "log"), "BOT_SEED": "time"}
    short = ("-n", 12, "--max-plies", 20, "--concurrency", 2)
    path = tmp_path / "g"
    player = f"name=many,reuse=on,{PATIENT},{bot()}"
    done = play(tag, "random", player, *short, "-o", path, **environment)
    assert done.status == 0 and len(done.err.splitlines()) == 1
    assert len(games(path)) == 12 and 1 <= started(tmp_path) <= 2
    heads = [
        re.findall(r"^>> (\S+) random 6 6$", log.read_text(), re.M)
        for log in tmp_path.glob("log.*")
    ]
    assert Counter(colour for found in heads for colour in found) == {"RED": 6, "BLUE": 6}


@pytest.mark.parametrize("mode", ["one game", "ignores the end"])
def test_a_program_that_plays_one_game_is_started_again(
    mode: str, tmp_path: pathlib.Path, tag: str
) -> None:
    """Without a fault, and told once."""
    startup = 60 if mode == "one game" else 6  # how long a deaf one is waited for
    player = f"name=p,reuse=on,time=60,startup={startup},{bot(mode)}"
    short = ("-n", 4, "--max-plies", 20, "--concurrency", 1)
    done = play(tag, "random", player, *short, "-o", tmp_path / "g")
    assert done.status == 0
    what = "does not wait for another game after QUIT: it is started for every game"
    assert done.err.splitlines()[:-1] == [f"match: p: reuse=on: {what}"]
    assert [record["fault"] for record in games(tmp_path / "g")] == [None] * 4


def test_a_process_that_lost_by_a_fault_is_not_used_again(tmp_path: pathlib.Path, tag: str) -> None:
    player = f"name=p,reuse=on,{PATIENT},{bot('illegal move')}"
    environment = {"BOT_LOG": str(tmp_path / "log")}
    alone = ("-n", 2, "--concurrency", 1, "--seed", 1)
    done = play(tag, "random", player, *alone, "-o", tmp_path / "g", **environment)
    assert (done.status, started(tmp_path)) == (1, 2), done.err
    assert {record["reason"] for record in games(tmp_path / "g")} == {"illegal_move"}


def test_our_own_players_play_many_games_under_a_manager(tmp_path: pathlib.Path) -> None:
    """Every game anew: they neither repeat themselves nor remember the game before."""
    path = tmp_path / "g"
    player = f"name=own,reuse=on,{PATIENT},{served('heuristic', 5)}"
    done = run("match", player, "random", "-n", 6, "--game", "mini", *FREE, "--seed", 5,
               "--max-plies", 100, "--concurrency", 1, "-o", path)  # fmt: skip
    assert done.status == 0 and len(done.err.splitlines()) == 1
    setups = [record["setups"][record["players"].index(0)] for record in games(path)]
    assert len(set(setups)) > 3


def test_the_check_tries_reuse(tag: str) -> None:
    for mode, status in (("", 0), ("one game", 3)):
        done = run("match", "--check", f"reuse=on,{PATIENT},{bot(mode)}", "--game", "mini",
                   "--seed", 1)  # fmt: skip
        slow = "the original manager waits" in done.out
        assert done.status == (3 if slow else status), done.out
        lines = [line for line in done.out.splitlines() if "another game after QUIT" in line]
        assert [line.split(":")[0] for line in lines] == [("ok", "wrong")[status == 3]] * 2


# --- stderr ---------------------------------------------------------------------------------------


def test_a_line_without_end_is_not_kept_for_ever(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"
    stderr = Stderr("game 0", str(log))
    for _ in range(3):
        os.write(stderr.writing, b"x" * CHUNK)
        stderr.drain()
    assert log.stat().st_size >= 2 * CHUNK
    os.close(stderr.writing)
    stderr.close()
    text = log.read_text()
    assert text.count("x") == 3 * CHUNK
    assert {line.rstrip("x") for line in text.splitlines()} == {"game 0: "}


def test_what_a_program_said_of_a_game_is_not_the_next_ones(tmp_path: pathlib.Path) -> None:
    log, script = tmp_path / "log", "read a; echo up; read b; echo late >&2; read c"
    words = ("sh", "-c", script)
    process = Process(Program("p", words, PATIENCE, PATIENCE, reuse=True, log=str(log)))
    with contextlib.closing(process):
        process.begin("game 1")
        process.send("a")
        assert process.line(PATIENCE) == "up"
        process.send("b")
        assert process._stderr
        assert select.select([process._stderr.reading], [], [], PATIENCE)[0]
        process.begin("game 2")
    assert log.read_text() == "game 1: late\n"
