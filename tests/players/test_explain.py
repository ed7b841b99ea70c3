"""The log that people read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from players.positions import Scene
from players.sharp import deepnash, post_processed, sharp_player
from stratkit.declared import read_options
from stratkit.engine import Game
from stratkit.engine.stratego import TYPES, variant
from stratkit.errors import InputError
from stratkit.notation.fenfs import complete, parse_fenfs
from stratkit.players.player import Explanation
from stratkit.players.presets import NETWORK_PRESETS
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.setups.constraints import constraints_of
from stratkit.setups.deployed import PlayerPlacer
from stratkit.setups.placing import PlacedSetups

PIECES = "M:A1 k:C3 E:B2 Y:F6 x:D4 P:E3 O:F2"


def explanation(scene: Scene, **options: str) -> Explanation:
    told: list[Explanation] = []
    preset = NETWORK_PRESETS[options.pop("preset")] if "preset" in options else {}
    asked = read_options(PostProcessing, {**preset, **options})
    player = post_processed(sharp_player(scene.game), asked, told.append)
    player.policy(scene.views())
    (one,) = told
    return one


def explained(scene: Scene, **options: str) -> str:
    return text(explanation(scene, **options), Game("mini"))


def test_a_position_is_drawn_with_its_moves() -> None:
    network = explanation(Scene(PIECES)).stages[0][1]
    rare = repr(float(np.median(network)))
    found = explained(Scene(PIECES), preset="deepnash", threshold=rare).splitlines()
    assert found[0] == "red to move, ply 0, seen by red"
    assert " b10*" in "\n".join(found[:8]) and " b?" in "\n".join(found[:8])
    assert "bP" not in "\n".join(found) and "b2" not in "\n".join(found)  # nobody told red
    head = next(i for i, line in enumerate(found) if line.startswith("move"))
    assert found[head].split()[1:] == ["network", "threshold", "quanta", "threats", "bounds"]
    assert found[head - 1].startswith("game 1, value ")
    rows = [line for line in found[head + 1 :] if line[0].isupper()]
    last = [line[26 + 4 * 11 : 26 + 5 * 11].strip() for line in rows]
    played = [float(number) for number in last if number != "-"]
    assert sum(played) == pytest.approx(100, abs=0.5) and played == sorted(played, reverse=True)
    assert any("too rare" in line for line in rows)
    assert all(line.split()[1] in ("general", "miner") for line in rows)


def test_blue_has_its_own_squares() -> None:
    scene = Scene(PIECES)
    scene.play("B2B1")
    found = explained(scene)
    assert found.startswith("blue to move, ply 1, seen by blue")
    (row,) = (line for line in found.splitlines() if line.startswith("D4C4"))
    assert row.startswith("D4C4 marshal ")


def test_a_deployment_is_told_square_by_square() -> None:
    told: list[Explanation] = []
    game = Game("mini")
    player = PostprocessedPlayer(sharp_player(game).evaluator, game, 1, deepnash(), told.append)
    pieces = variant("mini").pieces
    PlacedSetups(PlayerPlacer(game, player), constraints_of(variant("mini"))).draw(0, 1)
    assert len(told) == pieces
    assert [e.side for e in told] == [0] * len(told)
    blue = dataclasses.replace(told[1], side=1)
    lines = text(told[1], Game("mini")).splitlines()
    assert lines[0] == "game 1; in per cent:"
    assert lines[1].split() == ["square", "network", "threshold", "quanta"]
    squares = {line.split()[0] for line in lines[2:]}
    assert squares <= {f"{file}{rank}" for file in "ABCDEF" for rank in "12"}
    assert {line.split()[1] for line in lines[2:]} == {TYPES[told[1].packed[11]]}
    theirs = text(blue, Game("mini")).splitlines()
    assert {line.split()[0] for line in theirs[2:]} <= {f"{f}{r}" for f in "ABCDEF" for r in "56"}


def test_hidden_pieces_get_some_types_where_the_text_tells_which_are_left() -> None:
    setups = "MDEJKLBC" + "a" * 20 + "?!??????" + " r 3"
    whole = complete(parse_fenfs(setups))
    assert sorted((whole.cells[28:] & 15).tolist()) == sorted([0, 2, 2, 3, 9, 10, 11, 1])
    with pytest.raises(InputError, match="7 hidden pieces, and 8"):
        complete(parse_fenfs(setups.replace("?!", "a!")))
    with pytest.raises(InputError, match="side to move are hidden"):
        complete(parse_fenfs(setups.replace(" r ", " b ")))
