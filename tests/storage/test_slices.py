"""Slices of games in a stream: put together, told apart, and what is wrong with them."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest

from storage.stored import HEADER, episode, plain, read, stream_of
from storage.test_episodes import frames_of
from stratkit.errors import InputError
from stratkit.storage.episodes import SLICES, Episode, EpisodeReader, Episodes, EpisodeWriter
from stratkit.storage.frames import compress
from stratkit.storage.slices import GOES_ON

SLICED = dataclasses.replace(HEADER, version=SLICES)
GAMES = [dataclasses.replace(episode(k, 7 + 5 * k), ending=1) for k in range(4)]


def cut(game: Episode, first: int, end: int, step: int | None = None) -> Episode:
    """Its slice from action `first` to before `end`."""
    over = end >= len(game.actions)
    return dataclasses.replace(
        game,
        step=game.step if step is None else step,
        actions=game.actions[:end],
        mu=game.mu[:end],
        ending=game.ending if over else GOES_ON,
        returns=game.returns * over,
        first=first,
    )


def in_turn(length: int) -> list[Episode]:
    """All games at a time, so many actions of each in turn."""
    return [
        cut(game, first, first + length)
        for first in range(0, 30, length)
        for game in GAMES
        if first < len(game.actions)
    ]


def slices(stored: bytes) -> list[Episode]:
    return list(EpisodeReader(io.BytesIO(stored), "x.eps", whole=False))


@pytest.mark.parametrize("length", [1, 4, 30])
@pytest.mark.parametrize("frames", [(), range(100)], ids=["one frame", "a frame each"])
def test_they_are_put_together(length: int, frames: range | tuple[int, ...]) -> None:
    parts = in_turn(length)
    stored = stream_of(parts, SLICED, frames)
    whole, reader = read(stored)
    assert sorted(map(plain, whole)) == sorted(map(plain, GAMES))  # type: ignore[type-var]
    assert (reader.duplicates, reader.truncated) == (0, None)
    found = slices(stored)
    assert [plain(one) for one in found] == [plain(one) for one in parts]
    assert [one.first for one in found] == [one.first for one in parts]


def test_only_the_slices_are_stored() -> None:
    """Not what came before them, however it is handed over."""
    long = dataclasses.replace(episode(1, 4000), ending=1)
    parts = [cut(long, first, first + 40) for first in range(0, 4000, 40)]
    assert len(stream_of(parts, SLICED)) < 1.3 * len(stream_of([long]))


def test_a_slice_has_its_own_step_and_the_game_its_first() -> None:
    parts = [cut(GAMES[1], 0, 5, step=3), cut(GAMES[1], 5, 12, step=8)]
    stored = stream_of(parts, SLICED)
    assert [one.step for one in slices(stored)] == [3, 8]
    assert [one.step for one in read(stored)[0]] == [3]


def test_a_game_that_has_not_ended_is_no_whole_game() -> None:
    stored = stream_of([cut(GAMES[0], 0, 3), *in_turn(30)[1:]], SLICED)
    assert [one.number for one in read(stored)[0]] == [1, 2, 3]


def test_what_was_there_before_is_left_out_and_counted() -> None:
    a, b, c = (cut(GAMES[1], *span) for span in ((0, 5), (5, 9), (9, 12)))
    stored = stream_of([a, b, a, b, c], SLICED)
    assert [plain(one) for one in slices(stored)] == [plain(one) for one in (a, b, c)]
    reader = EpisodeReader(io.BytesIO(stored + stored), "x.eps")
    assert [plain(one) for one in reader] == [plain(GAMES[1])] and reader.duplicates == 2 + 5


A, B, C = (cut(GAMES[1], *span) for span in ((0, 5), (5, 9), (9, 12)))
WRONG = [
    ([A, C, B], "game 1: a slice from action 9 on, and before it only 5 actions came"),
    ([B, C], "game 1: a slice from action 5 on, and no such game goes on"),
    ([A, B, C, C], "game 1: a slice from action 9 on, and no such game goes on"),
    ([A, cut(GAMES[1], 3, 9)], "game 1: a slice from action 3 on, of which 5 actions came already"),
]


@pytest.mark.parametrize(("parts", "wrong"), WRONG)
@pytest.mark.parametrize("whole", [True, False])
def test_what_does_not_follow_is_refused(parts: list[Episode], wrong: str, whole: bool) -> None:
    stored = stream_of([*in_turn(30)[2:3], *parts], SLICED, (0,))
    reader = EpisodeReader(io.BytesIO(stored), "x.eps", whole=whole)
    frames = reader.frames()
    assert next(frames).number.tolist() == [2]
    with pytest.raises(InputError, match=f"^x.eps: frame 3 at byte .*: {wrong}"):
        list(frames)


def test_a_stream_does_not_go_on_with_another_s_games() -> None:
    stored = stream_of([A], SLICED) + stream_of([B, C], SLICED)
    with pytest.raises(InputError, match="no such game goes on"):
        slices(stored)


def test_games_that_go_on_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has ended does not count."""
    parts, longest = in_turn(4), sum(len(game.actions) for game in GAMES)
    monkeypatch.setattr("stratkit.storage.slices.MAX_ACTIONS", longest - 1)
    assert len(slices(stream_of(parts, SLICED))) == len(parts)
    monkeypatch.setattr("stratkit.storage.slices.MAX_ACTIONS", 20)
    with pytest.raises(InputError, match="over 20 actions of games that go on"):
        slices(stream_of(parts, SLICED))


def test_slices_need_version_2() -> None:
    sliced, old = (frames_of(stream_of(some, head)) for some, head in (([A], SLICED), ([], HEADER)))
    mixed = b"".join(compress([content]) for _, content in (old[0], sliced[1]))
    with pytest.raises(InputError, match="frame 2 at byte .*: slices in a stream of version 1"):
        slices(mixed)
    writer = EpisodeWriter(io.BytesIO(), HEADER)
    writer.write(Episodes.of([B]))
    with pytest.raises(ValueError, match="slices in a stream of version 1"):
        writer.flush()
    with pytest.raises(ValueError, match="slices with columns of a search"):
        writer = EpisodeWriter(io.BytesIO(), SLICED)
        writer.write(Episodes.of([dataclasses.replace(B, root_value=np.zeros(9, np.float32))]))
        writer.flush()


def test_a_version_of_which_nothing_is_known() -> None:
    with pytest.raises(InputError, match="a version that is not 1 or 2 or 3: '4'"):
        read(stream_of([], dataclasses.replace(HEADER, version=4)))
