"""What callers pass to public functions, checked where it comes in: errors name the argument.

`checked` compares with annotations. Where every microsecond counts, functions check by themselves:
`stratkit.engine.library.pointer` what becomes a pointer, `integer` a number.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from stratkit.declared import MAX_THREADS
from stratkit.errors import shown

P = ParamSpec("P")
R = TypeVar("R")

Check = Callable[[str, Any], None]  # of an argument's name and value


class Between:
    """The least and the largest value of an `Annotated` number."""

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most


Seed = Annotated[int, Between(0, 2**64 - 1)]
Int32 = Annotated[int, Between(-(2**31), 2**31 - 1)]
Int64 = Annotated[int, Between(-(2**63), 2**63 - 1)]
Count = Annotated[int, Between(1, 2**31 - 1)]
Threads = Annotated[int, Between(1, MAX_THREADS)]
Player = Annotated[int, Between(0, 1)]  # of two


def integer(name: str, value: Any, least: float, most: float) -> int:
    """`value`, which must be a whole number in this range: `TypeError`, `ValueError`."""
    if type(value) is int and least <= value <= most:
        return value
    if type(value) is not int:
        if not isinstance(value, int | np.integer):
            raise TypeError(f"{name} must be a whole number, not {_told(value)}")
        value = int(value)
    if not least <= value <= most:
        limits = f"{_limit(least)} to {_limit(most)}"
        raise ValueError(f"{name} must be a number from {limits}, not {_told(value)}")
    return int(value)


def fitting(name: str, array: Any, shape: tuple[int | None, ...]) -> None:
    """`ValueError`: an array has another shape. None is any length."""
    if array.ndim != len(shape) or any(
        want is not None and want != got for want, got in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} must have the shape {_shape(shape)}, not {list(array.shape)}")


def within(name: str, array: Any, least: float, most: float) -> None:
    """`ValueError`: numbers of an array are outside of this range."""
    if array.size and not (least <= array.min() and array.max() <= most):
        raise ValueError(f"{name} must hold numbers from {least} to {most}")


def indices(name: str, value: Any, size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """int32 [n], contiguous, of what can be made an array of rows below `size`."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers of rows: {error}") from None
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, np.int32)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{name} must be numbers of rows, not {_told(value)}")
    within(name, array, 0, size - 1)
    return np.ascontiguousarray(array, np.int32)


def _limit(number: float) -> str:
    power = int(abs(number)).bit_length()
    if number in (2**power - 1, -(2 ** (power - 1))) and power > 16:
        return f"2^{power} - 1" if number > 0 else f"-2^{power - 1}"
    return str(number)


def _told(value: Any) -> str:
    """A wrong value as a message shows it."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {list(value.shape)}"
    if isinstance(value, int) and abs(value) >= 2**70:
        return "a number of that size"
    return shown(value) if isinstance(value, str) else f"{shown(repr(value))[1:-1]}"


def _shape(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('any' if n is None else str(n) for n in shape)}]"


# ---- By annotations ----


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose arguments must be what its annotations say: types, dtypes of arrays,
    ranges of `Annotated` numbers. `TypeError` and `ValueError` name the one that is not."""

    @functools.cache
    def checks() -> tuple[list[tuple[str, Check | None]], tuple[str, Check | None] | None]:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        each = [(p.name, _check_of(hints.get(p.name, Any))) for p in parameters]
        many = [e for e, p in zip(each, parameters, strict=True) if p.kind is p.VAR_POSITIONAL]
        return each, many[0] if many else None

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        each, many = checks()
        for at, value in enumerate(args):
            name, check = each[at] if at < len(each) else many or ("", None)
            if check is not None:
                check(name, value)
        for name, check in each if kwargs else ():
            if check is not None and name in kwargs:
                check(name, kwargs[name])
        return function(*args, **kwargs)

    return wrapper


def _check_of(hint: Any) -> Check | None:
    """How to check an argument with this annotation; None: anything goes."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return None
    if hint is bool:
        return _flag
    if hint is int:
        return lambda name, value: _whole(name, value, -(2**63), 2**64 - 1)
    if hint is float:
        return _number
    if origin is Annotated:
        limits = parts[1]
        return lambda name, value: _whole(name, value, limits.least, limits.most)
    if origin in (Union, types.UnionType):
        return _any_of(parts)
    if origin is np.ndarray:
        kinds = [part for part in get_args(parts[1]) if isinstance(part, type)]
        return functools.partial(_array, kinds[0] if kinds else np.generic)
    if origin is tuple and Ellipsis not in parts:
        return _tuple([_check_of(part) for part in parts])
    if isinstance(origin, type) and issubclass(origin, Sequence | Mapping):
        return _container(origin, [_check_of(part) for part in parts if part is not Ellipsis])
    kind = origin or hint
    return functools.partial(_kind, kind) if isinstance(kind, type) else None


def _whole(name: str, value: Any, least: float, most: float) -> None:
    integer(name, value, least, most)


def _number(name: str, value: Any) -> None:
    if not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, not {_told(value)}")
    if isinstance(value, int) and abs(value) >= 2**1000:
        raise ValueError(f"{name} must be a number, not one of that size")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {_told(value)}")


def _kind(kind: type, name: str, value: Any) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, not {_told(value)}")
    if isinstance(value, os.PathLike) and kind is os.PathLike:
        os.fspath(value)


def _array(kind: type, name: str, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be an array, not {_told(value)}")
    if not issubclass(value.dtype.type, kind) or not value.dtype.isnative:
        raise ValueError(f"{name} must be an array of {kind.__name__}, not {_told(value)}")


def _any_of(hints: Sequence[Any]) -> Check | None:
    checks = [_check_of(hint) for hint in hints]
    if None in checks:
        return None
    by_type, known = all(map(_asks_for_type, checks)), set[type]()

    def check(name: str, value: Any) -> None:
        if type(value) in known:
            return
        first: TypeError | ValueError | None = None
        for one in checks:
            try:
                assert one is not None
                one(name, value)
            except (TypeError, ValueError) as error:
                first = first or error
            else:
                if by_type:  # to ask numpy's protocols takes a tenth of a millisecond
                    known.add(type(value))
                return
        assert first is not None
        raise first

    return check


def _asks_for_type(check: Check | None) -> bool:
    """Whether all values of a type pass this check, or none."""
    if not isinstance(check, functools.partial) or check.func is not _kind:
        return False
    return check.args[0] is not os.PathLike  # whose value is looked at, too


def _tuple(checks: Sequence[Check | None]) -> Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, tuple | list) or len(value) != len(checks):
            raise TypeError(f"{name} must have {len(checks)} entries, not {_told(value)}")
        for one, part in zip(checks, value, strict=True):
            if one is not None:
                one(name, part)

    return check


def _container(kind: type, checks: Sequence[Check | None]) -> Check:
    def check(name: str, value: Any) -> None:
        plural = isinstance(value, kind) or (kind is not Mapping and isinstance(value, np.ndarray))
        if not plural or isinstance(value, str | bytes):
            raise TypeError(f"{name} must be a {kind.__name__.lower()}, not {_told(value)}")
        parts = list(value.items()) if isinstance(value, Mapping) else [(part,) for part in value]
        for part in parts:
            for one, entry in zip(checks, part, strict=False):
                if one is not None:
                    one(name, entry)

    return check
