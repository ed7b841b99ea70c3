"""Settings as fields of dataclasses: with a default, a help text and a range each. This module
imports neither torch nor numpy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any

from stratkit.errors import InputError

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "at_least": operator.ge,
    "more_than": operator.gt,
    "at_most": operator.le,
    "less_than": operator.lt,
}


def option(
    default: Any, help: str, words: tuple[str, ...] = (), floor_of: str = "", **limits: float
) -> Any:
    """A setting. `words`: the choices of a word. `floor_of`: another setting, which begins no lower
    and falls no further. `limits`: `at_least`, `more_than`, `at_most`, `less_than`."""
    metadata = {"help": help, "words": words, "floor_of": floor_of, "limits": limits}
    return field(default=default, metadata=metadata)


def option_name(name: str) -> str:
    """The option of a field."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class Options:
    """A dataclass of settings. `InputError`: a value is out of its range."""

    def __post_init__(self) -> None:
        for one in fields(self):
            _check(one, getattr(self, one.name))
        for one in fields(self):
            if start := one.metadata.get("floor_of"):
                floor, begun = getattr(self, one.name), getattr(self, start)
                if begun < floor:
                    what = f"{option_name(start)} is below {option_name(one.name)}, {floor:g}"
                    raise InputError(what, text=begun)

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Some settings, and those without which they could not be checked: what has a floor may
        begin at it, as a preset may say. `InputError`: a floor is out of its range."""
        out, known = dict(values), {one.name: one for one in fields(cls)}
        for name, one in known.items():
            start = one.metadata.get("floor_of")
            if start and name in out:
                _check(one, out[name])
                out.setdefault(start, max(out[name], known[start].default))
        return out

    def to_json(self) -> dict[str, Any]:
        """The values by name, as JSON has them, which knows no infinity."""
        return {k: "inf" if v == math.inf else v for k, v in asdict(self).items()}


def _check(one: Field[Any], value: Any) -> None:
    """Raises `InputError` unless this field may have the value."""
    words = one.metadata.get("words")
    for limit, bound in one.metadata.get("limits", {}).items():
        if not _COMPARISONS[limit](value, bound):  # NaN fails every comparison
            what = f"{option_name(one.name)} must be {limit.replace('_', ' ')} {bound}"
            raise InputError(what, text=value)
    if words and value not in words:
        raise InputError(f"{option_name(one.name)} is {' or '.join(words)}", text=value)
