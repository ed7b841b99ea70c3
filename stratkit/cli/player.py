"""A PLAYER of the command line."""

from __future__ import annotations

from stratkit.cli.messages import warn
from stratkit.players.spec import PlayerSpec, parse_player, split_options
from stratkit.storage.records import RENAMED_KEYS
from stratkit.ucc.kind import PLAYERS


def read_player(text: str) -> PlayerSpec:
    """Reads a PLAYER of any kind, and warns of keys that have another name now; `UsageError`."""
    spec = parse_player(text, PLAYERS)
    for key in split_options(text)[0]:
        if key in RENAMED_KEYS:
            warn(f"{key}= is now called {RENAMED_KEYS[key]}=")
    return spec
