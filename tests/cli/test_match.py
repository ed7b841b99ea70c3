"""The command match: records, pairs, resuming."""

from __future__ import annotations

import configparser
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from running import PATIENCE, ROOT, Done, command_line, run
from stratkit import Board
from stratkit.engine.stratego import VARIANTS

ARGUMENTS = ("random", "heuristic", "-n", 20, "--game", "mini", "--seed", 5)


def games(path: pathlib.Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def play(path: pathlib.Path, *more: object) -> Done:
    return run("match", *ARGUMENTS, "-o", path, *more)


@pytest.mark.parametrize("game", sorted(VARIANTS))
def test_the_referee_is_right(game: str) -> None:
    """Every record, replayed move by move from its text, ends as it says."""
    done = run("match", "random", "heuristic", "-n", 6, "--game", game, "-o", "-", "--seed", 1)
    for line in done.out.splitlines()[1:]:
        record = json.loads(line)
        board = Board(game, record["setups"])
        moves = record["moves"].split()
        assert len(moves) == record["plies"]
        for move in moves:
            assert not board.result
            board.push(move)
        if not record.get("adjudicator"):
            assert (board.ending, board.result) == (record["reason"], record["result"])


def test_pairs_swap_colours(tmp_path: pathlib.Path) -> None:
    done = run("match", "random", "heuristic", "name=r2,random", "-n", 3, "--game", "mini",
               "--seed", 1, "-o", tmp_path / "g.jsonl")  # fmt: skip
    assert done.status == 0 and len(done.err.splitlines()) == 3
    records = games(tmp_path / "g.jsonl")
    assert [r["number"] for r in records] == list(range(12))
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert first["pair"] == second["pair"]
        assert first["players"] == second["players"][::-1]
    assert {tuple(sorted(r["players"])) for r in records} == {(0, 1), (0, 2), (1, 2)}
    wins = sum(r["returns"][r["players"].index(1)] > 0 for r in records if 1 in r["players"])
    assert wins >= 7  # heuristic against two random players, 8 games


def test_slots_and_concurrency_change_nothing(tmp_path: pathlib.Path) -> None:
    for name, more in (
        ("a", ()),
        ("b", ("--slots", 3)),
        ("c", ("--concurrency", 3, "--slots", 64)),
    ):
        assert play(tmp_path / name, *more).status == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_resume_plays_what_is_missing(tmp_path: pathlib.Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    play(whole)
    content = whole.read_bytes()
    for cut in (0, 10, len(content) // 3, len(content) // 2, len(content) - 1, len(content)):
        torn.write_bytes(content[:cut])
        assert play(torn, "--resume").status == 0
        assert torn.read_bytes() == content


def test_resume_takes_from_the_file_what_is_not_given(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.setups").write_text("AKBAADACLMDE\nMEDBCKLAAADA\n")
    path = tmp_path / "g"
    match = ("name=a,random", "heuristic", "-n", 6, "--game", "mini", "--setups", "x.setups")
    assert run("match", *match, "-o", path, cwd=tmp_path).status == 0  # the system gives the seed
    content = path.read_bytes()
    for given in ((), match):
        path.write_bytes(content[: len(content) // 2])
        done = run("match", *given, "--resume", "-o", path, cwd=tmp_path)
        assert done.status == 0 and done.err.startswith("a - heuristic: ")
        assert path.read_bytes() == content
    path.write_bytes(content.replace(b'"x.setups"', b'"-"'))
    done = run("match", "--resume", "-o", path)
    assert done.status == 2 and "the setups came from stdin" in done.error_line
    path.write_bytes(content.replace(b'"spec":"random"', b'"spec":"net=,random"'))
    done = run("match", "--resume", "-o", path)
    assert done.status == 2 and done.error_line.startswith(
        f"match: {path}: PLAYER: option 'net' is"
    )


def test_resume_refuses_another_match(tmp_path: pathlib.Path) -> None:
    play(tmp_path / "g")
    before = (tmp_path / "g").read_bytes()
    for other, what in (
        (("random", "name=h,random", "-n", 20, "--seed", 5), "players"),
        (("random", "name=h,heuristic", "-n", 20, "--seed", 5), "players"),
        (("random", "heuristic", "-n", 18, "--seed", 5), "games"),
        (("random", "heuristic", "-n", 20, "--seed", 6), "seed"),
    ):
        done = run("match", *other, "--game", "mini", "-o", tmp_path / "g", "--resume")
        assert done.status in (1, 2) and what in done.err
    assert "exists already" in play(tmp_path / "g").error_line
    assert (tmp_path / "g").read_bytes() == before
    assert play(tmp_path / "g", "-f").status == 0


def test_an_interrupted_match_says_how_to_go_on(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a b.jsonl"
    with subprocess.Popen(
        command_line("match", "random", "heuristic", "-n", 4000, "--game", "mini", "-o", path),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not path.exists() or path.stat().st_size < 5000:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr
        score, how, line = process.stderr.read().splitlines()
        assert process.wait(PATIENCE) == 130
    assert score.startswith("random - heuristic: +")
    assert line == "match: interrupted"
    assert how.startswith("match: to go on: match random heuristic -n 4000 --game mini -o '")
    assert how.endswith("--resume") and " --seed " in how
    numbers = [r["number"] for r in games(path)]
    assert numbers == list(range(len(numbers))) and 0 < len(numbers) < 4000


def test_two_matches_do_not_write_one_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g.jsonl"
    arguments = ("random", "heuristic", "-n", 4000, "--game", "mini", "--seed", 1, "-o", path)
    with subprocess.Popen(command_line("match", *arguments), stderr=subprocess.DEVNULL) as process:
        while not path.exists() or path.stat().st_size < 500:
            time.sleep(0.02)
        done = run("match", *arguments, "--resume")
        assert done.status == 1 and str(process.pid) in done.err.splitlines()[-1]
        process.kill()


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        (("random",), 2, "two players"),
        (("--resume",), 2, "g.jsonl: there is no such record to resume, and"),
        (("random", "heuristic", "--resume", "-f"), 2, "-f overwrites it"),
        ((), 2, "PLAYER"),
        (("random", "heuristic", "--sprt", "elo0=0"), 2, "elo0 and elo1 are needed"),
        (("random", "heuristic", "name=r,random", "--sprt", "elo0=0,elo1=9"), 2, "first of two"),
        (("random", "heuristic", "--resign", "2"), 2, "T is above 0"),
        (("random", "heuristic", "--resign", ".9"), 2, "no player is one"),
        (("random", "heuristic", "--draw", "x,3"), 2, "T[,K] is needed"),
        (
            ("random", "heuristic", "--two-squares", "4"),
            2,
            "--two-squares must be one of 3, 5, off: '4'",
        ),
        (("random", "heuristic", "--max-plies", "x"), 2, "--max-plies"),
        (
            ("random", "heuristic", "--max-plies", "off", "--max-no-attack", "off"),
            1,
            "more_squares",
        ),
        (("random", "heuristic", "--serve", "random"), 2, "give nothing else"),
        (("random", "heuristic", "-n", 10**20), 2, "-n must be a whole number from 1"),
        (("random", "random"), 2, "two players are called 'random'"),
        (("random", "heuristc"), 1, "did you mean 'heuristic'"),
        (("random", "net=online,heuristic"), 2, "net= is for networks"),
        (("random", "name=a\tb,random"), 2, "control"),
        (("random", "heuristic", "-o", "/dev/full"), 1, "No space left"),
        (("random", "heuristic", "-o", "-", "--resume"), 2, "--resume"),
    ],
)
def test_one_line_says_what_is_wrong(
    arguments: tuple[object, ...], status: int, what: str, tmp_path: pathlib.Path
) -> None:
    output = () if "-o" in arguments else ("-o", "g.jsonl")
    games = () if "-n" in arguments else ("-n", 2)
    done = run("match", *arguments, *games, "--game", "mini", *output, cwd=tmp_path)
    assert done.status == status
    last = done.err.splitlines()[-1]
    assert last.startswith("match: ") and what in last
    assert not os.listdir(tmp_path)


def test_a_checkpoint_of_another_game_is_refused(tmp_path: pathlib.Path) -> None:
    sample = pathlib.Path(__file__).parents[2] / "formats/samples/checkpoint.safetensors"
    done = run("match", "random", sample, "-n", 2, "--game", "classic", "-o", tmp_path / "g")
    assert done.status == 1 and "checkpoint.safetensors: " in done.error_line
    rubbish = tmp_path / "x.safetensors"
    rubbish.write_bytes(b"\x10\0\0\0\0\0\0\0{rubbish")
    done = run("match", "random", rubbish, "-n", 2, "--game", "mini", "-o", tmp_path / "g")
    assert done.status == 1 and "x.safetensors: not a checkpoint" in done.error_line


def test_a_log_says_how_a_match_stands(tmp_path: pathlib.Path) -> None:
    done = run("match", "random", "heuristic", "-n", 10, "--game", "mini", "--log-every", 4,
               "-o", tmp_path / "g.jsonl")  # fmt: skip
    assert done.status == 0
    stands = [line for line in done.err.splitlines() if " of 10 games" in line]
    assert [line.split()[0] for line in stands] == ["4", "8"] and "left" in stands[0]


def test_the_unit_of_the_examples_plays_and_goes_on(tmp_path: pathlib.Path) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(ROOT / "examples/service/stratkit-match@.service")
    env, match, *words = unit["Service"]["ExecStart"].replace("%i", "pool").split()
    assert (env, match, words.pop(0)) == ("/usr/bin/env", "match", "$MATCH")
    # What ends for good is not started again: a wrong command line, and the answers of --sprt.
    again = unit["Service"]["RestartPreventExitStatus"].split()
    assert again == ["2", "3", "4"] and int(unit["Unit"]["StartLimitBurst"]) < 10
    assert run("match", "random", "--no-such", cwd=tmp_path).status == int(again[0])
    for games in (2, 4):
        players = ("random", "heuristic", "--game", "mini", "-n", games, "--seed", 1)
        assert run("match", *players, *words, cwd=tmp_path).status == 0
    lines = (tmp_path / "pool.jsonl").read_text().splitlines()
    assert len([line for line in lines if '"number"' in line]) == 4


def test_one_network_with_other_keys_is_another_player(tmp_path: pathlib.Path) -> None:
    """Nobody has to name it."""
    games, twins = tmp_path / "g.jsonl", ("threshold=.1,barrage", "barrage")
    options = ("--game", "barrage", "-n", 2, "--max-plies", 2, "-o", games)
    assert run("match", *twins, *options).status == 0
    players = json.loads(games.read_text().splitlines()[0])["players"]
    assert [player["name"] for player in players] == list(twins)
    assert run("match", "--resume", "-o", games).status == 0
    done = run("match", twins[0], twins[0], *options, "-f")
    assert (done.status, "two players are called" in done.err) == (2, True)
