"""Games as other programs save them: orders that the rules do not take are told, and no fault."""

from __future__ import annotations

from typing import Any

import pytest

from stratkit.engine import Game
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError
from stratkit.games.diplomacy import games as diplomacy_games
from stratkit.games.diplomacy.games import AFTER_THE_END, EMPTY, NAMED_TWICE, actions_of, phases
from stratkit.games.diplomacy.orders import our_unit
from stratkit.games.diplomacy.saved import (
    AGAIN,
    CONTRADICTION,
    DISORDER,
    OTHER_DISORDER,
    TOO_MANY,
    TRAPPED,
    VOID,
    WRONG_COAST,
)

STANDARD = Game("diplomacy:standard", {"years": 250, "max_quiet": 0})
Notes = list[tuple[str | None, str, object]]


def phase(name: str, units: dict[str, list[str]] | None = None, /, **orders: Any) -> dict[str, Any]:
    return {"name": name, "orders": orders, "state": {"units": units or {}}}


def read(*saved: dict[str, Any], game: Game = STANDARD) -> tuple[dict[str, list[str]], Notes]:
    """The units behind the phases that were played, and what was told."""
    notes: list[InputError] = []
    actions = actions_of(game, {"phases": [*saved]}, notes.append)
    map_ = map_of(game)
    position = map_.start()
    for position, orders in phases(game, actions):
        position = map_.resolve(position, orders)
    units = diplomacy_games.units(map_, position)
    return units, [(note.where, note.what, note.text) for note in notes]


# Turkey takes Sevastopol, whose fleet has nowhere to go: Austria is in Rumania.
SPRING = phase("S1901M", AUSTRIA=["A BUD - RUM"], TURKEY=["F ANK - BLA", "A SMY - ARM"])
FALL = phase("F1901M", TURKEY=["A ARM - SEV", "F BLA S A ARM - SEV"])
LEFT = ["A MOS", "A WAR", "F STP/SC"]


def test_a_phase_of_retreats_is_kept_where_nobody_has_one() -> None:
    retreats = phase("F1901R", {"RUSSIA": [*LEFT, "*F SEV"]}, RUSSIA=["F SEV D"])
    units, notes = read(SPRING, FALL, retreats, phase("W1901A", {"RUSSIA": LEFT}))
    assert units["RUSSIA"] == LEFT
    assert notes == [("F1901R", EMPTY, None), ("F1901R", TRAPPED, "F SEV D")]
    for unit in ("*A MOS", "*F SEV/NC", "F SEV"):
        with pytest.raises(InputError, match="RUSSIA: other units than play leads to"):
            read(SPRING, FALL, phase("F1901R", {"RUSSIA": [*LEFT, unit]}), phase("W1901A"))


@pytest.mark.parametrize(
    ("russia", "orders", "told"),
    [
        ([*LEFT], [], []),
        ([*LEFT, "*F SEV"], ["F SEV D"], [("F1901R", TRAPPED, "F SEV D")]),
        ([*LEFT, "*F SEV"], ["F SEV R BLA"], [("F1901R", VOID, "F SEV R BLA")]),
    ],
)
def test_one_of_two_dislodged_units_has_nowhere_to_go(
    russia: list[str], orders: list[str], told: Notes
) -> None:
    spring, fall = dict(SPRING["orders"]), dict(FALL["orders"])
    spring["ITALY"] = ["A VEN - TYR", "A ROM - VEN"]
    fall["ITALY"] = ["A VEN - TRI", "A TYR S A VEN - TRI"]
    there = {"AUSTRIA": ["A RUM", "A VIE", "*F TRI"], "RUSSIA": russia}
    retreats = phase("F1901R", there, AUSTRIA=["F TRI - ADR"], RUSSIA=orders)
    begin = phase("S1901M", **spring), phase("F1901M", **fall)
    units, notes = read(*begin, retreats, phase("W1901A"))
    assert "F ADR" in units["AUSTRIA"] and units["RUSSIA"] == LEFT
    assert notes == told


def test_empty_phases_of_every_kind_in_a_year_without_a_change() -> None:
    begin = phase("S1901M", AUSTRIA=[]), phase("S1901R"), phase("F1901M", AUSTRIA=[])
    rest = phase("F1901R"), phase("W1901A", FRANCE=["A PAR B", "WAIVE"]), phase("S1902M")
    _, notes = read(*begin, *rest)
    assert notes == [
        *((name, EMPTY, None) for name in ("S1901R", "F1901R", "W1901A")),
        ("W1901A", VOID, "A PAR B"),
    ]
    for wrong in (("S1901R", "S1901R"), ("F1901R", "S1901R"), ("W1901A",), ("S1902R",)):
        with pytest.raises(InputError, match="F1901M is due"):
            read(begin[0], *map(phase, wrong), begin[2])


@pytest.mark.parametrize(
    ("support", "arrives", "told"),
    [
        ("F BLA S F RUM - BUL/EC", True, None),
        ("F BLA S F RUM - BUL", True, None),
        ("F BLA S F RUM - BUL/SC", False, VOID),  # the fleet does not reach that coast
    ],
)
def test_a_support_names_the_coast_of_the_move(
    support: str, arrives: bool, told: str | None
) -> None:
    """Of two units that go to Bulgaria the supported one arrives."""
    spring = phase("S1901M", RUSSIA=["F SEV - RUM"], TURKEY=["F ANK - BLA", "A CON H"])
    fall = phase("F1901M", RUSSIA=["F RUM - BUL/EC"], TURKEY=["A CON - BUL", support])
    units, notes = read(spring, fall)
    assert ("F BUL/EC" in units["RUSSIA"]) == arrives
    assert notes == ([("F1901M", told, support)] if told else [])
    assert not read(spring, phase("F1901M", RUSSIA=[], TURKEY=["F BLA S F RUM - BUL/EC"]))[1]


def test_a_support_for_the_other_coast_that_the_fleet_reaches_counts_for_nothing() -> None:
    moves = {"FRANCE": ["F BRE - MAO", "A MAR - GAS"]}
    support = "A GAS S F MAO - SPA/SC"
    _, notes = read(phase("S1901M", **moves), phase("F1901M", FRANCE=["F MAO - SPA/NC", support]))
    assert notes == [("F1901M", WRONG_COAST, support)]


# ---- Adjustments ----

RICH = (  # France may build twice, of three homes that are empty
    phase("S1901M", FRANCE=["F BRE - MAO", "A PAR - GAS", "A MAR - PIE"]),
    phase("F1901M", FRANCE=["F MAO - POR", "A GAS - SPA"]),
)
THREE = ["F BRE B", "A PAR BUILD", "A MAR B"]


@pytest.mark.parametrize(
    ("orders", "then", "built"),
    [
        (THREE, None, ["A PAR", "F BRE"]),
        ([*THREE[::-1]], None, ["A MAR", "A PAR"]),
        (THREE, ["A PIE", "A SPA", "F POR", "A MAR", "F BRE"], ["A MAR", "F BRE"]),
        (["A MAR B", "F MAR B", "A PAR B"], None, ["A MAR", "A PAR"]),
    ],
)
def test_of_too_many_builds_the_first_count_or_those_that_are_seen_later(
    orders: list[str], then: list[str] | None, built: list[str]
) -> None:
    behind = phase("S1902M", {"FRANCE": then} if then else {})
    units, notes = read(*RICH, phase("W1901A", FRANCE=orders), behind)
    assert sorted(set(units["FRANCE"]) - {"A PIE", "A SPA", "F POR"}) == built
    assert [(where, what) for where, what, _ in notes] == [("W1901A", TOO_MANY)]


POOR = (  # Austria loses Triest and Budapest: A SER and F ION are the farthest from home
    phase(
        "S1901M",
        AUSTRIA=["F TRI - ADR", "A BUD - SER"],
        ITALY=["A VEN - TRI"],
        RUSSIA=["A WAR - GAL"],
    ),
    phase("F1901M", AUSTRIA=["F ADR - ION", "A SER - ALB"], RUSSIA=["A GAL - BUD"]),
)


@pytest.mark.parametrize(
    ("orders", "then", "left", "told"),
    [
        ([], None, ["A VIE"], [(DISORDER, "F ION"), (DISORDER, "A ALB")]),
        (["A ALB D"], ["A VIE"], ["A VIE"], [(DISORDER, "F ION")]),
        (["A VIE REMOVE"], None, ["A ALB"], [(DISORDER, "F ION")]),
        (["F ION D"], ["A ALB"], ["A ALB"], [(OTHER_DISORDER, "A VIE")]),
        (["F ION D", "A ALB D", "A VIE D"], None, ["A VIE"], [(TOO_MANY, "A VIE D")]),
        (["F ION D", "A ALB D", "A VIE D"], ["A ALB"], ["A ALB"], [(TOO_MANY, "A ALB D")]),
    ],
)
def test_disbands_that_nobody_ordered_and_those_beyond_what_is_owed(
    orders: list[str], then: list[str] | None, left: list[str], told: list[tuple[str, str]]
) -> None:
    behind = phase("S1902M", {"AUSTRIA": then} if then else {})
    units, notes = read(*POOR, phase("W1901A", AUSTRIA=orders, RUSSIA=[]), behind)
    assert units["AUSTRIA"] == left
    assert [(what, text) for _, what, text in notes] == told


# ---- Orders that do not count ----


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("A VIE - BUD", VOID),  # Austria's
        ("A GAS H", VOID),  # nobody is there
        ("A PAR - MOS", VOID),
        ("A PAR D", VOID),
        ("A PAR B", VOID),
        ("F BRE - MAO VIA", VOID),
        ("A PAR H", CONTRADICTION),
        ("a par - bur", AGAIN),
        ("A MAR S F PAR", VOID),
        ("waive", None),
    ],
)
def test_orders_that_count_for_nothing(order: str, told: str | None) -> None:
    there = {"FRANCE": ["A MAR", "A PAR", "F BRE"]}
    units, notes = read(phase("S1901M", there, FRANCE=["A PAR - BUR", order], ITALY=None))
    assert ("A BUR" in units["FRANCE"]) == (told != CONTRADICTION)
    assert notes == ([("S1901M", told, order)] if told else [])


def test_a_unit_that_is_named_twice() -> None:
    _, notes = read(phase("S1901M", {"FRANCE": ["A MAR", "A PAR", "A PAR", "F BRE"]}))
    assert notes == [("S1901M", NAMED_TWICE, "A PAR")]


def test_units_by_other_names_of_their_places() -> None:
    """Also where they say which of too many builds was carried out."""
    spring = phase("S1901M", ENGLAND=["F LON - NTH", "F EDI - NRG", "A LPL - YOR"])
    fall = phase("F1901M", {"ENGLAND": ["F NRG", "F NTH", "A YOR"]}, ENGLAND=["F NTH - NOR"])
    builds = phase(
        "W1901A", {"ENGLAND": ["F NRG", "F NOR", "A YOR"]}, ENGLAND=["F LON B", "F LPL B"]
    )
    then = phase("S1902M", {"ENGLAND": ["A YOR", "F LPL", "F NRG", "F NOR"]})
    units, notes = read(spring, fall, builds, then)
    assert sorted(units["ENGLAND"]) == ["A YOR", "F LVP", "F NWG", "F NWY"]
    assert notes == [("W1901A", TOO_MANY, "F LON B")]
    assert our_unit(map_of(STANDARD), "*F GOL") == "*F LYO"
    with pytest.raises(InputError, match="other units than play leads to.*F LYO"):
        read(spring, phase("F1901M", {"ENGLAND": ["F NRG", "F GOL", "A YOR"]}, ENGLAND=[]), fall)


def test_the_game_was_left_where_nobody_orders_in_the_last_phase() -> None:
    spring = phase("S1901M", FRANCE=["A PAR - BUR"])
    assert len(actions_of(STANDARD, {"phases": [spring]})) == len(
        actions_of(STANDARD, {"phases": [spring, phase("F1901M", FRANCE=None, ITALY=[])]})
    )
    none: dict[str, Any] = {"name": "F1901M", "orders": None, "state": None}
    assert read(spring, none)[0]["FRANCE"] == ["A BUR", "F BRE", "A MAR"]


def test_phases_behind_the_end() -> None:
    """A game of one year is over before its builds."""
    game = Game("diplomacy:standard", {"years": 1, "max_quiet": 0})
    end = phase("W1901A", FRANCE=["A PAR B"])
    units, notes = read(*RICH, end, phase("COMPLETED"), game=game)
    assert "A PAR" not in units["FRANCE"] and notes == [("W1901A", AFTER_THE_END, None)]
    for wrong in ("S1902M", "S1902R"):
        with pytest.raises(InputError, match="the game is over before this phase"):
            read(*RICH, end, phase(wrong, FRANCE=["A SPA H"]), game=game)
