"""formats/run.md and formats/checkpoint.md against a RUN that a learner made."""

from __future__ import annotations

import json
import os
import pathlib
import re

import numpy as np

from storage.test_storage_pages import FORMATS, fields, page
from stratkit.engine import Batch, Game, sample
from stratkit.learn.run import Request, train
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint, read_policy
from stratkit.storage.episodes import Episode, Episodes, EpisodeWriter, Header


def random_game(game: Game, number: int) -> Episode:
    """A game of uniformly random actions."""
    batch = Batch(game, 1)
    batch.reset()
    actions, mu = [], []
    while batch.actors()[0] >= 0:
        at = np.array([len(actions)], np.int32)
        action, probability = sample(None, batch.legal(), 1, np.array([number]), at)
        batch.apply(action)
        actions.append(action[0])
        mu.append(probability[0])
    returns, endings = batch.returns()[0], int(batch.endings()[0])
    return Episode(number, 0, endings, returns, np.array(actions), np.array(mu))


def documented_metrics(algorithm: str = "") -> list[str]:
    """The names in the page's table: all, or those that an algorithm reports."""
    table = page("run.md").split("**metrics.jsonl**")[1]
    rows = re.findall(r"^\| ([\w, ]+) \| (?:(`\w+`(?:, `\w+`)*): )?", table, re.M)[1:]
    return [
        name
        for row, of in rows
        for name in row.split(", ")
        if not algorithm or not of or f"`{algorithm}`" in of
    ]


def metrics_of(run: pathlib.Path) -> list[str]:
    (line,) = (run / "metrics.jsonl").read_text().splitlines()
    return list(json.loads(line))


def test_a_run_is_as_the_pages_say(tmp_path: pathlib.Path) -> None:
    game = Game("mini")
    header = Header(game=game.name, rules=game.rules, endings=game.endings, seed=1)
    with open(tmp_path / "x.eps", "wb") as stream, EpisodeWriter(stream, header) as writer:
        for number in range(2):
            writer.write(Episodes.of([random_game(game, number)]))
    run = tmp_path / "run"
    train(Request([str(tmp_path / "x.eps")], str(run), net="tiny", options={"batch": 2}))

    named = [name.split("/")[0] for name in re.findall(r"^\| `([\w./-]+)`", page("run.md"), re.M)]
    assert sorted([*os.listdir(run), "eval"]) == sorted(named)  # which --eval makes
    assert [step for step, _ in list_checkpoints(run)] == [0, 1]
    assert list_checkpoints(run)[-1][1].name == "step-00000001.safetensors"

    assert documented_metrics("rnad") == metrics_of(run)
    other = tmp_path / "other"
    inputs = [str(tmp_path / "x.eps")]
    train(Request(inputs, str(other), net="tiny", algorithm="mmd", options={"batch": 2}))
    assert documented_metrics("mmd") == metrics_of(other)
    documented = documented_metrics()
    manual = (FORMATS.parent / "man/train.1").read_text().split(".SH METRICS\n")[1]
    tags = re.findall(r"^\.TP\n\.BR? (.*)$", manual.split(".SH ")[0], re.M)
    assert [name for tag in tags for name in re.findall(r"\w+", tag)] == documented

    tensors, metadata = load_checkpoint(list_checkpoints(run)[-1][1])
    shared, added = fields("checkpoint.md", "Metadata"), fields("checkpoint.md", "Metadata", 1)
    assert sorted(metadata) == sorted(shared + added)
    policy_stages = fields("checkpoint.md", "Metadata", 2)
    published = [*read_policy(run)[1], "passed"]  # which who reads a pipe adds
    assert sorted(published) == sorted(shared + policy_stages)
    assert {name.split("/")[0] for name in tensors} == set(fields("checkpoint.md", "Tensors"))
    states = {name.split("/")[1] for name in tensors if name.startswith("optimizer/")}
    assert states == {"exp_avg", "exp_avg_sq", "step"}
