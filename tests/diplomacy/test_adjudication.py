"""The adjudicator against a slow twin, the maps, and what holds of any game."""

from __future__ import annotations

import collections
import importlib.util
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from diplomacy.slow_twin import random_board, twin
from running import ROOT
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    CONVOY,
    DISRUPTED,
    FALL_MOVES,
    FLEET,
    HOLD,
    NONE,
    OUTCOMES,
    POWER,
    SEA,
    SPRING_MOVES,
    SUPPORT_MOVE,
    UNIT,
    DiplomacyMap,
    IllegalOrder,
    map_text,
)
from stratkit.errors import InputError
from stratkit.games.diplomacy.orders import (
    VoidOrder,
    order_text,
    orders_array,
    parse_order,
    parse_phase,
    parse_unit,
    phase_text,
    unit_text,
)

MAPS = ("standard", "fva", "gvi", "pure", "tiny")


def board(name: str) -> DiplomacyMap:
    text = map_text(name)
    assert text is not None
    return DiplomacyMap(text)


STANDARD = board("standard")


def random_orders(map_: DiplomacyMap, position: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    orders = np.full((1, map_.provinces, 3), (HOLD, NONE, NONE), np.uint8)
    for p in range(map_.provinces):
        if len(legal := map_.legal(position, p)):
            orders[0, p] = legal[rng.integers(len(legal))]
    return orders


def played(map_: DiplomacyMap, seed: int, phases: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions of a random game with orders."""
    rng, position = np.random.default_rng(seed), map_.start()
    for _ in range(phases):
        orders = random_orders(map_, position, rng)
        yield position, orders
        position = map_.resolve(position, orders)


def test_a_slow_twin_that_tries_all_results_finds_the_same() -> None:
    """bench/diplomacy.md tells of 100,000 boards."""
    rng, found = np.random.default_rng(1), collections.Counter[str]()
    for _ in range(150):
        position, orders = random_board(STANDARD, rng, int(rng.integers(3, 8)))
        slow = twin(STANDARD, position, orders)
        solutions = slow.solutions()
        _, outcomes = STANDARD.adjudicate(position, orders_array(STANDARD, orders.items()))
        if slow.convoys and len(solutions) != 1:
            continue  # a paradox
        solution = max(solutions, key=lambda some: sum(some[p] for p in slow.to))  # circles move
        wanted = slow.outcomes(solution)
        assert {p: int(outcomes[0, p]) for p in orders} == wanted, orders
        assert np.count_nonzero(outcomes) == np.count_nonzero(list(wanted.values()))
        found.update(OUTCOMES[outcome] for outcome in wanted.values())
        found["carried by fleets"] += sum(not wanted[p] for p in slow.via)
    words = {*OUTCOMES, "carried by fleets"} - {OUTCOMES[DISRUPTED]}  # these are in test_datc.py
    assert min(found[word] for word in words) > 5, found


def test_the_first_orders_of_france_against_austria() -> None:
    """Counted by hand from the map."""
    map_ = board("fva")
    position = map_.start()
    counts: dict[int, list[int]] = {0: [], 1: []}
    for p in range(map_.provinces):
        if unit := int(position["unit"][0, p]):
            counts[unit & POWER].append(len(map_.legal(position, p)))
    each = np.arange(map_.provinces, dtype=np.uint8)
    orders, numbers = map_.legal_of_each(position.repeat(len(each)), each)
    assert orders.tolist() == [
        order for p in each for order in map_.legal(position, int(p)).tolist()
    ]
    assert numbers.tolist() == [len(map_.legal(position, int(p))) for p in each]
    for wrong in (each[:1] + np.uint8(map_.provinces), each[:2]):
        with pytest.raises(ValueError, match="positions|provinces"):
            map_.legal_of_each(position, wrong)
    assert map_.powers == ["AUSTRIA", "FRANCE"]
    assert (np.prod(counts[0]), np.prod(counts[1])) == (400, 640)
    assert (STANDARD.provinces, len(STANDARD.locations), STANDARD.centres) == (75, 81, 34)
    assert STANDARD.kind.tolist().count(2) == 19 and STANDARD.kind.tolist().count(0) == 14


def test_fingerprint() -> None:
    """A change of the rules changes these numbers, and must be meant."""
    found = {name: board(name).random(1, 2000) for name in MAPS}
    assert found == {
        "standard": 8895706341184628293,
        "fva": 10057539405805704130,
        "gvi": 7931220397852293191,
        "pure": 5704686455806683128,
        "tiny": 2629285954840785045,
    }


def test_no_order_is_left_out_however_many_there_are() -> None:
    """Of a board full of units, which make all chains of fleets: as one by one."""
    map_ = board("standard")
    position, sea = map_.start(), map_.kind == SEA
    position["unit"][0, : map_.provinces] = np.where(sea, UNIT | FLEET, UNIT)
    ocean, places = map_.number["MAO"], range(map_.provinces)
    listed = {tuple(order) for order in map_.legal(position, ocean).tolist()}
    helps = itertools.product((SUPPORT_MOVE, CONVOY), places, places)
    allowed = {order for order in helps if map_.is_legal(position, ocean, order)}
    assert {order for order in listed if order[0] in (SUPPORT_MOVE, CONVOY)} == allowed
    assert len(listed) > 1024


def test_a_power_has_all_its_units() -> None:
    """Of a line of as many words as it has room for."""
    names = [letter + digit for letter in "ABCD" for digit in "0123456789"]
    lines = [f"inland {name} * army {' '.join(set(names) - {name})}" for name in names]
    for power, homes in (("X", names[:30]), ("Y", names[30:])):
        units = " ".join(f"A {name}" for name in homes)
        lines.append(f"power {power} home {' '.join(homes)} units {units}")
    map_ = DiplomacyMap("\n".join(["win 40", *lines]))
    assert np.count_nonzero(map_.start()["unit"]) == map_.centres == 40
    assert map_.army.sum() == 40 * 39


@pytest.mark.parametrize("name", MAPS)
def test_what_holds_of_any_game(name: str) -> None:
    map_ = board(name)
    phases = set()
    for position, orders in played(map_, 3, 60):
        map_.check(position)
        phase = int(position["phase"][0])
        phases.add(phase)
        owners = position["owner"][0]
        assert (owners > 0).sum() <= map_.centres
        for power in range(len(map_.powers)):
            units = [int(u) for u in position["unit"][0] if u]
            mine = sum(u & POWER == power for u in units)
            assert mine <= max(1 + 2 * map_.centres, 1)
            if phase == SPRING_MOVES:
                assert mine <= (owners == 1 + power).sum()
        for p in range(map_.provinces):
            for order in map_.legal(position, p)[:40]:
                given = (int(order[0]), int(order[1]), int(order[2]))
                text = order_text(map_, position, p, given)
                power = _orderer(map_, position, p)
                assert parse_order(map_, position, power, text) == (p, given), text
        assert parse_phase(map_, phase_text(map_, position)) == (phase, position["year"][0])
        after = map_.resolve(position, orders)
        if phase in (SPRING_MOVES, FALL_MOVES):
            then, _ = map_.adjudicate(position, orders)
            before = np.sort(position["unit"][0] & ~np.uint8(0x30))
            both = np.concatenate([then["unit"][0], then["dislodged"][0]])
            assert np.array_equal(np.sort(both[both > 0] & ~np.uint8(0x30)), before[before > 0])
        assert after["phase"][0] != phase or phase in (SPRING_MOVES, FALL_MOVES)
    assert {SPRING_MOVES, FALL_MOVES} <= phases


def _orderer(map_: DiplomacyMap, position: np.ndarray, p: int) -> int:
    phase = int(position["phase"][0])
    if phase == ADJUSTMENTS:
        unit = int(position["unit"][0, p])
        return unit & POWER if unit else int(map_.home[p])
    which = "unit" if phase in (SPRING_MOVES, FALL_MOVES) else "dislodged"
    return int(position[which][0, p]) & POWER


def test_adjudication_does_not_know_the_names_of_powers() -> None:
    """Powers are renumbered: what comes of it is the same, renumbered."""
    rng = np.random.default_rng(5)
    for position, orders in played(STANDARD, 6, 40):
        if position["phase"][0] not in (SPRING_MOVES, FALL_MOVES):
            continue
        to = rng.permutation(7).astype(np.uint8)
        other = renamed(position, to)
        after, outcomes = STANDARD.adjudicate(position, orders)
        same, also = STANDARD.adjudicate(other, orders)
        assert np.array_equal(outcomes, also) and renamed(after, to) == same


def renamed(position: np.ndarray, to: np.ndarray) -> np.ndarray:
    out = position.copy()
    for field in ("unit", "dislodged"):
        units = out[field]
        out[field] = np.where(units > 0, (units & 0xF8) | to[units & POWER], 0)
    return out


# ---- Bad input ----

SMALL = "win 2\ncoast AA * army BB fleet SS\ncoast BB * army AA fleet SS\nsea SS fleet AA BB\n"
POWERS = "power X home AA units A AA\npower Y home BB units F BB\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "fewer than two powers"),
        (SMALL, "fewer than two powers"),
        (SMALL.replace("win 2\n", "") + POWERS, "no line like: win 18"),
        (SMALL + POWERS + "power X", "line 7, word 2: a second power of this name"),
        (SMALL + "power X home SS", "line 5, word 4: no centre of the map"),
        (
            SMALL + "power X home AA\npower Y home AA",
            "line 6, word 4: the home centre of two powers",
        ),
        (SMALL + "power X units A AA F AA", "line 5, word 7: a second unit in the province"),
        (SMALL + "power X units A SS", "line 5, word 5: such a unit cannot stand there"),
        (SMALL + "power X units A", "line 5: a unit is written like A PAR"),
        (SMALL + "power X AA", "line 5, word 3: home or units is needed before places"),
        (SMALL + "power x", "line 5: a power needs a name in capital letters"),
        (SMALL + "sea AA", "line 5, word 2: a second province of this name"),
        (SMALL + "sea T fleet QQ", "line 5, word 4: no other province of the map"),
        (SMALL + "sea T AA", "line 5, word 3: army or fleet is needed before neighbours"),
        (SMALL + "sea T army AA", "line 5, word 4: an army cannot go there"),
        (SMALL + "inland T fleet AA", "line 5, word 4: a fleet cannot go there"),
        (SMALL + "sea T fleet SS\n" + POWERS, "a border goes one way only: T to SS"),
        (SMALL + "part SS/NC fleet AA", "line 5, word 2: a coast of no coastal province"),
        (SMALL + "part AA", "line 5, word 2: a coast is named like SPA/NC"),
        (SMALL + "part AA/NC fleet BB", "line 2, word 7: a fleet's way needs the coast"),
        (SMALL + "rubbish", "line 5, word 1: unknown"),
        ("like nothing", "line 1, word 2: like needs the name of a map"),
        ("win many", "line 1, word 2: a number is needed"),
        ("win 41", "line 1, word 2: too large"),
        ("sea toolong", "line 1: a province needs a name of at most seven capital letters"),
        ("x" * 600, "line 1: too long"),
        ("\n".join(f"sea S{i}" for i in range(77)), "line 77: more than 76 provinces"),
    ],
)
def test_what_is_no_map(text: str, wrong: str) -> None:
    with pytest.raises(InputError) as error:
        DiplomacyMap(text)
    assert str(error.value) == wrong


def test_a_small_map_is_one() -> None:
    map_ = DiplomacyMap(SMALL + "# comments and\r\n\n" + POWERS)
    assert map_.powers == ["X", "Y"] and map_.win == 2 and map_.year == 1901


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("A PAR", "half an order: an order is written like A PAR - BUR, A PAR S A MAR - BUR or"),
        ("A PAR -", "half an order"),
        ("A PAR S", "half an order"),
        ("A PAR S A MAR -", "half an order"),
        ("par", "half an order"),
        ("hello world", "an order is written like A PAR - BUR"),
        ("A PRA - BUR", "no place is called 'PRA' (did you mean"),
        ("F PAR H", "FRANCE has no F PAR: there is A PAR: 'F PAR H'"),
        ("A VIE H", "FRANCE has no A VIE: there is A VIE of AUSTRIA"),
        ("A BUR H", "FRANCE has no A BUR: no unit is there"),
        ("A PAR - MUN", "not legal here: A PAR cannot reach MUN"),
        ("A PAR S F LON - MUN", "not legal here: A PAR cannot reach MUN"),
        ("A PAR B", "units are built and disbanded in other phases"),
        ("A PAR B C", "words behind the order"),
        ("A PAR R BUR", "units retreat in other phases"),
        ("A PAR D", "units are built and disbanded in other phases"),
        ("A PAR S F MAR", "there is no F MAR"),
        ("F BRE C F LON - PIC", "only armies are convoyed"),
        ("F BRE - MAO VIA", "not legal here"),
        ("A PAR H H", "an order is written"),
        ("A PAR - BUR VIA", "no chain of fleets at sea joins PAR and BUR"),
        ("A PAR S F LON - PIC", "F LON cannot reach PIC"),
        ("A PAR S A PAR", "no unit supports itself"),
        ("F BRE C A PAR - PIC", "only fleets at sea convoy, not F BRE"),
        ("F BRE - MAO VIA", "only armies are convoyed"),
    ],
)
def test_what_is_no_order(text: str, wrong: str) -> None:
    with pytest.raises(InputError) as error:
        parse_order(STANDARD, STANDARD.start(), STANDARD.powers.index("FRANCE"), text)
    assert wrong in str(error.value)


def test_nothing_is_built_where_units_retreat() -> None:
    now = STANDARD.start()
    now["phase"] = 1
    with pytest.raises(VoidOrder, match="units are built in other phases"):
        parse_order(STANDARD, now, STANDARD.powers.index("FRANCE"), "A PAR B")


@pytest.mark.parametrize("text", ["S1901A", "W1901M", "1901", "S1900M", "S9999M", "F1901"])
def test_what_is_no_phase(text: str) -> None:
    with pytest.raises(InputError):
        parse_phase(STANDARD, text)


@pytest.mark.parametrize("text", ["A STP/SC", "F STP", "F PAR", "A NTH", "X PAR", "A QQQ", "APAR"])
def test_what_is_no_unit(text: str) -> None:
    with pytest.raises(InputError):
        parse_unit(STANDARD, 0, text)


def test_bytes_that_are_no_position_and_orders_that_are_illegal() -> None:
    start = STANDARD.start()
    paris, north = STANDARD.number["PAR"], STANDARD.number["NTH"]
    for field, index, value in (
        ("unit", 75, 0x80),
        ("unit", paris, 0x80 | 0x40),
        ("unit", paris, 0x87),
        ("unit", paris, 0x02),
        ("unit", north, 0x80),
        ("dislodged", paris, 0x80),
        ("from", paris, 3),
        ("owner", 0, 8),
        ("owner", 39, 1),
    ):
        position = start.copy()
        position[field][0, index] = value
        with pytest.raises(InputError):
            STANDARD.check(position)
    position = start.copy()
    position["phase"] = 5
    with pytest.raises(InputError, match="no such phase"):
        STANDARD.resolve(position, orders_array(STANDARD, []))
    bad = orders_array(STANDARD, [(paris, (1, NONE, north))])
    with pytest.raises(IllegalOrder) as error:
        STANDARD.resolve(start, bad)
    assert error.value.province == paris
    assert unit_text(STANDARD, paris, int(start["unit"][0, paris])) == "A PAR"


def test_the_maps_in_the_engine_are_the_files() -> None:
    folder = ROOT / "cengine/diplomacy"
    spec = importlib.util.spec_from_file_location("make", folder / "maps/make.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert (folder / "maps.c").read_text() == make.text()
    assert sorted(path.stem for path in (folder / "maps").glob("*.map")) == sorted(MAPS)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("A PAR\u2014BUR", "A PAR - BUR"),
        ("a par \u2192 bur", "A PAR - BUR"),
        ("A PAR => BUR", "A PAR - BUR"),
        ("Army PAR to BUR", "A PAR - BUR"),
        ("par moves to bur", "A PAR - BUR"),
        ("fleet bre - mid", "F BRE - MAO"),
        ("A PAR S A MAR \u2212 BUR", "A PAR S A MAR - BUR"),
    ],
)
def test_orders_as_people_type_them(text: str, order: str) -> None:
    at, start = STANDARD.powers.index("FRANCE"), STANDARD.start()
    assert parse_order(STANDARD, start, at, text) == parse_order(STANDARD, start, at, order)


def test_via_convoy_is_via() -> None:
    start = STANDARD.start()
    _, fleet = parse_unit(STANDARD, STANDARD.powers.index("ITALY"), "F ADR")
    start["unit"][0, STANDARD.number["ADR"]] = fleet
    for text in ("A VEN - TRI VIA CONVOY", "A VEN - TRI (by convoy)", "A VEN - TRI VIA"):
        province, order = parse_order(STANDARD, start, STANDARD.powers.index("ITALY"), text)
        assert order_text(STANDARD, start, province, order) == "A VEN - TRI VIA"


def test_why_a_unit_cannot_retreat_there() -> None:
    position, power = STANDARD.start(), STANDARD.powers.index("FRANCE")
    position["phase"] = 1
    bur = STANDARD.number["BUR"]
    position["dislodged"][0, bur] = position["unit"][0, STANDARD.number["PAR"]]
    position["from"][0, bur] = STANDARD.number["RUH"]
    pic = STANDARD.number["PIC"]
    position["contested"][0, pic // 8] |= 1 << pic % 8
    for place, why in (
        ("PAR", "A PAR of FRANCE is there"),
        ("RUH", "its attacker came from RUH"),
        ("PIC", "a standoff left PIC empty"),
        ("VIE", "A VIE of AUSTRIA is there"),
        ("UKR", "it cannot reach UKR"),
    ):
        with pytest.raises(InputError, match=f"cannot retreat there: {why}"):
            parse_order(STANDARD, position, power, f"A BUR R {place}")
