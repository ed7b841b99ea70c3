"""What a match is made of: who meets whom, by which rules, and when it stops."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import resource
import shlex
import subprocess
import sys

import pytest

from running import PATIENCE, ROOT, command_line, run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.rating.sprt import Sprt

TWO = ("heuristic", "random", "--game", "mini", "--seed", 1)


def read(path: pathlib.Path) -> tuple[dict, list[dict]]:  # type: ignore[type-arg]
    header, *records = map(json.loads, path.read_text().splitlines())
    return header, records


def test_gauntlet(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g"
    arguments = (
        "random",
        "name=b,random",
        "name=c,random",
        "-n",
        2,
        "--game",
        "mini",
        "--gauntlet",
    )
    assert run("match", *arguments, "--seed", 1, "-o", path).status == 0
    header, records = read(path)
    assert header["pairing"] == "gauntlet"
    assert [record["players"] for record in records] == [[0, 1], [1, 0], [0, 2], [2, 0]]
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    assert run("match", "--resume", "-o", path).status == 0
    assert path.read_bytes() == whole


def test_every_player_begins_from_the_setup_that_it_is_told(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scripted one, a class of one's own, one who meets a program or a person; who cannot be told
    says so."""
    monkeypatch.chdir(tmp_path)
    one, other = run("deploy-gen", "--game", "mini", "-n", 2, "--seed", 1).out.split()
    pathlib.Path("a.setups").write_text(f"{one}\n{other} b\n")
    pathlib.Path("mine.py").write_text(
        "from stratkit.players.baselines import RandomPlayer\n\n"
        "class Mine(RandomPlayer):\n    def __init__(self, seed: int) -> None:\n"
        "        super().__init__(seed)\n"
    )
    players = ("setup=a.setups,rusher", "setup=a.setups#b,py:mine:Mine", "heuristic")
    mini = ("-n", 2, "--game", "mini", "--seed", 3)
    assert run("match", *players, *mini, "--slots", 3, "-o", "g").status == 0
    header, records = read(pathlib.Path("g"))
    assert [player["spec"] for player in header["players"]] == list(players)
    assert [player.get("setup") for player in header["players"]] == [one, other, None]
    for record in records:
        told = [(one, other, None)[player] for player in record["players"]]
        pairs = list(zip(told, record["setups"], strict=True))
        assert all(want in (None, setup) for want, setup in pairs)
        assert record["setups"].count(one) + record["setups"].count(other) == 2 - told.count(None)
    served = command_line("match", "--serve", "setup=a.setups,random", "--game", "mini")
    program = f"name=served,rules=off,ucc:{shlex.join(served)}"
    for opponent, words in ((program, b""), ("human", b"\nresign\n")):
        words += b"save\n" if words else b""
        told = "setup=a.setups#b,heuristic"
        done = run("match", opponent, told, *mini, "-f", "-o", "p", stdin=words)
        assert done.status == 0, done.err
        (pathlib.Path("p.said")).unlink(missing_ok=True)
        _, records = read(pathlib.Path("p"))
        assert all(r["setups"][r["players"].index(1)] == other for r in records) and records
        assert opponent == "human" or all(one in record["setups"] for record in records)
    pathlib.Path("a.setups").write_text(f"{other}\n{other} b\n")
    done = run("match", "--resume", *players, "-o", "g")
    assert done.status == 1 and "line 1: cannot be resumed, players 1 setup is" in done.error_line
    pathlib.Path("m.mix").write_text("1 setup=a.setups,random\n")
    for player, more, what in (
        ("setup=a.setups,ucc:cat", (), "setup= is not for programs, which set up by themselves"),
        ("setup=a.setups#c,random", (), "no setup is called 'c'; there are 'b'"),
        ("mix=m.mix", (), "m.mix: line 1: setup= is for players of a match"),
        ("setup=a.setups,random", ("--setups", "a.setups"), "--setups gives all setups"),
        ("setup=a.setups,random", ("--game", "kuhn"), "boards with setups, and kuhn has none"),
    ):
        done = run("match", player, "heuristic", *mini, *more, "-f", "-o", "p")
        assert done.status and what in done.error_line


def test_rules(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g"
    rules = (
        "--two-squares",
        5,
        "--more-squares",
        "off",
        "--max-plies",
        31,
        "--max-no-attack",
        "off",
    )
    assert run("match", *TWO, "-n", 8, *rules, "-o", path).status == 0
    header, records = read(path)
    named = {"two_squares": 5, "more_squares": 0, "max_plies": 31, "max_quiet": 0}
    assert header["rules"] == named
    assert max(record["plies"] for record in records) == 31
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    done = run("match", *TWO, "-n", 8, "-o", path, "--resume", "--max-plies", 32)
    assert done.status == 1 and "rules max_plies is another: '31 there, 32 now'" in done.err
    done = run("match", *TWO, "-n", 8, "-o", path, "--resume", "--max-no-attack=off")
    assert done.status == 0
    assert path.read_bytes() == whole


def test_pairs_share_the_setups(tmp_path: pathlib.Path) -> None:
    """Each player has each setup once; and statistics then count pairs."""
    setups, path = tmp_path / "s", tmp_path / "g"
    setups.write_bytes(run("deploy-gen", "--game", "mini", "-n", 8, "--seed", 1).data)
    lines = setups.read_text().split()
    assert run("match", *TWO, "-n", 10, "--setups", setups, "-o", path).status == 0
    header, records = read(path)
    assert header["setups"]["file"] == str(setups)
    for record in records:
        first = 2 * record["pair"] % 8
        assert record["setups"] == lines[first : first + 2]
        assert record["players"] == [record["number"] % 2, 1 - record["number"] % 2]


# --- the sequential test --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "status", "said"),
    [
        (("heuristic", "random"), 0, "H1 is accepted"),
        (("random", "heuristic"), 3, "H0 is accepted"),
        (("random", "name=r,random"), 4, "undecided"),
    ],
)
def test_sprt(players: tuple[str, str], status: int, said: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "g"
    games = 60 if status == 4 else 4000
    match = (
        "match",
        *players,
        "-n",
        games,
        "--game",
        "mini",
        "--sprt",
        "elo0=0,elo1=60",
        "-o",
        path,
    )
    done = run(*match, "--seed", 1)
    assert done.status == status and f": {said}, LLR " in done.err.splitlines()[-1]
    header, records = read(path)
    assert header["sprt"] == "elo0=0,elo1=60"
    test, pairs, points = Sprt(0, 60), [0] * 5, 0
    for record in records:
        assert test.decision(pairs) is None  # it stopped as soon as it was decided
        outcome = round(record["returns"][record["players"].index(0)]) + 1
        points = outcome if record["number"] % 2 == 0 else points + outcome
        if record["number"] % 2:
            pairs[points] += 1
    assert test.decision(pairs) == {0: 1, 3: 0, 4: None}[status]
    assert len(records) == 60 if status == 4 else len(records) < 4000
    content = path.read_bytes()
    assert run("match", "--resume", "-o", path).status == status  # there is nothing left to play
    assert path.read_bytes() == content
    path.write_bytes(content[: len(content) // 2])
    assert run("match", "--resume", "-o", path).status == status
    assert path.read_bytes() == content


# --- adjudication ---------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--resign", "--draw"])
@pytest.mark.parametrize("game", ["leduc", "kuhn", "moves:nano"])
def test_games_with_stakes_are_played_out(option: str, game: str) -> None:
    """What a network expects there is no chance to win, and a loss has no price of its own."""
    done = run("match", "random", "policy", option, ".5", "-n", 2, "--game", game, "-o", "-")
    assert done.status == 2
    what = "is for games without stakes, where a win is worth 1, not for"
    assert done.error_line == f"match: {option} {what} {game}"


def test_networks_resign_and_agree(tmp_path: pathlib.Path) -> None:
    """A network that was never trained expects next to nothing."""
    network = tmp_path / "net.safetensors"
    save_network(network, "plain", Game("nano"))
    for options, reasons in (
        (("--draw", ".9"), {"agreed": "draw 0.9,8"}),
        (("--resign", "1e-9,2"), {"resigned": "resign 1e-09,2"}),
        ((), {}),
    ):
        path = tmp_path / "g"
        players = (network, f"name=b,quanta=16,eager=2,{network}")
        match = ("match", *players, "-n", 10, "--game", "nano", "--seed", 1)
        assert run(*match, *options, "-o", path, "-f").status == 0
        header, records = read(path)
        assert [header["draw"], header["resign"]].count(None) == (1 if options else 2)
        early = [r for r in records if r["adjudicator"]]
        assert {r["reason"]: r["adjudicator"] for r in early} == reasons
        for record in early:
            drawn = record["reason"] == "agreed"
            assert (record["result"] == "draw") == drawn and record["plies"] >= 1
            assert sorted(record["returns"]) == ([0, 0] if drawn else [-1, 1])


# --- the live table -------------------------------------------------------------------------------


def test_the_live_table_is_for_terminals(tmp_path: pathlib.Path) -> None:
    arguments = command_line("match", *TWO, "-n", 600, "-o", str(tmp_path / "g"))
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # the terminal's way to say that nobody has its other end
            pass
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    text = said.decode()
    assert "heuristic - random: +" in text and " a minute, " in text and " left" in text
    assert text.count("\x1b[2A\x1b[J") >= 1  # drawn again in the same place, and taken away
    (line,) = text.split("\x1b[J")[-1].splitlines()
    assert line.startswith("heuristic - random: +") and line.endswith(" 300 pairs")


# --- killed at any moment -------------------------------------------------------------------------

KILLER = """
import os, random, signal, sys, time
from stratkit.cli.match import command
from stratkit.cli.tool import (run)
import stratkit.match.schedule, stratkit.match.scoreboard, stratkit.storage.records  # once for all

def match(*more):
    pid = os.fork()
    if not pid:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        run(command, "match", [*sys.argv[2:], *more])
    return pid

random.seed(int(sys.argv[1]))
killed = 0
while killed < 100:
    pid = match("--resume")
    time.sleep(random.uniform(0.002, 0.08))
    os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    killed += status == -signal.SIGKILL
    if status == 0:  # it was faster: it has to play again
        os.truncate(sys.argv[-1], random.randrange(os.path.getsize(sys.argv[-1])))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(match("--resume"), 0)[1]))
"""


def test_a_match_that_is_killed_a_hundred_times(tmp_path: pathlib.Path) -> None:
    """Every game is there exactly once, and as it would be in a match that nobody killed."""
    whole, path = tmp_path / "whole", tmp_path / "g"
    match = ("random", "name=b,random", "name=c,random", "-n", 200, "--game", "nano", "--seed", 3,
             "--slots", 4, "--concurrency", 1)  # fmt: skip
    assert run("match", *match, "-o", whole).status == 0
    done = subprocess.run(
        [sys.executable, "-c", KILLER, "1", *map(str, match), "-o", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0
    assert path.read_bytes() == whole.read_bytes()


def test_speed(tmp_path: pathlib.Path) -> None:
    """500 games in 5 seconds on two cores that have nothing else to do: by the time they compute,
    which hardly depends on what else they do."""
    match = ("match", "random", "name=b,random", "-n", 500, "--game", "mini", "--seed", 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run(*match, "-o", tmp_path / "g", fresh=True).status == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 10


def test_a_match_of_our_own_loads_nothing_for_programs() -> None:
    code = (
        "import atexit, sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "heavy = 'stratkit.ucc.process', 'stratkit.ucc.referee', 'stratkit.rating.elo', 'torch'\n"
        "atexit.register(lambda: print(*(m for m in heavy if m in sys.modules), file=sys.stderr))\n"
        "from stratkit.cli.match import main\n"
        "main()\n"
    )
    words = ("-q", "random", "name=b,random", "-n", "2", "--game", "nano", "-o", os.devnull, "-f")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, ROOT, *words], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.split()) == (0, [])


def test_check_does_not_take_an_option_for_its_program() -> None:
    for words, needs in (
        (("--check", "--game", "barrage", "ucc:x"), "--check needs ucc:COMMAND"),
        (("--serve", "--game", "barrage", "random"), "--serve needs PLAYER"),
    ):
        done = run("match", *words)
        assert (done.status, done.error_line) == (2, f"match: {needs}, and --game is an option")
