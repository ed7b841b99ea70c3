"""Diplomacy: maps, positions and orders, adjudicated (formats/diplomacy.md).

A *province* is a place for one unit. A *location* is a province, or one of the coasts where it has
several; the first locations are the provinces. `NONE` is no place.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from stratkit.arguments import Between, Seed, checked, fitting, integer, within
from stratkit.arrays import Bools, Bytes, Float64s, Int32s, Int64s
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, lib, pointer, text, writable
from stratkit.errors import InputError
from stratkit.regular import open_regular

NONE = 255
PROVINCES, CENTRES = 76, 40  # room in a position
UNIT, FLEET, COAST, POWER = 0x80, 0x40, 0x30, 0x07  # the bits of a unit
COAST_SHIFT = 4
INLAND, COASTAL, SEA = 0, 1, 2
PHASES = ("spring moves", "spring retreats", "fall moves", "fall retreats", "adjustments")
SPRING_MOVES, SPRING_RETREATS, FALL_MOVES, FALL_RETREATS, ADJUSTMENTS = range(5)
VERBS = (
    *("hold", "move", "via", "support hold", "support move", "convoy", "retreat", "disband"),
    *("build army", "build fleet"),
)
HOLD, MOVE, VIA, SUPPORT_HOLD, SUPPORT_MOVE, CONVOY, RETREAT, DISBAND, BUILD_ARMY, BUILD_FLEET = (
    range(len(VERBS))
)
OUTCOMES = ("carried out", "bounce", "no convoy", "cut", "void", "disrupted")
CARRIED_OUT, BOUNCE, NO_CONVOY, CUT, VOID, DISRUPTED = range(len(OUTCOMES))
MAX_ORDERS = int(lib.SK_DIP_ORDERS)  # of one unit

Phases = Annotated[int, Between(0, 10_000_000)]
Years = Annotated[int, Between(1, 250)]

POSITION = np.dtype(
    [
        ("unit", "u1", PROVINCES),
        ("dislodged", "u1", PROVINCES),
        ("from", "u1", PROVINCES),
        ("owner", "u1", CENTRES),
        ("contested", "u1", (PROVINCES + 7) // 8),
        ("phase", "u1"),
        ("year", "u1"),
        ("quiet", "u1"),
    ]
)
"""One record a position; formats/diplomacy.md says what the fields hold."""
_PHASE_AT = POSITION.itemsize - 3  # where its phase is: two bytes follow


VIEW = np.dtype(
    [
        ("position", POSITION),
        ("own", "u1", (PROVINCES, 3)),
        ("last", "u1", (PROVINCES, 3)),
        *((name, "u1") for name in ("power", "at", "stage", "verb", "whom")),
    ]
)
"""The second part of an observation: what a power knows, and what it is asked."""
ASK_VERB, ASK_WHOM, ASK_WHITHER = range(3)
# Of the features, which come first (cengine/diplomacy/seen.c): what is asked of a province, an
# order's, stages of an order, and counters of years.
QUERIES, ORDER_FEATURES, STAGES, COUNTERS = 2, len(VERBS) + 2, 3, 2


@checked
def views_of(game: Game, observations: Bytes) -> np.ndarray:
    """What observations of a game of Diplomacy, uint8 [n, bytes], show: records of `VIEW`, [n]."""
    fitting("observations", observations, (None, game.observation_bytes))
    if not game.name.startswith("diplomacy:"):
        raise ValueError(f"game: {game.name} is no game of Diplomacy")
    shown: np.ndarray = np.ascontiguousarray(observations[:, game.shape[0] :]).view(VIEW)[:, 0]
    return shown


@checked
def between_moves(game: Game, observations: Bytes) -> Bools:
    """bool [n]: where retreats or adjustments are asked for, of some powers only. In other games
    nowhere."""
    fitting("observations", observations, (None, game.observation_bytes))
    if not game.name.startswith("diplomacy:"):
        return np.zeros(len(observations), bool)
    phase = observations[:, game.shape[0] + _PHASE_AT]  # a view begins with the position
    return np.asarray((phase != SPRING_MOVES) & (phase != FALL_MOVES))


@checked
def own_units(game: Game, observations: Bytes) -> Int64s:
    """How many units the acting powers have, int64 [n]; of another game none."""
    fitting("observations", observations, (None, game.observation_bytes))
    if not game.name.startswith("diplomacy:"):
        return np.zeros(len(observations), np.int64)
    view = views_of(game, observations)
    both = [view["position"][name] for name in ("unit", "dislodged")]
    own = [(unit > 0) & (unit & POWER == view["power"][:, None]) for unit in both]
    return np.asarray(sum(some.sum(1) for some in own), np.int64)


@checked
def shares_of(game: Game, observations: Bytes) -> Float64s:
    """What each power would get if the game ended now, by squares of centres: float64 [n, P]. In
    other games nothing."""
    fitting("observations", observations, (None, game.observation_bytes))
    out = np.zeros((len(observations), game.players))
    if not game.name.startswith("diplomacy:"):
        return out
    owner = views_of(game, observations)["position"]["owner"]
    for power in range(game.players):
        out[:, power] = (owner == 1 + power).sum(1) ** 2
    total = out.sum(1, keepdims=True)
    shares = np.where(total > 0, out / np.maximum(total, 1), 1 / game.players)
    return shares - shares[:, ::-1] if game.players == 2 else shares


class IllegalOrder(ValueError):
    """The order of `province` in position `row` is not legal; those before it were carried out."""

    def __init__(self, row: int, province: int) -> None:
        self.row, self.province = row, province
        super().__init__(f"illegal order in position {row}, province {province}")


@checked
def map_text(name: str) -> str | None:
    """The text of a map that comes with the engine; None: there is none of this name."""
    if "\0" in name:
        return None
    map_bytes = lib.sk_dip_map_text(name.encode(errors="replace"))
    return None if map_bytes == ffi.NULL else text(map_bytes)


@checked
def map_of(game: Game) -> DiplomacyMap:
    """The map of a game called `diplomacy:NAME` or `diplomacy:FILE`. `InputError`: the game has
    none, or its file is gone."""
    kind, _, name = game.name.partition(":")
    if kind != "diplomacy":
        raise InputError(f"{game.name} is no game of Diplomacy")
    known = map_text(name)
    if known is None:
        with open_regular(name) as stream:
            known = stream.read().decode(errors="replace")
    return DiplomacyMap(known)


class Graph(NamedTuple):
    """What a network is told of the map whose positions it sees.

    near        bool [P, P]   whether any unit moves from one province to the other
    parent      int64 [L]     the province of each location
    everywhere  of the features those that describe no province; they come last
    """

    near: Bools
    parent: Int64s
    everywhere: int


@checked
def graph_of(game: Game) -> Graph | None:
    """The graph of the map; None: the game is none of Diplomacy. `InputError` as in `map_of`."""
    if not game.name.startswith("diplomacy:"):
        return None
    map_ = map_of(game)
    everywhere = len(PHASES) + len(map_.powers) + STAGES + len(VERBS) + COUNTERS
    return Graph(map_.near, map_.parent.astype(np.int64), everywhere)


class DiplomacyMap:
    """A map from its text (formats/diplomacy.md).

        locations  names, those of provinces first
        powers     names
        parent     uint8 [L]     the province of each location
        kind       uint8 [P]     INLAND, COASTAL or SEA
        centre     uint8 [P]     the number of the province's centre, or NONE
        home       uint8 [P]     whose home centre it is, or NONE
        army       bool [L, L]   whether an army goes there without a convoy
        fleet      bool [L, L]   whether a fleet goes there

    Raises `InputError` for a text that is no map.
    """

    @checked
    def __init__(self, source: str) -> None:
        error = ffi.new("char[200]")
        if "\0" in source:
            raise InputError("a map has no zero bytes")
        handle = lib.sk_dip_open(source.encode(errors="replace"), error, len(error))
        if handle == ffi.NULL:
            raise InputError(ffi.string(error).decode(errors="replace"))
        self._handle = ffi.gc(handle, lib.sk_dip_close)
        size = ffi.new("sk_dip_size *")
        lib.sk_dip_describe(handle, size)
        self.provinces: int = size.provinces
        self.win: int = size.win
        self.year: int = size.year
        self.centres: int = size.centres
        self.locations = [text(lib.sk_dip_location_name(handle, i)) for i in range(size.locations)]
        self.powers = [text(lib.sk_dip_power_name(handle, i)) for i in range(size.powers)]
        n, p = size.locations, size.provinces
        self.parent, self.kind, self.centre, self.home = (
            np.empty(k, np.uint8) for k in (n, p, p, p)
        )
        army, fleet = np.empty((n, n), np.uint8), np.empty((n, n), np.uint8)
        arrays = (self.parent, self.kind, self.centre, self.home, army, fleet)
        lib.sk_dip_map_arrays(handle, *map(writable, arrays))
        self.army: Bools = army > 0
        self.fleet: Bools = fleet > 0

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each location's name."""
        return {name: i for i, name in enumerate(self.locations)}

    def location(self, province: int, unit: int) -> int:
        """Where this unit of the province stands."""
        self._check_province(province)
        unit = integer("unit", unit, 0, 255)
        coast = (int(unit) & COAST) >> COAST_SHIFT
        coasts = self.coasts[province]
        if coast >= len(coasts):
            raise ValueError(f"unit is on coast {coast} of a province that has {len(coasts) - 1}")
        return coasts[coast]

    @cached_property
    def coasts(self) -> list[list[int]]:
        """Of each province the locations, itself first."""
        return [np.flatnonzero(self.parent == p).tolist() for p in range(self.provinces)]

    @cached_property
    def near(self) -> Bools:
        """bool [P, P]: which provinces have a common border for some unit."""
        out = np.zeros((self.provinces, self.provinces), bool)
        rows, columns = np.nonzero(self.army | self.fleet)
        out[self.parent[rows], self.parent[columns]] = True
        return out

    def start(self) -> np.ndarray:
        """The first position, a record of `POSITION`: an array of shape [1]."""
        out = np.zeros(1, POSITION)
        lib.sk_dip_start(self._handle, writable(out.view(np.uint8)))
        return out

    def check(self, position: np.ndarray) -> None:
        """Raises `InputError` unless `position`, of shape [1], is one on this map."""
        self._positions("position", position, 1)

    def legal(self, position: np.ndarray, province: int) -> Bytes:
        """uint8 [n, 3]: all legal orders in the province, as (verb, whom, whither)."""
        self._check_province(province)
        return self.legal_of_each(position, np.array([province], np.uint8))[0]

    @checked
    def legal_of_each(self, positions: np.ndarray, provinces: Bytes) -> tuple[Bytes, Int32s]:
        """All legal orders in `provinces`, one in each of n positions: uint8 [m, 3], those of a
        position after those of the one before, and their numbers, int32 [n]."""
        n = len(provinces)
        within("provinces", provinces, 0, self.provinces - 1)
        seen = self._positions("positions", positions, n)
        orders = np.empty((n * MAX_ORDERS, 3), np.uint8)
        counts = np.empty(n, np.int32)
        m = lib.sk_dip_legal(
            self._handle,
            n,
            seen,
            pointer("provinces", provinces, "uint8", (n,)),
            writable(orders),
            writable(counts),
        )
        return orders[:m].copy(), counts

    @checked
    def is_legal(self, position: np.ndarray, province: int, order: tuple[int, int, int]) -> bool:
        """Whether this order may be given in the province."""
        self._check_province(province)
        seen = self._positions("position", position, 1)
        given = writable(np.array([integer("order", part, 0, 255) for part in order], np.uint8))
        return bool(lib.sk_dip_is_legal(self._handle, seen, province, given))

    def adjustment(self, position: np.ndarray, power: int) -> int:
        """How many units a power may build; how many it must disband, if negative."""
        power = integer("power", power, 0, len(self.powers) - 1)
        seen = self._positions("position", position, 1)
        return int(lib.sk_dip_adjustment(self._handle, seen, power))

    @checked
    def adjudicate(self, positions: np.ndarray, orders: Bytes) -> tuple[np.ndarray, Bytes]:
        """What phases of moves come to: n positions in which units have moved and others are
        dislodged, the phase the same; and what each order came to, uint8 [n, P].

        These are numbers of `OUTCOMES`. A move that bounced or had `NO_CONVOY` stayed. A support
        is `CUT`. A convoy is `DISRUPTED`: its fleet was dislodged, or a paradox stopped it. Both
        are `VOID` where their unit was not ordered so, and a convoy also where the fleets make no
        way. Holds, and provinces without a unit, have `CARRIED_OUT`.

        `orders` uint8 [n, P, 3]; those of provinces without a unit do not count. Raises
        `IllegalOrder`.
        """
        outcomes = np.zeros((len(orders), self.provinces), np.uint8)
        return self._resolve(positions, orders, outcomes), outcomes

    @checked
    def resolve(self, positions: np.ndarray, orders: Bytes) -> np.ndarray:
        """The n positions in which there is something to order again, after any phases. Arguments
        and errors as in `adjudicate`. `HOLD` is no order outside phases of moves: dislodged units
        are then disbanded, nothing is built, and civil disorder disbands."""
        return self._resolve(positions, orders, None)

    @checked
    def random(self, seed: Seed, phases: Phases, years: Years = 20) -> int:
        """A number that depends on all positions of so many phases with random legal orders. Games
        begin again after `years`."""
        return int(lib.sk_dip_random(self._handle, seed, phases, years))

    def _resolve(self, positions: np.ndarray, orders: Bytes, outcomes: Bytes | None) -> np.ndarray:
        n = len(positions) if positions.ndim else 0
        self._positions("positions", positions, n)
        out = positions.copy()
        at = lib.sk_dip_resolve(
            self._handle,
            n,
            writable(out.view(np.uint8)),
            pointer("orders", orders, "uint8", (n, self.provinces, 3)),
            ffi.NULL if outcomes is None else writable(outcomes),
        )
        if at >= 0:
            raise IllegalOrder(*divmod(int(at), self.provinces))
        return out

    def _positions(self, name: str, positions: Any, n: int) -> Any:
        """A pointer to n positions. `InputError`: one is none on this map."""
        if not isinstance(positions, np.ndarray):
            raise TypeError(f"{name} must be records of POSITION, not {type(positions).__name__}")
        if positions.dtype != POSITION or not positions.flags.c_contiguous:
            raise ValueError(f"{name} must be contiguous records of POSITION")
        fitting(name, positions, (n,))
        seen = positions.view(np.uint8)
        cells = pointer(name, seen, "uint8", seen.shape)
        wrong = lib.sk_dip_check(self._handle, n, cells)
        if wrong != ffi.NULL:
            raise InputError(text(wrong), where=name)
        return cells

    def _check_province(self, province: int) -> None:
        integer("province", province, 0, self.provinces - 1)
