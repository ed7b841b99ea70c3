"""Settings as fields of dataclasses: with a default, a help text and a range each. This module
imports neither torch nor numpy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from stratkit.errors import InputError

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "at_least": operator.ge,
    "more_than": operator.gt,
    "at_most": operator.le,
    "less_than": operator.lt,
}


def option(default: Any, help: str, words: tuple[str, ...] = (), **limits: float) -> Any:
    """A setting. `words`: the choices of a word. `limits`: `at_least`, `more_than`, `at_most`,
    `less_than`."""
    return field(default=default, metadata={"help": help, "words": words, "limits": limits})


def option_name(name: str) -> str:
    """The option of a field."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class Options:
    """A dataclass of settings. `InputError`: a value is out of its range."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value, words = getattr(self, one.name), one.metadata["words"]
            for limit, bound in one.metadata["limits"].items():
                if not _COMPARISONS[limit](value, bound):  # NaN fails every comparison
                    what = f"{option_name(one.name)} must be {limit.replace('_', ' ')} {bound}"
                    raise InputError(what, text=value)
            if words and value not in words:
                raise InputError(f"{option_name(one.name)} is {' or '.join(words)}", text=value)

    def to_json(self) -> dict[str, Any]:
        """The values by name, as JSON has them, which knows no infinity."""
        return {k: "inf" if v == math.inf else v for k, v in asdict(self).items()}
