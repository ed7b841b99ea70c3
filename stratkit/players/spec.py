"""PLAYER on a command line: `[key=value,]...SPEC`, SPEC last.

SPEC is `random`, `heuristic`, a checkpoint file or a RUN folder. A path with a comma or `=` is
written with `./` before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from stratkit.errors import UsageError, nearest

BUILT_IN = ("random", "heuristic")
NETWORKS = ("online", "target", "average")
KEYS = ("name", "net")

_OPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=([^,]*)(,|$)")


@dataclass(frozen=True)
class PlayerSpec:
    """What a PLAYER asks for: `spec` (a built-in name or a path) and its options."""

    text: str
    spec: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def net(self) -> str:
        """Which of a checkpoint's networks plays."""
        return self.options.get("net", "target")

    @property
    def name(self) -> str | None:
        """The name asked for, if any."""
        return self.options.get("name")


def parse_player(text: str) -> PlayerSpec:
    """Reads a PLAYER; raises `UsageError` that says which part is wrong."""
    options: dict[str, str] = {}
    rest = text
    while match := _OPTION.match(rest):
        key, value = match[1], match[2]
        _check_option(text, key, value, options)
        options[key] = value
        rest = rest[match.end() :]
    if not rest:
        raise UsageError("a player needs a SPEC after its options", where="PLAYER", text=text)
    return PlayerSpec(text, rest, options)


def path_text(path: str) -> str:
    """A path as the SPEC of a PLAYER: what would be taken for an option gets `./` before it."""
    return f"./{path}" if _OPTION.match(path) else path


def _check_option(text: str, key: str, value: str, known: Mapping[str, str]) -> None:
    if key not in KEYS:
        what = f"unknown option {key!r}{nearest(key, KEYS)}"
    elif key in known:
        what = f"option {key!r} is given twice"
    elif not value:
        what = f"option {key!r} is empty"
    elif key == "net" and value not in NETWORKS:
        what = f"net={value}: one of {', '.join(NETWORKS)} is needed{nearest(value, NETWORKS)}"
    elif key == "name" and not value.isprintable():
        what = "a name may not hold control characters"
    else:
        return
    raise UsageError(what, where="PLAYER", text=text)
