"""A person's phase in Diplomacy: what everybody knows of the game, and the orders given so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    BUILD_ARMY,
    BUILD_FLEET,
    DISBAND,
    FALL_MOVES,
    NONE,
    POWER,
    SPRING_MOVES,
    SUPPORT_MOVE,
    DiplomacyMap,
)
from stratkit.errors import InputError
from stratkit.games.diplomacy.orders import (
    WAIVE,
    Order,
    order_text,
    orders_array,
    our_name,
    parse_order,
    phase_text,
    unit_text,
)
from stratkit.games.diplomacy.svg import picture
from stratkit.games.diplomacy.text_map import text_map
from stratkit.games.diplomacy.told import standing


@dataclass(frozen=True)
class Phase:
    """A power's turn: a phase, in which it gives orders.

    game      its number
    side      the power's
    map       of the game
    position  of shape [1]
    past      the phases before, each with its name and lines
    new       how many of them, the last ones, came since this power's phase before
    orders    by province, those given so far
    resigns   whether the game can be given up
    fresh     whether nothing of the phase was shown before
    """

    game: int
    side: int
    map: DiplomacyMap
    position: np.ndarray
    past: Sequence[tuple[str, Sequence[str]]]
    new: int
    orders: Mapping[int, Order]
    resigns: bool
    fresh: bool = True

    @property
    def name(self) -> str:
        """Of the phase, as `S1901M`."""
        return phase_text(self.map, self.position)

    @property
    def power(self) -> str:
        """The name of the power."""
        return self.map.powers[self.side]

    @property
    def standing(self) -> list[str]:
        """How all powers stand, a line each."""
        return standing(self.map, self.position)

    @property
    def picture(self) -> str:
        """The map with the orders given so far, SVG."""
        return picture(self.map, self.position, orders_array(self.map, self.orders.items()))

    @property
    def drawn(self) -> str:
        """The map in characters."""
        return text_map(self.map, self.position)

    @property
    def texts(self) -> list[str]:
        """The orders given so far."""
        return [self.text(*one) for one in sorted(self.orders.items())]

    def text(self, province: int, order: Order) -> str:
        """An order, as it is written."""
        return order_text(self.map, self.position, province, order)

    @property
    def units(self) -> dict[int, str]:
        """Who can be ordered, by province: units, or free centres where one can be built."""
        phase = int(self.position["phase"][0])
        if phase == ADJUSTMENTS and self.owed > 0:
            return {p: self.map.locations[p] for p in self._provinces if len(self.legal(p))}
        moving = phase in (SPRING_MOVES, FALL_MOVES, ADJUSTMENTS)
        field = self.position["unit" if moving else "dislodged"][0]
        mine = [p for p in self._provinces if field[p] and int(field[p]) & POWER == self.side]
        return {p: unit_text(self.map, p, int(field[p])) for p in mine if len(self.legal(p))}

    @property
    def _provinces(self) -> range:
        return range(self.map.provinces)

    def legal(self, province: int) -> list[str]:
        """The legal orders there, of this power."""
        home = int(self.map.home[province])
        found = []
        for verb, whom, whither in self.map.legal(self.position, province).tolist():
            coast = verb == SUPPORT_MOVE and whither >= self.map.provinces
            foreign = verb in (BUILD_ARMY, BUILD_FLEET) and home != self.side
            empty = int(self.position["phase"][0]) == ADJUSTMENTS and verb == 0
            if not (coast or foreign or empty):
                found.append(self.text(province, (verb, whom, whither)))
        return found

    @property
    def owed(self) -> int:
        """In adjustments, units to build; to disband, if negative. Else 0."""
        adjusts = int(self.position["phase"][0]) == ADJUSTMENTS
        return self.map.adjustment(self.position, self.side) if adjusts else 0

    @property
    def asks(self) -> str:
        """What the phase asks for, in words."""
        if not self.owed:
            moving = int(self.position["phase"][0]) in (SPRING_MOVES, FALL_MOVES)
            return "moves" if moving else "retreats"
        return f"builds: {self.owed}" if self.owed > 0 else f"disbands: {-self.owed}"

    @property
    def default(self) -> str:
        """What comes of units without an order."""
        if self.owed:
            return "nothing more is built" if self.owed > 0 else "civil disorder disbands"
        return "they hold" if self.asks == "moves" else "they are disbanded"

    @property
    def missing(self) -> list[str]:
        """The units that have no order, where each needs one."""
        return [] if self.owed else [u for p, u in self.units.items() if p not in self.orders]

    def with_order(self, text: str) -> dict[int, Order]:
        """The orders with one more, which replaces that of the same unit. `InputError`: it is no
        legal order. `WAIVE` orders nothing where units may be built."""
        if text.upper() == WAIVE:
            if self.owed <= 0:
                raise InputError(f"{self.power} has no unit to build: nothing is waived", text=text)
            return dict(self.orders)
        province, (verb, whom, whither) = parse_order(self.map, self.position, self.side, text)
        if verb == SUPPORT_MOVE:
            whither = int(self.map.parent[whither])  # an action names no coast of another's move
        orders = {**self.orders, province: (verb, whom, whither)}
        adjusted = sum(verb in (BUILD_ARMY, BUILD_FLEET, DISBAND) for verb, *_ in orders.values())
        if self.owed and adjusted > abs(self.owed):
            what = f"{self.power} has {self.asks}, and they are ordered: clear drops all orders"
            raise InputError(what, text=text)
        return orders

    def province_of(self, text: str) -> int:
        """The province of a unit, or place, that can be ordered: `A PAR`, `PAR`. `InputError`."""
        name = our_name(self.map, text.upper().split()[-1])
        province = int(self.map.parent[self.map.number[name]]) if name in self.map.number else NONE
        if province not in self.units:
            known = ", ".join(self.units.values())
            raise InputError(f"{self.power} has no unit there to order (it has {known})", text=text)
        return province
