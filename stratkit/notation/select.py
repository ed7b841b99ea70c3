"""Which games of many are wanted. Imports no numpy: `--help` needs it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from stratkit.declared import one_of, usage
from stratkit.frozen import frozen

if TYPE_CHECKING:
    from stratkit.engine.stratego import Variant
    from stratkit.notation.log import Log
    from stratkit.notation.setups import Setup

Date = tuple[int, ...]  # year, perhaps month, perhaps day

# In `<type>.<year>.<month>.<day>.<number>.gsn` and `<type>-<year>.<month>-<number>.xml`.
_DATE_IN_NAME = re.compile(r"[.-]([0-9]{4})\.([0-9]{1,2})(?:\.([0-9]{1,2}))?[.-][0-9]+\.\w+$")


@frozen()
class Selection:
    """Which games are read. Of words one must fit; none: all do. Bounds are both included.

    `game` is of numbers that only a reader of the inputs counts.
    """

    game: tuple[int, int] | None = usage(
        "--game RANGE",
        "Only the games with these numbers, as `fenfs list` counts them: 3, 10..20 or 10.. .",
    )
    variants: tuple[str, ...] = usage("--variant WORD", "Only this variant.", default=())
    players: tuple[str, ...] = usage("--player NICK", "Only games of NICK.", default=())
    results: tuple[str, ...] = usage(
        "--result", "Only games that this side won, or nobody.", one_of("red", "blue", "draw"), ()
    )
    endings: tuple[str, ...] = usage(
        "--ending WORD", "Only this ending, as game records write it.", default=()
    )
    dates: tuple[Date, Date] | None = usage(
        "--date RANGE", "Only games of such a date, like 2005 or 2005.4..2006."
    )
    moves: tuple[int, int] | None = usage(
        "--moves RANGE", "Only games of so many moves, like 40, 10..20 or 10.. ."
    )
    regular: bool = usage("--regular", "Only games with regular setups.")

    def __bool__(self) -> bool:
        """Whether only some games are wanted."""
        return self != EVERYTHING

    @property
    def by_log(self) -> bool:
        """Whether games are chosen by what only logs of Stratego have."""
        return bool(replace(self, game=None))

    def takes(self, log: Log, name: str) -> bool:
        """Whether a log, from a file of this name, is wanted."""
        nicks = [nick.casefold() for nick in log.players]
        result = {0: "red", 1: "blue", None: "draw"}[log.winner]
        return (
            (not self.variants or bool({log.kind, log.variant.name} & set(self.variants)))
            and (not self.players or any(nick.casefold() in nicks for nick in self.players))
            and (not self.results or result in self.results)
            and (not self.endings or log.reason in self.endings)
            and (not self.dates or _within(log.date or date_of(name), *self.dates))
            and (not self.moves or self.moves[0] <= log.plies <= self.moves[1])
            and (not self.regular or _is_regular(log))
        )

    def sides(self, log: Log) -> list[int]:
        """The sides of a wanted log that are asked for: of the players who are named, or both."""
        selected = {nick.casefold() for nick in self.players}
        nicks = enumerate(log.players)
        return [side for side, nick in nicks if not selected or nick.casefold() in selected]

    def variant_of(self, setup: Setup, board: Variant | None = None) -> Variant | None:
        """The variant of a setup by itself, or at the start of a game on this board: of several
        that it fits one that is asked for."""
        from stratkit.engine.stratego import VARIANTS
        from stratkit.notation.setups import has_counts, variant_of

        asked = [] if board else [VARIANTS[name] for name in self._variants if name in VARIANTS]
        fits = (variant for variant in asked if has_counts(variant, setup))
        return next(fits, None) or variant_of(setup, board)

    def takes_setup(self, setup: Setup, board: Variant | None = None) -> bool:
        """Whether a setup is wanted that has no player, and no game but its start."""
        variant = self.variant_of(setup, board)
        if variant is None:
            return not self.variants and not self.regular
        return not self.variants or variant.name in self._variants

    @property
    def _variants(self) -> list[str]:
        """The variants, for Gravon's words for them, too; free setups have none."""
        from stratkit.notation.gravon_words import KINDS
        from stratkit.notation.log import FREE

        return [word if word == FREE else KINDS.get(word, word) for word in self.variants]


EVERYTHING = Selection()


def date_of(name: str) -> Date | None:
    """The date in the name of a log file of Gravon's, compressed or not."""
    from stratkit.compressed import plain_name

    match = _DATE_IN_NAME.search(plain_name(name))
    return tuple(int(number) for number in match.groups() if number) if match else None


def _within(date: Date | None, first: Date, last: Date) -> bool:
    """Compared as far as both dates go: a month is within a range that begins in it."""
    if date is None:
        return False
    return date[: len(first)] >= first[: len(date)] and date[: len(last)] <= last[: len(date)]


def _is_regular(log: Log) -> bool:
    from stratkit.notation.setups import has_counts

    return log.setups is not None and all(has_counts(log.variant, s) for s in log.setups)
