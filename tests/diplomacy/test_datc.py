"""The 158 cases of the Diplomacy Adjudicator Test Cases."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from diplomacy.datc import COUNTS, Case, Line, cases
from diplomacy.slow_twin import twin
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    CARRIED_OUT,
    MOVE,
    OUTCOMES,
    POWER,
    SPRING_RETREATS,
    VIA,
    DiplomacyMap,
    map_text,
)
from stratkit.errors import InputError
from stratkit.games.diplomacy.orders import (
    Order,
    order_text,
    orders_array,
    parse_order,
    parse_unit,
    unit_text,
)
from stratkit.games.diplomacy.saved import NO_ORDER

CASES = cases()
TEXT = map_text("standard")
assert TEXT is not None
BOARD = DiplomacyMap(TEXT)


def empty(phase: int = 0) -> np.ndarray:
    position = BOARD.start()
    position["unit"], position["owner"], position["phase"] = 0, 0, phase
    return position


def put(position: np.ndarray, power: str, unit: str) -> None:
    province, code = parse_unit(BOARD, BOARD.powers.index(power), unit)
    position["unit"][0, province] = code


def read(position: np.ndarray, lines: list[Line], refused: str) -> dict[int, Order]:
    """The orders by province; those that are to be refused are."""
    orders: dict[int, Order] = {}
    for result, power, text in lines:
        number = BOARD.powers.index(power)
        if result in refused:
            with pytest.raises(InputError):
                parse_order(BOARD, position, number, text)
        elif result != "u":
            province, order = parse_order(BOARD, position, number, text)
            orders[province] = order
            spelt = order_text(BOARD, position, province, order)
            assert parse_order(BOARD, position, number, spelt) == (province, order)
    return orders


def where(text: str) -> int:
    return int(BOARD.parent[BOARD.number[text.split()[1]]])


def units_of(case: Case) -> np.ndarray:
    """The position before the moves of a case."""
    position = empty()
    for _, power, text in case.moves:
        if not position["unit"][0, where(text)]:
            put(position, power, " ".join(text.split()[:2]))
    BOARD.check(position)
    return position


def check_moves(case: Case) -> np.ndarray:
    """Adjudicates the moves of a case; the position after them."""
    position = units_of(case)
    orders = read(position, case.moves, "iI")
    after, outcomes = BOARD.adjudicate(position, orders_array(BOARD, orders.items()))
    for result, _, text in case.moves:
        province = where(text)
        stays = after["unit"][0, province] == position["unit"][0, province]
        moves = orders.get(province, NO_ORDER)[0] in (MOVE, VIA)
        moved = moves and outcomes[0, province] == CARRIED_OUT
        found = "m" if moved else "d" if after["dislodged"][0, province] else "s"
        assert found == {"i": "s", "u": found, "I": "d"}.get(result, result), text
        if found == "d":
            assert after["dislodged"][0, province] == position["unit"][0, province]
        elif found == "m" and province in orders:
            to = orders[province][2]
            arrived = int(after["unit"][0, BOARD.parent[to]])
            assert BOARD.location(int(BOARD.parent[to]), arrived) == to
            assert arrived & POWER == position["unit"][0, province] & POWER
        else:
            assert stays or found == "m"
    return after


def check_retreats(case: Case, position: np.ndarray) -> None:
    position["phase"] = SPRING_RETREATS
    orders = read(position, case.retreats, "i")
    after = BOARD.resolve(position, orders_array(BOARD, orders.items()))
    for result, power, text in case.retreats:
        if result in "rx":
            kind, _, _, name = text.split()
            there = parse_unit(BOARD, BOARD.powers.index(power), f"{kind} {name}")
            assert (after["unit"][0, there[0]] == there[1]) == (result == "r"), text
    assert not after["dislodged"].any()


def check_adjustments(case: Case) -> None:
    position = empty(ADJUSTMENTS)
    given = collections.defaultdict(list)
    for line in case.adjustments:
        given[line[0]].append(line)
    for _, power, names in given["centres"]:
        for name in names.split():
            centre = BOARD.centre[BOARD.number[name]]
            position["owner"][0, centre] = 1 + BOARD.powers.index(power)
    for _, power, units in given["units"]:
        for unit in units.split(", "):
            put(position, power, unit)
    orders = read(position, [*given["o"], *given["n"], *given["i"]], "i")
    after = BOARD.resolve(position, orders_array(BOARD, orders.items()))
    for power in BOARD.powers:
        number = BOARD.powers.index(power)
        left = [int(u) for u in after["unit"][0]]
        units = [unit_text(BOARD, p, u) for p, u in enumerate(left) if u and u & POWER == number]
        wanted = [
            u for _, owner, text in given["after"] if owner == power for u in text.split(", ")
        ]
        assert sorted(units) == sorted(wanted), power


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_datc(case: Case) -> None:
    if case.adjustments:
        check_adjustments(case)
        return
    after = check_moves(case)
    if case.retreats:
        check_retreats(case, after)


def test_a_slow_twin_agrees_when_orders_of_the_convoys_change() -> None:
    """Random boards have few convoys that are attacked. So the units stand as in the cases of
    convoys, and one or two have another order."""
    rng, found = np.random.default_rng(1), collections.Counter[str]()
    for case in CASES * 4:
        if case.name[0] not in "FG" or len(case.moves) > 8:
            continue
        position = units_of(case)
        orders = {int(p): NO_ORDER for p in np.flatnonzero(position["unit"][0])}
        orders |= read(position, case.moves, "iI")
        for p in rng.permutation(list(orders))[: rng.integers(1, 3)].tolist():
            verb, whom, whither = rng.choice(BOARD.legal(position, p)).tolist()
            orders[p] = (verb, whom, whither)
        slow = twin(BOARD, position, orders)
        solutions = slow.solutions()
        if len(solutions) != 1:
            continue  # a paradox, or a circle
        wanted = slow.outcomes(solutions[0])
        _, outcomes = BOARD.adjudicate(position, orders_array(BOARD, orders.items()))
        assert {p: int(outcomes[0, p]) for p in orders} == wanted, (case.name, orders)
        found.update(OUTCOMES[outcome] for outcome in wanted.values())
    assert min(found[word] for word in OUTCOMES) > 5, found


def test_every_case_is_there() -> None:
    numbers = {case.name.split()[0] for case in CASES}
    assert numbers == {f"{part}.{i}" for part, n in COUNTS.items() for i in range(1, n + 1)}
    assert len(numbers) == 158
