"""Orders of Diplomacy as other programs save them: what they come to by the rules.

A saved phase keeps what was written, lawful or not. The rules take some of it: an order that is not
legal counts for nothing, of too many builds the first ones count, and where disbands are missing
civil disorder takes the units farthest from home. Each such case is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    BUILD_FLEET,
    DISBAND,
    FALL_RETREATS,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SPRING_RETREATS,
    SUPPORT_MOVE,
    DiplomacyMap,
)
from stratkit.games.diplomacy.orders import (
    WAIVE,
    Order,
    VoidOrder,
    orders_array,
    parse_order,
    unit_text,
)

VOID = "an order that is not legal here counts for nothing"
AGAIN = "a unit is ordered the same twice"
CONTRADICTION = "two orders of one unit contradict each other: neither counts"
WRONG_COAST = "a support that names another coast than the move counts for nothing"
TRAPPED = "a unit without a retreat is disbanded, whatever is ordered"
TOO_MANY = "more builds or disbands are ordered than there may be: this one counts for nothing"
DISORDER = "disbanded by civil disorder: nobody ordered it"
OTHER_DISORDER = "disbanded although nobody ordered it, and the rules take another"

NO_ORDER = (HOLD, NONE, NONE)

Units = Mapping[str, Sequence[str]]  # by power, as `A PAR`
Note = Callable[[str, str], None]  # takes one of the sentences above, and what it is said of


class Given(NamedTuple):
    """An order that is legal alone, and its text."""

    province: int
    order: Order
    text: str


def lawful(
    map_: DiplomacyMap,
    position: np.ndarray,
    given: Mapping[str, Sequence[str]],
    after: Units,
    note: Note,
) -> dict[int, Order]:
    """The order of each province that has one, of the texts that powers were `given` in `position`,
    of shape [1]; in adjustments also of what civil disorder disbands. `after`: the units behind the
    phase, of the powers of which they are known: they say which of too many orders were carried
    out. Raises `InputError` for what is no order."""
    orders = {
        power: _legal(map_, position, number, given[power], note)
        for number, power in enumerate(map_.powers)
        if power in given
    }
    phase = int(position["phase"][0])
    if phase == ADJUSTMENTS:
        adjustments = _owed(map_, position, orders, after, note)
        return adjustments | _disorder(map_, position, adjustments, after, note)
    single = _one_each([one for some in orders.values() for one in some], note)
    if phase in (SPRING_RETREATS, FALL_RETREATS):
        single = [one for one in single if not _is_trapped(map_, position, one, note)]
        return {one.province: one.order for one in single}
    return _without_coasts(map_, single, note)


def has_retreat(map_: DiplomacyMap, position: np.ndarray, province: int) -> bool:
    """Whether the dislodged unit of a province has somewhere to go in a phase of retreats."""
    return bool((map_.legal(position, province)[:, 0] == RETREAT).any())


def _legal(
    map_: DiplomacyMap, position: np.ndarray, power: int, texts: Sequence[str], note: Note
) -> list[Given]:
    """The orders of a power that are legal alone."""
    legal = []
    for text in texts:
        if text.upper() == WAIVE:
            continue
        try:
            legal.append(Given(*parse_order(map_, position, power, text), text))
        except VoidOrder:
            note(VOID, text)
    return legal


# ---- Moves and retreats ----


def _one_each(given: Sequence[Given], note: Note) -> list[Given]:
    """One order of each unit; none of those whose orders contradict each other."""
    by_province: dict[int, Given] = {}
    torn: set[int] = set()
    for one in given:
        first = by_province.setdefault(one.province, one)
        if first.order != one.order:
            torn.add(one.province)
            note(CONTRADICTION, one.text)
        elif first is not one:
            note(AGAIN, one.text)
    return [one for province, one in by_province.items() if province not in torn]


def _is_trapped(map_: DiplomacyMap, position: np.ndarray, one: Given, note: Note) -> bool:
    trapped = not has_retreat(map_, position, one.province)
    if trapped:
        note(TRAPPED, one.text)
    return trapped


def _without_coasts(map_: DiplomacyMap, given: Sequence[Given], note: Note) -> dict[int, Order]:
    """The orders, of which supports name provinces, as actions do; those for a move to another
    coast are left out."""
    orders = {one.province: one.order for one in given}
    by_province = {}
    for province, order, text in given:
        verb, whom, whither = order
        if verb == SUPPORT_MOVE and whither >= map_.provinces:
            to = int(map_.parent[whither])
            moves, _, destination = orders.get(whom, NO_ORDER)
            if moves == MOVE and map_.parent[destination] == to and destination != whither:
                note(WRONG_COAST, text)
                continue
            order = (verb, whom, to)
        by_province[province] = order
    return by_province


# ---- Adjustments ----


def _owed(
    map_: DiplomacyMap,
    position: np.ndarray,
    orders: Mapping[str, Sequence[Given]],
    after: Units,
    note: Note,
) -> dict[int, Order]:
    """So many builds, or disbands, of each power as it may, or must: those that the units `after`
    show, and then the first ones."""
    adjustments: dict[int, Order] = {}
    for number, power in enumerate(map_.powers):
        left = abs(map_.adjustment(position, number))
        given = orders.get(power, ())
        for one in sorted(given, key=lambda one: _is_missed(map_, position, one, after.get(power))):
            if left and one.province not in adjustments:
                left -= 1
                adjustments[one.province] = one.order
            else:
                note(TOO_MANY, one.text)
    return adjustments


def _is_missed(
    map_: DiplomacyMap, position: np.ndarray, one: Given, after: Sequence[str] | None
) -> bool:
    """Whether the units `after` show that the order was not carried out."""
    if after is None:
        return False
    verb, _, whither = one.order
    if verb == DISBAND:
        return unit_text(map_, one.province, int(position["unit"][0, one.province])) in after
    return f"{'F' if verb == BUILD_FLEET else 'A'} {map_.locations[whither]}" not in after


def _disorder(
    map_: DiplomacyMap, position: np.ndarray, ordered: Mapping[int, Order], after: Units, note: Note
) -> dict[int, Order]:
    """The disbands that powers owe beyond those that are `ordered`: of the units that are missing
    `after`, if so many are, else as the rules say."""
    before = position["unit"][0]
    left = map_.resolve(position, orders_array(map_, ordered.items()))["unit"][0]
    disbands: dict[int, Order] = {}
    for number, power in enumerate(map_.powers):
        own = [p for p in np.flatnonzero(before).tolist() if int(before[p]) & POWER == number]
        texts = {p: unit_text(map_, p, int(before[p])) for p in own if p not in ordered}
        taken = {p for p in texts if not left[p]}
        gone = {p for p in texts if power in after and texts[p] not in after[power]}
        for p in sorted(gone if len(gone) == len(taken) else taken):
            note(DISORDER if p in taken else OTHER_DISORDER, texts[p])
            disbands[p] = (DISBAND, NONE, NONE)
    return disbands
