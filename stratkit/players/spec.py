"""PLAYER on a command line: `[key=value,]...SPEC`, SPEC last.

SPEC is a word or a path: `random`, `heuristic`, `human`, a checkpoint file, a RUN folder,
`py:MODULE:CLASS[,key=value...]`, or `ucc:COMMAND`. A path with a comma or `=` is written with `./`
before it. Which keys there are is for the registry to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stratkit.declared import read_options, read_value
from stratkit.errors import UsageError, nearest
from stratkit.players.registry import KINDS, PlayerKind, kind_of

_OPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=([^,]*)(,|$)")


@dataclass(frozen=True)
class PlayerSpec:
    """What a PLAYER asks for: `spec` (a word, a path, or what follows a prefix, which it has), of
    which `kind`, with which `options`, an instance of the kind's dataclass, and `name`, if any.
    `given`: the texts of the options, by key."""

    text: str
    spec: str
    kind: PlayerKind
    options: Any = None
    name: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)


ReadPlayer = Callable[[str], PlayerSpec]


def parse_player(text: str, kinds: Sequence[PlayerKind] = KINDS) -> PlayerSpec:
    """Reads a PLAYER of one of these kinds; `UsageError` says which part is wrong."""
    given, spec = split_options(text)
    if not spec:
        raise UsageError("a player needs a SPEC after its options", where="PLAYER", text=text)
    kind = kind_of(spec, kinds)
    name = given.pop("name", None)
    try:
        _check_keys(given, kind, kinds)
        if name is not None and not name.isprintable():
            raise ValueError("a name may not hold control characters")
        for key, option in kind.accepted():
            if key in given:
                read_value(key, option.kind, given[key])
        preset = kind.presets.get(given.get("preset", ""), {})
        for key, option in kind.accepted():
            if key in given and not option.serves({**preset, **given}):
                needs = option.needs or ""
                raise ValueError(f"{key}= needs {needs if '=' in needs else needs + '='}")
        options = read_options(kind.options, {**preset, **given}) if kind.options else None
    except ValueError as error:
        raise UsageError(str(error), where="PLAYER", text=text) from None
    return PlayerSpec(text, spec, kind, options, name, given)


def parse_keys(keys: str, spec: str = "policy") -> PlayerSpec:
    """What the keys of a PLAYER ask of `spec`. `UsageError`: they are no such keys, or a player."""
    player = parse_player(f"{keys},{spec}")
    if player.spec != spec:
        raise UsageError("self-play takes keys of a PLAYER, key=value,...", text=keys)
    return player


def split_options(text: str) -> tuple[dict[str, str], str]:
    """The leading `key=value,` of a PLAYER, and the rest; `UsageError`."""
    given: dict[str, str] = {}
    rest = text
    while match := _OPTION.match(rest):
        key, value = match[1], match[2]
        if key in given:
            raise UsageError(f"option {key!r} is given twice", where="PLAYER", text=text)
        if not value:
            raise UsageError(f"option {key!r} is empty", where="PLAYER", text=text)
        given[key] = value
        rest = rest[match.end() :]
    return given, rest


def _check_keys(given: Mapping[str, str], kind: PlayerKind, kinds: Sequence[PlayerKind]) -> None:
    """`ValueError`: a key is unknown, or another kind's."""
    own = {key for key, _ in kind.accepted()}
    for key in given:
        if key in own:
            continue
        others = [other.name for other in kinds if key in {key for key, _ in other.accepted()}]
        if others:
            raise ValueError(f"{key}= is for {' and '.join(others)}")
        words = ["name", *(key for other in kinds for key, _ in other.accepted())]
        raise ValueError(f"unknown option {key!r}{nearest(key, words)}")


def path_text(path: str, kinds: Sequence[PlayerKind] = KINDS) -> str:
    """A path as the SPEC of a PLAYER: what would be taken for an option, or for a player's name,
    gets `./` before it."""
    taken = any(kind.takes(path) for kind in kinds) or _OPTION.match(path)
    return f"./{path}" if taken else path
