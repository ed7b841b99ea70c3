"""The trained players that come with stratkit."""

from __future__ import annotations

import json
import pathlib

import pytest

from running import run
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.players.open import game_of, open_player, weights_file
from stratkit.players.registry import SHIPPED
from stratkit.players.spec import parse_player, path_text
from stratkit.storage.checkpoints import load_network


@pytest.mark.parametrize("name", SHIPPED)
def test_they_are_small_and_say_what_they_are(name: str) -> None:
    file = pathlib.Path(weights_file(name))
    assert file.stat().st_size < 10_000_000
    metadata = load_network(file, None)[1]
    game = Game(metadata["game"])
    assert metadata["rules"] == game.rules and name.startswith(f"{game.name}-")
    spec = parse_player(f"preset=deepnash,{name}")
    entrant = open_player(spec, game, seed=1, rows=4)
    assert (entrant.name, game_of(spec)) == (name, game.name)
    assert entrant.spec.endswith(f",{name}") and entrant.step == metadata["step"]


def test_one_beats_random_play_and_is_recorded_by_its_name() -> None:
    arguments = ("--game", "barrage", "-n", 40, "--seed", 2, "-q", "-o", "-")
    done = run("match", "random", "barrage-v0", *arguments)
    assert done.status == 0
    first, *games = map(json.loads, done.out.splitlines())
    assert [player["name"] for player in first["players"]] == ["random", "barrage-v0"]
    assert first["players"][1]["spec"] == "net=online,barrage-v0"
    won = [game["players"][game["returns"].index(1)] for game in games if 1 in game["returns"]]
    assert won.count(1) >= 30  # 35 of 40, and 384 of 400 with other seeds


def test_hints_and_other_games() -> None:
    with pytest.raises(InputError, match="did you mean 'barrage-v0'"):
        open_player(parse_player("barage-v0"), Game("barrage"), seed=1, rows=4)
    with pytest.raises(InputError, match="a network for barrage, not for mini"):
        open_player(parse_player("barrage-v0"), Game("mini"), seed=1, rows=4)


def test_a_path_of_that_name_is_written_otherwise() -> None:
    for name in (*SHIPPED, "random", "human"):
        assert path_text(name) == f"./{name}"
        assert parse_player(path_text(name)).spec == f"./{name}"
    assert path_text("run") == "run"
