"""Types of options, and the options that several commands have."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from stratkit.declared import REQUIRED, SEED, Kind, one_of
from stratkit.errors import InputError, UsageError, nearest
from stratkit.netnames import NETS, check_new_net

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from stratkit.players.spec import PlayerSpec

# The engine tells the names of games as well, but loading it would keep the shell waiting.
VARIANTS = ("classic", "barrage", "duel", "ultimate", "mini", "nano", "micro", "barrage-blocked")
GAMES = (*VARIANTS, "kuhn", "leduc", "phantom_ttt")
FULL_NAMES = {"diplomacy": "diplomacy:standard"}  # of names that people cut short

Function = TypeVar("Function", bound=Callable[..., Any])


class Value(click.ParamType[Any]):
    """A value of a declared kind. A misspelt word is answered with the nearest, and a shell is
    offered the words."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.name = kind, kind.metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.kind.words)}]" if self.kind.words else self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value  # a default
        try:
            return self.kind.read(value)
        except ValueError:
            what = f"{max(param.opts, key=len) if param else self.name} must be {self.kind.needed}"
            hint = nearest(value, self.kind.words)
            raise UsageError(what + hint, text=value) from None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return Text(*self.kind.words, files=False).shell_complete(ctx, param, incomplete)


class Text(click.types.StringParamType):
    """Text of which some words are known; in a shell, Tab offers these, or else files. Behind a
    comma, as between the keys of a PLAYER, it offers them again."""

    def __init__(self, *words: str, files: bool = True) -> None:
        self.words, self.files = words, files

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        matches = [word for word in self.words if word.startswith(last)]
        words = [CompletionItem(before + comma + word) for word in matches]
        return [CompletionItem(incomplete, type="file")] * self.files + words


class Name(Text):
    """A name that `check` takes; for others it raises `InputError`."""

    def __init__(self, name: str, words: Sequence[str], check: Callable[[str], object]) -> None:
        super().__init__(*words, files=False)
        self.name, self.check = name, check

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ctx is not None and ctx.resilient_parsing:
            return value  # a shell waits for its completions
        value = FULL_NAMES.get(value, value)
        try:
            self.check(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


def _check_game(name: str) -> None:
    from stratkit.engine import Game

    Game(name)


GAME_NAME, NET_NAME = Name("game", GAMES, _check_game), Name("network", NETS, check_new_net)


class Types(click.ParamType[int]):
    """Types of pieces by name, with commas between them: the sum of 2 ** type."""

    name = "TYPES"
    # As the engine numbers them, by hand: `--help` reads no module with numpy. A test compares.
    words = (
        *("flag", "spy", "scout", "miner", "sergeant", "lieutenant", "captain", "major"),
        *("colonel", "general", "marshal", "bomb"),
    )

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        known = Value(one_of(*self.words))
        types = {known.convert(word, param, ctx) for word in value.split(",")}
        return sum(1 << self.words.index(word) for word in types)


def option(
    usage: str, help: str, type: Any = None, name: str | None = None, **settings: Any
) -> Callable[[Function], Function]:
    """A click option by its `usage` as in the manual, `-o, --output FILE`; one that takes no value,
    and has no `type`, is a flag. `type`: a declared kind, or click's. `name`: of the parameter, if
    it is another one."""
    words = usage.split()
    names = [word.rstrip(",") for word in words if word.startswith("-")]
    metavar = " ".join(words[len(names) :]) or None
    if isinstance(type, Kind):
        type = Value(type)
    settings |= {"is_flag": True} if metavar is type is None else {"type": type}
    return click.option(*names, *filter(None, [name]), metavar=metavar, help=help, **settings)


def given_options(ctx: click.Context) -> set[str]:
    """The parameters that the command line names, whatever their values."""
    return {
        name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def options_from(cls: type, **own: Any) -> Callable[[Function], Function]:
    """The options that a dataclass declares (`declared.usage`), in the order of its
    fields and under their names. `own`: by field, a type of click's own; or the option itself,
    where several commands have it."""
    made = []
    for field in dataclasses.fields(cls):
        special = own.get(field.name)
        if special and not isinstance(special, click.ParamType):
            made.append(special)
        elif "usage" in field.metadata:
            usage, help, kind = field.metadata["usage"]
            made.append(option(usage, help, special or kind, field.name, **_default_of(field)))
    return options(*made)


def _default_of(field: dataclasses.Field[Any]) -> dict[str, Any]:
    if field.default_factory is not dataclasses.MISSING:
        return {"default": field.default_factory}
    if field.default is REQUIRED:
        return {"required": True}
    return {"multiple": True} if field.default == () else {"default": field.default}


def options(*some: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one decorator, in the order in which `--help` shows them."""

    def add(function: Function) -> Function:
        for one in reversed(some):
            function = one(function)
        return function

    return add


output_options = options(
    option("-f, --force", "Overwrite an existing FILE."),
    option("-o, --output FILE", "Write to FILE (default: -, stdout).", default="-"),
)
seed_option = option(
    "--seed S",
    "Seed of all random numbers (default: from the system).",
    SEED,
    default=lambda: int.from_bytes(os.urandom(4)),
)
device_option = option(
    "--device WORD",
    "Where networks compute: cpu or cuda (default: cpu).",
    one_of("cpu", "cuda"),
    default="cpu",
)
open_option = option(
    "--open TYPES", "Both sides know these pieces from the start, as in flag,bomb.", Types()
)


def read_player(text: str) -> PlayerSpec:
    """Reads a PLAYER of any kind; `UsageError`."""
    from stratkit.match import PLAYERS
    from stratkit.players.registry import parse_player

    return parse_player(text, PLAYERS)
