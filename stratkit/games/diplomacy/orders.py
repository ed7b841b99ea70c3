"""Diplomacy as text: orders (`A PAR - BUR`), units (`F STP/SC`), phases (`S1901M`).

Parsing and printing are inverses. The parser completes what has one meaning only: the coast that a
fleet reaches, the convoy without which an army does not arrive, a unit's type. It also reads orders
as people type them (`par-bur`). formats/diplomacy.md says how.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.diplomacy import (
    ADJUSTMENTS,
    BUILD_ARMY,
    BUILD_FLEET,
    COAST_SHIFT,
    CONVOY,
    DISBAND,
    FALL_MOVES,
    FALL_RETREATS,
    FLEET,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SEA,
    SPRING_MOVES,
    SPRING_RETREATS,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VIA,
    DiplomacyMap,
)
from stratkit.errors import InputError, nearest

Order = tuple[int, int, int]  # verb, whom, whither

_PHASE = re.compile(r"([SFW])(\d{1,4})([MRA])")
_LETTERS = ("SM", "SR", "FM", "FR", "WA")
_WORDS = {
    **{"H": ("HOLD",), "S": ("SUPPORT",), "C": ("CONVOY",), "R": ("RETREAT",), "B": ("BUILD",)},
    **{"D": ("DISBAND", "REMOVE"), "-": ("MOVE", "TO"), "A": ("ARMY",), "F": ("FLEET",)},
}
WAIVE = "WAIVE"  # in adjustments: one unit less is built
# What other maps, judges and programs call places of the standard map.
_OTHER_NAMES = {
    **{"ECH": "ENG", "EME": "EAS", "GOB": "BOT", "GOL": "LYO", "LPL": "LVP", "MID": "MAO"},
    **{"NAT": "NAO", "NOR": "NWY", "NRG": "NWG", "TYN": "TYS", "TRL": "TYR", "WME": "WES"},
}
_FORMS = "an order is written like A PAR - BUR, A PAR S A MAR - BUR or F NTH C A LON - NWY"
# Dashes that keyboards and word processors make, and arrows.
_ARROW = re.compile(r"\s*(?:[-=]*>|[-\u2010-\u2015\u2212]+>?|[\u2192\u21d2])\s*")
_CONVOYED = re.compile(r"\(?\b(?:VIA|BY)\s+CONVOY\b\)?")
_BEFORE_TO = (["-"], ["R"])
_COAST = re.compile(r"\s*\(([NESW]C)\)")
_SHORT = {
    word + end: letter for letter, some in _WORDS.items() for word in some for end in ("", "S")
}


class VoidOrder(InputError):
    """An order in its form, but not a legal one: it counts for nothing."""


def phase_text(board: DiplomacyMap, position: np.ndarray) -> str:
    """The phase of a position of shape [1], as `S1901M`."""
    letters = _LETTERS[int(position["phase"][0])]
    return f"{letters[0]}{board.year + int(position['year'][0])}{letters[1]}"


def parse_phase(board: DiplomacyMap, text: str) -> tuple[int, int]:
    """(phase, years since the map's first) of `S1901M`. Raises `InputError`."""
    match = _PHASE.fullmatch(text)
    if not match or match[1] + match[3] not in _LETTERS:
        raise InputError(
            "a phase is written like S1901M, S1901R, F1901M, F1901R, W1901A", text=text
        )
    year = int(match[2]) - board.year
    if not 0 <= year < 256:
        raise InputError(f"years are from {board.year} to {board.year + 255}", text=text)
    return _LETTERS.index(match[1] + match[3]), year


# ---- Units ----


def unit_text(board: DiplomacyMap, province: int, unit: int) -> str:
    """A unit where it stands, as `F STP/SC`."""
    return f"{_type(unit)} {board.locations[board.location(province, unit)]}"


def parse_unit(board: DiplomacyMap, power: int, text: str) -> tuple[int, int]:
    """(province, unit) of `F STP/SC`. Raises `InputError`: such a unit cannot stand there."""
    kind, _, name = text.partition(" ")
    if kind not in ("A", "F"):
        raise InputError("a unit is written like A PAR or F STP/SC", text=text)
    at = _location(board, name, text)
    province = int(board.parent[at])
    fleet = FLEET if kind == "F" else 0
    coast = board.coasts[province].index(at)
    split = len(board.coasts[province]) > 1
    if bool(fleet) != bool(coast) if split else board.kind[province] == (0 if fleet else SEA):
        raise InputError("such a unit cannot stand there", text=text)
    return province, UNIT | fleet | coast << COAST_SHIFT | power


def _type(unit: int) -> str:
    return "F" if int(unit) & FLEET else "A"


def our_name(board: DiplomacyMap, name: str) -> str:
    """What the map calls a place that people call `name`; a name of no place as it is."""
    ours = _OTHER_NAMES.get(name, name)
    return ours if name not in board.number and ours in board.number else name


def our_unit(board: DiplomacyMap, text: str) -> str:
    """A unit by what the map calls its place: `F GOL` is `F LYO`."""
    kind, space, name = text.rpartition(" ")
    return f"{kind}{space}{our_name(board, name)}"


def _location(board: DiplomacyMap, name: str, text: str) -> int:
    if name not in board.number:
        raise InputError(f"no place is called {name!r}{nearest(name, board.number)}", text=text)
    return board.number[name]


# ---- Orders ----


def order_text(board: DiplomacyMap, position: np.ndarray, province: int, order: Order) -> str:
    """An order in the province, as `parse_order` reads it."""
    verb, whom, whither = (int(x) for x in order)
    names = board.locations
    if verb in (BUILD_ARMY, BUILD_FLEET):
        return f"{'F' if verb == BUILD_FLEET else 'A'} {names[whither]} B"
    retreating = verb == RETREAT or (verb == DISBAND and int(position["phase"][0]) != ADJUSTMENTS)
    unit = int(position["dislodged" if retreating else "unit"][0, province])
    own = unit_text(board, province, unit)
    if verb in (HOLD, DISBAND):
        return f"{own} {'H' if verb == HOLD else 'D'}"
    if verb in (MOVE, VIA):
        return f"{own} - {names[whither]}{' VIA' * (verb == VIA)}"
    if verb == RETREAT:
        return f"{own} R {names[whither]}"
    other = unit_text(board, whom, int(position["unit"][0, whom]))
    if verb == SUPPORT_HOLD:
        return f"{own} S {other}"
    return f"{own} {'C' if verb == CONVOY else 'S'} {other} - {names[whither]}"


def order_words(board: DiplomacyMap, position: np.ndarray, text: str) -> list[str]:
    """The words of an order as people type it, in the order that `parse_order` wants: types of
    units are there, verbs are letters. Raises `InputError` for half an order."""
    spaced = _ARROW.sub(" - ", _CONVOYED.sub("VIA", _COAST.sub(r"/\1", text.upper())))
    given = [our_name(board, word) for word in spaced.split()]
    words = [word if word in board.number else _SHORT.get(word, word) for word in given]
    words = [  # `MOVES TO`, `RETREATS TO`
        word for at, word in enumerate(words) if word != "-" or words[at - 1 : at] not in _BEFORE_TO
    ]
    if words[:1] and words[0] in ("B", "D", "R") and words[0] not in board.number:  # `BUILD A PAR`
        size = 2 if words[1:2] in (["A"], ["F"]) else 1
        words = [*words[1 : 1 + size], words[0], *words[1 + size :]]
    orders = int(position["phase"][0])
    own = "unit" if orders in (SPRING_MOVES, FALL_MOVES, ADJUSTMENTS) else "dislodged"
    for at, field in ((0, own), (3, "unit")):
        named = at < len(words) and words[at] in board.number and words[at] not in ("A", "F")
        if named and (not at or words[2] in ("S", "C")):
            unit = int(position[field][0, board.parent[board.number[words[at]]]])
            words.insert(at, _type(unit) if unit else "A")
    if len(words) < 3 and words[:1] and (words[0] in ("A", "F") or words[0] in _SHORT.values()):
        raise InputError(f"half an order: {_FORMS}", text=text)
    if len(words) < 3 or words[0] not in ("A", "F"):
        raise InputError(_FORMS, text=text)
    return words


def parse_order(
    board: DiplomacyMap, position: np.ndarray, power: int, text: str
) -> tuple[int, Order]:
    """The province and the order that a power's `text` means in `position`, of shape [1].

    Raises `InputError` for what is no order, `VoidOrder` for one that is not legal there.
    """
    kind, name, verb, *rest = order_words(board, position, text)
    at = _location(board, name, text)
    province = int(board.parent[at])
    phase = int(position["phase"][0])
    if verb in ("B", "D") and rest:
        raise InputError("words behind the order", text=text)
    if elsewhere := _other_phase(verb, phase):
        raise VoidOrder(elsewhere, text=text)
    if verb == "B":
        order = (BUILD_FLEET if kind == "F" else BUILD_ARMY, NONE, at)
        if board.home[province] != power:
            raise VoidOrder(f"{name} is no home centre of {board.powers[power]}", text=text)
    else:
        moves = phase in (SPRING_MOVES, FALL_MOVES, ADJUSTMENTS)
        unit = int(position["unit" if moves else "dislodged"][0, province])
        if not unit or _type(unit) != kind or unit & POWER != power:
            why = _whose(board, position, province, unit, power)
            raise VoidOrder(f"{board.powers[power]} has no {kind} {name}{why}", text=text)
        order = _order(board, position, province, unit, verb, rest, text)
    if not board.is_legal(position, province, order):
        raise VoidOrder(
            _why_illegal(board, position, power, province, order, f"{kind} {name}"), text=text
        )
    return province, order


def _other_phase(verb: str, phase: int) -> str:
    """What is said of a verb that no unit has in this phase; "": nothing."""
    if phase in (SPRING_MOVES, FALL_MOVES) and verb in ("B", "D"):
        return "units are built and disbanded in other phases"
    if phase in (SPRING_MOVES, FALL_MOVES) and verb == "R":
        return "units retreat in other phases: here they move, as in A PAR - BUR"
    return "units are built in other phases" if verb == "B" and phase != ADJUSTMENTS else ""


def _whose(board: DiplomacyMap, position: np.ndarray, province: int, unit: int, power: int) -> str:
    """What is there instead of the unit that a power orders; "": nothing is."""
    if unit:
        owner = "" if unit & POWER == power else f" of {board.powers[unit & POWER]}"
        return f": there is {unit_text(board, province, unit)}{owner}"
    moves = (SPRING_MOVES, FALL_MOVES, ADJUSTMENTS)
    return ": no unit is there" if position["phase"][0] in moves else " that retreats"


def _why_illegal(
    board: DiplomacyMap, position: np.ndarray, power: int, place: int, order: Order, unit: str
) -> str:
    """Why an order that is none of the legal ones of its unit is none."""
    verb, phase, who = order[0], int(position["phase"][0]), board.powers[power]
    if phase == ADJUSTMENTS:
        owed = board.adjustment(position, power)
        if verb in (BUILD_ARMY, BUILD_FLEET) and owed <= 0:
            return f"{who} has no unit to build"
        if verb == DISBAND and owed >= 0:
            return f"{who} has no unit to disband"
        if verb not in (BUILD_ARMY, BUILD_FLEET, DISBAND):
            return "moves are ordered in other phases: here units are built and disbanded"
        return f"{unit} cannot be built: its centre must be owned, free and of this kind"
    if phase in (SPRING_RETREATS, FALL_RETREATS):
        if verb == RETREAT:
            return f"{unit} cannot retreat there: {_why_no_retreat(board, position, place, order)}"
        return f"{unit} is dislodged: it retreats or is disbanded"
    return f"not legal here: {_why_no_move(board, position, place, order, unit)}"


def _why_no_retreat(board: DiplomacyMap, position: np.ndarray, place: int, order: Order) -> str:
    to = int(board.parent[order[2]])
    name = board.locations[to]
    if there := int(position["unit"][0, to]):
        return f"{unit_text(board, to, there)} of {board.powers[there & POWER]} is there"
    if int(position["from"][0, place]) == to:
        return f"its attacker came from {name}"
    if position["contested"][0, to // 8] >> to % 8 & 1:
        return f"a standoff left {name} empty"
    return f"it cannot reach {board.locations[order[2]]}"


def _why_no_move(
    board: DiplomacyMap, position: np.ndarray, place: int, order: Order, unit: str
) -> str:
    """Why the unit of a place cannot move so, support or convoy."""
    verb, whom, whither = order
    goal = whither if whither != NONE else whom
    to, at = board.locations[goal], board.location(place, int(position["unit"][0, place]))
    fleet = unit[0] == "F"
    coasts = board.coasts[int(board.parent[goal])]
    reaches = bool(board.fleet[at, coasts].any() if fleet else board.army[place, coasts[0]])
    if verb == CONVOY and not (fleet and board.kind[place] == SEA):
        return f"only fleets at sea convoy, not {unit}"
    if verb == VIA and fleet:
        return "only armies are convoyed"
    if verb == CONVOY or (verb == VIA and reaches):
        start = board.locations[place if verb == VIA else whom]
        part = f"with {unit} " * (verb == CONVOY)
        return f"no chain of fleets at sea {part}joins {start} and {to}"
    if verb in (SUPPORT_HOLD, SUPPORT_MOVE) and whom == place:
        return "no unit supports itself"
    if verb == SUPPORT_MOVE and reaches:
        unit = unit_text(board, whom, int(position["unit"][0, whom]))
    return f"{unit} cannot reach {to}"


def _order(
    board: DiplomacyMap,
    position: np.ndarray,
    province: int,
    unit: int,
    verb: str,
    rest: list[str],
    text: str,
) -> Order:
    """The order of a unit, from the words behind the unit."""
    if verb in ("H", "D") and not rest:
        return (HOLD if verb == "H" else DISBAND, NONE, NONE)
    if verb in ("-", "R") and (len(rest) == 1 or (rest[1:] == ["VIA"] and verb == "-")):
        to = _destination(board, province, unit, rest[0], text)
        retreating = int(position["phase"][0]) in (SPRING_RETREATS, FALL_RETREATS)
        if verb == "R" or (retreating and len(rest) == 1):
            return (RETREAT, NONE, to)
        own = board.location(province, unit)
        near = (board.fleet if unit & FLEET else board.army)[own, to]
        convoyed = rest[1:] == ["VIA"] or (not near and not unit & FLEET)
        return (VIA if convoyed else MOVE, NONE, to)
    if verb in ("S", "C") and len(rest) in (2, 4) and rest[0] in ("A", "F"):
        other = _location(board, rest[1], text)
        whom = int(board.parent[other])
        seen = int(position["unit"][0, whom])
        if not seen or _type(seen) != rest[0]:
            raise VoidOrder(f"there is no {rest[0]} {rest[1]}", text=text)
        if len(rest) == 2 and verb == "S":
            return (SUPPORT_HOLD, whom, NONE)
        if len(rest) == 4 and rest[2] == "-":
            if verb == "C" and rest[0] == "F":
                raise VoidOrder("only armies are convoyed", text=text)
            to = _location(board, rest[3], text)
            if not seen & FLEET:
                to = int(board.parent[to])
            return (SUPPORT_MOVE if verb == "S" else CONVOY, whom, to)
    half = verb in ("-", "R", "S", "C") and len(rest) < (1 if verb in ("-", "R") else 2)
    half |= rest[2:] == ["-"]
    raise InputError(f"half an order: {_FORMS}" if half else _FORMS, text=text)


def _destination(board: DiplomacyMap, province: int, unit: int, name: str, text: str) -> int:
    """Where a unit goes. A coast is completed where only one can be reached; armies have none."""
    to = _location(board, name, text)
    place = int(board.parent[to])
    if not unit & FLEET:
        return place
    coasts = board.coasts[place]
    if to != place or len(coasts) == 1:
        return to
    reached = [coast for coast in coasts if board.fleet[board.location(province, unit), coast]]
    if len(reached) > 1:
        names = " or ".join(board.locations[coast] for coast in reached)
        raise VoidOrder(f"which coast: {names}?", text=text)
    return reached[0] if reached else to


def orders_array(board: DiplomacyMap, orders: Iterable[tuple[int, Order]]) -> Bytes:
    """uint8 [1, P, 3] for `DiplomacyMap.resolve`: these orders, all others hold."""
    out = np.full((1, board.provinces, 3), (HOLD, NONE, NONE), np.uint8)
    for province, order in orders:
        out[0, province] = order
    return out
