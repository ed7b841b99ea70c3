"""Games as JSON there and back, and positions as pictures."""

from __future__ import annotations

import copy
import json
import pathlib
import runpy
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from running import ROOT, run
from stratkit.engine import Batch, Game, sample
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError
from stratkit.games.diplomacy.games import ENDED, actions_of, game_json, phases
from stratkit.games.diplomacy.svg import layout, picture
from stratkit.games.diplomacy.text_map import text_map

TINY = Game("diplomacy:tiny")


def played(game: Game, seed: int, most: int = 10_000) -> np.ndarray:
    batch, actions = Batch(game, 1), []
    while batch.actors()[0] >= 0 and len(actions) < most:
        number = np.array([len(actions)], np.int32)
        actions.append(sample(None, batch.legal(), seed, np.zeros(1, np.int64), number)[0])
        batch.apply(actions[-1])
    return np.concatenate(actions)


@pytest.mark.parametrize("name", ["diplomacy:fva", "diplomacy:standard", "diplomacy:tiny"])
def test_games_come_back_as_they_were(name: str) -> None:
    game = Game(name)
    for seed in (1, 2):
        actions = played(game, seed)
        data = json.loads(json.dumps(game_json(game, actions)))
        assert actions_of(game, data).tolist() == actions.tolist()
        assert game_json(game, actions_of(game, data)) == data
        assert [p["name"] for p in data["phases"]][-1] == ENDED
        years = {p["name"][:5] for p in data["phases"][:-1]}
        assert "S1901" in years and all(p["state"]["units"] for p in data["phases"])


@pytest.mark.parametrize("name", ["standard", "pure", "tiny"])
def test_a_map_of_characters_has_every_province_once(name: str) -> None:
    map_ = map_of(Game(f"diplomacy:{name}"))
    *lines, key = text_map(map_, map_.start()).splitlines()
    words = " ".join(lines).replace("*", " ").split()
    assert [words.count(place) for place in map_.locations[: map_.provinces]] == [
        1
    ] * map_.provinces
    units = int((map_.start()["unit"] > 0).sum())
    assert sum(len(word) == 2 and word[1] in "AF" for word in words) == units
    assert "dislodged" in key and max(map(len, lines)) <= 110


def test_a_torn_phase_is_left_out_and_the_first_one_reads_as_people_write() -> None:
    game = Game("diplomacy:fva")
    actions = played(game, 3, most=40)
    whole = len(list(phases(game, actions)))
    assert whole >= 1
    back = actions_of(game, game_json(game, actions))
    assert back.tolist() == actions[: len(back)].tolist() and len(back) <= 40
    first = game_json(game, played(game, 1))["phases"][0]
    assert first["name"] == "S1901M"
    assert sorted(first["state"]["units"]["FRANCE"]) == ["A MAR", "A PAR", "F BRE"]
    assert sorted(first["state"]["centers"]["AUSTRIA"]) == ["BUD", "TRI", "VIE"]
    assert len(first["orders"]["FRANCE"]) == 3


def broken(change: str) -> tuple[Any, str]:
    game = Game("diplomacy:fva")
    data = copy.deepcopy(game_json(game, played(game, 1)))
    some = data["phases"]
    match change:
        case "phase":
            del some[1]
            return data, f"{some[1]['name']}: F1901M is due"
        case "words":
            some[0]["orders"]["FRANCE"][0] = "PAR past BUR"
            return data, "S1901M: an order is written like"
        case "power":
            some[0]["orders"]["SPAIN"] = []
            return data, "S1901M: no power of this map"
        case "units":
            some[0]["state"]["units"]["FRANCE"] = ["F BRE", "A MAR", "A BUR"]
            return data, "S1901M: FRANCE: other units than play leads to"
        case "phases":
            return {"map": "fva"}, "no game: it has no list of phases"
        case "text":
            return "S1901M", "the game is no object of JSON"
        case _:
            return {"phases": [3]}, "phase 0 is no object of JSON"


@pytest.mark.parametrize("change", ["phase", "words", "power", "units", "phases", "text", "number"])
def test_what_is_no_game(change: str) -> None:
    data, wrong = broken(change)
    with pytest.raises(InputError) as error:
        actions_of(Game("diplomacy:fva"), data)
    assert wrong in str(error.value)


@pytest.mark.parametrize("name", ["diplomacy:fva", "diplomacy:tiny", "diplomacy:pure"])
def test_pictures_show_every_unit_order_and_place(name: str) -> None:
    game = Game(name)
    map_ = map_of(game)
    places = layout(map_)
    assert places.shape == (map_.provinces, 2) and np.isfinite(places).all()
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(2))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 8
    position, orders = next(phases(game, played(game, 2)))
    root = ET.fromstring(picture(map_, position, orders))
    texts = [
        element.text for element in root.iter() if element.text and element.tag.endswith("text")
    ]
    assert set(map_.locations[: map_.provinces]) <= set(texts) and "S1901M" in texts
    n = int((position["unit"] > 0).sum())
    assert sum(text in ("A", "F") for text in texts) == n
    lines = [e for e in root.iter() if e.tag.endswith("line") and e.get("stroke") != "#bbb"]
    assert len(lines) == int((orders[0, position["unit"][0, : map_.provinces] > 0, 0] > 0).sum())
    borders = [e for e in root.iter() if e.tag.endswith("line") and e.get("stroke") == "#bbb"]
    assert len(borders) == int(np.triu(map_.near).sum())


def test_the_example_writes_games_of_a_record(tmp_path: pathlib.Path) -> None:
    record, folder = tmp_path / "games.jsonl", tmp_path / "game"
    names = ("random", "name=b,random", "--game", "diplomacy:tiny")
    assert run("match", *names, "-n", 2, "--seed", 1, "-o", record).status == 0
    main = runpy.run_path(str(ROOT / "examples/diplomacy/games.py"))["main"]
    main(str(record), str(folder), 1)
    data = json.loads((folder / "game.json").read_text())
    assert {path.stem for path in folder.glob("*.svg")} == {p["name"] for p in data["phases"][:-1]}
