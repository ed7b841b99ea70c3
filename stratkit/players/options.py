"""How the options of players are declared: dataclasses whose fields know their text and their help.

The keys of a PLAYER, their errors, `--help`, completion and the manual come from these fields. This
module imports neither torch nor numpy.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from stratkit.errors import nearest

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """A kind of value: `metavar` stands for it in help; `read` makes it of its text, or raises
    `ValueError`; `needed` says so in an error. `words`: the only values, where they are few."""

    metavar: str
    needed: str
    read: Callable[[str], Any]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """What the text of an option means, and its help: one sentence without a full stop. `needs`:
    another key, without which it would do nothing; or `KEY=WORD|WORD`, a key with one of these
    values."""

    kind: Kind
    help: str
    needs: str | None = None

    def serves(self, given: Mapping[str, str]) -> bool:
        """Whether the keys `given` have what it needs."""
        key, _, words = (self.needs or "").partition("=")
        return not key or (key in given and (not words or given[key] in words.split("|")))


def option(default: Any, kind: Kind, help: str, needs: str | None = None) -> Any:
    """A field of a dataclass of options. Its key is its name, with dashes."""
    said = Option(kind, help, needs)
    return dataclasses.field(default=default, metadata={"option": said})


# ---- kinds of values ----


def number(least: float, most: float, *, off: bool = False) -> Kind:
    """A number; or None, written `off`."""

    def read(text: str) -> float | None:
        if off and text == "off":
            return None
        value = _float(text)
        if not least <= value <= most:  # NaN is not, either
            raise ValueError
        return value

    return Kind(
        "X", f"{'off, or ' * off}a number from {_short(least)} to {_short(most)} is needed", read
    )


def seconds(most: float) -> Kind:
    """A span of time above 0."""

    def read(text: str) -> float:
        value = _float(text)
        if not 0 < value <= most:
            raise ValueError
        return value

    return Kind("SECONDS", f"seconds are needed, above 0 and at most {_short(most)}", read)


def whole(least: int, most: int, *, even: bool = False) -> Kind:
    """A whole number, in digits."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
            raise ValueError
        if not least <= int(text) <= most or (even and int(text) % 2):
            raise ValueError
        return int(text)

    limits = f"from {least} to {most}" if most < 10**9 else f"above {least - 1}"
    return Kind("N", f"{'an even' if even else 'a whole'} number {limits} is needed", read)


def one_of(*words: str) -> Kind:
    """One of some words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    choice = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    return Kind("|".join(words), f"{choice} is needed", read, words)


def word_or_file(*words: str) -> Kind:
    """One of some words; or the path of a file or folder, which has a dot or a slash."""
    choice = one_of(*words)

    def read(text: str) -> str:
        return text if {".", "/"} & set(text) else choice.read(text)

    needed = f"one of {', '.join(words)}, or a path with a dot or a slash is needed"
    return Kind(f"{choice.metavar}|FILE", needed, read, words)


def switch() -> Kind:
    """`on` or `off`: True or False."""
    words = one_of("on", "off")
    return dataclasses.replace(words, read=lambda text: words.read(text) == "on")


def text(metavar: str) -> Kind:
    """Any text, such as the path of a file."""
    return Kind(metavar, "text is needed", str)


def _float(text: str) -> float:
    """The number, or NaN."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def _short(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"


# ---- dataclasses of options ----


def options_of(cls: type) -> Iterator[tuple[str, Option]]:
    """The options of a dataclass by key, those of its parts included."""
    for field in dataclasses.fields(cls):
        if "option" in field.metadata:
            yield field.name.replace("_", "-"), field.metadata["option"]
        else:
            yield from options_of(_part(field))


def read_value(key: str, kind: Kind, text: str) -> Any:
    """The value of `key`=`text`; `ValueError` says what is wrong."""
    try:
        return kind.read(text)
    except ValueError:
        hint = nearest(text, kind.words)
        raise ValueError(f"{key}={text}: {kind.needed}{hint}") from None


def read_options(cls: type[T], texts: Mapping[str, str]) -> T:
    """An instance of a dataclass of options from the texts of some of its keys; `ValueError` says
    which text is wrong."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        key = field.name.replace("_", "-")
        if "option" not in field.metadata:
            values[field.name] = read_options(_part(field), texts)
        elif key in texts:
            values[field.name] = read_value(key, field.metadata["option"].kind, texts[key])
    return cls(**values)


def options_text(options: Any) -> str:
    """The options as keys of a PLAYER, a comma behind each: those that are not as by default."""
    return "".join(
        f"{field.name.replace('_', '-')}={_text(value)},"
        if "option" in field.metadata
        else options_text(value)
        for field in dataclasses.fields(options)
        if (value := getattr(options, field.name)) != _default(field)
    )


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
