"""A PLAYER of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stratkit.cli.messages import warn

if TYPE_CHECKING:
    from stratkit.players.spec import PlayerSpec


def read_player(text: str) -> PlayerSpec:
    """Reads a PLAYER of any kind, and warns of keys that have another name now; `UsageError`."""
    from stratkit.players.spec import parse_player, split_options
    from stratkit.storage.records import RENAMED_KEYS
    from stratkit.ucc.kind import PLAYERS

    spec = parse_player(text, PLAYERS)
    for key in split_options(text)[0]:
        if key in RENAMED_KEYS:
            warn(f"{key}= is now called {RENAMED_KEYS[key]}=")
    return spec
