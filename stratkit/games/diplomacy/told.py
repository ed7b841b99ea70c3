"""A phase of Diplomacy in words: what every power ordered, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    BOUNCE,
    FALL_MOVES,
    FALL_RETREATS,
    HOLD,
    NONE,
    OUTCOMES,
    POWER,
    RETREAT,
    SPRING_MOVES,
    DiplomacyMap,
)
from stratkit.games.diplomacy.games import phase_json, written_orders
from stratkit.games.diplomacy.orders import order_text, phase_text, unit_text
from stratkit.games.diplomacy.saved import has_retreat


def told(
    map_: DiplomacyMap, position: np.ndarray, orders: Bytes, after: np.ndarray
) -> tuple[str, list[str]]:
    """A phase's name, and its lines: the orders of each power, those that came to nothing with a
    word of `OUTCOMES`, then who was dislodged, then which centres changed hands. `after`: the
    position that follows, of shape [1], in which somebody can order again."""
    moving = int(position["phase"][0]) in (SPRING_MOVES, FALL_MOVES)
    lines = []
    failed = _failed(map_, position, orders)
    for power, some in written_orders(map_, position, orders).items():
        texts = [
            order_text(map_, position, province, order) + failed.get(province, "")
            for province, order in some
        ]
        lines += [f"{power}: {'; '.join(texts)}"] * bool(texts)
    if moving:
        lines += _dislodged(map_, position, orders)
    if int(position["phase"][0]) == ADJUSTMENTS:
        gone = (position["unit"][0] > 0) & (after["unit"][0] == 0)
        for province in np.flatnonzero(gone[: map_.provinces] & (orders[0, :, 0] == HOLD)).tolist():
            unit = int(position["unit"][0, province])
            power = map_.powers[unit & POWER]
            lines.append(f"civil disorder: {unit_text(map_, province, unit)} of {power}")
    return phase_text(map_, position), [*lines, *_taken(map_, position, after)]


def _failed(map_: DiplomacyMap, position: np.ndarray, orders: Bytes) -> dict[int, str]:
    """What stands behind the orders that came to nothing, by province."""
    if int(position["phase"][0]) in (SPRING_MOVES, FALL_MOVES):
        outcomes = map_.adjudicate(position, orders)[1][0]
        return {p: f" ({OUTCOMES[outcomes[p]]})" for p in np.flatnonzero(outcomes).tolist()}
    retreats = np.flatnonzero(orders[0, :, 0] == RETREAT).tolist()
    to = {p: int(map_.parent[orders[0, p, 2]]) for p in retreats}
    places = list(to.values())
    return {p: f" ({OUTCOMES[BOUNCE]})" for p, place in to.items() if places.count(place) > 1}


def _dislodged(map_: DiplomacyMap, position: np.ndarray, orders: Bytes) -> Iterator[str]:
    left = map_.adjudicate(position, orders)[0]
    left["phase"] += 1  # their retreats
    for province in np.flatnonzero(left["dislodged"][0]).tolist():
        unit = int(left["dislodged"][0, province])
        end = "" if has_retreat(map_, left, province) else ", without a retreat: disbanded"
        power = map_.powers[unit & POWER]
        yield f"dislodged: {unit_text(map_, province, unit)} of {power}{end}"


def _taken(map_: DiplomacyMap, position: np.ndarray, after: np.ndarray) -> Iterator[str]:
    """Which centres have another owner."""
    if int(position["phase"][0]) not in (FALL_MOVES, FALL_RETREATS):
        return
    names = ("nobody", *map_.powers)
    for province in np.flatnonzero(map_.centre != NONE).tolist():
        was, now = (int(one["owner"][0, map_.centre[province]]) for one in (position, after))
        if was != now:
            yield f"{names[now]} takes {map_.locations[province]} from {names[was]}"


def standing(map_: DiplomacyMap, position: np.ndarray) -> list[str]:
    """How the powers stand, a line each: centres, and units."""
    state = phase_json(map_, position)["state"]
    return [
        f"{power} ({len(state['centers'][power])}): {', '.join(state['units'][power]) or '-'}"
        for power in map_.powers
    ]


def history(
    map_: DiplomacyMap, phases: Sequence[tuple[np.ndarray, Bytes]], now: np.ndarray
) -> list[tuple[str, list[str]]]:
    """All `phases` of a game in words; `now` is the position behind the last one."""
    after = [*(position for position, _ in phases[1:]), now]
    return [told(map_, *phase, after[at]) for at, phase in enumerate(phases)]
