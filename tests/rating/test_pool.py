from __future__ import annotations

import pathlib

import pytest

from rating_games import changed, header, record, write
from stratkit.errors import InputError
from stratkit.rating.pool import Pool, PoolReader


def read(*paths: pathlib.Path) -> PoolReader:
    reader = PoolReader()
    for path in paths:
        with path.open("rb") as stream:
            reader.read(stream, path.name)
    return reader


def test_results_count_for_players_not_for_colours(tmp_path: pathlib.Path) -> None:
    games = [record(0, 0, 1, "red"), record(1, 1, 0, "blue"), record(2, 0, 1, "blue")]
    pool = read(write(tmp_path / "g", header("x", "a"), games)).finish()
    i, j = pool.index("a"), pool.index("x")
    assert pool.points()[j, i] == 2 and pool.points()[i, j] == 1
    assert pool.games() == 3


def test_the_games_of_a_pair_are_one_unit(tmp_path: pathlib.Path) -> None:
    games = [
        record(0, 0, 1, "red"),
        record(2, 0, 1, "draw"),  # not in order, as a resumed match may leave them
        record(1, 1, 0, "red"),
        record(3, 1, 0, "blue"),
        record(4, 0, 1, "blue"),  # its partner is missing
    ]
    pool = read(write(tmp_path / "g", header("a", "b"), games)).finish()
    assert pool.meetings == {(0, 1): {(1, 0, 1): 1, (1, 1, 0): 1, (0, 0, 1): 1}}


def test_pairs_of_other_matches_are_other_units(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", header("a", "b", seed=1), [record(0, 0, 1, "red")])
    two = write(tmp_path / "2", header("a", "b", seed=2), [record(1, 1, 0, "red")])
    pool = read(one, two).finish()
    assert pool.meetings == {(0, 1): {(1, 0, 0): 1, (0, 0, 1): 1}}


def test_games_met_again_count_once(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(n, 0, 1, "red") for n in range(4)])
    reader = read(path, path)
    assert reader.repeated == 4
    assert reader.finish().games() == 4


def test_matches_that_do_not_belong_together(tmp_path: pathlib.Path) -> None:
    first = write(tmp_path / "first", header("a", "b"), [record(0, 0, 1, "red")])
    other = tmp_path / "other"
    write(other, header("a", "b", game="nano"), [record(0, 0, 1, "red")])
    with pytest.raises(InputError, match="^other: games of nano, but first has mini$"):
        read(first, other)
    write(other, header("b", "c", weights="0" * 64), [record(0, 0, 1, "red")])
    with pytest.raises(InputError, match="^other: player 'b' has other weights than in first$"):
        read(first, other)
    write(other, header("a", "b"), [record(0, 0, 1, "red")])
    changed(other, 0, rules={"two_squares": 5})
    with pytest.raises(InputError, match="^other: other rules than in first: "):
        read(first, other)


def test_what_is_no_game_of_two_players(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "g", header("a", "b"), [record(7, 0, 0, "red")])
    with pytest.raises(InputError, match="^g: game 7: 'a' against itself$"):
        read(path)
    write(path, header("a", "b"), [record(7, 0, 1, "red")])
    changed(path, 1, players=[0], returns=[1], result="draw")
    with pytest.raises(InputError, match="^g: game 7: a game of two players is needed$"):
        read(path)
    with pytest.raises(InputError, match="^g: no games to rate$"):
        read(write(path, header("a", "b"), [])).finish()
    with pytest.raises(ValueError, match="itself"):
        Pool().add("a", "a", (1, 0, 0))
