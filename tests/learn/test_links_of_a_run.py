"""A RUN that somebody else made may hold links: what they lead to stays as it is."""

from __future__ import annotations

import json
import os
import pathlib
import shutil

import pytest

from learn.games import episodes, write
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.folder import delete_old
from stratkit.learn.run import Request, train
from stratkit.match.evaluation import Evaluation, Opponent
from stratkit.storage.checkpoints import list_checkpoints, read_policy

OPTIONS = {"batch": 4, "rows": 32, "seed": 1, "save_every": 1}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with a RUN of one step, and games for more."""
    folder = tmp_path_factory.mktemp("begun")
    game, games = episodes("nano", 12)
    write(folder / "games.eps", game, games)
    assert learn(folder, 1) == 1
    return folder


@pytest.fixture
def folder(begun: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    shutil.copytree(begun, tmp_path / "copy")
    (tmp_path / "copy/theirs").write_text("theirs")
    return tmp_path / "copy"


def learn(folder: pathlib.Path, steps: int, resume: bool = False, **options: int) -> int:
    request = Request(
        (str(folder / "games.eps"),),
        str(folder / "run"),
        net=None if resume else "plain",
        steps=steps,
        wait=False,
        resume=resume,
        options={**OPTIONS, **options},
    )
    return train(request).step


@pytest.mark.parametrize(
    "name", ["policy.safetensors", "checkpoints/step-00000002.safetensors", "metrics.jsonl"]
)
@pytest.mark.parametrize("hard", [False, True])
def test_a_link_is_replaced(folder: pathlib.Path, name: str, hard: bool) -> None:
    path, theirs = folder / "run" / name, folder / "theirs"
    if name == "metrics.jsonl":
        shutil.copy(path, theirs)
    path.unlink(missing_ok=True)
    before = theirs.read_bytes()
    os.link(theirs, path) if hard else path.symlink_to(theirs)
    assert learn(folder, 2, resume=True) == 2
    assert theirs.read_bytes() == before
    assert not path.is_symlink() and path.stat().st_nlink == 1
    lines = (folder / "run/metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]
    assert [step for step, _ in list_checkpoints(folder / "run")] == [0, 1, 2]
    assert read_policy(folder / "run")[1]["step"] == 2


@pytest.mark.parametrize("name", ["checkpoints", "eval", "lock"])
def test_a_folder_or_lock_behind_a_link_is_refused(folder: pathlib.Path, name: str) -> None:
    path = folder / "run" / name
    if path.exists():
        path.rename(folder / name)
    path.symlink_to(folder / name)
    there = sorted(os.listdir(folder))
    with pytest.raises(InputError, match=f"run/{name}: a symbolic link: a run writes"):
        learn(folder, 2, resume=True)
    assert sorted(os.listdir(folder)) == there


def test_old_checkpoints_that_are_no_files_of_the_run_stay(folder: pathlib.Path) -> None:
    checkpoints = folder / "run/checkpoints"
    (checkpoints / "step-00000002.safetensors").symlink_to(folder / "theirs")
    (checkpoints / "step-00000003.safetensors").mkdir()
    (checkpoints / "step-00000004.safetensors").write_text("")
    delete_old(str(folder / "run"), 4, 1, 1000)
    assert [step for step, _ in list_checkpoints(folder / "run")] == [0, 2, 3, 4]


def test_a_record_of_eval_is_not_written_through_a_link(folder: pathlib.Path) -> None:
    (folder / "run/eval").mkdir()
    record = folder / "run/eval/step-00000001.jsonl"
    record.symlink_to(folder / "absent")
    told: list[str] = []
    run, opponent = str(folder / "run"), Opponent("random", 2)
    matches = Evaluation(run, opponent, Game("nano"), 1, told.append)
    matches.offer(1)
    matches.look()
    assert matches._match is not None
    matches._match.poll(block=True)
    assert matches.look() is not None, told
    assert not record.is_symlink() and not (folder / "absent").exists()
