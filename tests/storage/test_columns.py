"""Games as columns."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.stored import HEADER, plain, random_episodes, read, stream_of
from stratkit.storage.episodes import Episode, Episodes, EpisodeWriter


@settings(max_examples=30)
@given(random_episodes(), st.data())
def test_games_are_taken_from_columns_as_from_a_list(
    one: list[Episode], data: st.DataObject
) -> None:
    if one:
        columns = Episodes.of(one)
        rows = data.draw(st.lists(st.integers(0, len(one) - 1), max_size=10))
        first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(one))] * 2)))
        for taken, expected in (
            (columns, one),
            (columns.take(np.array(rows, np.int64)), [one[row] for row in rows]),
            (columns[first:last], one[first:last]),
            (Episodes.concat([columns[:first], columns[first:]]), one),
        ):
            assert [plain(e) for e in taken] == [plain(e) for e in expected]
        assert plain(columns[-1]) == plain(one[-1])


@settings(max_examples=30)
@given(random_episodes(), st.data())
def test_bytes_do_not_depend_on_how_episodes_are_handed_over(
    one: list[Episode], data: st.DataObject
) -> None:
    stream = io.BytesIO()
    with EpisodeWriter(stream, HEADER) as writer:
        while one:
            count = data.draw(st.integers(1, len(one)))
            writer.write(Episodes.of(one[:count]))
            one = one[count:]
    got, _ = read(stream.getvalue())
    assert stream.getvalue() == stream_of(got)
