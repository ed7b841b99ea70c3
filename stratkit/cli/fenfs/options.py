"""Options that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stratkit.cli.options import OneOf
from stratkit.errors import shown

if TYPE_CHECKING:
    from stratkit.notation.select import Selection

VIEWS = {"observer": None, "red": 0, "blue": 1}

# What records and logs can contain, by hand: `--help` reads no module with numpy. Tests compare.
VARIANTS = [
    *("classic", "barrage", "duel", "ultimate", "mini", "nano", "micro"),
    *("classicfree", "ultimate lightning", "duell"),  # Gravon's words
]
ENDINGS = [
    *("flag_captured", "no_legal_move", "no_movable_pieces", "max_plies", "max_quiet", "cut"),
    *("forfeit", "tie_agreed", "both_missing", "opponent_missing"),
    *("players_clock_ran_out", "game_clock_ran_out", "players_clock_ran_out_while_missing"),
    *("resigned", "agreed", "surrender", "attrition", "illegal_setup", "illegal_move"),
    *("unreadable_move", "silence", "flood", "exit"),
]

Function = TypeVar("Function", bound=Callable[..., Any])


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
        return bounds

    def _bound(self, text: str, last: bool) -> Any:
        if not text:
            return ((9999,) if last else (0,)) if self.dates else (2**31 if last else 0)
        if not all(word.isascii() and word.isdecimal() for word in text.split(".")):
            raise ValueError
        numbers = tuple(int(word) for word in text.split("."))
        if len(numbers) > (3 if self.dates else 1):
            raise ValueError
        return numbers if self.dates else numbers[0]


def selecting(function: Function) -> Function:
    """The options that select games; `selection` makes what they mean of them."""
    options = [
        click.option("--variant", multiple=True, type=OneOf(VARIANTS), help="Only this variant."),
        click.option("--player", multiple=True, metavar="NICK", help="Only games of NICK."),
        click.option(
            "--result",
            multiple=True,
            type=OneOf(["red", "blue", "draw"]),
            help="Only games that this side won, or nobody.",
        ),
        click.option("--ending", multiple=True, type=OneOf(ENDINGS), help="Only this ending."),
        click.option(
            "--date",
            type=Range(dates=True),
            metavar="RANGE",
            help="Only logs with such a date in the file name, like 2005 or 2005.4..2006.",
        ),
        click.option(
            "--moves",
            type=Range(),
            metavar="RANGE",
            help="Only games of so many moves, like 40, 10..20 or 10.. .",
        ),
        click.option("--regular", is_flag=True, help="Only games with regular setups."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def selection(chosen: dict[str, Any]) -> Selection:
    """What the options of `selecting` mean; they are taken out of `chosen`."""
    from stratkit.notation.select import Selection

    return Selection(
        variants=chosen.pop("variant"),
        players=chosen.pop("player"),
        results=chosen.pop("result"),
        endings=chosen.pop("ending"),
        dates=chosen.pop("date"),
        moves=chosen.pop("moves"),
        regular=chosen.pop("regular"),
    )


def jobs_option(function: Function) -> Function:
    """`--jobs N` (parameter `jobs`)."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, 256),
        default=1,
        metavar="N",
        help="Work in N processes; what comes out is the same (default: 1).",
    )(function)


def strict_option(function: Function) -> Function:
    """`--strict` (parameter `strict`)."""
    return click.option("--strict", is_flag=True, help="Stop at the first fault.")(function)
