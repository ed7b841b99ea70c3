"""train --eval: checkpoints play beside the learner, which neither waits for them nor leaves them
behind."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from learn.games import episodes, write
from running import PATIENCE, command_line, forked_line, forked_python, run
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.learn.run import Request, train
from stratkit.match.evaluation import Evaluation, Opponent, parse_opponent, sentence
from stratkit.storage.checkpoints import checkpoint_path

QUICK = ("--net", "plain", "--batch", 4, "--rows", 32, "--seed", 1)
SETTINGS = {"batch": 4, "rows": 32, "seed": 1, "save_every": 1}


def wait_for(happened: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def processes(folder: pathlib.Path) -> list[int]:
    """Those whose command line names the folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in line:
                found.append(int(entry.name))
    return found


def niceness(process: int) -> int:
    """0 if it has ended."""
    try:
        return os.getpriority(os.PRIO_PROCESS, process)
    except ProcessLookupError:
        return 0


def nicest() -> int:
    """The niceness of a match, whose command adds 19 to that of the suite."""
    return min(19, os.nice(0) + 19)


def games_of(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.fixture
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches that the tests' own process begins are forked, too."""
    monkeypatch.setattr("sys.executable", forked_python())


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A RUN of two steps."""
    folder = tmp_path_factory.mktemp("run")
    games = write(folder / "a.eps", *episodes("nano", 8))
    train(Request([games], str(folder / "run"), net="plain", options=SETTINGS))
    return folder / "run"


def same_run(a_run: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """The run without the matches that other tests have begun there."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "checkpoints").symlink_to(a_run / "checkpoints")
    return run


def test_a_run_measures_itself(tmp_path: pathlib.Path) -> None:
    """The whole of it: the real commands, a result in metrics.jsonl, and nothing left behind."""
    folder, out = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    write(folder / "a.eps", *episodes("nano", 8))
    command = command_line("train", folder, "--out", out, *QUICK, "--eval", "heuristic:3")
    learner = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: nicest() in map(niceness, processes(out)))
    assert niceness(learner.pid) == os.nice(0)
    record = out / "eval/step-00000000.jsonl"
    wait_for(lambda: record.exists() and len(games_of(record)) == 4)
    for first in range(100, 2000, 8):  # the learner looks once a step
        write(tmp_path / "next.eps", *episodes("nano", 8, seed=first, first=first))
        os.rename(tmp_path / "next.eps", folder / f"b{first:04}.eps")
        time.sleep(0.5)
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        if found := [line["eval"] for line in lines if "eval" in line]:
            break
    learner.terminate()
    told = learner.communicate(timeout=PATIENCE)[1]
    assert learner.returncode == 143
    assert processes(out) == []
    result, records = found[0], games_of(record)
    assert (result["step"], result["opponent"], result["games"]) == (0, "heuristic", 4)
    scores = [(r["returns"][r["players"].index(0)] + 1) / 2 for r in records]
    assert result["score"] == sum(scores) / 4
    assert f"{sentence(result)}\n" in told


def test_a_value_network_plays_by_search(tmp_path: pathlib.Path) -> None:
    """From the first half of the examples the untrained network plays, behind it comes the rest."""
    game, out = "liars_dice:1x2", tmp_path / "run"
    play = ("selfplay", "--game", game, "--search", "cfr,iterations=8", "--slots", 8, "--seed", 3)
    assert run(*play, "-n", 400, "-o", tmp_path / "a.pbs").status == 0
    examples = (tmp_path / "a.pbs").read_bytes()
    learn = ("--algorithm", "rebel", "--net", "pbs:8", "--batch", 8, "--seed", 1)
    command = forked_line("train", "-", "--out", out, *learn, "--eval", "random:2")
    learner = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert learner.stdin
    learner.stdin.write(examples[: len(examples) * 2 // 3])
    learner.stdin.flush()
    wait_for(lambda: learner.poll() is not None or nicest() in map(niceness, processes(out)))
    wait_for(lambda: set(processes(out)) <= {learner.pid})
    told = learner.communicate(examples[len(examples) * 2 // 3 :], PATIENCE)[1]
    assert learner.returncode == 0 and b"--eval: the match" not in told, told
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    (result,) = (line["eval"] for line in lines if "eval" in line)
    assert (result["step"], result["opponent"], result["games"]) == (0, "random", 2)
    header = json.loads((out / "eval/step-00000000.jsonl").read_text().splitlines()[0])
    assert header["players"][0]["spec"].startswith("net=average,search=cfr,")


def test_a_belief_network_plays_nobody(tmp_path: pathlib.Path) -> None:
    games, out = write(tmp_path / "a.eps", *episodes("nano", 4)), tmp_path / "run"
    said = "train: --eval needs a network that plays, and a belief network does not"
    begin = ("train", games, "--out", out, "--algorithm", "belief", "--net", "plain:4x1")
    done = run(*begin, "--eval", "random:4")
    assert (done.status, done.err) == (2, f"{said}\n") and not out.exists()
    assert run(*begin, "--steps", 0).status == 0
    done = run("train", games, "--out", out, "--resume", "--eval", "random:4")
    assert (done.status, done.err) == (2, f"{said}\n")


@pytest.mark.usefixtures("_forked")
def test_a_match_that_was_stopped_goes_on(a_run: pathlib.Path) -> None:
    warned: list[str] = []
    game = Game("nano", {"max_plies": 40})  # the rules of the run, which are not the usual ones
    opponent = Opponent("random", 400)
    first = Evaluation(str(a_run), opponent, game, 7, warned.append)
    first.offer(1)
    assert first.look() is None  # it begins, and nobody waits
    record = a_run / "eval/step-00000001.jsonl"
    wait_for(lambda: record.exists() and len(games_of(record)) > 3)
    first.stop()
    assert processes(record) == []
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:-1]))  # it may have come to its end before it was stopped
    assert 3 <= len(games_of(record)) < 400
    again = Evaluation(str(a_run), opponent, game, 7, warned.append)
    again.offer(2)  # newer, but what was begun comes first
    result = wait_for(again.look)
    assert (result["step"], result["games"], result["opponent"]) == (1, 400, "random")
    assert [r["number"] for r in games_of(record)] == list(range(400))
    assert result["low"] < result["elo"] < result["high"]
    header = json.loads(record.read_text().splitlines()[0])
    assert (header["rules"]["max_plies"], header["seed"]) == (40, 7)
    again.look()
    wait_for(lambda: (a_run / "eval/step-00000002.jsonl").exists())
    again.stop()
    assert warned == []


@pytest.mark.usefixtures("_forked")
def test_what_fails_is_told_and_learning_goes_on(
    a_run: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run = same_run(a_run, tmp_path)
    warned: list[str] = []
    evaluation = Evaluation(str(run), Opponent("no-such-file", 2), Game("nano"), 1, warned.append)
    evaluation.offer(0)
    evaluation.look()
    wait_for(lambda: evaluation.look() or warned)
    (line,) = warned
    assert line.startswith("--eval: the match of step 0 failed: match: ") and "no-such-file" in line
    evaluation.offer(999)  # --keep has deleted it
    assert evaluation.look() is None and evaluation.look() is None
    evaluation.stop()
    assert len(warned) == 1


@pytest.mark.usefixtures("_forked")
def test_a_checkpoint_that_is_deleted_while_its_match_begins(
    a_run: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """As --keep does where steps are short: the newest plays instead, and nothing has failed."""
    run = tmp_path / "run"
    shutil.copytree(a_run / "checkpoints", run / "checkpoints")
    warned: list[str] = []
    evaluation = Evaluation(str(run), Opponent("random", 2), Game("nano"), 1, warned.append)
    evaluation.offer(1)
    evaluation.look()
    checkpoint_path(str(run), 1).unlink()
    evaluation.offer(2)
    told = wait_for(lambda: evaluation.look() or warned)
    evaluation.stop()
    assert warned == [] and told["step"] == 2


def test_a_folder_that_cannot_be_made_ends_no_run(
    a_run: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run = same_run(a_run, tmp_path)
    (run / "eval").write_text("in the way")
    warned: list[str] = []
    evaluation = Evaluation(str(run), Opponent("random", 2), Game("nano"), 1, warned.append)
    evaluation.offer(1)
    for _ in range(3):
        assert evaluation.look() is None
    evaluation.stop()
    (line,) = warned
    assert line.startswith("--eval: step 1: ") and "File exists" in line


def test_whom_checkpoints_play(tmp_path: pathlib.Path) -> None:
    assert parse_opponent("ucc:./bot.py:9") == Opponent("ucc:./bot.py", 10)
    for text in ("heuristic", ":20", "heuristic:", "heuristic:0", "heuristic:-4", "heuristic:x"):
        with pytest.raises(UsageError, match="not SPEC:GAMES"):
            parse_opponent(text)
    games = write(tmp_path / "a.eps", *episodes("nano", 4))
    for text, what in (
        ("heuristic", "--eval: not SPEC:GAMES, with 1 to 10000000 games: 'heuristic'"),
        ("human:2", "--eval plays while nobody looks: against no person: 'human:2'"),
        ("nobody:2", "--eval: no such player, file or folder: 'nobody'"),
    ):
        done = run("train", games, "--out", tmp_path / "run", "--eval", text)
        assert (done.status, done.error_line) == (2, f"train: {what}")
        assert not (tmp_path / "run").exists()
    later = tmp_path / "run/checkpoints/step-00000009.safetensors"  # the run itself may write it
    done = run("train", games, "--out", tmp_path / "run", "--steps", 0, "--eval", f"{later}:2")
    assert "no such player" not in done.err


def test_a_match_that_cannot_start_leaves_nothing_open(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    path = checkpoint_path(tmp_path, 1)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    evaluation = Evaluation(str(tmp_path), Opponent("random", 2), Game("mini"), 1, said.append)
    monkeypatch.setattr("sys.executable", str(tmp_path / "gone"))
    before = os.listdir("/proc/self/fd")
    evaluation.offer(1)
    assert evaluation.look() is None
    assert len(said) == 1 and said[0].startswith("--eval: step 1: ")
    assert len(os.listdir("/proc/self/fd")) == len(before)
