"""Opponents for people: who they are, and what is suggested after some games."""

from __future__ import annotations

import pathlib

import pytest

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError
from stratkit.players.factory import open_player
from stratkit.players.levels import LEVELS, level_of, suggestion
from stratkit.players.registry import LEVEL, parse_player


@pytest.mark.parametrize("number", range(1, 9))
@pytest.mark.parametrize("game", ["barrage", "classic"])
def test_every_level_opens(game: str, number: int) -> None:
    spec = parse_player(f"level={number}")
    assert spec.kind is LEVEL and level_of(spec.spec) == number
    one = open_player(spec, Game(game), 1, 4)
    assert one.name == one.spec == f"level={number}" and one.sha256 and one.step == -1
    drawn = len(LEVELS[game][number - 1])
    assert len(one.members) == (drawn if drawn > 1 else 0)


def test_there_is_no_such_level() -> None:
    for text in ("level=9", "level=0", "level=", "level=two", "level=1,heuristic"):
        with pytest.raises(UsageError, match="levels are 1 to 8"):
            open_player(parse_player(text), Game("barrage"), 1, 4)
    with pytest.raises(InputError, match="levels are for barrage and classic, not for mini"):
        open_player(parse_player("name=me,level=2"), Game("mini"), 1, 4)


def test_another_level_is_suggested_after_three_games() -> None:
    assert suggestion(3, "barrage", [1, 1]) is None
    assert suggestion(3, "barrage", [1, 1, 0]) == "you have 2 of 3 against level=3: try level=4"
    assert suggestion(3, "barrage", [0, 0.5, 0]) == "you have 0.5 of 3 against level=3: try level=2"
    assert (
        suggestion(3, "barrage", [1, 0.5, 0]) == "you have 1.5 of 3 against level=3: it suits you"
    )
    for number, score in ((8, 1.0), (1, 0.0)):
        assert str(suggestion(number, "barrage", [score] * 4)).endswith("it suits you")


def test_a_file_of_such_a_name_needs_a_path(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="level=any is for a match with a person"):
        player = open_player(parse_player("level=any"), Game("barrage"), 1, 4).player
        player.act(None)  # type: ignore[arg-type]
    assert parse_player("./level=2").kind is not LEVEL
