"""What a run has taken from its files."""

from __future__ import annotations

import pathlib
import time

from learn.games import episodes, write
from running import PATIENCE
from stratkit.learn.source import Source
from stratkit.learn.taken import Taken
from stratkit.storage.shards import shard_name


def test_what_was_learned_of_files_that_are_still_there(tmp_path: pathlib.Path) -> None:
    first = str(tmp_path / shard_name(1, 0, 9, 0, 2))
    second = str(tmp_path / shard_name(1, 10, 19, 1, 2))
    pathlib.Path(first).touch()
    taken = Taken({first: 4, second: 3}, 2)  # the second is gone
    assert taken.files == {first: 4} and taken.learned == [4, 0]
    taken.add({first: 7, second: 2, str(tmp_path / "games.eps"): 5}, ())
    assert taken.learned == [7, 2]
    # Complete with 8 of its 10 games: the others had been there before.
    taken.add({first: 8}, [first])
    assert taken.learned == [10, 2]
    taken.add({}, [second])  # not one of its games was new
    assert taken.learned == [10, 10]
    assert taken.forget_complete() == {first, second}
    assert taken.learned == [0, 0] and list(taken.files.values()) == [5]
    assert taken.forget_complete() == set()


def test_files_that_were_consumed_leave_nothing_behind(tmp_path: pathlib.Path) -> None:
    """Of an endless run's files there is no end."""
    game, found = episodes("nano", 24)
    source = Source([str(tmp_path)], lambda game: (4, 1))
    paths = [tmp_path / shard_name(1, k, k + 3) for k in range(0, 24, 4)]
    for k, path in enumerate(paths):
        write(tmp_path / "new", game, found[4 * k : 4 * k + 4])
        (tmp_path / "new").rename(path)
        ready = source.next(60)
        assert ready is not None and ready.progress.taken == {str(path): 4}
        for complete in ready.progress.complete:
            pathlib.Path(complete).unlink()
    assert len(list(tmp_path.iterdir())) == 1
    deadline = time.monotonic() + PATIENCE
    while len(source._taken) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    source.stop()
    assert list(source._taken) == [str(paths[-1])]
