"""What a run has taken from its files."""

from __future__ import annotations

import pathlib

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
