"""Types of options, and the options that several commands have."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stratkit.errors import InputError, nearest, shown
from stratkit.netnames import NETS, check_net

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# The engine tells the names of games as well, but loading it would keep the shell waiting.
GAMES = ("classic", "barrage", "duel", "ultimate", "mini", "nano", "micro", "kuhn", "leduc")

Function = TypeVar("Function", bound=Callable[..., Any])


class OneOf(click.Choice[str]):
    """One of a few words; a misspelt one is answered with the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        words = [str(word) for word in self.choices]
        if value not in words:
            self.fail(f"{shown(value)} is none of {', '.join(words)}{nearest(value, words)}")
        return value


class Number(click.FloatRange):
    """A number in a range, in which NaN is not, though no comparison tells."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{shown(value)} is no number")
        return number


class Text(click.types.StringParamType):
    """Text of which some words are known; in a shell, Tab offers these, or else files. Behind a
    comma, as between the keys of a PLAYER, it offers them again."""

    files = True

    def __init__(self, *words: str) -> None:
        self.words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        found = [word for word in self.words if word.startswith(last)]
        words = [CompletionItem(before + comma + word) for word in found]
        return [CompletionItem(incomplete, type="file")] * self.files + words


class GameName(Text):
    """The name of a game that the engine knows."""

    name = "game"
    files = False

    def __init__(self) -> None:
        super().__init__(*GAMES)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ctx is not None and ctx.resilient_parsing:
            return value  # a shell waits for its completions

        from stratkit.engine import Game

        try:
            Game(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


class NetName(Text):
    """The name of a network."""

    name = "network"
    files = False

    def __init__(self) -> None:
        super().__init__(*NETS)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            check_net(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


def output_options(function: Function) -> Function:
    """`-o/--output FILE` (parameter `output`, default `-`) and `-f/--force` (parameter `force`)."""
    function = click.option(
        "-o", "--output", metavar="FILE", default="-", help="Write to FILE (default: -, stdout)."
    )(function)
    return click.option("-f", "--force", is_flag=True, help="Overwrite an existing FILE.")(function)


def seed_option(function: Function) -> Function:
    """`--seed S` (parameter `seed`); the system chooses it by default."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**64 - 1),
        metavar="S",
        default=lambda: int.from_bytes(os.urandom(4)),
        help="Seed of all random numbers (default: from the system).",
    )(function)


def device_option(function: Function) -> Function:
    """`--device WORD` (parameter `device`)."""
    return click.option(
        "--device",
        type=OneOf(("cpu", "cuda")),
        metavar="WORD",
        default="cpu",
        help="Where networks compute: cpu or cuda (default: cpu).",
    )(function)
