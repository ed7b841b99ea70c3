"""Which games of many are wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from stratkit.notation.log import Log
from stratkit.notation.setups import Setup, has_counts, variant_of

Date = tuple[int, ...]  # year, perhaps month, perhaps day

# In `<type>.<year>.<month>.<day>.<number>.gsn` and `<type>-<year>.<month>-<number>.xml`.
_DATE_IN_NAME = re.compile(r"[.-]([0-9]{4})\.([0-9]{1,2})(?:\.([0-9]{1,2}))?[.-][0-9]+\.\w+$")


@dataclass(frozen=True)
class Selection:
    """Which games are read. Of words one must fit; none: all do. Bounds are both included.

    variants   words of variants
    players    nicks
    results    `red`, `blue`, `draw`
    endings    words of endings
    dates      from one date to another
    moves      from one number of plies to another
    regular    whether the setups must be regular
    game       from one of the games' numbers in the inputs to another; only their reader counts it
    """

    variants: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    dates: tuple[Date, Date] | None = None
    moves: tuple[int, int] | None = None
    regular: bool = False
    game: tuple[int, int] | None = None

    @property
    def by_log(self) -> bool:
        """Whether games are chosen by what only logs of Stratego have."""
        return replace(self, game=None) != Selection()

    def takes(self, log: Log, name: str) -> bool:
        """Whether a log, from a file of this name, is wanted."""
        nicks = [nick.casefold() for nick in log.players]
        result = {0: "red", 1: "blue", None: "draw"}[log.winner]
        return (
            (not self.variants or bool({log.kind, log.variant.name} & set(self.variants)))
            and (not self.players or any(nick.casefold() in nicks for nick in self.players))
            and (not self.results or result in self.results)
            and (not self.endings or log.reason in self.endings)
            and (not self.dates or _within(date_of(name), *self.dates))
            and (not self.moves or self.moves[0] <= log.plies <= self.moves[1])
            and (not self.regular or _is_regular(log))
        )

    def sides(self, log: Log) -> list[int]:
        """The sides of a wanted log that are asked for: of the players who are named, or both."""
        selected = {nick.casefold() for nick in self.players}
        nicks = enumerate(log.players)
        return [side for side, nick in nicks if not selected or nick.casefold() in selected]

    def takes_setup(self, setup: Setup) -> bool:
        """Whether a setup by itself is wanted: it has no player, and no game."""
        variant = variant_of(setup)
        if variant is None:
            return not self.variants and not self.regular
        return not self.variants or variant.name in self.variants


EVERYTHING = Selection()


def date_of(name: str) -> Date | None:
    """The date in the name of a log file of Gravon's."""
    match = _DATE_IN_NAME.search(name)
    return tuple(int(number) for number in match.groups() if number) if match else None


def _within(date: Date | None, first: Date, last: Date) -> bool:
    """Compared as far as both dates go: a month is within a range that begins in it."""
    if date is None:
        return False
    return date[: len(first)] >= first[: len(date)] and date[: len(last)] <= last[: len(date)]


def _is_regular(log: Log) -> bool:
    return log.setups is not None and all(has_counts(log.variant, s) for s in log.setups)
