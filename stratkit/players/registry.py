"""The kinds of players by which a PLAYER is read, and how it is read.

`factory` opens them. A kind that this room must not know is defined in a room above
(`stratkit.humans.kind`, `stratkit.ucc.kind`). This module imports neither torch nor numpy:
`--help` needs it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from stratkit import python_class
from stratkit.declared import option, read_options, read_value, text
from stratkit.errors import InputError, UsageError, nearest, nearest_or_all, shown
from stratkit.frozen import frozen
from stratkit.models.shipped import LEARNED, SHIPPED
from stratkit.players.presets import NETWORK_PRESETS, SEARCH_PRESETS, preset_keys
from stratkit.players.scripted.options import SCRIPTS, ScriptedOptions
from stratkit.players.searching.options import SearchOptions
from stratkit.players.spec import LEVEL as LEVEL_PREFIX
from stratkit.players.spec import MIX, TABLE, PlayerKind, PlayerSpec, split_options
from stratkit.players.testtime.options import PostProcessing


@frozen()
class NetworkOptions:
    """Of a network."""

    net: str | None = option(
        None, text("NET"), "which of a checkpoint's networks plays (default: target, or average)"
    )
    post: PostProcessing = field(default_factory=PostProcessing)
    searching: SearchOptions = field(default_factory=SearchOptions)


@frozen()
class LevelOptions:
    """Of a level, which has none."""


RANDOM = PlayerKind("random", words=("random",), options=SearchOptions, presets=SEARCH_PRESETS)
HEURISTIC = PlayerKind(
    "heuristic", words=("heuristic", "dumbbot"), options=SearchOptions, presets=SEARCH_PRESETS
)
SCRIPTED = PlayerKind("scripted players", words=SCRIPTS, options=ScriptedOptions)
PYTHON = PlayerKind("classes of your own", prefix=python_class.PYTHON, runs_code=True)
RESPONSE = PlayerKind("best responses", prefix="response:")
POLICY_TABLE = PlayerKind("tables", prefix=TABLE)
# A file that somebody else wrote may name classes.
MIXTURE = PlayerKind("mixtures", prefix=MIX, runs_code=True)
LEVEL = PlayerKind("levels", prefix=LEVEL_PREFIX, options=LevelOptions)
NETWORK = PlayerKind("networks", words=SHIPPED, options=NetworkOptions, presets=NETWORK_PRESETS)
KINDS = (RANDOM, HEURISTIC, SCRIPTED, PYTHON, RESPONSE, POLICY_TABLE, MIXTURE, LEVEL, NETWORK)


def kind_of(spec: str, kinds: Sequence[PlayerKind]) -> PlayerKind:
    """The kind of a SPEC. One of no other kind is a network's: a checkpoint file or a RUN."""
    return next((kind for kind in kinds if kind.takes(spec)), NETWORK)


def parse_player(text: str, kinds: Sequence[PlayerKind] = KINDS) -> PlayerSpec:
    """Reads a PLAYER of one of these kinds; `UsageError` says which part is wrong."""
    given, spec = split_options(text)
    if not spec:
        raise UsageError("a player needs a SPEC after its options", where="PLAYER", text=text)
    kind = kind_of(spec, kinds)
    name, setup = given.pop("name", None), given.pop("setup", None)
    try:
        _check_keys(given, kind, kinds)
        if name is not None and not name.isprintable():
            raise ValueError("a name may not hold control characters")
        for key, option in kind.accepted():
            if key in given:
                read_value(key, option.kind, given[key])
        preset = preset_keys(kind.presets, given.get("preset", ""), spec)
        for key, option in kind.accepted():
            if key in given and not option.serves({**preset, **given}):
                needs = option.needs or ""
                raise ValueError(f"{key}= needs {needs if '=' in needs else needs + '='}")
        options = read_options(kind.options, {**preset, **given}) if kind.options else None
    except ValueError as error:
        raise UsageError(str(error), where="PLAYER", text=text) from None
    return PlayerSpec(text, spec, kind, kinds, options, name, setup, given)


def learned_game(players: Iterable[PlayerSpec]) -> str | None:
    """The game that those of the players have learned which come with stratkit, if it is one."""
    games = {LEARNED[player.spec] for player in players if player.spec in LEARNED}
    return games.pop() if len(games) == 1 else None


def check_there(player: PlayerSpec) -> None:
    """`InputError`: the player is a network, and there is none of this name."""
    if player.kind is not NETWORK or player.spec in SHIPPED or os.path.exists(player.spec):
        return
    words = [word for kind in player.kinds for word in kind.words]
    if "/" in player.spec:  # a path, for which names are no choice
        raise InputError(f"no such file or folder{nearest(player.spec, words)}", file=player.spec)
    hint = nearest_or_all(player.spec, words)
    named = f"{shown(player.spec)}{hint}"
    raise InputError(f"no built-in player, and no such file or folder: {named}")


def parse_keys(keys: str, spec: str = "policy") -> PlayerSpec:
    """What the keys of a PLAYER ask of `spec`. `UsageError`: they are no such keys, or a player."""
    try:
        player = parse_player(f"{keys},{spec}")
    except UsageError as error:  # whoever gave keys, gave no PLAYER
        raise UsageError(error.what, where="keys of a PLAYER", text=keys) from None
    if player.spec != spec or player.setup is not None:
        raise UsageError("self-play takes keys of a PLAYER, key=value,...", text=keys)
    return player


def _check_keys(given: Mapping[str, str], kind: PlayerKind, kinds: Sequence[PlayerKind]) -> None:
    """`ValueError`: a key is unknown, or another kind's."""
    own = {key for key, _ in kind.accepted()}
    for key in given:
        if key in own:
            continue
        others = [other.name for other in kinds if key in {key for key, _ in other.accepted()}]
        if others:
            raise ValueError(f"{key}= is for {' and '.join(others)}")
        words = ["name", "setup", *(key for other in kinds for key, _ in other.accepted())]
        raise ValueError(f"unknown option {key!r}{nearest(key, words)}")


def help_tables(kinds: Sequence[PlayerKind]) -> list[tuple[str, list[tuple[str, str]]]]:
    """What `--help` says of the keys: for whom they are, as a heading, and for each key and value
    what it does."""
    everybody = [
        ("name=NAME", "its name in the record"),
        ("setup=FILE[#NAME]", "begin from the first setup of FILE, or from that called NAME"),
    ]
    of: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        for key, said in kind.accepted():
            of.setdefault((f"{key}={said.kind.metavar}", said.help), []).append(kind.name)
    tables = {"Keys of every PLAYER": everybody}
    for row, names in of.items():
        tables.setdefault(f"Keys of {', '.join(names)}", []).append(row)
    return list(tables.items())


def words_of(kinds: Sequence[PlayerKind]) -> tuple[str, ...]:
    """What a shell offers at the beginning of a PLAYER: the words, the prefixes, the keys."""
    words = [word for kind in kinds for word in kind.words]
    prefixes = [kind.prefix for kind in kinds if kind.prefix]
    keys = dict.fromkeys(f"{key}=" for kind in kinds for key, _ in kind.accepted())
    return (*words, *prefixes, "setup=", *keys)
