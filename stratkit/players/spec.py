"""PLAYER on a command line: `[key=value,]...SPEC`, SPEC last.

SPEC is `random`, `heuristic`, `human`, a checkpoint file, a RUN folder, or `ucc:COMMAND`. A path
with a comma or `=` is written with `./` before it.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from stratkit.errors import UsageError, nearest
from stratkit.players.testtime import options as corrections
from stratkit.players.testtime.options import Corrections

BUILT_IN = ("random", "heuristic", "human")
SHIPPED = ("barrage-v0",)  # networks that come with stratkit; BENCHMARKS.md tells of each
NETWORKS = ("online", "target", "average")
PROGRAM = "ucc:"
LIMITS = ("time", "startup", "nodes")  # what only programs are told
KEYS = ("name", "net", "setup", *corrections.KEYS, *LIMITS)

_OPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=([^,]*)(,|$)")


@dataclass(frozen=True)
class PlayerSpec:
    """What a PLAYER asks for: `spec` (a built-in name, a path, or `ucc:COMMAND`), its options."""

    text: str
    spec: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def net(self) -> str:
        """Which of a checkpoint's networks plays."""
        return self.options.get("net", "target")

    @property
    def corrections(self) -> Corrections:
        """What is done to its network's policy."""
        return corrections.read(self.options)

    @property
    def name(self) -> str | None:
        """The name asked for, if any."""
        return self.options.get("name")

    @property
    def words(self) -> list[str] | None:
        """The words of a program's COMMAND, split as a shell splits them; None: no program."""
        if not self.spec.startswith(PROGRAM):
            return None
        try:
            words = shlex.split(self.spec.removeprefix(PROGRAM))
        except ValueError as error:  # an open quote
            raise UsageError(f"{error}".lower(), where="PLAYER", text=self.text) from None
        if not words or not words[0]:
            raise UsageError("ucc: needs a COMMAND", where="PLAYER", text=self.text)
        return words


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
    spec = PlayerSpec(text, rest, options)
    program = spec.words is not None
    for key in options:
        if program and key == "net":
            raise UsageError("a program has no networks to choose from", text=text)
        if program and key in corrections.KEYS:
            raise UsageError("a program has no policy to correct", text=text)
        if key == "setup" and rest != "human":
            raise UsageError("only a human has a setup from a file", text=text)
        if not program and key in LIMITS:
            raise UsageError(f"{key}= is for programs (ucc:COMMAND)", text=text)
    return spec


def path_text(path: str) -> str:
    """A path as the SPEC of a PLAYER: what would be taken for an option, or for a player's name,
    gets `./` before it."""
    taken = path in (*BUILT_IN, *SHIPPED) or _OPTION.match(path)
    return f"./{path}" if taken else path


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
    elif key in ("time", "startup") and not _seconds(value):
        what = f"{key}={value}: seconds are needed, above 0"
    elif key == "nodes" and not re.fullmatch("[1-9][0-9]{0,17}", value):
        what = f"nodes={value}: a whole number above 0 is needed"
    elif key in corrections.KEYS and (fault := corrections.fault(key, value)):
        what = f"{key}={value}: {fault}"
    else:
        return
    raise UsageError(what, where="PLAYER", text=text)


def _seconds(text: str) -> bool:
    """Whether `text` is a span of time, at most a day."""
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and 0 < value <= 86400
