"""Who sits where in a game of more than two players: `1v6`, `3v4`, or a name at each power."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from stratkit.errors import UsageError, nearest_or_all

OTHERS = "others"  # all powers that are not named
_COUNTS = re.compile(r"([1-9]\d?)v([1-9]\d?)", re.A)


def counts_of(text: str, game: str, players: int) -> tuple[int, int] | None:
    """How many seats the one and the other have by `AvB`; None: `text` names powers. `UsageError`:
    they do not add up, or it is neither."""
    if "=" in text:
        return None
    found = _COUNTS.fullmatch(text)
    if found is None:
        what = f"--seats are like 1v{players - 1}, or POWER=NAME,{OTHERS}=NAME"
        raise UsageError(what, text=text)
    one, other = int(found[1]), int(found[2])
    if one + other != players:
        what = f"{game} has {players} players, and these seats add up to {one + other}"
        raise UsageError(what, text=text)
    return one, other


def check_names(text: str, game: str, powers: Sequence[str] | None) -> dict[str, str]:
    """The player's name at each of the `powers`, by `POWER=NAME,...`. `UsageError`: one is missing,
    or no power, or named twice."""
    if powers is None:
        raise UsageError(f"--seats with names are for games of powers, not for {game}", text=text)
    named: dict[str, str] = {}
    for part in text.split(","):
        power, equals, name = part.partition("=")
        if not equals or not name:
            raise UsageError(f"--seats are POWER=NAME,{OTHERS}=NAME", text=part)
        place = power.upper() if power.upper() in powers else power
        if place not in powers and place != OTHERS:
            what = f"--seats: no power is called {power!r}{nearest_or_all(power, powers)}"
            raise UsageError(what)
        if place in named:
            raise UsageError(f"--seats: {place} is named twice", text=text)
        named[place] = name
    rest = named.pop(OTHERS, None)
    missing = [power for power in powers if power not in named]
    if missing and rest is None:
        what = f"--seats: nobody sits at {', '.join(missing)} ({OTHERS}=NAME seats them)"
        raise UsageError(what, text=text)
    if rest is not None and not missing:
        raise UsageError(f"--seats: all powers are named, none is left for {OTHERS}", text=text)
    return {power: named.get(power) or str(rest) for power in powers}


def seating_of(
    text: str, game: str, powers: Sequence[str] | None, names: Sequence[str]
) -> tuple[int, ...]:
    """The player of each power, as indices of `names`. `UsageError`: a name is none of these, or a
    player has no seat."""
    at = check_names(text, game, powers)
    for name in at.values():
        if name not in names:
            what = f"--seats: no PLAYER is called {name!r}{nearest_or_all(name, names)}"
            raise UsageError(what)
    for name in names:
        if name not in at.values():
            raise UsageError(f"--seats: {name} has no seat", text=text)
    return tuple(names.index(name) for name in at.values())


def turned_seats(one: int, sides: int) -> list[tuple[int, ...]]:
    """The sets of `one` of so many seats, one of all that are the same but turned around: whoever
    sits there in all its turns has each seat equally often."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for seats in itertools.combinations(range(sides), one):
        turns = (tuple(sorted((seat + by) % sides for seat in seats)) for by in range(sides))
        found.setdefault(min(turns), seats)
    return list(found.values())
