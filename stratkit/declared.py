"""How a setting is declared: once, as a field of a dataclass with a kind of value and a help text.

Options of a command (`stratkit.cli.options`), keys of a PLAYER, lines of TOML, what a checkpoint
stores, `--help` and completion come from such fields; tests compare the manual with them. This
module imports neither torch nor numpy, nor msgspec, which takes 20 ms: `--help` needs it.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from stratkit.errors import nearest

T = TypeVar("T")
MAX_COUNT = 2**31 - 1
MAX_THREADS = 1024
REQUIRED = dataclasses.MISSING  # the default of an option that must be given


class Kind(NamedTuple):
    """A kind of value.

    metavar  stands for a value in help
    needed   what an error says that is needed
    parse    what a text says; `ValueError`: nothing
    accept   a value as the setting has it, from other code, TOML or JSON; `ValueError`: none
    words    the only values, or those that have a name, where they are few
    """

    metavar: str
    needed: str
    parse: Callable[[str], Any]
    accept: Callable[[Any], Any]
    words: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value of its text; `ValueError`."""
        return self.accept(self.parse(text))


class Option(NamedTuple):
    """What a field says of itself.

    kind   its values
    help   one sentence without a full stop
    needs  another key, without which it would do nothing, or `KEY=WORD|WORD`, one of these values
    """

    kind: Kind
    help: str
    needs: str | None = None

    def serves(self, given: Mapping[str, str]) -> bool:
        """Whether the keys `given` have what it needs."""
        key, _, words = (self.needs or "").partition("=")
        return not key or (key in given and (not words or given[key] in words.split("|")))


class Rule(NamedTuple):
    """What the values of several settings must be together: `check` raises `InputError`."""

    names: tuple[str, ...]
    check: Callable[..., None]


def check_rules(rules: Iterable[Rule], values: Mapping[str, Any]) -> None:
    """Checks the rules of which all values are known."""
    for rule in rules:
        if values.keys() >= set(rule.names):
            rule.check(*(values[name] for name in rule.names))


def option(default: Any, kind: Kind, help: str, needs: str | None = None) -> Any:
    """A field of a dataclass of settings. Its key is its name, with dashes."""
    metadata = {"option": Option(kind, help, needs)}
    return dataclasses.field(default=default, metadata=metadata)


def same(cls: type, name: str, default: Any) -> Any:
    """A field that another dataclass declares, with another default."""
    (metadata,) = (one.metadata for one in dataclasses.fields(cls) if one.name == name)
    return dataclasses.field(default=default, metadata=metadata)


def usage(text: str, help: str, kind: Kind | None = None, default: Any = None) -> Any:
    """A field of a dataclass of a command's options, of which `cli.options` makes click's.

    text     as in the manual, `-o, --output FILE`; with neither a value nor a kind, of a flag
    help     a sentence
    kind     its values; None: any text
    default  `REQUIRED`: it must be given; (): it may be given several times; or a function
    """
    metadata = {"usage": (text, help, kind)}
    if kind is default is None and all(word.startswith("-") for word in text.split()):
        default = False
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


# ---- kinds of values ----


class Bounds(NamedTuple):
    """Of numbers: those that are None do not bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def hold(self, value: float) -> bool:
        """Whether a number is within them. NaN is not, whatever they are."""
        comparisons = zip(self, (operator.ge, operator.le, operator.gt, operator.lt), strict=True)
        return value == value and all(
            bound is None or within(value, bound) for bound, within in comparisons
        )

    def __str__(self) -> str:
        """The bounds behind the name of what they bound."""
        begins = " of at least" if self.most is self.below is None else " from"
        ends = ", at most" if self.least is None else " to"
        parts = (
            (begins, self.least),
            (" above", self.above),
            (ends, self.most),
            (", below", self.below),
        )
        return "".join(f"{word} {_short(bound)}" for word, bound in parts if bound is not None)


def number(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    none: str | None = None,
    metavar: str = "X",
) -> Kind:
    """A number within these bounds; or None, written as the word `none`."""
    bounds = Bounds(least, most, above, below)

    def parse(text: str) -> float | None:
        if text == none:
            return None
        return float(text) if text.isascii() and "_" not in text else math.nan

    def accept(value: Any) -> float | None:
        if value is None and none:
            return None
        if value == "inf":  # as JSON has it
            value = math.inf
        if type(value) is int and abs(value) < 2**63:
            value = float(value)
        if type(value) is not float or not bounds.hold(value):
            raise ValueError
        return value

    thing = "a number of seconds" if metavar == "SECONDS" else "a number"
    return Kind(metavar, f"{f'{none}, or ' if none else ''}{thing}{bounds}", parse, accept)


def seconds(most: float) -> Kind:
    """A span of time above 0."""
    return number(above=0, most=most, metavar="SECONDS")


def whole(least: int | None = None, most: int | None = MAX_COUNT, *, even: bool = False) -> Kind:
    """A whole number, in digits."""
    bounds = Bounds(least, most)

    def accept(value: Any) -> int:
        if type(value) is not int or not bounds.hold(value) or (even and value % 2):
            raise ValueError
        return value

    return Kind("N", f"{'an even' if even else 'a whole'} number{bounds}", _digits, accept)


def wholes(least: int | None = None) -> Kind:
    """Whole numbers, with commas between them."""
    one = whole(least, None)

    def accept(value: Any) -> tuple[int, ...]:
        numbers = (value,) if type(value) is int else value
        if not isinstance(numbers, list | tuple):
            raise ValueError
        return tuple(map(one.accept, numbers))

    def parse(text: str) -> tuple[int, ...]:
        return tuple(map(_digits, text.split(",")))

    return Kind("N,...", f"whole numbers{Bounds(least)}, as in 100,200", parse, accept)


def one_of(*words: str) -> Kind:
    """One of some words."""

    def accept(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    needed = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    return Kind("|".join(words), needed, str, accept, words)


def some_of(*words: str) -> Kind:
    """Some of some words, with commas between them: as a tuple, in this order. Or `all`, or
    `none`."""

    def accept(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not set(value) <= set(words):
            raise ValueError
        return tuple(word for word in words if word in value)

    def parse(text: str) -> tuple[str, ...]:
        return {"all": words, "none": ()}.get(text) or tuple(text.split(",")) * (text != "none")

    return Kind("WORD,...", f"some of {', '.join(words)}; or all, or none", parse, accept)


def word_or_file(*words: str) -> Kind:
    """One of some words; or the path of a file or folder, which has a dot or a slash."""

    def accept(value: Any) -> str:
        if not isinstance(value, str) or not (value in words or {".", "/"} & set(value)):
            raise ValueError
        return value

    needed = f"one of {', '.join(words)}, or a path with a dot or a slash"
    return Kind("|".join((*words, "FILE")), needed, str, accept, words)


def switch() -> Kind:
    """`on` or `off`: True or False."""
    words = one_of("on", "off")

    def accept(value: Any) -> bool:
        if type(value) is not bool:
            raise ValueError
        return bool(value)

    return words._replace(parse=lambda text: words.accept(text) == "on", accept=accept)


def text(metavar: str) -> Kind:
    """Any text, such as the path of a file."""

    def accept(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        return value

    return Kind(metavar, "text", str, accept)


def _digits(text: str) -> int:
    if not (text.removeprefix("-").isdigit() and text.isascii() and len(text) <= 20):
        raise ValueError
    return int(text)


def _short(value: float) -> str:
    if value == int(value):
        return str(int(value))
    return f"{value:g}".removeprefix("0")


SEED = whole(0, 2**64 - 1)

# ---- dataclasses of settings ----


def options_of(cls: type) -> Iterator[tuple[str, Option]]:
    """The settings of a dataclass by key, those of its parts included."""
    for field in dataclasses.fields(cls):
        if "option" in field.metadata:
            yield key_of(field.name), field.metadata["option"]
        else:
            yield from options_of(_part(field))


def key_of(name: str) -> str:
    """The key of a field."""
    return name.replace("_", "-")


def option_name(name: str) -> str:
    """The option of a command for a field."""
    return f"--{key_of(name)}"


def declared(field: dataclasses.Field[Any]) -> Option:
    """What a field of a dataclass of settings says of itself; where it was not declared, any value
    of its default's type is one."""
    found: Option | None = field.metadata.get("option")
    return found or Option(_kind_of(field.default), field.metadata.get("help", ""))


def read_value(key: str, kind: Kind, text: str) -> Any:
    """The value of `key`=`text`; `ValueError` says what is wrong."""
    try:
        return kind.read(text)
    except ValueError:
        hint = nearest(text, kind.words)
        raise ValueError(f"{key}={text}: {kind.needed} is needed{hint}") from None


def read_options(cls: type[T], texts: Mapping[str, str]) -> T:
    """An instance of a dataclass of settings from the texts of some of its keys; `ValueError` says
    which text is wrong."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        key = key_of(field.name)
        if "option" not in field.metadata:
            values[field.name] = read_options(_part(field), texts)
        elif key in texts:
            values[field.name] = read_value(key, field.metadata["option"].kind, texts[key])
    return cls(**values)


def options_text(options: Any) -> str:
    """The settings as keys of a PLAYER, a comma behind each: those that are not as by default."""
    return "".join(
        f"{key_of(field.name)}={_text(value)},"
        if "option" in field.metadata
        else options_text(value)
        for field in dataclasses.fields(options)
        if (value := getattr(options, field.name)) != _default(field)
    )


def _kind_of(default: Any) -> Kind:
    if isinstance(default, bool):
        return switch()
    if isinstance(default, int):
        return whole()
    if isinstance(default, float):
        return number()
    return wholes() if isinstance(default, tuple) else text("WORD")


def _part(field: dataclasses.Field[Any]) -> Any:
    """The dataclass of a field that is one."""
    assert field.default_factory is not dataclasses.MISSING
    return field.default_factory


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if "option" in field.metadata else _part(field)()


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "on" if value else "off"
    return repr(value) if isinstance(value, float) else str(value)
