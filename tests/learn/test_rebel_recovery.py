"""ReBeL's learner goes on bit for bit when it was killed, or its newest checkpoint is damaged."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from stratkit.engine import Game, PublicTree
from stratkit.errors import InputError
from stratkit.learn.config import ReBeLConfig
from stratkit.learn.request import Request
from stratkit.learn.run import train
from stratkit.search.generate import Generator
from stratkit.search.safe import PBSSearch
from stratkit.search.subgame import nothing
from stratkit.storage.checkpoints import checkpoint_path, list_checkpoints, load_checkpoint
from stratkit.storage.examples import ExampleHeader, ExampleWriter
from stratkit.storage.progress import METRICS

LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT  # whether a child has ended, which stays to be asked


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with `a.pbs`: examples in many frames, for 85 steps."""
    game = Game("liars_dice:1x2")
    generator = Generator(PublicTree(game), PBSSearch(updates=4), 16, seed=1)
    widths = {"inputs": game.pbs_inputs, "hands": game.hands}
    header = ExampleHeader(game=game.name, rules=game.rules, search="search=cfr", seed=1, **widths)
    with (tmp_path / "a.pbs").open("wb") as stream, ExampleWriter(stream, header) as writer:
        for _ in range(20):
            found = generator.examples(nothing)
            writer.write(found.rows, found.values)
    return tmp_path


def request_of(folder: pathlib.Path, name: str) -> Request:
    options = {"batch": 16, "seed": 1, "save_every": 1}
    run = str(folder / name)
    return Request([str(folder / "a.pbs")], run, net="pbs:8", algorithm="rebel", options=options)


def learn(request: Request, warn: Callable[[str], None] = print) -> None:
    train(request, warn=warn)


def last(folder: pathlib.Path, name: str) -> tuple[int, str]:
    step, path = list_checkpoints(folder / name)[-1]
    return step, str(load_checkpoint(path)[1]["sha256"])


def newest(folder: pathlib.Path) -> int:
    """The step of the newest checkpoint of `run`, or -1."""
    return max((step for step, _ in list_checkpoints(folder / "run")), default=-1)


def losses(folder: pathlib.Path, name: str) -> list[float]:
    return [json.loads(line)["value_loss"] for line in (folder / name / METRICS).open()]


def test_killed_at_any_moment_it_goes_on_bit_for_bit(folder: pathlib.Path) -> None:
    learn(request_of(folder, "whole"))
    draw, reached = random.Random(1), set()
    for left in reversed(range(6)):
        child = os.fork()
        if not child:
            there = bool(list_checkpoints(folder / "run"))
            if not there:  # nothing was safe: begun anew
                shutil.rmtree(folder / "run", ignore_errors=True)
            learn(replace(request_of(folder, "run"), resume=there))
            os._exit(0)
        if left:
            wanted = newest(folder) + draw.randrange(1, 8)
            while newest(folder) < wanted and os.waitid(os.P_PID, child, LOOK) is None:
                time.sleep(0.001)
            os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        reached.add(newest(folder))
    assert ended == 0
    assert len(reached) > 2, "all were killed at the same place"
    assert last(folder, "run") == last(folder, "whole")
    assert losses(folder, "run") == losses(folder, "whole")


def test_a_damaged_checkpoint_is_passed_over(folder: pathlib.Path) -> None:
    request = request_of(folder, "run")
    learn(request)
    whole = last(folder, "run")
    damaged = checkpoint_path(folder / "run", whole[0])
    damaged.write_bytes(damaged.read_bytes()[:-100])
    told: list[str] = []
    learn(replace(request, resume=True), told.append)
    good = checkpoint_path(folder / "run", whole[0] - 1)
    (line,) = told
    assert line.startswith(f"{damaged}: ") and line.endswith(f"; going on from {good}")
    assert last(folder, "run") == whole


@pytest.mark.parametrize(
    ("lr", "step", "what"),
    [
        ("9e5", 2, "the loss has exploded"),
        ("1e17", 2, "the loss is not finite"),
        ("inf", 1, "the update has made weights that are not finite"),
    ],
)
def test_learning_that_explodes_stops_and_names_the_last_good_checkpoint(
    folder: pathlib.Path, lr: str, step: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReBeLConfig, "rate", lambda config, *done: float(lr))
    request = request_of(folder, "run")
    request = replace(request, steps=6, options={**request.options, "save_every": 100})
    with pytest.raises(InputError) as caught:
        learn(request)
    good = checkpoint_path(folder / "run", 0)
    assert str(caught.value) == f"step {step}: {what}; the last good checkpoint is {good}"
    assert list_checkpoints(folder / "run") == [(0, good)]
