"""Which players of game records are the same, and which matches."""

from __future__ import annotations

import re

from stratkit.storage.records import RecordHeader, RecordPlayer

_SPEC = re.compile(r"((?:[\w-]+=[^,]*,)*)(.*)", re.DOTALL)  # of a player: options, and what it is


def plays_as(player: RecordPlayer) -> tuple[str, str | None]:
    """What may not differ between players of one name, beside the weights: of a checkpoint, which
    of its networks, and what is done to its policy; of a program, its limits and its command; but
    not where their files lie, nor with which setup a person begins."""
    options, spec = _SPEC.fullmatch(player.spec).groups()  # type: ignore[union-attr]
    options = re.sub("setup=[^,]*,", "", options)
    return options, player.sha256 or re.sub("^ucc:[^ ]*/", "ucc:", spec)


def match_key(header: RecordHeader) -> str:
    """Tells matches apart: in one match there is one game of a number."""
    return repr((header.seed, header.games, header.players, header.setups))
