"""Whole games of Diplomacy as JSON, in the form of the `diplomacy` package's saved games.

A game has `map` and `phases`; a phase has its `name`, a `state` of `units` and `centers` by power,
and `orders` by power, in the usual text. Writing and reading are inverses. The reader follows the
rules. It refuses a phase that is missing and units that are elsewhere. Orders that other programs
keep although the rules do not take them are no fault, but told (`saved.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stratkit.arrays import Bytes, Int32s
from stratkit.engine import Batch, Game
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    CONVOY,
    DISBAND,
    FALL_MOVES,
    FALL_RETREATS,
    HOLD,
    NONE,
    PHASES,
    POWER,
    RETREAT,
    SPRING_MOVES,
    SPRING_RETREATS,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VERBS,
    DiplomacyMap,
    map_of,
    views_of,
)
from stratkit.errors import InputError, error_context, shown
from stratkit.games.diplomacy.orders import (
    Order,
    order_text,
    orders_array,
    our_unit,
    parse_phase,
    phase_text,
    unit_text,
)
from stratkit.games.diplomacy.saved import NO_ORDER, Units, has_retreat, lawful

MAX_YEARS = 250  # of a game
# What the `diplomacy` package calls maps that have another name here, and games without talk.
ELSEWHERE = {"fva": "standard_france_austria", "gvi": "standard_germany_italy"}
NO_PRESS = ["NO_PRESS"]
ENDED = "COMPLETED"  # the name of what follows the last phase
DISLODGED = "*"  # before a unit

EMPTY = "nothing can be ordered in this phase: it is passed over"
AFTER_THE_END = "by the rules the game is over before this phase: it is passed over"
NAMED_TWICE = "a unit is named twice"


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
        words = rest[: order_length(rest[0])]
        del rest[: len(words)]
        for word in words:
            batch.apply(np.array([word], np.int32))
        orders[0, int(view["at"][0])] = order_of(words)
    if turn >= 0 and (batch.actors()[0] < 0 or batch.turns()[0] != turn):
        yield position, orders


def seen(batch: Batch) -> np.ndarray:
    """What the power that acts in a batch of one row knows, a record of `VIEW`: shape [1]."""
    return views_of(batch.game, batch.observe())


def game_json(game: Game, actions: Int32s) -> dict[str, Any]:
    """The game as an object of JSON; what follows the last phase has the name `ENDED`."""
    map_, phases_json = map_of(game), []
    position = map_.start()
    for position, orders in phases(game, actions):
        phases_json.append(saved_json(map_, position, orders))
        position = map_.resolve(position, orders)
    phases_json.append({**saved_json(map_, position), "name": ENDED, "orders": {}})
    name = game.name.partition(":")[2]
    return {
        "id": hashlib.sha256(np.ascontiguousarray(actions, "<i4").tobytes()).hexdigest()[:16],
        "map": ELSEWHERE.get(name, name),
        "rules": NO_PRESS,
        "stratkit": {"rules": dict(game.rules)},
        "phases": phases_json,
    }


def saved_json(
    map_: DiplomacyMap, position: np.ndarray, orders: Bytes | None = None
) -> dict[str, Any]:
    """A phase with all that the `diplomacy` package wants to load one."""
    phase = phase_json(map_, position, orders)
    state = {"name": phase["name"], **phase["state"], "retreats": _retreats(map_, position)}
    return {**phase, "state": state, "results": {}, "messages": []}


def _retreats(map_: DiplomacyMap, position: np.ndarray) -> dict[str, dict[str, list[str]]]:
    """Of each power the dislodged units, and where each may go."""
    out: dict[str, dict[str, list[str]]] = {power: {} for power in map_.powers}
    gone = position["dislodged"][0]
    for province in np.flatnonzero(gone).tolist():
        unit, orders = int(gone[province]), map_.legal(position, province).tolist()
        places = [map_.locations[to] for verb, _, to in orders if verb == RETREAT]
        out[map_.powers[unit & POWER]][unit_text(map_, province, unit)] = places
    return out


def phase_json(
    map_: DiplomacyMap, position: np.ndarray, orders: Bytes | None = None
) -> dict[str, Any]:
    """A phase, of a position of shape [1]; without orders, what follows the last phase."""
    written = written_orders(map_, position, _none(map_) if orders is None else orders)
    by_power = {
        power: [order_text(map_, position, *one) for one in some] for power, some in written.items()
    }
    state = {"units": units(map_, position), "centers": _centres(map_, position)}
    return {"name": phase_text(map_, position), "state": state, "orders": by_power}


def written_orders(
    map_: DiplomacyMap, position: np.ndarray, orders: Bytes
) -> dict[str, list[tuple[int, Order]]]:
    """The orders of a phase that are written, by power: each with its province."""
    by_power: dict[str, list[tuple[int, Order]]] = {power: [] for power in map_.powers}
    for province, (verb, whom, whither) in enumerate(orders[0].tolist()):
        power = _who_orders(map_, position, province, verb)
        if power is not None:
            by_power[map_.powers[power]].append((province, (verb, whom, whither)))
    return by_power


def units(map_: DiplomacyMap, position: np.ndarray) -> dict[str, list[str]]:
    """The units of each power, in order of provinces; `DISLODGED` stands before some."""
    out: dict[str, list[str]] = {power: [] for power in map_.powers}
    for field, mark in (("unit", ""), ("dislodged", DISLODGED)):
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


def _who_orders(map_: DiplomacyMap, position: np.ndarray, province: int, verb: int) -> int | None:
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
    if "stratkit" in given:
        rules = _object(given["stratkit"], "stratkit").get("rules")
    if not isinstance(name, str):
        raise InputError("the map is not a name")
    name = next((ours for ours, theirs in ELSEWHERE.items() if theirs == name), name)
    if not isinstance(rules, dict):
        rules = {"years": MAX_YEARS, "max_quiet": 0}
    if not all(type(value) is int for value in rules.values()):
        raise InputError("rules are whole numbers")
    return Game.stored(f"diplomacy:{name}", rules)


def actions_of(
    game: Game, data: Any, note: Callable[[InputError], object] = lambda _: None
) -> Int32s:
    """The actions of a game from its object of JSON, int32 [T]. A unit without an order holds; one
    that is dislodged is disbanded. What the rules take otherwise than it stands there is told to
    `note`. Raises `InputError` for what is no such game."""
    reading = Reading(game, note)
    phases_json = _list(_object(data, "the game"), "phases")
    saved = [saved_phase(phase, f"phase {number}") for number, phase in enumerate(phases_json)]
    for one, then in zip(saved, [*saved[1:], None], strict=True):
        if one.name == ENDED:
            break
        with error_context(None, one.name):
            reading.read(one, then)
    return np.array(reading.actions, np.int32)


class SavedPhase(NamedTuple):
    """A phase as another program has it.

    name    such as S1901M
    units   those of each power, as `A PAR`; `DISLODGED` stands before some
    orders  of each power, as they were written
    """

    name: str
    units: Mapping[str, Sequence[str]]
    orders: Mapping[str, Sequence[str]]


def saved_phase(phase: Any, what: str) -> SavedPhase:
    """A phase of its object of JSON. `InputError`: it is none; `what` says which."""
    name = str(_object(phase, what).get("name"))
    with error_context(None, name):
        state = _object(phase.get("state") or {}, "state")
        units_json = _object(state.get("units") or {}, "units")
        orders_json = _object(phase.get("orders") or {}, "orders")
        return SavedPhase(
            name, *({of: _texts(some[of], of) for of in some} for some in (units_json, orders_json))
        )


class Reading:
    """A game of another program as far as it is read, phase by phase.

    map       the map
    batch     the game, a batch of one row
    actions   that have led there
    position  that which is due, of shape [1]
    """

    def __init__(self, game: Game, note: Callable[[InputError], object]) -> None:
        self.map, self.batch, self.note = map_of(game), Batch(game, 1), note
        self.actions: list[int] = []
        self.position = self._retreats = self.map.start()
        self._last = -1  # the number of the phase that was read last

    def begins(self, phase: SavedPhase) -> bool:
        """Whether a phase is the one that is due; if not, it is passed over, since nothing can be
        ordered in it. `InputError`: it is neither, or other units are there."""
        position = self._position_of(phase.name)
        self._check(position, phase)
        return position is self.position

    def _position_of(self, name: str) -> np.ndarray:
        """Where a phase of this name begins."""
        kind, year = parse_phase(self.map, name)
        number, over = year * len(PHASES) + kind, bool(self.batch.actors()[0] < 0)
        due = (self._last // len(PHASES) + 1) * len(PHASES) if over else _number(self.position)
        if self._last < number < due and kind not in (SPRING_MOVES, FALL_MOVES):
            position = (self.position if kind == ADJUSTMENTS else self._retreats).copy()
            position["phase"] = kind
            return position
        if over:
            raise InputError("the game is over before this phase")
        if number != due:
            raise InputError(f"{phase_text(self.map, self.position)} is due")
        return self.position

    def read(self, phase: SavedPhase, then: SavedPhase | None) -> None:
        """Plays a phase, or passes it over. `then`: the one behind it in the file. The last one is
        not played if nobody orders in it: there the game was left."""
        over, position = bool(self.batch.actors()[0] < 0), self._position_of(phase.name)
        passed = position is not self.position
        if passed:
            self.note(InputError(AFTER_THE_END if over else EMPTY, where=phase.name))
        self._check(position, phase)
        kind, year = parse_phase(self.map, phase.name)
        self._last = year * len(PHASES) + kind
        if over or (then is None and not any(phase.orders.values())):
            return

        def note(what: str, text: str) -> None:
            self.note(InputError(what, where=phase.name, text=text))

        after = self._units(then) if then else {}
        orders = lawful(self.map, position, phase.orders, after, note)
        if not passed:
            self._play(orders)

    def _units(self, phase: SavedPhase) -> Units:
        """The units of a phase by the map's names of places."""
        return {
            power: [our_unit(self.map, text) for text in some]
            for power, some in phase.units.items()
        }

    def _check(self, position: np.ndarray, phase: SavedPhase) -> None:
        """`InputError`: the phase says that other units are there, or has orders of no power."""
        for power in phase.orders:
            if power not in self.map.powers:
                raise InputError("no power of this map", text=power)
        expected, trapped = units(self.map, position), _trapped(self.map, position)
        for power, some in self._units(phase).items():
            wrong = sorted((set(some) ^ set(expected.get(power, []))) - trapped)
            if wrong:
                raise InputError(f"{power}: other units than play leads to", text=wrong[0])
            for text in sorted({text for text in some if some.count(text) > 1}):
                self.note(InputError(NAMED_TWICE, where=phase.name, text=text))

    def _play(self, orders: Mapping[int, Order]) -> None:
        """Plays the phase that is due."""
        given, turn = orders_array(self.map, orders.items()), self.batch.turns()[0]
        while self.batch.actors()[0] >= 0 and self.batch.turns()[0] == turn:
            at, legal = int(seen(self.batch)["at"][0]), self.batch.legal()[0]
            for word in order_actions(
                orders.get(at, (HOLD if legal[HOLD] else DISBAND, NONE, NONE))
            ):
                self.batch.apply(np.array([word], np.int32))
                self.actions.append(word)
        if int(self.position["phase"][0]) in (SPRING_MOVES, FALL_MOVES):
            self._retreats = self.map.adjudicate(self.position, given)[0]
        self.position = self.map.resolve(self.position, given)


def _number(position: np.ndarray) -> int:
    """Of a position's phase, among all phases from the map's first year on."""
    return int(position["year"][0]) * len(PHASES) + int(position["phase"][0])


def _trapped(map_: DiplomacyMap, position: np.ndarray) -> set[str]:
    """The dislodged units that have nowhere to go, as `*F SEV`: other programs leave them out."""
    if int(position["phase"][0]) not in (SPRING_RETREATS, FALL_RETREATS):
        return set()
    gone = position["dislodged"][0]
    return {
        DISLODGED + unit_text(map_, province, int(gone[province]))
        for province in np.flatnonzero(gone).tolist()
        if not has_retreat(map_, position, province)
    }


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
    items = value.get(key)
    if not isinstance(items, list):
        raise InputError(f"no game: it has no list of {key}")
    return items


# ---- Orders as actions ----


def _none(map_: DiplomacyMap) -> Bytes:
    return np.full((1, map_.provinces, 3), NO_ORDER, np.uint8)


def order_length(verb: int) -> int:
    """How many actions an order has whose verb is `verb`."""
    if verb in (HOLD, DISBAND):
        return 1
    return 3 if verb in (SUPPORT_MOVE, CONVOY) else 2


def order_of(words: Sequence[int]) -> Order:
    """The order that these actions are: the inverse of `order_actions`."""
    verb, *places = words
    numbers = [place - len(VERBS) for place in places]
    if verb == SUPPORT_HOLD:
        return verb, numbers[0], NONE
    whom, whither = [*[NONE] * (2 - len(numbers)), *numbers]
    return verb, whom, whither


def order_actions(order: Order) -> list[int]:
    """The actions of an order."""
    verb, *places = order
    return [verb, *(len(VERBS) + place for place in places if place != NONE)]
