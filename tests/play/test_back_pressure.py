"""Self-play that follows a learner through a folder: how far ahead, and for whom."""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import pathlib
import random
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from play.test_follower import publish
from running import PATIENCE, forked_line
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.learn.run import METRICS
from stratkit.play.actor import Actor
from stratkit.play.backpressure import (
    LOOKS,
    MOST_MOMENTS,
    BackPressure,
    FolderBackPressure,
    FollowedGames,
    periods_ahead,
)
from stratkit.play.follower import Follower
from stratkit.play.options import SelfplayOptions
from stratkit.play.seating import Seating, Seatings
from stratkit.players.registry import parse_player
from stratkit.storage.episodes import EpisodeReader
from stratkit.storage.shards import episodes_in, list_shards, rank_of, shard_name


class Known(SimpleNamespace):
    """A follower that knows what a test says."""

    counted = Follower.counted


def known(**more: Any) -> Any:
    return Known(**{"episodes": 0, "began": (0, 0), "passed": None, "learned": [0], **more})


def test_names_say_how_many_and_for_whom() -> None:
    for part in range(3):
        name = shard_name(7, 10, 19, part, 3)
        assert rank_of(name, 3) == part and episodes_in(name) == 10
    assert episodes_in("a.eps") == 0 and episodes_in(f".tmp.{name}") == 0


def test_what_waits_in_the_folder_counts_whoever_wrote_it(tmp_path: pathlib.Path) -> None:
    follower = known(period=8)
    pressure = FolderBackPressure(follower, 20, slots=4, folder=str(tmp_path))
    assert pressure.in_flight == pressure.backlog == 0
    pressure.begun = 7
    (tmp_path / shard_name(1, 0, 15)).touch()
    (tmp_path / ".tmp.x.eps").touch()
    assert pressure.look() == 16 and pressure.in_flight == 23
    assert not pressure.worth_playing(1) and pressure.worth_playing(2)
    pressure.written = 5
    follower.learned = [10]
    assert pressure.look() == 6 and pressure.in_flight == 8 and pressure.worth_playing(1)
    follower.learned = [0, 0]  # two ranks now, of which one has nothing
    assert pressure.look() == 0 and pressure.ranks == 2 and pressure.in_flight == 2
    for _ in range(2):
        (tmp_path / shard_name(1, 16, 24, pressure.least_loaded, 2)).touch()
        pressure.look()
    assert pressure.look() == 2 * min(16, 2 * 9)


@pytest.mark.parametrize(("ahead", "writers"), [(48, 2), (16, 2), (200, 8)])
def test_writers_are_ahead_together(tmp_path: pathlib.Path, ahead: int, writers: int) -> None:
    """No more than was given, whoever plays and writes when; one that is killed keeps nobody from
    going on, nor does another one in its place. By a model of them with a fresh look each time."""
    draw, period = random.Random(ahead), 8
    follower = known(period=period)
    last, waiting = 0, dict[pathlib.Path, int]()

    def another() -> FolderBackPressure:
        return FolderBackPressure(follower, ahead, 0, str(tmp_path), writers=writers)

    playing, most, learned = [another() for _ in range(writers)], 0, 0
    for turn in range(900):
        one = draw.choice(playing)
        one.look()
        one.begun += draw.randint(0, one.room())
        assert one.begun - one.written <= one.share
        if one.begun > one.written and draw.random() < 0.7:
            size = draw.randint(1, one.begun - one.written)
            last, path = last + size, tmp_path / shard_name(1, last, last + size - 1)
            path.touch()
            waiting[path], one.written = size, one.written + size
        in_flight = sum(one.begun - one.written for one in playing) + sum(waiting.values())
        most = max(most, in_flight)
        assert in_flight <= ahead
        if draw.random() < 0.2 and sum(waiting.values()) >= period:
            for path in list(waiting)[: 1 + len(waiting) // 2]:
                learned += waiting.pop(path)
                path.unlink()
        if turn == 300:
            playing.pop()
        elif turn == 600:
            learned, half = 0, learned
            playing.append(another())
    assert most > ahead // 2 and min(half, learned) > 4 * period


@pytest.mark.parametrize(("ahead", "writers"), [(48, 2), (16, 2), (50, 3)])
def test_writers_to_pipes_are_ahead_together(ahead: int, writers: int) -> None:
    """The same, where each fills a pipe of its own and the learner takes from any of them. It had
    another writer's games before, which nobody has to wait for."""
    draw, period = random.Random(ahead), 8
    follower = known(period=period, passed={"of another": 5})
    names = [f"{seed}:0" for seed in range(writers)]
    playing = {
        name: BackPressure(follower, ahead, 0, writers=writers, origin=name) for name in names
    }
    taken, most, half = collections.Counter[str](), 0, 0
    for turn in range(900):
        name = draw.choice(list(playing))
        one = playing[name]
        one.begun += draw.randint(0, one.room())
        one.delivered = draw.randint(one.delivered, one.begun)
        in_flight = sum(each.begun - taken[name] for name, each in playing.items())
        most = max(most, in_flight)
        assert in_flight <= ahead
        if one.delivered > taken[name]:
            taken[name] += 1
        if taken.total() // period > sum(follower.passed.values()) // period:
            follower.passed = dict(taken)
        if turn == 600:
            del playing[names[-1]]
            half = taken.total()
    assert most > ahead // 2 and taken.total() > half + 4 * period > 8 * period
    with pytest.raises(UsageError, match=f"8 episodes .* to the next, for each of {ahead} writers"):
        BackPressure(follower, ahead, 0, writers=ahead).check()


def test_a_bound_that_leaves_a_writer_nothing(tmp_path: pathlib.Path) -> None:
    follower = Follower(str(tmp_path), Game("nano"))
    follower.batch = 8
    pressure = FolderBackPressure(follower, 10, 0, str(tmp_path), writers=3)
    what = "less than the 8 episodes from one publication to the next, and one for each of 3"
    with pytest.raises(UsageError, match=what):
        pressure.check()
    assert FolderBackPressure(follower, 11, 0, str(tmp_path), writers=3).share == 1
    few = FolderBackPressure(follower, 128, 0, str(tmp_path), writers=7)
    assert few.share == 16 and few.shard_size(1024) == 8


@pytest.mark.parametrize(
    ("periods", "writers", "pipes", "folder"),
    [(1, 1, 8, 8), (1, 2, 16, 16), (1, 5, 40, 16), (1, 12, 96, 23), (8, 2, 64, 64), (8, 9, 72, 64)],
)
def test_what_is_not_given_is_enough_for_every_writer(
    tmp_path: pathlib.Path, periods: int, writers: int, pipes: int, folder: int
) -> None:
    """A learner comes to its next publication by each of several pipes alone. What was given and
    is less is refused, with the least that would do."""
    words = {"slots": 0, "periods": periods, "writers": writers}
    to = {"folder": str(tmp_path)}
    for kind, more, wanted in ((BackPressure, {}, pipes), (FolderBackPressure, to, folder)):
        follower = known(period=8)
        default = kind(follower, None, **words, **more)
        default.check()
        assert default.max_ahead == wanted and default.share >= 1
        least = default.least
        kind(follower, least, **words, **more).check()
        with pytest.raises(UsageError, match=f"{least} at least" if writers > 1 else "the 8 epis"):
            kind(follower, least - 1, **words, **more).check()
        follower.period = 1
        default.check()


def test_the_least_is_what_leaves_every_writer_a_game(tmp_path: pathlib.Path) -> None:
    for period, writers in itertools.product(range(1, 12), range(2, 30)):
        follower, folder = known(period=period), str(tmp_path)
        least = FolderBackPressure(follower, None, 0, folder, writers=writers).least
        for ahead in range(max(1, least - 2), least + 3):
            one = FolderBackPressure(follower, ahead, 0, folder, writers=writers)
            assert (ahead >= least) == (ahead >= period and one.share >= 1)


def test_how_far_ahead_follows_a_learner_that_is_started_again(tmp_path: pathlib.Path) -> None:
    """Unless it was given; each rank may need as much as that which needs most."""
    follower = Follower(str(tmp_path), Game("nano"))
    follower.batch = 8
    free = BackPressure(follower, None, slots=8)
    given = BackPressure(follower, 30, slots=8)
    assert (free.max_ahead, given.max_ahead) == (64, 30)
    given.check()
    follower.publish_every = 5
    assert (free.max_ahead, given.max_ahead) == (320, 30)
    free.check()
    with pytest.raises(UsageError, match="less than the 40 episodes from one publication"):
        given.check()
    follower.batch, follower.publish_every, follower.learned = 9, 3, [0, 0]
    assert follower.period == 2 * 15
    with pytest.raises(UsageError, match="less than the 30 episodes"):
        BackPressure(follower, 27, slots=8).check()


def test_small_games_are_played_by_the_newest_policy(tmp_path: pathlib.Path) -> None:
    """One period, all of which is played at a time; boards, and frozen opponents, have eight."""
    assert [periods_ahead(Game(name)) for name in ("kuhn", "dark_hex:2", "nano")] == [1, 1, 8]
    frozen = (parse_player("random"),)
    for name, met, wanted in (
        ("kuhn", (), (4, 4)), ("kuhn", (None,), (4, 4)), ("kuhn", frozen, (32, 8)),
        ("nano", (), (32, 8)),
    ):  # fmt: skip
        (tmp_path / name).mkdir(exist_ok=True)
        publish(tmp_path / name, name)
        options = {"game": name, "follow": True, "policy": str(tmp_path / name), "seed": 1}
        given = SelfplayOptions(**options, open=None, device="cpu", opponents=met)
        actor = Actor(given, print, print)
        assert actor.follower is not None and actor.follower.refresh()
        pressure = actor._back_pressure(actor.follower)
        assert (pressure.max_ahead, actor.slots) == wanted


def test_parts_follow_through_a_pipe_each(tmp_path: pathlib.Path) -> None:
    """In a small game, with one seed, and without -n or --max-ahead: a period each."""
    publish(tmp_path, "kuhn")  # with a batch of 4
    follow = ("--game", "kuhn", "--seed", 1, "--policy", tmp_path, "--follow", "-q")
    numbers, origins = list[int](), list[str]()
    for part in ("1/2", "2/2"):
        line = forked_line("selfplay", *follow, "--part", part)
        with subprocess.Popen(line, stdout=subprocess.PIPE) as writer:
            assert writer.stdout
            reader = EpisodeReader(writer.stdout, part)
            numbers += [episode.number for episode in itertools.islice(reader, 4)]
            origins.append(reader.header.origin)
            writer.kill()
    assert numbers == [0, 1, 2, 3, *range(2**61, 2**61 + 4)]
    assert origins == ["1:0", f"1:{2**61}"]


def test_who_waits_goes_on_when_the_learner_has_published(tmp_path: pathlib.Path) -> None:
    publish(tmp_path, "kuhn")
    follower, waited = Follower(str(tmp_path), Game("kuhn")), []
    assert follower.refresh() and not follower.is_stale

    def pause(moments: int) -> None:
        waited.append(moments)
        if len(waited) == 3:
            publish(tmp_path, "kuhn", step=1)

    FollowedGames(Seatings(iter(())), BackPressure(follower, 4, 4), pause).wait()
    assert waited == [1, 1, 1] and follower.is_stale


def test_a_game_notes_the_step_at_which_it_began(tmp_path: pathlib.Path) -> None:
    """It is begun when the back-pressure allows it, after a look at what was published."""

    class Published(Follower):
        def refresh(self) -> bool:
            self.step, self.episodes = self.step + 1, self.episodes + 2
            return True

    follower = Published(str(tmp_path), Game("nano"))
    waited: list[int] = []
    games = (Seating(number, (0, 0)) for number in range(7))
    pressure = BackPressure(follower, 4, slots=4)
    source = FollowedGames(Seatings(games), pressure, waited.append)
    taken = [list(zip(*map(list, source.take(3)[:3:2]), strict=True)) for _ in range(4)]
    assert taken == [[(0, 0), (1, 0), (2, 0)], [(3, 1), (4, 1), (5, 1)], [(6, 2)], []]
    assert source.ended and pressure.begun == 7
    for _ in range(MOST_MOMENTS + 1):
        source.wait()
    assert waited[::LOOKS] == [*range(1, MOST_MOMENTS + 1), MOST_MOMENTS]  # nothing was published
    follower = Published(str(tmp_path), Game("nano"))
    source = FollowedGames(
        Seatings(iter([Seating(0, (0, 0))] * 9)), BackPressure(follower, 1, 4), print
    )
    assert [len(source.take(9).numbers) for _ in range(3)] == [3, 2, 2] and not source.ended


def test_the_last_games_wait_for_nobody(tmp_path: pathlib.Path) -> None:
    """A round of few games waits for others to fill the slots, unless no others come."""
    follower = known(refresh=lambda: False, step=1, period=1, batch=1)
    pressure = BackPressure(follower, 64, slots=8)
    source = FollowedGames(Seatings(Seating(k, (0, 0)) for k in range(4)), pressure, print)
    assert len(source.take(3).numbers) == 3
    pressure.delivered = 2
    assert not source.ended and not source.worth_playing(1)
    assert len(source.take(3).numbers) == 1
    assert not len(source.take(3).numbers)
    assert source.ended and source.worth_playing(1)
    source.go_on(61)
    assert pressure.in_flight > pressure.max_ahead and not source.worth_playing(1)


def test_a_publication_that_was_missed_costs_nothing(tmp_path: pathlib.Path) -> None:
    """RUN has the weights of a learner that was killed; one that goes on from a checkpoint is seen
    only after its first step. Whether its predecessor began with as many episodes is no matter."""
    follower = Follower(str(tmp_path), Game("nano"))
    follower.episodes, follower.began = 1500, [1000, 7]
    pressure = BackPressure(follower, 8, slots=8)
    assert pressure.consumed == 0
    follower.episodes, follower.began = 1008, [1000, 8]
    assert pressure.consumed == 8
    follower.episodes = 1024
    assert pressure.consumed == 24
    follower.episodes, follower.began = 1016, [1008, 9]
    assert pressure.consumed == 32


def test_a_bound_that_whole_files_do_not_fill(tmp_path: pathlib.Path) -> None:
    """Files of two, five episodes ahead, which is a batch: the fifth has a file of its own."""
    folder, run = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    learning = "--net plain --batch 5 --rows 32 --seed 1 --steps 2 -q".split()  # noqa: SIM905
    learner = subprocess.Popen(
        forked_line("train", folder, "--out", run, "--game", "nano", *learning)
    )
    following = ("--policy", run, "--follow", "--game", "nano", "--max-ahead", 5, "-q")
    writer = subprocess.Popen(forked_line("selfplay", *following, "--seed", 1, "-o", folder))
    try:
        assert learner.wait(PATIENCE) == 0
    finally:
        writer.terminate()
        writer.wait()
        learner.kill()


def test_two_writers_and_a_learner(tmp_path: pathlib.Path) -> None:
    """None waits for ever, also when one is killed, and the folder does not grow."""
    folder, run = tmp_path / "games", tmp_path / "run"
    folder.mkdir()
    learner = subprocess.Popen(
        [
            *forked_line("train", folder, "--out", run, "--game", "nano", "--steps", 12, "-q"),
            *"--net plain --batch 4 --rows 32 --seed 1 --save-every 2 --consume".split(),  # noqa: SIM905
        ]
    )
    following = ("--policy", run, "--follow", "--game", "nano", "--max-ahead", 8, "-q")
    writers = [
        subprocess.Popen(
            forked_line("selfplay", *following, "--part", f"{k}/2", "--seed", k, "-o", folder)
        )
        for k in (1, 2)
    ]
    try:
        most = 0
        while learner.poll() is None:
            names = list_shards(str(folder))
            most = max(most, sum(map(episodes_in, names)))
            if (run / "checkpoints/step-00000004.safetensors").exists():
                writers[1].kill()
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
    # What may wait, and two checkpoints' worth that may not be deleted yet.
    assert 0 < most <= 8 + 2 * 8
