"""Several learners that work as one, as torchrun starts them (test_deepnash_example.py has it)."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from learn.games import episodes, write
from running import PATIENCE, forked_line, run
from stratkit.errors import InputError
from stratkit.learn.run import METRICS, Request, train
from stratkit.storage.checkpoints import checkpoint_path, list_checkpoints, load_checkpoint
from stratkit.storage.shards import rank_of, shard_name

SETTINGS = {"batch": 8, "rows": 32, "seed": 1, "save_every": 1, "chunk": 50}
QUICK = ["--net=plain", *(f"--{key.replace('_', '-')}={value}" for key, value in SETTINGS.items())]


def a_folder(path: pathlib.Path, parts: Sequence[int], each: int = 12) -> pathlib.Path:
    """A file of `each` games for each of these ranks, of two."""
    path.mkdir()
    game, games = episodes("nano", each * len(parts))
    for k, part in enumerate(parts):
        some = games[k * each : (k + 1) * each]
        write(path / shard_name(1, k * each, (k + 1) * each - 1, part, 2), game, some)
    return path


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def two_ranks(
    *arguments: object,
    command: str | pathlib.Path = "train",
    settings: Sequence[object] | None = None,
) -> list[tuple[int, str]]:
    """Exit status and stderr of both. `command` may be a script that runs train."""
    if settings is None:
        settings = QUICK[command == "finetune" :]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    both = [
        subprocess.Popen(
            forked_line(command, *arguments, *settings),
            env={**os.environ, **place, "RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    return [(learner.wait(PATIENCE), (learner.stderr or sys.stderr).read()) for learner in both]


def metrics(run: pathlib.Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / METRICS).read_text().splitlines()]


def test_two_ranks_are_as_one(tmp_path: pathlib.Path) -> None:
    """With both halves of the batch, of unequal lengths; and resumed, bit for bit."""
    folder, out = a_folder(tmp_path / "games", (0, 1)), tmp_path / "two"
    (status, told), (other, nothing) = two_ranks(folder, "--no-wait", "--out", out)
    assert (status, other, nothing) == (0, 0, "")
    assert sorted(step for step, _ in list_checkpoints(out)) == [0, 1, 2, 3]
    assert told == f"step 3, 24 episodes: {checkpoint_path(out, 3)}\n"

    # One learner with the same eight games: four of each file.
    game, games = episodes("nano", 24)
    lengths = [sum(len(e.actions) for e in games[k : k + 4]) for k in (0, 12)]
    assert lengths[0] != lengths[1]
    same = write(tmp_path / "same.eps", game, [*games[:4], *games[12:16]])
    train(Request([same], str(tmp_path / "one"), net="plain", options=SETTINGS))
    (whole, _), (parts, metadata) = (
        load_checkpoint(checkpoint_path(run, 1)) for run in (tmp_path / "one", out)
    )
    for name, tensor in whole.items():
        if name.startswith("optimizer/exp_avg/"):  # which is the gradient: b1 is 0
            torch.testing.assert_close(
                torch.from_numpy(parts[name]), torch.from_numpy(tensor), rtol=1e-4, atol=1e-6
            )
    assert metadata["inputs"] == {os.fspath(file): 4 for file in folder.iterdir()}
    one, two = metrics(tmp_path / "one")[0], metrics(out)[0]
    assert list(one) == list(two)
    for name in set(one) - {"seconds", "states_per_second", "time"}:
        assert one[name] == pytest.approx(two[name], rel=1e-4, abs=1e-6), name

    again = tmp_path / "again"
    shutil.copytree(out, again)
    for step in (2, 3):
        checkpoint_path(again, step).unlink()
    going_on = ("--no-wait", "--timeout", "inf", "--resume", "--out", again)
    (status, told), (other, nothing) = two_ranks(folder, *going_on)
    assert (status, other, nothing) == (0, 0, "")
    assert told == f"step 3, 24 episodes: {checkpoint_path(again, 3)}\n"
    first, second = (load_checkpoint(checkpoint_path(run, 3))[1] for run in (out, again))
    assert first["sha256"] == second["sha256"] and first["inputs"] == second["inputs"]

    # Fine-tuned, both ranks begin with the first of the games that the run before has had.
    told, _ = two_ranks(out, folder, "--no-wait", "--out", tmp_path / "fine", command="finetune")
    assert told == (0, f"step 6, 48 episodes: {checkpoint_path(tmp_path / 'fine', 6)}\n")


def last(run: pathlib.Path) -> tuple[int, str]:
    step, path = list_checkpoints(run)[-1]
    return step, str(load_checkpoint(path)[1]["sha256"])


def check_resumed(folder: pathlib.Path, out: pathlib.Path, words: Sequence[object]) -> None:
    """Two ranks that go on from their third step come to what they came to at once; and one rank
    can go on from theirs."""
    settings = [*words, "--no-wait", "--save-every", 3]
    for name, parts in (("whole", [()]), ("parts", [("--steps", 3), ("--resume",)])):
        for part in parts:
            done = two_ranks(folder, "--out", out / name, *part, settings=settings)
            assert [status for status, _ in done] == [0, 0], done
    assert last(out / "whole") == last(out / "parts")
    step = last(out / "parts")[0]
    assert step > 4
    going_on = ("--resume", "--no-wait", "--steps", step + 1, "--uses", 20)
    if "rebel" in words:
        done = run("train", folder, "--out", out / "parts", *going_on)
        assert done.status == 0, done.err
        assert last(out / "parts")[0] == step + 1


def test_old_episodes_of_each_rank_are_there_again(tmp_path: pathlib.Path) -> None:
    """AlphaZero's window."""
    folder = a_folder(tmp_path / "games", (0, 1), 20)
    check_resumed(folder, tmp_path, ["--algorithm=alphaze", "--targets=played", *QUICK])
    names = load_checkpoint(list_checkpoints(tmp_path / "whole")[-1][1])[0].keys()
    assert {f"rank-{k}/window/00004/00000" for k in (0, 1)} <= names


FROM_ANOTHER = """
import sys
from stratkit.learn import ranks
from stratkit.learn.run import Request, train

ranks.SLACK = 0  # who waits in vain says so
games, start, out = sys.argv[1:]
train(Request([games], out, start=start, wait=False, timeout=60, algorithm="alphaze"))
"""


def test_ranks_go_on_in_another_folder(tmp_path: pathlib.Path) -> None:
    """Each gives the first checkpoint what it holds, as it does the others."""
    folder = a_folder(tmp_path / "games", (0, 1))
    alphaze = ["--algorithm=alphaze", "--targets=played", *QUICK]
    done = two_ranks(folder, "--no-wait", "--out", tmp_path / "run", settings=alphaze)
    assert [status for status, _ in done] == [0, 0], done
    script = tmp_path / "train.py"
    script.write_text(FROM_ANOTHER)
    words = folder, tmp_path / "run", tmp_path / "next"
    assert two_ranks(*words, command=script, settings=()) == [(0, ""), (0, "")]
    first, old = (
        list_checkpoints(tmp_path / name)[at][1] for name, at in (("next", 0), ("run", -1))
    )
    kept, held = (load_checkpoint(path)[0] for path in (first, old))
    windows = {name for name in held if "/window/" in name}
    assert windows and windows == {name for name in kept if "/window/" in name}


def test_examples_of_each_rank_are_there_again(tmp_path: pathlib.Path) -> None:
    """ReBeL's buffer, and the examples of frames that allowed no step. One rank that goes on has
    those of both."""
    folder = tmp_path / "examples"
    folder.mkdir()
    for number in range(2):
        path = folder / next(f"{k}.pbs" for k in range(100) if rank_of(f"{k}.pbs", 2) == number)
        words = ("--game", "liars_dice:1x2", "--search", "cfr,iterations=4", "--slots", 8)
        done = run("selfplay", *words, "-n", 400, "--seed", number, "-o", path)
        assert done.status == 0, done.err
    words = ("--algorithm", "rebel", "--net", "pbs:8", "--batch", 32, "--seed", 1, "--uses", 2)
    check_resumed(folder, tmp_path, words)
    one, two = (list_checkpoints(tmp_path / name)[-1][1] for name in ("parts", "whole"))
    (ours, after), (theirs, before) = load_checkpoint(one), load_checkpoint(two)
    assert after["episodes"] == before["episodes"] == len(ours["buffer/rows"])
    rows = [theirs[f"rank-{k}/buffer/rows"] for k in (0, 1)]
    assert min(map(len, rows)) > 8
    both = sorted(map(bytes, np.concatenate(rows)))
    assert sorted(map(bytes, ours["buffer/rows"])) == both


def test_what_another_rank_has_read_to_its_end(tmp_path: pathlib.Path) -> None:
    """Its duplicates are counted, and its last files deleted."""
    folder, out = a_folder(tmp_path / "games", (0, 1)), tmp_path / "run"
    second = next(file for file in folder.iterdir() if rank_of(file.name, 2) == 1)
    shutil.copy(second, folder / shard_name(2, 0, 11, 1, 2))
    (status, told), (other, nothing) = two_ranks(folder, "--no-wait", "--consume", "--out", out)
    assert (status, other, nothing) == (0, 0, "")
    assert told.splitlines() == [
        "train: 12 duplicates were left out",
        f"step 3, 24 episodes: {checkpoint_path(out, 3)}",
    ]
    assert not list(folder.iterdir())


def test_a_rank_that_waits_too_long_is_named(tmp_path: pathlib.Path) -> None:
    """And what was learned before is saved."""
    folder, out = a_folder(tmp_path / "games", (0, 1, 0)), tmp_path / "run"
    (status, told), (other, named) = two_ranks(folder, "--timeout", 5, "--out", out)
    assert (status, other) == (1, 1)
    last = checkpoint_path(out, 3)
    saved = f"saved {last}; --resume goes on from there\n"
    assert told == f"{saved}train: rank 1 failed; see its message above\n"
    what = rf"train: {folder}: rank 1 has waited \d+ s for episodes of its part\n"
    assert re.fullmatch(what, named)
    assert last.exists()


def test_a_rank_that_waits_too_long_for_the_first_games(tmp_path: pathlib.Path) -> None:
    """Others would take it for dead; it says so before."""
    folder, out = a_folder(tmp_path / "games", (1,)), tmp_path / "run"
    (status, told), (other, named) = two_ranks(folder, "--timeout", 5, "--out", out)
    assert (status, other) == (1, 1)
    what = rf"train: {folder}: rank 0 has waited \d+ s for episodes of its part"
    assert re.fullmatch(what, told.splitlines()[-1])
    assert named.startswith("train: rank 1: another rank has gone, or does not answer (")


INFINITE_RATE = """
from stratkit.cli.train import main
from stratkit.learn.config import AdamConfig

AdamConfig.rate = lambda config, *done: float("inf")
main()
"""


def test_a_useless_update_ends_both_ranks(tmp_path: pathlib.Path) -> None:
    """The weights are the same on both, and so is the message."""
    folder, out = a_folder(tmp_path / "games", (0, 1)), tmp_path / "run"
    what = "the update has made weights that are not finite"
    line = f"train: step 1: {what}; the last good checkpoint is {checkpoint_path(out, 0)}\n"
    script = tmp_path / "train.py"
    script.write_text(INFINITE_RATE)
    assert two_ranks(folder, "--out", out, command=script) == [(1, line), (1, line)]
    assert [step for step, _ in list_checkpoints(out)] == [0]


ONE_BAD_RANK = """
import os
from stratkit.cli.train import main
from stratkit.learn.optimizer import Optimizer

sound = Optimizer._backward
if os.environ["RANK"] == "1":
    Optimizer._backward = lambda *part: tuple(FACTOR * x for x in sound(*part))
main()
"""


@pytest.mark.parametrize(("factor", "what"), [("nan", "is not finite"), ("1e9", "has exploded")])
def test_a_bad_gradient_of_one_rank_ends_both(
    tmp_path: pathlib.Path, factor: str, what: str
) -> None:
    folder, out = a_folder(tmp_path / "games", (0, 1)), tmp_path / "run"
    line = (
        f"train: step 1: the loss {what}; the last good checkpoint is {checkpoint_path(out, 0)}\n"
    )
    script = tmp_path / "train.py"
    script.write_text(ONE_BAD_RANK.replace("FACTOR", f"float('{factor}')"))
    assert two_ranks(folder, "--out", out, command=script) == [(1, line), (1, line)]
    assert [step for step, _ in list_checkpoints(out)] == [0]


def test_only_folders_can_be_divided(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.eps", *episodes("nano", 4))
    monkeypatch.setenv("WORLD_SIZE", "2")
    for path in (file, "-"):
        with pytest.raises(InputError, match=f"^{path}: several ranks need a folder, of which"):
            train(Request([path], str(tmp_path / "run")))
    assert not (tmp_path / "run").exists()


def test_the_part_of_a_name_never_changes() -> None:
    """Machines and versions must agree on it."""
    assert [rank_of(f"seed-1_games-0-9_0000000{k}.eps", 3) for k in range(6)] == [2, 0, 2, 0, 2, 1]
