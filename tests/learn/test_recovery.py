"""A run that is killed, or whose files or numbers go bad, loses nothing that was safe."""

from __future__ import annotations

import json
import math
import os
import pathlib
import random
import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
import safetensors.numpy

from learn.games import episodes, write
from stratkit.errors import InputError
from stratkit.learn.config import AdamConfig
from stratkit.learn.run import METRICS, Request, train
from stratkit.storage.checkpoints import (
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    read_policy,
)
from stratkit.storage.checkpoints import save_checkpoint as save
from stratkit.storage.shards import list_shards

SETTINGS = {"batch": 4, "rows": 32, "seed": 1, "save_every": 1}

LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT  # whether a child has ended, which stays to be asked


def a_request(
    folder: pathlib.Path, run: str, algorithm: str = "rnad", **options: object
) -> Request:
    return Request(
        [str(folder / "games")],
        str(folder / run),
        net="plain",
        algorithm=algorithm,
        options={**SETTINGS, **options},
        wait=False,
    )


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with `games`: four files of five games."""
    (tmp_path / "games").mkdir()
    game, found = episodes("nano", 20)
    for k in range(4):
        write(tmp_path / f"games/{k}.eps", game, found[5 * k : 5 * k + 5])
    return tmp_path


def last(folder: pathlib.Path, run: str) -> tuple[int, str]:
    step, path = list_checkpoints(folder / run)[-1]
    return step, str(load_checkpoint(path)[1]["sha256"])


def newest(folder: pathlib.Path) -> int:
    """The step of the newest checkpoint of `run`, or -1."""
    return max((step for step, _ in list_checkpoints(folder / "run")), default=-1)


def test_a_damaged_checkpoint_is_passed_over(folder: pathlib.Path) -> None:
    request = a_request(folder, "run")
    train(request)
    assert last(folder, "run")[0] == 5
    whole, damaged = last(folder, "run"), checkpoint_path(folder / "run", 5)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-100])
    middle = checkpoint_path(folder / "run", 4)
    flipped = bytearray(middle.read_bytes())
    flipped[-50] ^= 1
    middle.write_bytes(flipped)
    told: list[str] = []
    train(replace(request, resume=True), warn=told.append)
    good = checkpoint_path(folder / "run", 3)
    assert [line.split(": ")[0] for line in told] == [str(damaged), str(middle)]
    assert all(line.endswith(f"; going on from {good}") for line in told)
    assert last(folder, "run") == whole and damaged.read_bytes() != content[:-100]
    for _, path in list_checkpoints(folder / "run"):
        path.write_bytes(b"")
    with pytest.raises(InputError, match=f"^{damaged}: not a checkpoint"):
        train(replace(request, resume=True))


@pytest.mark.parametrize("consume", [False, True])
def test_killed_at_any_moment_it_goes_on_bit_for_bit(folder: pathlib.Path, consume: bool) -> None:
    train(a_request(folder, "whole"))
    request = replace(a_request(folder, "run"), consume=consume)
    draw = random.Random(int(consume))
    reached = set()
    for left in reversed(range(7)):
        child = os.fork()
        if not child:
            there = bool(list_checkpoints(folder / "run"))
            if not there:  # nothing was safe: begun anew
                shutil.rmtree(folder / "run", ignore_errors=True)
            train(replace(request, resume=there))
            os._exit(0)
        if left:
            wanted = newest(folder) + draw.randrange(2)
            while newest(folder) < wanted and os.waitid(os.P_PID, child, LOOK) is None:
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.03))
            os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        reached.add(newest(folder))
    assert ended == 0
    assert len(reached) > 2, "all were killed at the same place"
    assert last(folder, "run") == last(folder, "whole")
    lines = [
        [json.loads(line)["policy_loss"] for line in (folder / run / METRICS).open()]
        for run in ("run", "whole")
    ]
    assert lines[0] == lines[1]
    if consume:
        assert not list_shards(str(folder / "games"))


@pytest.mark.parametrize(
    ("wrong", "what"), [(np.nan, "is not finite"), (1e9, "has exploded"), (3e3, "has exploded")]
)
def test_a_bad_loss_stops_and_names_the_last_good_checkpoint(
    folder: pathlib.Path, wrong: float, what: str
) -> None:
    train(replace(a_request(folder, "run"), steps=2))
    good = checkpoint_path(folder / "run", 2)
    tensors, metadata = load_checkpoint(good)
    tensors["target/critic.2.bias"] = np.full(1, wrong, np.float32)  # what v-trace is made of
    save(good, tensors, metadata, overwrite=True)
    with pytest.raises(InputError) as caught:
        train(replace(a_request(folder, "run"), resume=True))
    assert str(caught.value) == f"step 3: the loss {what}; the last good checkpoint is {good}"
    assert len(list_checkpoints(folder / "run")) == 3


def test_weights_that_are_not_finite_are_neither_saved_nor_published(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss is that of before the update, and says nothing of it."""
    train(replace(a_request(folder, "run"), steps=2))
    good = checkpoint_path(folder / "run", 2)
    monkeypatch.setattr(AdamConfig, "rate", lambda config, *done: math.inf)
    request = replace(a_request(folder, "run"), resume=True, steps=3)
    with pytest.raises(InputError) as caught:
        train(request)
    what = f"the update has made weights that are not finite; the last good checkpoint is {good}"
    assert str(caught.value) == f"step 3: {what}"
    assert list_checkpoints(folder / "run")[-1] == (2, good)
    weights, metadata = read_policy(folder / "run")
    assert metadata["step"] == 2 and all(np.isfinite(w).all() for w in weights.values())
    lines = (folder / "run" / METRICS).read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]


def test_no_run_begins_with_weights_that_are_not_finite(folder: pathlib.Path) -> None:
    """A checkpoint that holds them would be called the last good one."""
    train(replace(a_request(folder, "run"), steps=1))
    path = checkpoint_path(folder / "run", 1)
    tensors, metadata = load_checkpoint(path)
    tensors["online/critic.2.bias"] = np.full(1, np.nan, np.float32)
    save(path, tensors, metadata, overwrite=True)
    fresh = replace(a_request(folder, "fine"), start=str(path))
    for request in (replace(a_request(folder, "run"), resume=True), fresh):
        with pytest.raises(InputError) as caught:
            train(request)
        assert str(caught.value) == f"{path}: its weights are not all finite"
    assert not list_checkpoints(folder / "fine") and len(list_checkpoints(folder / "run")) == 2


def test_a_checkpoint_of_before_there_were_algorithms(folder: pathlib.Path) -> None:
    """It goes on as R-NaD, with equal results."""
    train(a_request(folder, "whole"))
    request = a_request(folder, "run")
    train(replace(request, steps=2))
    path = checkpoint_path(folder / "run", 2)
    tensors, metadata = load_checkpoint(path)
    new = ("algorithm", "networks", "metadata_sha256")
    old = {key: value for key, value in metadata.items() if key not in new}
    text = {"stratkit": json.dumps(old)}
    safetensors.numpy.save_file(tensors, path, text)
    train(replace(request, resume=True))
    assert last(folder, "run") == last(folder, "whole")
    with pytest.raises(InputError, match="unknown algorithm 'sarsa'"):
        train(replace(request, resume=True, algorithm="sarsa"))


def test_a_damaged_checkpoint_takes_no_place_of_a_good_one(folder: pathlib.Path) -> None:
    request = a_request(folder, "run")
    train(replace(request, steps=4))
    for step in (3, 4):
        checkpoint_path(folder / "run", step).write_bytes(b"")
    checkpoint_path(folder / "run", 2).unlink()
    train(replace(request, steps=2, resume=True, options={**SETTINGS, "keep": 1}))
    assert load_checkpoint(checkpoint_path(folder / "run", 2))[1]["step"] == 2


def test_the_newest_checkpoints_and_milestones_are_kept(folder: pathlib.Path) -> None:
    train(a_request(folder, "run", keep=2, milestone=2))
    assert [step for step, _ in list_checkpoints(folder / "run")] == [0, 2, 4, 5]


def test_episodes_are_deleted_when_what_learned_from_them_is_on_the_disk(
    folder: pathlib.Path,
    synced: list[tuple[pathlib.Path, set[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A power failure takes with it what was not synced: first the checkpoint's content and its
    name, in a folder whose own name is safe, then its episodes may go."""
    safe: set[str] = set()  # checkpoints, at each deletion
    unlink = os.unlink

    def noted(path: str, **options: int) -> None:
        if str(path).endswith(".eps"):
            assert (folder / "run") in [what for what, _ in synced]
            whole = {name for what, names in synced for name in names if what == checkpoints}
            assert whole > safe
            safe.update(whole)
        unlink(path, **options)

    checkpoints = folder / "run/checkpoints"
    monkeypatch.setattr(os, "unlink", noted)
    train(replace(a_request(folder, "run"), consume=True))
    assert not os.listdir(folder / "games")


@pytest.mark.parametrize("every", [1, 3, 100])
def test_the_last_file_is_deleted_too(folder: pathlib.Path, every: int) -> None:
    """Though nothing comes behind it, and the learner would wait for more."""
    request = replace(a_request(folder, "run", save_every=every), consume=True, wait=True)
    train(replace(request, steps=4))
    assert list_shards(str(folder / "games")) == ["3.eps"]  # four of its games are to be learned
    train(replace(request, steps=5, resume=True))
    assert not list_shards(str(folder / "games"))


def test_what_no_checkpoint_covers_is_not_deleted(folder: pathlib.Path) -> None:
    """Games at the end that are too few for a step, and sound ones in a file that is not."""
    request = replace(a_request(folder, "run", batch=6), consume=True)
    train(request)
    assert list_shards(str(folder / "games")) == ["3.eps"]
    game, found = episodes("nano", 40)
    write(folder / "games/4.eps", game, found[20:25])
    damaged = pathlib.Path(write(folder / "games/5.eps", game, found[25:40]))
    damaged.write_bytes(damaged.read_bytes()[:-60] + b"no frame of zstd")
    outcome = train(replace(request, resume=True, options={**SETTINGS, "batch": 7}))
    assert outcome.step > 4 and isinstance(outcome.error, InputError)
    assert list_shards(str(folder / "games")) == ["5.eps"]


def test_deleted_later_where_nobody_could_at_first(folder: pathlib.Path) -> None:
    """Killed between the checkpoint and the deletion, or begun without --consume; also a file of
    nothing but duplicates, which no batch tells of."""
    train(a_request(folder, "run"))
    shutil.copy(folder / "games/1.eps", folder / "games/9.eps")
    assert len(list_shards(str(folder / "games"))) == 5
    train(replace(a_request(folder, "run"), consume=True, resume=True))
    assert not list_shards(str(folder / "games"))


def test_a_window_of_old_episodes_is_resumed(folder: pathlib.Path) -> None:
    """2 + 3 steps are 5, bit for bit, though most of the episodes are of before the stop."""
    options = {"window": 3, "replays": 2, "targets": "played"}
    request = a_request(folder, "run", "alphaze", **options)
    train(replace(request, run=str(folder / "whole")))
    train(replace(request, steps=2))
    assert last(folder, "run")[0] == 2
    train(replace(request, resume=True))
    assert last(folder, "whole")[0] == 5
    tensors = [
        load_checkpoint(list_checkpoints(folder / run)[-1][1])[0] for run in ("run", "whole")
    ]
    assert tensors[0]["window/met"] == 5
    assert tensors[0].keys() == tensors[1].keys()
    for name, tensor in tensors[0].items():
        assert name.startswith("window/0") or np.array_equal(tensor, tensors[1][name]), name
