"""Our players at the powers of games of the package `diplomacy`, and of what looks like one."""

from __future__ import annotations

import os
import pathlib
import re
import runpy
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from running import ROOT
from stratkit.adapters.diplomacy import ROWS, DiplomacyPlayer
from stratkit.engine import Batch
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError
from stratkit.games.diplomacy.games import game_json, game_of
from stratkit.players.factory import open_player
from stratkit.players.player import Views, decide, take_seat
from stratkit.players.registry import parse_player

SEARCH = "search=rm,candidates=4,samples=4,iterations=8,depth=0"
PATH = os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])


class SavedGame:
    """What the adapter asks of that package's game, of the first phases of a saved one."""

    def __init__(self, data: dict[str, Any], played: int) -> None:
        self.map_name = data["map"]
        phases, self._present = data["phases"][:played], data["phases"][played]
        self.order_history = {phase["name"]: phase["orders"] for phase in phases}
        self.state_history = {phase["name"]: phase["state"] for phase in phases}

    def get_current_phase(self) -> str:
        return str(self._present["name"])

    def get_state(self) -> dict[str, Any]:
        return dict(self._present["state"])


def self_play(map_name: str, player: str, phases: int) -> dict[str, Any]:
    """So many phases of one player at all powers, of seed 3, in that package's form."""
    game = game_of({"map": map_name})
    batch, actions = Batch(game, 1), list[int]()
    decider = open_player(parse_player(player), game, 3, ROWS).player
    for side in range(game.players):
        take_seat(decider, 0, side)
    while 0 <= batch.turns()[0] < phases:
        decision = decide(decider, Views.of_one(batch, 0, len(actions), actions))
        batch.apply(decision.actions)
        actions.append(int(decision.actions[0]))
    return game_json(game, np.array(actions, np.int32))


@pytest.mark.parametrize(
    ("map_name", "player", "phases", "kinds"),
    [
        ("standard", "diplomacy-v1", 4, "AM"),
        ("standard_france_austria", "fva-v1", 12, "AMR"),
        ("standard_france_austria", f"{SEARCH},fva-v1", 4, "AM"),
        ("pure", f"{SEARCH},heuristic", 2, "M"),
    ],
)
def test_it_plays_as_it_plays_here(map_name: str, player: str, phases: int, kinds: str) -> None:
    """In each phase of each kind, though it does not see what the others order."""
    data = self_play(map_name, player, phases)
    powers = map_of(game_of(data)).powers
    seats = {power: DiplomacyPlayer(player, power, 3, map_name) for power in powers}
    for at, phase in enumerate(data["phases"]):
        theirs = SavedGame(data, at)
        for power, seat in seats.items():
            expected = phase["orders"].get(power, [])
            assert seat.orders(theirs) == expected, (power, phase["name"])
            assert seat.orders(theirs) == expected
    assert {phase["name"][-1] for phase in data["phases"][:-1]} >= set(kinds)


def position(
    name: str, units: dict[str, list[str]], *before: tuple[str, dict[str, list[str]]]
) -> SavedGame:
    """A game by the orders of the phases before, which says no units of these."""
    phases = [{"name": then, "orders": orders, "state": {}} for then, orders in before]
    phases.append({"name": name, "orders": {}, "state": {"units": units}})
    return SavedGame({"map": "standard", "phases": phases}, len(before))


SPRING = {"AUSTRIA": ["A BUD - RUM"], "TURKEY": ["F ANK - BLA", "A SMY - ARM"]}
FALL = {"AUSTRIA": [], "TURKEY": ["A ARM - SEV", "F BLA S A ARM - SEV"]}


def test_a_phase_in_which_nothing_can_be_ordered() -> None:
    """Russia's fleet is dislodged, and has nowhere to go."""
    seat = DiplomacyPlayer("heuristic", "RUSSIA")
    russia = ["A MOS", "A WAR", "F STP/SC"]
    before = ("S1901M", SPRING), ("F1901M", FALL)
    assert seat.orders(position("F1901R", {"RUSSIA": [*russia, "*F SEV"]}, *before)) == []
    behind = (*before, ("F1901R", {"RUSSIA": ["F SEV D"]}))
    assert seat.orders(position("W1901A", {"RUSSIA": russia}, *behind)) == []
    assert len(seat.orders(position("S1902M", {}, *behind, ("W1901A", {})))) == 3
    assert seat.orders(position("COMPLETED", {}, *behind)) == []


def test_a_game_goes_on_or_another_one_is_begun() -> None:
    seat = DiplomacyPlayer("diplomacy-v1", "TURKEY", 1)
    start, later = position("S1901M", {}), position("F1901M", {}, ("S1901M", SPRING))
    chosen = seat.orders(later)
    assert sorted(text[:5] for text in chosen) == ["A ARM", "A CON", "F BLA"]
    assert sorted(text[:5] for text in seat.orders(start)) == ["A CON", "A SMY", "F ANK"]
    other = position("F1901M", {}, ("S1901M", {"TURKEY": ["A CON - BUL"]}))
    assert sorted(text[:5] for text in seat.orders(other)) == ["A BUL", "A SMY", "F ANK"]
    again = DiplomacyPlayer("diplomacy-v1", "TURKEY", 1)
    again.orders(start)
    assert again.orders(later) == chosen


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"no power of this map \(did you mean 'FRANCE'\?\)"):
        DiplomacyPlayer("heuristic", "france")
    with pytest.raises(InputError, match="diplomacy:nowhere"):
        DiplomacyPlayer("heuristic", "FRANCE", map_name="nowhere")
    with pytest.raises(InputError, match="fva-v1"):
        DiplomacyPlayer("fva-v1", "FRANCE")
    with pytest.raises(ValueError, match="seed"):
        DiplomacyPlayer("heuristic", "FRANCE", -1)
    seat = DiplomacyPlayer("heuristic", "FRANCE", map_name="standard_france_austria")
    with pytest.raises(InputError, match="is for the map standard_france_austria: 'standard'"):
        seat.orders(position("S1901M", {}))
    seat = DiplomacyPlayer("heuristic", "FRANCE")
    elsewhere = {"AUSTRIA": ["A SER", "A VIE", "F TRI"]}
    with pytest.raises(InputError, match="F1901M: AUSTRIA: other units than play leads to"):
        seat.orders(position("F1901M", elsewhere, ("S1901M", SPRING)))
    for _ in range(2):
        with pytest.raises(InputError, match="F1902M: S1901M is due"):
            seat.orders(position("F1902M", {}))
    for _ in range(2):
        with pytest.raises(InputError, match="F1902M: F1901M is due"):
            seat.orders(position("S1903M", {}, ("S1901M", SPRING), ("F1902M", FALL)))
    game = position("F1901M", {}, ("S1901M", SPRING), ("S1901R", {}))
    game.state_history = {"S1901R": {"units": {"FRANCE": ["A PAR"]}}}  # and nothing of S1901M
    for _ in range(2):
        with pytest.raises(InputError, match="S1901R: FRANCE: other units than play leads to"):
            seat.orders(game)


@pytest.mark.parametrize(
    ("script", "words", "what"),
    [
        ("seat", "0", "GAMES: a whole number from 1 to"),
        ("seat", "1 -4", "SEED: a whole number from 0 to"),
        ("seat", "1 1 --years 0", "--years: a whole number from 1 to"),
        ("seat", "1 1 --player nope", "diplomacy_seat.py: "),
        ("seat", "1 1", "diplomacy_seat.py: the package diplomacy is not installed"),
        ("values", "1 -4", "SEED: a whole number from 0 to"),
        ("values", "0", "GAMES: a whole number from 1 to"),
    ],
)
def test_words_that_its_benches_refuse(
    script: str,
    words: str,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, here where the package is missing."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setitem(sys.modules, "diplomacy", None)
    monkeypatch.setattr(sys, "argv", [f"diplomacy_{script}.py", *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / f"bench/diplomacy_{script}.py"), run_name="__main__")
    said = capsys.readouterr().err or str(ended.value.code)
    assert what in said and said.count("\n") == (ended.value.code == 2)


# ---- The package itself ----


def python(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: here `diplomacy` is a folder of tests."""
    command, path = [sys.executable, *words], {**os.environ, "PYTHONPATH": PATH}
    return subprocess.run(
        command, cwd=folder, env=path, capture_output=True, text=True, check=False
    )


def test_the_example_of_the_page_runs(tmp_path: pathlib.Path) -> None:
    page = (ROOT / "man/stratkit-python.7").read_text().replace("\\-", "-")
    (code,) = re.findall(r"^\.nf\n(from diplomacy import .*?)^\.fi$", page, re.M | re.S)
    done = python(tmp_path, "-c", f"{code}\nassert 'A PAR' not in game.get_units('FRANCE')")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_it_plays_in_games_of_the_package(tmp_path: pathlib.Path) -> None:
    """Beside random powers. It takes the orders as they are, and comes to the same units and
    centres."""
    bench = str(ROOT / "bench/diplomacy_seat.py")
    for player in ("diplomacy-v1", f"{SEARCH},heuristic"):
        done = python(tmp_path, bench, "2", "8", "--player", player, "--years", "3")
        assert done.returncode == 0, done.stderr
        games, orders, share = done.stdout.splitlines()
        assert games.startswith("2 games, 0 of them refused; ") and games.endswith(" 0 differ")
        assert int(orders.split()[0]) > 30
        assert orders.endswith(" orders, 0 not offered, 0 not taken")
        assert float(share.split()[-1]) > 1 / 7
