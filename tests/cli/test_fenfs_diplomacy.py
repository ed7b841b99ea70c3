"""`fenfs` and games of Diplomacy: check, convert and show their JSON, records and episodes."""

from __future__ import annotations

import json
import pathlib
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from browser import Browser
from running import run
from stratkit import read_games

# Austria stands still; France takes Spain and Portugal, Belgium and builds.
PHASES: list[dict[str, Any]] = [
    {"name": "S1901M", "orders": {"FRANCE": ["F BRE - MAO", "A PAR - PIC", "A MAR - SPA"]}},
    {"name": "F1901M", "orders": {"FRANCE": ["F MAO - POR", "A PIC - BEL"], "AUSTRIA": None}},
    {"name": "W1901A", "orders": {"FRANCE": ["A PAR B", "F BRE B", "WAIVE"]}},
    {"name": "COMPLETED", "orders": {}},
]


def saved(path: pathlib.Path, **changed: Any) -> str:
    data = {"map": "fva", "rules": ["NO_PRESS"], "phases": PHASES, **changed}
    path.write_text(json.dumps(data))
    return str(path)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    who = ("random", "name=b,random", "--game", "diplomacy:tiny")
    assert run("match", *who, "-n", 2, "--seed", 1, "-o", path).status == 0
    return str(path)


def test_a_game_of_another_program_is_sound_and_becomes_a_record(tmp_path: pathlib.Path) -> None:
    game, out = saved(tmp_path / "game.json"), tmp_path / "out.jsonl"
    done = run("fenfs", "check", game)
    assert done.status == 0 and not done.err
    assert run("fenfs", "convert", "--to", "games", game, "-o", out).status == 0
    games = read_games(str(out))
    assert games["game"].tolist() == ["diplomacy:fva"] and games["reason"].tolist() == ["cut"]
    again = json.loads(run("fenfs", "convert", "--to", "json", out).data)
    assert again["stratkit"]["rules"] == {"max_quiet": 0, "years": 250}
    assert again["map"] == "standard_france_austria" and again["rules"] == ["NO_PRESS"]
    assert [phase["name"] for phase in again["phases"]] == [p["name"] for p in PHASES]
    assert sorted(again["phases"][2]["orders"]["FRANCE"]) == ["A PAR B", "F BRE B"]
    end = again["phases"][3]["state"]
    assert sorted(end["centers"]["FRANCE"]) == ["BEL", "BRE", "MAR", "PAR", "POR", "SPA"]
    assert sorted(end["units"]["FRANCE"]) == ["A BEL", "A PAR", "A SPA", "F BRE", "F POR"]


def test_what_the_rules_do_not_take_is_told_once_of_a_kind_and_no_fault(
    tmp_path: pathlib.Path,
) -> None:
    first = {"FRANCE": ["A PAR - PIC", "A PAR - MOS", "F BRE S A VIE"]}
    game = saved(tmp_path / "game.json", phases=[{**PHASES[0], "orders": first}, *PHASES[3:]])
    told = "S1901M: an order that is not legal here counts for nothing (2 such): 'A PAR - MOS'"
    for command in (["check"], ["show"], ["convert", "-v", "--to", "games"]):
        done = run("fenfs", *command, game)
        assert done.status == 0 and f"{game}: {told}\n" in done.err, command
    assert run("fenfs", "check", "--strict", game).status == 0
    kept = tmp_path / "sound"
    assert run("fenfs", "check", "--salvage", kept, game).status == 0
    assert not run("fenfs", "check", kept / "game.json").err


def test_records_and_episodes_come_back_as_they_were(tmp_path: pathlib.Path, record: str) -> None:
    folder, episodes = tmp_path / "json/", tmp_path / "games.eps"
    made = run("fenfs", "convert", "--to", "json", record, "-o", f"{folder}/")
    assert made.status == 0 and len(list(folder.iterdir())) == 2
    assert run("fenfs", "check", folder, record).status == 0
    back = tmp_path / "back.jsonl"
    assert run("fenfs", "convert", "--to", "games", folder, "-o", back).status == 0
    for column in ("moves", "reason", "result", "plies"):
        was, found = (read_games(path)[column].tolist() for path in (record, str(back)))
        assert found == was, column
    assert run("selfplay", "--game", "diplomacy:tiny", "-n", 2, "-o", episodes).status == 0
    assert run("fenfs", "check", episodes).status == 0
    text = run("fenfs", "convert", "--to", "json", "--game", 2, episodes).data
    assert run("fenfs", "check", "-", stdin=text).status == 0
    assert run("fenfs", "check", "-", stdin=text[:-9]).status == 3


def broken(path: pathlib.Path, change: str) -> tuple[str, str]:
    """A file, and what is wrong with it."""
    some: list[dict[str, Any]] = json.loads(json.dumps(PHASES))
    match change:
        case "phase":
            return saved(path, phases=some[:1] + some[2:]), "W1901A: F1901M is due"
        case "order":
            some[1]["orders"]["FRANCE"][0] = "F MAO - PRA"
            return saved(path, phases=some), "F1901M: no place is called 'PRA'"
        case "orders":
            some[1]["orders"]["FRANCE"] = 3
            return saved(path, phases=some), "F1901M: of FRANCE no list of texts: '3'"
        case "units":
            some[1]["state"] = {"units": {"FRANCE": [["F MAO"]]}}
            return saved(path, phases=some), "F1901M: of FRANCE no list of texts: \"[['F MAO']]\""
        case "map":
            return saved(path, map="moon"), "game diplomacy:moon: unknown, and data open no file"
        case "rule":
            return saved(path, rules={"years": 3.5}), "rules are whole numbers"
        case "unknown":
            return saved(path, rules={"weeks": 3}), "weeks"
        case "deep":
            path.write_text('{"a":' + "[" * 100_000)
            return str(path), "no JSON: nested too deeply"
        case "bytes":
            path.write_bytes(b'{"map":"\xff"}')
            return str(path), "no JSON: 'utf-8' codec"
        case _:
            path.write_text('{"map": "fva", "phases"')
            return str(path), "no JSON: "


FAULTS = ("phase", "order", "orders", "units", "map", "rule", "unknown", "deep", "bytes", "torn")


@pytest.mark.parametrize("change", FAULTS)
def test_what_is_wrong_takes_a_line(tmp_path: pathlib.Path, change: str) -> None:
    path, wrong = broken(tmp_path / "game.json", change)
    for command in (("check",), ("convert", "--to", "games"), ("show",)):
        done = run("fenfs", *command, path)
        assert done.status == 3 and not done.data, done.err
        line = done.err.splitlines()[0]
        assert line.startswith(f"fenfs: {path}: ") and wrong in line


def test_faulty_records(tmp_path: pathlib.Path, record: str) -> None:
    lines = pathlib.Path(record).read_text().splitlines()
    header, game = lines[0], json.loads(lines[1])
    words = game["moves"].split()
    path, kept = tmp_path / "bad.jsonl", tmp_path / "kept"
    for moves, wrong in (
        ([*words[:3], "99"], "action 4, 99, is not legal"),
        ([*words[:3], "x"], "action 4: not an action: 'x'"),
    ):
        path.write_text(f"{header}\n{json.dumps(game | {'moves': ' '.join(moves)})}\n")
        done = run("fenfs", "check", path)
        assert done.status == 3 and done.error_line == f"fenfs: {path}: game 1: {wrong}"
    turned = game | {"returns": [-r for r in game["returns"]], "result": "draw"}
    if not any(game["returns"]):
        turned |= {"result": "red", "returns": [1, -1]}
    else:
        turned["returns"] = [0, 0]
    path.write_text(f"{header}\n{json.dumps(turned)}\n")
    done = run("fenfs", "check", path)
    assert done.status == 3 and "the result is not that of the board" in done.error_line
    path.write_text(f"{header}\n{json.dumps(game | {'moves': ' '.join([*words[:3], '99'])})}\n")
    assert run("fenfs", "check", "--salvage", kept, path).status == 3
    assert read_games(str(kept / "bad.jsonl"))["moves"].tolist() == [" ".join(words[:3])]


def test_phases_are_shown(tmp_path: pathlib.Path) -> None:
    game, out = saved(tmp_path / "game.json"), tmp_path / "phase.svg"
    done = run("fenfs", "show", game, "--ply", 1)
    assert done.status == 0 and not done.err
    assert done.out.splitlines() == [
        "diplomacy:fva: AUSTRIA, FRANCE; cut",
        "F1901M",
        "AUSTRIA (3): A BUD H, A VIE H, F TRI H",
        "FRANCE (3): F MAO - POR, A PIC - BEL, A SPA H",
        "",
    ]
    assert "FRANCE (6): A PAR, A BEL, F BRE, F POR, A SPA" in run("fenfs", "show", game).out
    assert run("fenfs", "show", game, "--ply", 0, "-o", out).status == 0
    texts = [element.text for element in ET.parse(out).iter()]
    assert "S1901M" in texts and "BRE" in texts
    far = run("fenfs", "show", game, "--ply", 9)
    assert far.status == 3 and "the game has 3 phases, not 9" in far.err
    png = run("fenfs", "show", game, "-o", tmp_path / "phase.png")
    assert png.status == 2 and "a picture of Diplomacy is a .svg" in png.error_line
    assert run("fenfs", "show", game, "--view", "red").status == 2


def test_what_is_of_one_game_alone(tmp_path: pathlib.Path, record: str) -> None:
    game, stratego = saved(tmp_path / "game.json"), tmp_path / "nano.eps"
    assert run("selfplay", "--game", "nano", "-n", 1, "-o", stratego).status == 0
    done = run("fenfs", "convert", "--to", "json", stratego)
    assert done.status == 3 and "JSON is for games of Diplomacy" in done.err
    done = run("fenfs", "list", game)
    assert done.status == 3 and "check, convert and show read it" in done.error_line
    done = run("fenfs", "convert", "--to", "json", "--result", "red", record)
    assert done.status == 1 and not done.data  # only logs are chosen so
    assert done.error_line == "fenfs: no such game in the input"


def test_many_games_of_a_file_are_lines(tmp_path: pathlib.Path) -> None:
    """As the `diplomacy` package keeps them; a wrong line is told by its number."""
    lines = tmp_path / "saved.jsonl"
    game = json.dumps({"id": "1", "map": "standard_france_austria", "rules": [], "phases": PHASES})
    lines.write_text(f'{game}\n{game}\n{{"phases": 3}}\n')
    done = run("fenfs", "check", lines)
    assert done.status == 3 and done.error_line.startswith(f"fenfs: {lines}: game 3: no game")
    back = tmp_path / "back.jsonl"
    assert run("fenfs", "convert", "--to", "json", lines, "-o", back).status == 3
    assert len(back.read_text().splitlines()) == 2 and run("fenfs", "check", back).status == 0
    done = run("fenfs", "convert", "--to", "games", "--game", 2, back)
    assert done.status == 0 and '"game":"diplomacy:fva"' in done.out.splitlines()[0]
    page = tmp_path / "page.html"
    assert run("fenfs", "replay", "--game", 1, back, "-o", page).status == 0
    assert "FRANCE: A PAR - PIC; F BRE - MAO; A MAR - SPA" in page.read_text()


def test_maps_are_stepped_through_by_keys(browser: Browser, tmp_path: pathlib.Path) -> None:
    """Also after a button was clicked; with Alt the arrows are the browser's."""
    page = tmp_path / "page.html"
    game = saved(tmp_path / "game.json")
    assert run("fenfs", "replay", game, "-o", page).status == 0
    browser.open(page)
    browser.click("next")
    browser.press("ArrowRight", 39)
    assert browser.evaluate("[now, document.activeElement.id]") == [2, "next"]
    assert not browser.takes("ArrowLeft")
    browser.press("Home", 36)
    assert browser.evaluate("now") == 0 and browser.errors == []
