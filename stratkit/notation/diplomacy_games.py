"""Whole games of Diplomacy as JSON, in the form of the `diplomacy` package's saved games.

A game has `map` and `phases`; a phase has its `name`, a `state` of `units` and `centers` by power,
and `orders` by power, in the usual text. Writing and reading are inverses. The reader follows the
rules: a phase that is missing, units that are elsewhere and illegal orders are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stratkit.arrays import Bytes, Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    CONVOY,
    DISBAND,
    FALL_MOVES,
    HOLD,
    NONE,
    POWER,
    SPRING_MOVES,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VERBS,
    VIEW,
    DiplomacyMap,
    map_of,
)
from stratkit.errors import InputError, error_context, shown
from stratkit.notation.diplomacy import Order, order_text, parse_order, phase_text, unit_text

MOST_YEARS = 250  # of a game
ENDED = "COMPLETED"  # the name of what follows the last phase
NO_ORDER = (HOLD, NONE, NONE)


def phases(game: Game, actions: Int32s) -> Iterator[tuple[np.ndarray, Bytes]]:
    """The phases of a game, int32 [T]: the position of each, of shape [1], and the orders uint8
    [1, P, 3]. The last one is left out if its orders are not complete."""
    map_, batch = map_of(game), Batch(game, 1)
    rest, turn = list(actions.tolist()), -1
    position, orders = map_.start(), _none(map_)
    while rest and batch.actors()[0] >= 0:
        view = seen(batch)
        if batch.turns()[0] != turn:
            if turn >= 0:
                yield position, orders
            turn, position, orders = int(batch.turns()[0]), view["position"].copy(), _none(map_)
        words = rest[: _length(rest[0])]
        del rest[: len(words)]
        for word in words:
            batch.apply(np.array([word], np.int32))
        orders[0, int(view["at"][0])] = _order(words)
    if batch.actors()[0] < 0 or batch.turns()[0] != turn:
        yield position, orders


def seen(batch: Batch) -> np.ndarray:
    """What the power that acts in a batch of one row knows, a record of `VIEW`: shape [1]."""
    view = batch.observe()[:, batch.game.shape[0] :]
    return np.ascontiguousarray(view).view(VIEW)[:, 0]


def game_json(game: Game, actions: Int32s) -> dict[str, Any]:
    """The game as an object of JSON; what follows the last phase has the name `ENDED`."""
    map_, found = map_of(game), []
    position = map_.start()
    for position, orders in phases(game, actions):
        found.append(phase_json(map_, position, orders))
        position = map_.resolve(position, orders)
    found.append({**phase_json(map_, position), "name": ENDED, "orders": {}})
    return {"map": game.name.partition(":")[2], "rules": dict(game.rules), "phases": found}


def phase_json(
    map_: DiplomacyMap, position: np.ndarray, orders: Bytes | None = None
) -> dict[str, Any]:
    """A phase, of a position of shape [1]; without orders, what follows the last phase."""
    orders = _none(map_) if orders is None else orders
    by_power: dict[str, list[str]] = {power: [] for power in map_.powers}
    for province, order in enumerate(orders[0].tolist()):
        power = _orders_there(map_, position, province, order[0])
        if power is not None:
            by_power[map_.powers[power]].append(order_text(map_, position, province, tuple(order)))
    state = {"units": units(map_, position), "centers": _centres(map_, position)}
    return {"name": phase_text(map_, position), "state": state, "orders": by_power}


def units(map_: DiplomacyMap, position: np.ndarray) -> dict[str, list[str]]:
    """The units of each power, in order of provinces; `*` before those that are dislodged."""
    out: dict[str, list[str]] = {power: [] for power in map_.powers}
    for field, mark in (("unit", ""), ("dislodged", "*")):
        for province in range(map_.provinces):
            unit = int(position[field][0, province])
            if unit & UNIT:
                out[map_.powers[unit & POWER]].append(mark + unit_text(map_, province, unit))
    return out


def _centres(map_: DiplomacyMap, position: np.ndarray) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {power: [] for power in map_.powers}
    for province in np.flatnonzero(map_.centre != NONE).tolist():
        owner = int(position["owner"][0, map_.centre[province]])
        if owner:
            out[map_.powers[owner - 1]].append(map_.locations[province])
    return out


def _orders_there(map_: DiplomacyMap, position: np.ndarray, province: int, verb: int) -> int | None:
    """The power whose order of a province is written; None: there is nothing to write."""
    phase = int(position["phase"][0])
    moving = phase in (SPRING_MOVES, FALL_MOVES)
    if phase == ADJUSTMENTS:
        unit = int(position["unit"][0, province])
        power = unit & POWER if unit else int(map_.home[province])
        return None if verb == HOLD else power
    unit = int(position["unit" if moving else "dislodged"][0, province])
    return unit & POWER if unit and (moving or verb != HOLD) else None


# ---- Reading ----


def game_of(data: Any) -> Game:
    """The game by whose `map` and `rules` an object of JSON is played: without a map the standard
    one; without numbers as rules, as of other programs, one without limits of years. Raises
    `InputError`: there is no such map or rule."""
    given = _object(data, "the game")
    name, rules = given.get("map", "standard"), given.get("rules")
    if not isinstance(name, str):
        raise InputError("the map is not a name")
    if not isinstance(rules, dict):
        rules = {"years": MOST_YEARS, "max_quiet": 0}
    if not all(type(value) is int for value in rules.values()):
        raise InputError("rules are whole numbers")
    return Game.stored(f"diplomacy:{name}", rules)


def actions_of(game: Game, data: Any) -> Int32s:
    """The actions of a game from its object of JSON, int32 [T]. A unit without an order holds; one
    that is dislodged is disbanded. Raises `InputError` for what is no such game."""
    map_, batch = map_of(game), Batch(game, 1)
    actions: list[int] = []
    for number, phase in enumerate(_list(_object(data, "the game"), "phases")):
        name = str(_object(phase, f"phase {number}").get("name"))
        if name == ENDED:
            break
        with error_context(None, name):
            if batch.actors()[0] < 0:
                raise InputError("the game is over before this phase")
            position = seen(batch)["position"].copy()
            due = phase_text(map_, position)
            if name != due:
                raise InputError(f"{due} is due")
            _check_units(map_, position, phase)
            _play(batch, map_, position, phase, actions)
    return np.array(actions, np.int32)


def _play(
    batch: Batch, map_: DiplomacyMap, position: np.ndarray, phase: Any, actions: list[int]
) -> None:
    """Plays the orders of a phase."""
    given: dict[int, tuple[str, Order]] = {}
    for power, texts in _object(phase.get("orders", {}), "orders").items():
        if power not in map_.powers:
            raise InputError("no power of this map", text=power)
        for text in _texts(texts, power):
            if text.upper() == "WAIVE":
                continue
            province, order = parse_order(map_, position, map_.powers.index(power), text)
            if province in given:
                raise InputError(f"a second order beside {given[province][0]!r}", text=text)
            given[province] = text, order
    turn = batch.turns()[0]
    while batch.actors()[0] >= 0 and batch.turns()[0] == turn:
        at, legal = int(seen(batch)["at"][0]), batch.legal()[0]
        text, order = given.pop(at, ("", (HOLD if legal[HOLD] else DISBAND, NONE, NONE)))
        for word in _words(order):
            if not batch.legal()[0, word]:
                raise InputError("not legal beside the other orders", text=text)
            batch.apply(np.array([word], np.int32))
            actions.append(word)
    for text, _ in given.values():
        raise InputError("one order too many", text=text)


def _check_units(map_: DiplomacyMap, position: np.ndarray, phase: Mapping[str, Any]) -> None:
    """`InputError`: the phase says that other units are there."""
    state = _object(phase.get("state", {}), "state")
    there = units(map_, position)
    for power, some in _object(state.get("units", {}), "units").items():
        wrong = sorted(set(_texts(some, power)) ^ set(there.get(power, [])))
        if wrong:
            raise InputError(f"{power}: other units than play leads to", text=wrong[0])


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{what} is no object of JSON: {shown(str(value)[:40])}")
    return value


def _texts(value: Any, power: str) -> Sequence[str]:
    if value is None:  # a power without orders, in games of other programs
        return ()
    if not (isinstance(value, list) and all(isinstance(text, str) for text in value)):
        raise InputError(f"of {power} no list of texts: {shown(str(value)[:40])}")
    return value


def _list(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = value.get(key)
    if not isinstance(found, list):
        raise InputError(f"no game: it has no list of {key}")
    return found


# ---- Orders as actions ----


def _none(map_: DiplomacyMap) -> Bytes:
    return np.full((1, map_.provinces, 3), NO_ORDER, np.uint8)


def _length(verb: int) -> int:
    """How many actions an order with this verb has."""
    if verb in (HOLD, DISBAND):
        return 1
    return 3 if verb in (SUPPORT_MOVE, CONVOY) else 2


def _order(words: Sequence[int]) -> Order:
    verb, *places = words
    numbers = [place - len(VERBS) for place in places]
    if verb == SUPPORT_HOLD:
        return verb, numbers[0], NONE
    whom, whither = [*[NONE] * (2 - len(numbers)), *numbers]
    return verb, whom, whither


def _words(order: Order) -> list[int]:
    verb, *places = order
    return [verb, *(len(VERBS) + place for place in places if place != NONE)]
