"""A PLAYER of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stratkit.players.spec import PlayerSpec


def read_player(text: str) -> PlayerSpec:
    """Reads a PLAYER of any kind; `UsageError`."""
    from stratkit.match import PLAYERS
    from stratkit.players.registry import parse_player

    return parse_player(text, PLAYERS)
