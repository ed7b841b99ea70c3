"""Columns of episodes for what a search found: target policies and values."""

from __future__ import annotations

import dataclasses
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import older_reader
from storage.stored import HEADER, episode, plain, random_episodes, read, stream_of
from storage.test_episodes import COLUMNS, by_hand
from stratkit.errors import InputError
from stratkit.storage.episodes import Episode, Episodes, EpisodeWriter, PolicyTargets

GOOD = episode(1)
_COUNT = np.zeros(len(GOOD.actions), np.int64)
_COUNT[2] = 2
TARGETS = PolicyTargets(
    _COUNT, np.array([3, 5], np.int32), np.array([65534, 1], np.uint16)
)  # for GOOD


SEARCH = {
    "target_count": np.array([3, 0], np.uint16),
    "target_actions": np.array([1, 2, 4], np.uint8),
    "target_share": np.array([5, 65500, 30], np.uint16),
    "root_value": np.array([0.5, math.nan], np.float32),
}


def search(**columns: object) -> dict[str, np.ndarray]:
    """Columns with a target, in which these are others, or absent."""
    made = {**COLUMNS, **SEARCH}
    for name, values in columns.items():
        column = made.pop(name)
        if values is not None:
            made[name] = np.array(values, column.dtype)
    return made


def test_what_a_search_found_is_read_with_its_types() -> None:
    (got,), _ = read(by_hand(search()))
    assert got.targets is not None and got.root_value is not None
    assert got.targets.count.tolist() == [3, 0] and got.targets.share.dtype == np.uint16
    assert got.targets.actions.tolist() == [1, 2, 4] and got.targets.actions.dtype == np.int32
    assert got.root_value[0] == 0.5 and np.isnan(got.root_value[1])
    (got,), _ = read(by_hand(search(target_count=[2, 1], target_share=[5, 65530, 65535])))
    assert got.targets.count.tolist() == [2, 1]
    (got,), _ = read(by_hand())
    assert got.targets is None and got.root_value is None


@settings(max_examples=30)
@given(random_episodes(), st.sets(st.integers(0, 7)))
def test_an_older_reader_sees_the_same_episodes(
    episodes: list[Episode], flush_after: set[int]
) -> None:
    stored = stream_of(episodes, flush_after=sorted(flush_after))
    without = [dataclasses.replace(e, targets=None, root_value=None) for e in episodes]
    assert [plain(e) for e in older_reader.read(stored)] == [plain(e) for e in without]


WRONG = [
    (by_hand(search(target_share=None)), "no column 'target_share'"),
    (by_hand(search(target_count=[3])), "the lengths of the targets do not fit"),
    (by_hand(search(target_count=[3, 1])), "the lengths of the targets do not fit"),
    (by_hand(search(target_count=[2, 1])), "the shares of a target do not sum to 65535"),
    (by_hand(search(target_share=[1, 65535, 0])), "the shares of a target do not sum to 65535"),
    (by_hand(search(target_share=[0, 0, 0])), "the shares of a target do not sum to 65535"),
    (by_hand(search(target_actions=[1, 3, 3])), "the actions of a target do not ascend"),
    (by_hand(search(target_actions=[3, 1, 4])), "the actions of a target do not ascend"),
    (by_hand(search(root_value=[0.5])), "column 'root_value' is not as long as the actions"),
    (by_hand(search(root_value=[0.5, math.inf])), "column 'root_value' is .* infinite"),
]


@pytest.mark.parametrize(("stored", "message"), WRONG)
def test_what_is_wrong_is_said(stored: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^x.eps: frame 2 at byte .*: .*{message}"):
        read(stored)


@pytest.mark.parametrize(
    "change",
    [
        {"root_value": GOOD.mu[1:]},
        {"root_value": GOOD.mu * math.inf},
        {"targets": PolicyTargets.none(len(GOOD.actions) - 1)},
        {"targets": dataclasses.replace(TARGETS, share=TARGETS.share - np.uint16(1))},
        {"targets": dataclasses.replace(TARGETS, actions=TARGETS.actions[::-1])},
        {"targets": dataclasses.replace(TARGETS, actions=-TARGETS.actions)},
        {"targets": dataclasses.replace(TARGETS, count=TARGETS.count * 2)},
        {"targets": dataclasses.replace(TARGETS, count=-TARGETS.count)},
    ],
)
def test_values_outside_the_format_are_never_sent(change: dict[str, object]) -> None:
    writer = EpisodeWriter(io.BytesIO(), HEADER)
    writer.write(Episodes.of([dataclasses.replace(GOOD, targets=TARGETS, root_value=GOOD.mu)]))
    writer.flush()
    with pytest.raises(ValueError):
        one = dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]
        writer.write(Episodes.of([one]))
        writer.flush()
