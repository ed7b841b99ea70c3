"""Options that several subcommands share."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from stratkit.cli.options import GAME_NAME, VARIANTS, Value, option, options, options_from
from stratkit.declared import one_of, whole
from stratkit.errors import shown
from stratkit.notation.select import Selection

# What records and logs can contain, by hand: `--help` reads no module with numpy. Tests compare.
WORDS_OF_VARIANTS = [*VARIANTS, "classicfree", "ultimate lightning", "duell"]  # and Gravon's
ENDINGS = [
    *("flag_captured", "no_legal_move", "no_movable_pieces", "max_plies", "max_quiet", "cut"),
    *("forfeit", "tie_agreed", "both_missing", "opponent_missing"),
    *("players_clock_ran_out", "game_clock_ran_out", "players_clock_ran_out_while_missing"),
    *("resigned", "agreed", "surrender", "attrition", "illegal_setup", "illegal_move"),
    *("unreadable_move", "silence", "flood", "exit", "clock"),
]


class Range(click.types.StringParamType):
    """`N`, `FIRST..LAST`, `FIRST..` or `..LAST`; with `dates`, of YEAR[.MONTH[.DAY]]."""

    name = "range"

    def __init__(self, dates: bool = False) -> None:
        self.dates = dates

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        first, dots, last = value.partition("..")
        try:
            bounds = self._bound(first, False), self._bound(last if dots else first, True)
        except ValueError:
            what = (
                "a range of dates, like 2005 or 2005.4..2006.12.31"
                if self.dates
                else ("a range of whole numbers, like 40, 10..20 or 10..")
            )
            self.fail(f"{shown(value)} is not {what}")
        low, high = bounds
        if low[: len(high)] > high[: len(low)] if self.dates else low > high:
            self.fail(f"{shown(value)} ends before it begins")
        return bounds

    def _bound(self, text: str, last: bool) -> Any:
        if not text:
            return ((9999,) if last else (0,)) if self.dates else (2**31 if last else 0)
        if not all(word.isascii() and word.isdecimal() for word in text.split(".")):
            raise ValueError
        numbers = tuple(int(word) for word in text.split("."))
        if len(numbers) > (3 if self.dates else 1):
            raise ValueError
        if not all(1 <= n <= most for n, most in zip(numbers[1:], (12, 31), strict=False)):
            raise ValueError
        return numbers if self.dates else numbers[0]


# These select games.
selecting = options(
    options_from(
        Selection,
        game=Range(),
        variants=Value(one_of(*WORDS_OF_VARIANTS)),
        endings=Value(one_of(*ENDINGS)),
        dates=Range(dates=True),
        moves=Range(),
    ),
    option(
        "--allow-game GAME",
        "Read games of GAME, like diplomacy:FILE, which files of games cannot open themselves.",
        GAME_NAME,
        multiple=True,
        expose_value=False,  # naming it is all
    ),
)


def pop_selection(given: dict[str, Any]) -> Selection:
    """Takes the values of `selecting` out of a command's values."""
    return Selection(**{field.name: given.pop(field.name) for field in fields(Selection)})


jobs_option = option(
    "--jobs N",
    "Work in N processes; what comes out is the same (default: 1).",
    whole(1, 256),
    default=1,
)
strict_option = option("--strict", "Stop at the first fault.")
