"""Self-play that follows a learner through a folder: how far ahead, and for whom."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
from types import SimpleNamespace
from typing import cast

import pytest

from running import PATIENCE, command_line
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.learn.run import METRICS
from stratkit.play.backpressure import FolderPace, Follower, Pace
from stratkit.storage.shards import episodes_in, list_shards, rank_of, shard_name


def test_names_say_how_many_and_for_whom() -> None:
    for part in range(3):
        name = shard_name(7, 10, 19, part, 3)
        assert rank_of(name, 3) == part and episodes_in(name) == 10
    assert episodes_in("a.eps") == 0 and episodes_in(f".tmp.{name}") == 0


def test_what_waits_in_the_folder_counts_whoever_wrote_it(tmp_path: pathlib.Path) -> None:
    follower = SimpleNamespace(episodes=0, period=8, learned=[0], began=[0, 0])
    pace = FolderPace(cast(Follower, follower), wanted=20, slots=4, folder=str(tmp_path))
    assert pace.ahead == 0 and not pace.enough
    pace.begun = 7
    (tmp_path / shard_name(1, 0, 15)).touch()
    (tmp_path / ".tmp.x.eps").touch()
    assert pace.look() == 16 and pace.ahead == 23 and pace.enough
    pace.written = 5
    follower.learned = [10]
    assert pace.look() == 6 and pace.ahead == 8 and not pace.enough
    follower.learned = [0, 0]  # two ranks now, of which one has nothing
    assert pace.look() == 0 and pace.parts == 2 and pace.ahead == 2
    for _ in range(2):
        (tmp_path / shard_name(1, 16, 24, pace.poorest, 2)).touch()
        pace.look()
    assert pace.look() == 2 * min(16, 2 * 9)


def test_the_lead_follows_a_learner_that_began_anew(tmp_path: pathlib.Path) -> None:
    """Unless it was given; each rank may need as much as that which needs most."""
    follower = Follower(str(tmp_path), Game("nano"))
    follower.batch = 8
    free = Pace(follower, None, slots=8)
    given = Pace(follower, 30, slots=8)
    assert (free.lead, given.lead) == (64, 30)
    given.check()
    follower.publish_every = 5
    assert (free.lead, given.lead) == (320, 30)
    free.check()
    with pytest.raises(UsageError, match="less than the 40 episodes from one publication"):
        given.check()
    follower.batch, follower.publish_every, follower.learned = 9, 3, [0, 0]
    assert follower.period == 2 * 15
    with pytest.raises(UsageError, match="less than the 30 episodes"):
        Pace(follower, 27, slots=8).check()


def test_a_publication_that_was_missed_costs_no_lead(tmp_path: pathlib.Path) -> None:
    """RUN has the weights of a learner that was killed; one that goes on from a checkpoint is seen
    only after its first step. Whether its predecessor began with as many episodes is no matter."""
    follower = Follower(str(tmp_path), Game("nano"))
    follower.episodes, follower.began = 1500, [1000, 7]
    pace = Pace(follower, 8, slots=8)
    assert pace.consumed == 0
    follower.episodes, follower.began = 1008, [1000, 8]
    assert pace.consumed == 8
    follower.episodes = 1024
    assert pace.consumed == 24
    follower.episodes, follower.began = 1016, [1008, 9]
    assert pace.consumed == 32


def test_a_lead_that_its_files_do_not_fill(tmp_path: pathlib.Path) -> None:
    """Files of two, a lead of five, which is a batch: the fifth episode has a file of its own."""
    folder, run = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    learning = "--net plain --batch 5 --rows 32 --seed 1 --steps 2 -q".split()  # noqa: SIM905
    learner = subprocess.Popen(
        command_line("train", folder, "--out", run, "--game", "nano", *learning)
    )
    following = ("--policy", run, "--follow", "--game", "nano", "--lead", 5, "-q")
    writer = subprocess.Popen(command_line("selfplay", *following, "--seed", 1, "-o", folder))
    try:
        assert learner.wait(PATIENCE) == 0
    finally:
        writer.terminate()
        writer.wait()
        learner.kill()


def test_two_writers_and_a_learner(tmp_path: pathlib.Path) -> None:
    """Neither waits for ever, and the folder does not grow."""
    folder, run = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    learner = subprocess.Popen(
        [
            *command_line("train", folder, "--out", run, "--game", "nano", "--steps", 12, "-q"),
            *"--net plain --batch 4 --rows 32 --seed 1 --save-every 2 --consume".split(),  # noqa: SIM905
        ]
    )
    following = ("--policy", run, "--follow", "--game", "nano", "--lead", 8, "-q")
    writers = [
        subprocess.Popen(
            command_line("selfplay", *following, "--seed", k, "--groups", k, "-o", folder)
        )
        for k in (1, 2)
    ]
    try:
        most = 0
        while learner.poll() is None:
            most = max(most, len(list_shards(str(folder))))
            with contextlib.suppress(subprocess.TimeoutExpired):
                learner.wait(0.02)
        assert learner.returncode == 0
    finally:
        for writer in writers:
            writer.terminate()
            writer.wait()
        learner.kill()
    lines = [json.loads(line) for line in (run / METRICS).open()]
    assert len(lines) == 12 and lines[-1]["episodes"] == 48
    # Shards of four: two leads that wait, two checkpoints' worth that may not be deleted yet.
    assert 0 < most <= 4 + 5
