"""The command finetune: from a checkpoint to a new run, resumed, and who follows it."""

from __future__ import annotations

import pathlib
import subprocess
from dataclasses import replace

import numpy as np

from cli.test_train import hashes, metrics
from learn.games import episodes, write
from running import PATIENCE, forked_line, run
from stratkit.cli.finetune import PROCESSING
from stratkit.learn.algorithm_kinds import playing_keys
from stratkit.learn.run import Request
from stratkit.learn.run import train as learn
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint, read_policy
from stratkit.storage.episodes import EpisodeReader

SETTINGS = {"batch": 4, "rows": 32, "seed": 1}


def untrained(folder: pathlib.Path) -> pathlib.Path:
    """A RUN of no steps, of nano by its usual rules."""
    (folder / "empty").mkdir()
    request = Request([str(folder / "empty")], str(folder / "run"), 0, "plain", game="nano")
    learn(replace(request, options=SETTINGS, wait=False))
    return folder / "run"


def trained(folder: pathlib.Path) -> tuple[pathlib.Path, str]:
    """A RUN of two steps, and a file with more episodes of the same game."""
    game, found = episodes("nano", 24)
    first = write(folder / "first.eps", game, found[:8])
    learn(Request([first], str(folder / "run"), net="plain", options=SETTINGS))
    return folder / "run", write(folder / "more.eps", game, found[8:])


def test_everything_of_a_checkpoint_goes_on(tmp_path: pathlib.Path) -> None:
    source, more = trained(tmp_path)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    request = Request([more], str(whole), 4, start=str(source), settings=PROCESSING, wait=False)
    learn(request)
    for steps, resume in ((3, ()), (4, ("--resume",))):
        done = run("finetune", source, more, "--out", parts, "--steps", steps, *resume)
        assert done.status == 0, done.err
    assert hashes(parts)[4] == hashes(whole)[4]

    start, *_, last = (load_checkpoint(path) for _, path in list_checkpoints(parts))
    before = load_checkpoint(list_checkpoints(source)[-1][1])
    assert start[1]["sha256"] == before[1]["sha256"] and start[1]["step"] == 2
    assert start[1]["parents"] == [before[1]["sha256"]] and start[1]["inputs"] == {}
    asked = {"threshold": 0.03, "quanta": 32, "actors": "raw"}
    assert {**before[1]["config"], **asked} == start[1]["config"] == last[1]["config"]
    assert [line["step"] for line in metrics(parts)] == [3, 4]
    assert all("mass_removed" in line for line in metrics(parts))
    assert read_policy(parts)[1]["post"] == "none"


def test_those_who_follow_play_the_processed_policy(tmp_path: pathlib.Path) -> None:
    source = untrained(tmp_path)
    fine, shards = tmp_path / "fine", tmp_path / "games.eps"
    with open(shards, "wb") as kept:
        actor = subprocess.Popen(
            forked_line(
                *("selfplay", "--follow", "--policy", fine, "--game", "nano", "--seed", 1),
                *("--max-ahead", 4, "-n", 8, "-q"),
            ),
            stdout=subprocess.PIPE,
        )
        assert actor.stdout is not None
        learner = subprocess.Popen(
            forked_line(
                *("finetune", source, "-", "--out", fine, "--steps", 2, "-q"),
                *("--actors", "processed", "--quanta", 4),
            ),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert learner.stdin is not None and learner.stderr is not None
        while chunk := actor.stdout.read1(1 << 16):  # type: ignore[union-attr]
            kept.write(chunk)
            learner.stdin.write(chunk)
            learner.stdin.flush()
        learner.stdin.close()
    assert (actor.wait(PATIENCE), learner.wait(PATIENCE)) == (0, 0), learner.stderr.read()
    assert read_policy(fine)[1]["post"] == "per=action,threshold=0.03,quanta=4"
    with open(shards, "rb") as stream:
        reader = EpisodeReader(stream, "games.eps")
        assert reader.open().post == "published"
        mu = np.concatenate([episode.mu for episode in reader])
    np.testing.assert_allclose(mu * 4, (mu * 4).round(), atol=1e-4)
    assert len(metrics(fine)) == 2


def test_play_and_values_agree_by_per(tmp_path: pathlib.Path) -> None:
    """What the commands say of self-play by fixed weights: is_weight_variance, the mean of
    (pi/mu - 1)^2 of what is played and what is valued. Checkpoints are measured as they are valued.
    """
    source, keys = untrained(tmp_path), "threshold=0.03,quanta=8"
    variance = {}
    for per in ("action", "move"):
        games, fine = tmp_path / f"{per}.eps", tmp_path / per
        play = ("selfplay", "--game", "nano", "--policy", source, "--seed", 1, "-n", 8, "-q")
        assert run(*play, "--actors", f"per={per},{keys}", "-o", games).status == 0
        with open(games, "rb") as stream:
            assert EpisodeReader(stream, "games").open().post == f"per={per},{keys}"
        tune = ("finetune", source, games, "--out", fine, "--steps", 1, "--batch", 8)
        assert run(*tune, "--quanta", 8).status == 0
        variance[per] = metrics(fine)[0]["is_weight_variance"]
        config = load_checkpoint(list_checkpoints(fine)[-1][1])[1]["config"]
        assert playing_keys("rnad", config) == f"per=action,{keys},"
    assert variance["action"] < 1e-6 and variance["move"] > 1e-2
    assert playing_keys("rnad", {"threshold": 0.0, "quanta": 0}) == playing_keys("mmd", {}) == ""


def test_what_cannot_be_fine_tuned(tmp_path: pathlib.Path) -> None:
    source, more = trained(tmp_path)
    what = "a policy, where a checkpoint is needed: train --weights begins with it"
    for given, file in (
        (source / "policy.safetensors", source / "policy.safetensors"),
        ("barrage-easy", "barrage-easy"),
    ):
        done = run("finetune", given, more, "--out", tmp_path / "x")
        assert (done.status, done.error_line) == (1, f"finetune: {file}: {what}")
        assert not (tmp_path / "x").exists()
    done = run("finetune", "barage-easy", more, "--out", tmp_path / "x")
    assert (
        done.err == "finetune: barage-easy: no such file or folder (did you mean 'barrage-easy'?)\n"
    )
    toml = tmp_path / "x.toml"
    toml.write_text('net = "small"')
    done = run("finetune", source, more, "--out", tmp_path / "y", "--config", toml)
    assert done.status == 2 and "the network is the checkpoint's" in done.error_line
    done = run("finetune", source, more, "--out", tmp_path / "z", "--quanta", -1)
    assert (
        done.status == 2
        and done.error_line == "finetune: --quanta must be a whole number from 0 to 10000: '-1'"
    )
    assert not (tmp_path / "z").exists()
