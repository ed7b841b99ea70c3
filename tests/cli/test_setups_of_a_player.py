"""`--player` takes one side's setups, and `stats --scores` says how setups scored."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from fenfs_here import SAMPLES, fenfs
from stratkit.notation.scores import score

HEADER, *GAMES = map(json.loads, (SAMPLES / "games.jsonl").read_text().splitlines())
ANN, BOB = GAMES[0]["setups"]
RESULTS = {"red": [1, -1], "blue": [-1, 1], "draw": [0, 0]}


@pytest.fixture
def played(tmp_path: pathlib.Path) -> pathlib.Path:
    """Six games of Ann, who has red in two of three, wins twice and draws once, and always begins
    with the same setup."""
    players = [{"name": name, "spec": "human", "sha256": None} for name in ("Ann", "Bob")]
    lines: list[dict[str, Any]] = [HEADER | {"players": players}]
    for number, result in enumerate(["red", "draw", "blue", "blue", "blue", "red"]):
        swapped = number % 3 == 2
        lines.append(
            GAMES[0]
            | {"number": number, "players": [1, 0] if swapped else [0, 1], "plies": 0, "moves": ""}
            | {"setups": [BOB, ANN] if swapped else [ANN, BOB], "result": result}
            | {"returns": RESULTS[result], "reason": "cut" if result == "draw" else "resigned"}
        )
    path = tmp_path / "g.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_setups_are_those_of_the_player(played: pathlib.Path) -> None:
    assert fenfs("convert", "--to", "setups", played)[1].count("\n") == 12
    for name, setup in (("ann", ANN), ("Bob", BOB)):
        found = fenfs("convert", "--to", "setups", "--player", name, played)
        assert found == (0, 6 * f"{setup}\n", [])
    both = fenfs("convert", "--to", "setups", "--player", "ann", "--player", "bob", played)
    assert both == fenfs("convert", "--to", "setups", played)


def test_figures_and_maps_are_those_of_the_player(played: pathlib.Path) -> None:
    told = json.loads(fenfs("stats", "--json", "--player", "ann", played)[1])["inputs"]
    assert told["games"] == 6 and "scores" not in told
    [figures] = told["setups"].values()
    assert (figures["setups"], figures["distinct"]) == (6, 1)
    assert np.array(figures["maps"]["spy"]).ravel().tolist() == [6 * (x == "C") for x in ANN]
    out = fenfs("stats", "--maps", "--player", "ann", played)[1]
    assert out.split("spy, mini")[1].splitlines()[1:3] == ["0 0 0 0 0 0", "0 0 0 6 0 0"]


def test_scores_of_setups_and_flags(played: pathlib.Path) -> None:
    chosen = ["--scores", "--player", "ann", played]
    told = json.loads(fenfs("stats", "--json", *chosen)[1])["inputs"]["scores"]
    counts = {"won": 2, "drawn": 1, "lost": 3}
    assert told["mini"]["setups"] == [{"setup": ANN, **counts}]
    flags = {name: np.array(rows).ravel().tolist() for name, rows in told["mini"]["flags"].items()}
    assert flags == {name: [count] + 11 * [0] for name, count in counts.items()}
    everybody = fenfs("stats", "--json", "--jobs", 2, "--scores", played)[1]
    assert json.loads(everybody)["inputs"]["scores"]["mini"]["setups"] == sorted(
        [{"setup": ANN, **counts}, {"setup": BOB, "won": 3, "drawn": 1, "lost": 2}],
        key=lambda one: str(one["setup"]),
    )
    by_setup, by_flag = fenfs("stats", *chosen)[1].split("\n\n")[1:]
    assert by_setup.splitlines()[2].split() == f"6 2 1 3 41.7 % 13.9 % 75.9 % {ANN}".split()
    assert by_flag.splitlines()[2].split() == ["6", "41.7", "%", "13.9", "%", "75.9", "%", "A1"]


def test_the_interval_of_a_score() -> None:
    """Wilson's, of 10 of 20; never of width 0."""
    assert score([10, 0, 10]) == pytest.approx((0.5, 0.29929, 0.70071), abs=1e-4)
    assert score([1, 0, 0]) == pytest.approx((1, 0.20655, 1), abs=1e-4)
    assert score([0, 2, 0])[0] == 0.5
