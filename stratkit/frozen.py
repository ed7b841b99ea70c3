"""Frozen dataclasses most of whose functions are written once, here, not generated for each class.

For each `@dataclass(frozen=True)` Python writes, compiles and runs the text of six functions. It
takes half a millisecond to two, and `train --help` meets thirteen such classes. What `--help` loads
is `@frozen()` instead, for which Python generates only what refuses to set and to delete.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """What `dataclasses.dataclass(frozen=True)` makes of a class. All its fields are arguments and
    are compared. `TypeError`: a field without a default follows one that has one."""

    def made(cls: type[T]) -> type[T]:
        functions = {"__init__": _init, "__repr__": _repr}
        if eq:
            functions |= {"__eq__": _equal, "__hash__": _hash}
        for name, function in functions.items():
            if name not in vars(cls):
                setattr(cls, name, function)
        plain = dataclasses.dataclass(
            frozen=True, init=False, repr=False, eq=False, kw_only=kw_only
        )
        return _checked(plain(cls))

    return made


def _checked(cls: type[T]) -> type[T]:
    begun = False
    for one in dataclasses.fields(cls):  # type: ignore[arg-type]
        lacks = one.default is one.default_factory is dataclasses.MISSING
        if begun and lacks and not one.kw_only:
            raise TypeError(f"{cls.__name__}.{one.name} has no default and follows one that has")
        begun |= not lacks and not one.kw_only
    return cls


def _init(self: Any, *given: Any, **named: Any) -> None:
    """Sets the fields from arguments, or to their defaults. `TypeError`: the arguments are none of
    this class."""
    fields, name = dataclasses.fields(self), type(self).__name__
    positional = [one.name for one in fields if not one.kw_only]
    if len(given) > len(positional):
        raise TypeError(f"{name} takes {len(positional)} positional arguments, not {len(given)}")
    values = dict(zip(positional, given, strict=False))
    if wrong := named.keys() & values.keys() or named.keys() - {one.name for one in fields}:
        raise TypeError(f"{name} takes no other {', '.join(sorted(wrong))}")
    values |= named
    for one in fields:
        if one.name in values:
            value = values[one.name]
        elif one.default_factory is not dataclasses.MISSING:
            value = one.default_factory()
        else:
            value = one.default
        if value is dataclasses.MISSING:
            raise TypeError(f"{name} lacks {one.name}")
        object.__setattr__(self, one.name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, one.name) for one in dataclasses.fields(self))


def _repr(self: Any) -> str:
    fields = (one for one in dataclasses.fields(self) if one.repr)
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))
