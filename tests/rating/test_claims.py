"""Records that cannot be right are left out of a rating, and counted in one line."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from running import ROOT, here

HEADER, *GAMES = map(json.loads, (ROOT / "formats/samples/games.jsonl").read_text().splitlines())
FIVE: dict[str, Any] = {"moves": " ".join(GAMES[0]["moves"].split()[:5]), "plies": 5}
DRAW = {"result": "draw", "returns": [0, 0]}


def rate(tmp_path: pathlib.Path, game: dict[str, Any], *words: str) -> tuple[int, list[str]]:
    """How many games are counted, beside it two sound ones; and what is said."""
    games = [*GAMES, GAMES[0] | {"number": 2, "pair": 1} | game]
    path = tmp_path / "g.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *games)))
    done = here("rate", "--prior", 1, "--json", *words, path)
    assert done.status == 0, done.err
    return json.loads(done.out)["games"], done.err.replace(str(path), "F").splitlines()


@pytest.mark.parametrize(
    ("game", "what"),
    [
        ({"plies": 5}, "it says 5 plies, but has 41 moves"),
        (FIVE | {"plies": 6, "moves": FIVE["moves"] + " "}, "it says 6 plies, but has 5 moves"),
        (DRAW, "flag_captured, but the result is draw"),
        ({"reason": "max_plies"}, "max_plies, but the result is red"),
        (DRAW | {"reason": "max_plies"}, "max_plies is 200, but it has 41 moves"),
        (DRAW | {"reason": "max_quiet"}, "max_quiet is 60, but it has 41 moves"),
    ],
)
def test_a_record_that_contradicts_itself(
    game: dict[str, Any], what: str, tmp_path: pathlib.Path
) -> None:
    games, said = rate(tmp_path, game)
    line = f"rate: left out: 1 game whose record cannot be right, such as F: game 3: {what}"
    assert (games, line in said) == (2, True)


def test_check_plays_the_games(tmp_path: pathlib.Path) -> None:
    """A record that stops in the middle; one without a game; sound ones."""
    early = FIVE | {"reason": "no_legal_move"}
    bare = {"setups": None, "moves": "", "plies": 0}
    assert rate(tmp_path, early)[0] == rate(tmp_path, bare)[0] == 3
    for game, what in (
        (early, "the result says so, but blue can move"),
        (bare, "the result says so, but nothing was played"),
    ):
        games, said = rate(tmp_path, game, "--check")
        assert games == 2 and any(line.endswith(f"game 3: {what}") for line in said)
    games, said = rate(tmp_path, {}, "--check")
    assert games == 2 and not any("cannot be right" in line for line in said)  # one is repeated
