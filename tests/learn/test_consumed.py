"""What a run has consumed from its files."""

from __future__ import annotations

import os
import pathlib
import shutil
import time
from collections.abc import Mapping
from typing import Any

import pytest

from learn.games import episodes, write
from running import PATIENCE
from stratkit.errors import InputError
from stratkit.learn import publisher
from stratkit.learn.consumed import Consumed
from stratkit.learn.request import Observer
from stratkit.learn.run import Request, train
from stratkit.learn.source import Source
from stratkit.learn.streams import Plan
from stratkit.storage.checkpoints import read_policy
from stratkit.storage.episodes import PLAYED, Episodes, EpisodeWriter, Header
from stratkit.storage.shards import shard_name, unread


def test_what_was_learned_of_files_that_are_still_there(tmp_path: pathlib.Path) -> None:
    first = str(tmp_path / shard_name(1, 0, 9, 0, 2))
    second = str(tmp_path / shard_name(1, 10, 19, 1, 2))
    pathlib.Path(first).touch()
    consumed = Consumed({first: 4, second: 3}, 2)  # the second is gone
    assert consumed.files == {first: 4} and consumed.learned == [4, 0]
    consumed.add({first: 7, second: 2, str(tmp_path / "games.eps"): 5}, ())
    assert consumed.learned == [7, 2]
    # Complete with 8 of its 10 games: the others had been there before.
    consumed.add({first: 8}, [first])
    assert consumed.learned == [10, 2]
    consumed.add({}, [second])  # not one of its games was new
    assert consumed.learned == [10, 10]
    assert consumed.forget_complete() == {first, second}
    assert consumed.learned == [0, 0] and list(consumed.files.values()) == [5]
    assert consumed.forget_complete() == set()


def test_files_that_somebody_deletes_count_no_more(tmp_path: pathlib.Path) -> None:
    """Nor is a new backlog smaller for them."""
    names = [shard_name(1, first, first + 99) for first in (0, 100, 200)]
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.touch()
    consumed = Consumed({}, 1)
    consumed.add({str(paths[0]): 100, str(paths[1]): 30}, [str(paths[0])])
    consumed.forget_missing()
    assert unread(str(tmp_path), consumed.learned) == [170]
    paths[0].unlink()
    consumed.forget_missing()
    assert unread(str(tmp_path), consumed.learned) == [170]
    assert consumed.files == {str(paths[1]): 30} and not consumed.complete
    # What its reader has open may still be told of.
    paths[1].unlink()
    consumed.add({str(paths[1]): 60}, ())
    consumed.forget_missing()
    assert unread(str(tmp_path), consumed.learned) == [100]
    tmp_path.joinpath(names[2]).unlink()
    tmp_path.rmdir()
    consumed.add({str(paths[1]): 100}, [str(paths[1])])
    consumed.forget_missing()
    assert consumed.learned == [0] and not consumed.files and not consumed.forget_complete()


def test_a_relative_path_is_found(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = shard_name(1, 0, 9), os.path.join("games", shard_name(1, 10, 19))
    os.mkdir("games")
    for name in names:
        pathlib.Path(name).touch()
    consumed = Consumed(dict.fromkeys(names, 10), 1)
    consumed.forget_missing()
    assert consumed.learned == [20]


def test_a_run_publishes_what_is_there(tmp_path: pathlib.Path) -> None:
    """Of the files that it has learned from, one is deleted by somebody else."""
    game, found = episodes("nano", 16)
    folder = tmp_path / "games"
    folder.mkdir()
    paths = [folder / shard_name(1, k, k + 3) for k in range(0, 16, 4)]
    for k, path in enumerate(paths):
        write(path, game, found[4 * k : 4 * k + 4])

    class Deleting(Observer):
        def step(self, metrics: Mapping[str, Any]) -> None:
            if metrics["step"] == 2:
                paths[0].unlink()

    settings = {"batch": 4, "rows": 32, "seed": 1, "save_every": 1}
    request = Request([str(folder)], str(tmp_path / "run"), net="plain", options=settings, steps=3)
    train(request, observer=Deleting())
    learned = read_policy(tmp_path / "run")[1]["learned"]
    assert learned == [8] and unread(str(folder), learned) == [4]


def test_self_play_is_told_before_files_are_deleted(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or it would take what is left for less than it is. However long the weights take."""
    game, found = episodes("nano", 8)
    for k in (0, 4):
        write(tmp_path / shard_name(1, k, k + 3), game, found[k : k + 4])
    publish, unlink, told = publisher.publish_policy, os.unlink, []

    def slowly(*published: Any) -> None:
        time.sleep(0.02)
        publish(*published)

    def noted(path: str, **options: int) -> None:
        if str(path).endswith(".eps"):
            told.append(read_policy(tmp_path / "run")[1]["learned"])
        unlink(path, **options)

    monkeypatch.setattr(publisher, "publish_policy", slowly)
    monkeypatch.setattr(os, "unlink", noted)
    monkeypatch.chdir(tmp_path)
    assert learn(tmp_path, ".", consume=True) == (8, [])
    assert told == [[0], [0]]


def learn(folder: pathlib.Path, *inputs: str, **options: Any) -> tuple[int, list[str]]:
    """How many episodes the run has learned from, and what it told."""
    batch, told = options.pop("batch", 4), list[str]()
    paths = [str(folder / path) if path != "." else path for path in inputs]
    settings = {"batch": batch, "rows": 32, "seed": 1, "save_every": 1}
    run = str(folder / "run")
    request = Request(paths, run, net="plain", options=settings, wait=False, **options)
    return train(request, warn=told.append).episodes, told


@pytest.fixture
def games(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with `m.eps`, which has twelve games in one frame."""
    folder = tmp_path / "games"
    folder.mkdir()
    game, found = episodes("nano", 12)
    header = Header(game=game.name, rules=game.rules, endings=game.endings, seed=1)
    with open(folder / "m.eps", "wb") as stream, EpisodeWriter(stream, header) as writer:
        writer.write(Episodes.of(found))
    return folder


@pytest.mark.parametrize("name", ["a.eps", "z.eps"])
@pytest.mark.parametrize("steps", [2, 3])
def test_a_resumed_run_knows_the_games_that_it_has_learned(
    games: pathlib.Path, name: str, steps: int
) -> None:
    """Also those of a copy that is read before, and where a frame was not learned to its end."""
    assert learn(games.parent, "games", steps=steps) == (4 * steps, [])
    shutil.copy(games / "m.eps", games / name)
    assert learn(games.parent, "games", resume=True) == (12, ["12 duplicates were left out"])
    files = learn(games.parent, f"games/{name}", "games/m.eps", resume=True, steps=9)
    assert files == (12, ["12 duplicates were left out"])


def test_games_of_files_that_are_gone_are_new(games: pathlib.Path) -> None:
    """As train(1) says."""
    assert learn(games.parent, "games", consume=True) == (12, [])
    game, found = episodes("nano", 12)
    write(games / "a.eps", game, found)
    assert learn(games.parent, "games", resume=True) == (24, [])


def test_duplicates_behind_the_last_batch_are_told(games: pathlib.Path) -> None:
    game, found = episodes("nano", 12)
    write(games / "n.eps", game, found[:1])
    assert learn(games.parent, "games") == (12, ["1 duplicate was left out"])


def test_files_that_share_games_are_passed_over_in_the_order_of_reading(
    tmp_path: pathlib.Path,
) -> None:
    """How many of a file's games were new depends on what came before it."""
    game, found = episodes("nano", 16)
    for name, some in (("b", found[:8]), ("a", found[4:12]), ("c", found[8:16])):
        write(tmp_path / f"{name}.eps", game, some)
    assert learn(tmp_path, "b.eps", "a.eps", batch=12)[0] == 12
    told = ["8 duplicates were left out"]
    assert learn(tmp_path, "c.eps", "b.eps", "a.eps", resume=True) == (16, told)


def test_the_working_directory_is_resumed(
    games: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(games)
    assert learn(games.parent, ".", steps=2) == (8, [])
    assert learn(games.parent, ".", resume=True) == (12, [])


def test_files_that_were_consumed_leave_nothing_behind(tmp_path: pathlib.Path) -> None:
    """Of an endless run's files there is no end."""
    game, found = episodes("nano", 24)
    source = Source([str(tmp_path)])
    source.begin(Plan(4))
    paths = [tmp_path / shard_name(1, k, k + 3) for k in range(0, 24, 4)]
    for k, path in enumerate(paths):
        write(tmp_path / "new", game, found[4 * k : 4 * k + 4])
        (tmp_path / "new").rename(path)
        prepared = source.next(60)
        assert prepared is not None and prepared.progress.consumed == {str(path): 4}
        assert prepared.progress.complete == {str(path)}
        path.unlink()
    deadline = time.monotonic() + PATIENCE
    while source._consumed and time.monotonic() < deadline:
        time.sleep(0.01)
    source.stop()
    assert not source._consumed and not source._sizes


def test_a_source_waits_until_it_is_told_how_batches_are_made(tmp_path: pathlib.Path) -> None:
    """The game comes first, as settings may depend on it; a first header that does not fit is
    refused before a run begins."""
    game, found = episodes("nano", 4)
    path = tmp_path / "played.eps"
    header = Header(
        version=PLAYED,
        game=game.name,
        rules=game.rules,
        endings=game.endings,
        seed=1,
        sampled=False,
    )
    with open(path, "wb") as stream, EpisodeWriter(stream, header):
        pass
    refused = Source([str(path)], wait=False)
    assert str(refused.game(PATIENCE)) == str(game) and refused.next(0) is None
    with pytest.raises(InputError, match="mmd needs each action's probability"):
        refused.begin(Plan(4, sampled="mmd"))
    refused.stop()
    source = Source([write(path, game, found)], wait=False)
    assert str(source.game(PATIENCE)) == str(game) and source.next(0) is None
    source.begin(Plan(3))
    prepared = source.next(PATIENCE)
    assert prepared is not None and prepared.fresh == 3
    source.stop()
