"""What a run has consumed from its files."""

from __future__ import annotations

import pathlib
import time

from learn.games import episodes, write
from running import PATIENCE
from stratkit.learn.consumed import Consumed
from stratkit.learn.source import Plan, Source
from stratkit.storage.shards import shard_name


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


def test_files_that_were_consumed_leave_nothing_behind(tmp_path: pathlib.Path) -> None:
    """Of an endless run's files there is no end."""
    game, found = episodes("nano", 24)
    source = Source([str(tmp_path)], lambda game: Plan(4))
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
