"""Which players of game records are the same, which matches, and which games."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from stratkit.errors import InputError, apart, shown

if TYPE_CHECKING:
    from stratkit.storage.records import GameRecord, RecordHeader, RecordPlayer

_SPEC = re.compile(r"((?:[\w-]+=[^,]*,)*)(.*)", re.DOTALL)  # of a player: options, and what it is
_BELIEF = re.compile(r"(belief=(?:setups\+)?)[^,]*[./][^,]*,")  # a file's


def plays_as(player: RecordPlayer) -> tuple[str, str | None]:
    """What may not differ between players of one name, beside the weights: of a checkpoint, which
    of its networks, and what is done to its policy; of a program, its limits and its command; but
    not where their files lie, nor with which setup a person begins."""
    options, spec = _SPEC.fullmatch(player.spec).groups()  # type: ignore[union-attr]
    options = re.sub("setup=[^,]*,", "", options)
    options = _BELIEF.sub(rf"\g<1>{player.belief},", options)
    return options, player.sha256 or re.sub("^ucc:[^ ]*/", "ucc:", spec)


class KnownPlayers:
    """The players that were met so far, and where first: a name always means the same player."""

    def __init__(self) -> None:
        self._met: dict[str, tuple[RecordPlayer, str]] = {}

    def add(self, players: Iterable[RecordPlayer], file: str) -> None:
        """Raises `InputError` for a player whose name another one has."""
        for player in players:
            known, before = self._met.setdefault(player.name, (player, file))
            if known.sha256 != player.sha256:
                what = f"player {player.name!r} has other weights than in {before}"
                raise InputError(what, file=file)
            if plays_as(known) != plays_as(player):
                there, here = apart(known.spec, player.spec)
                what = f"player {player.name!r} is another one in {before}, {shown(there)}"
                raise InputError(what, file=file, text=here)


def match_key(header: RecordHeader) -> str:
    """Tells matches apart: in one match there is one game of a number."""
    return repr((header.seed, header.games, header.players, header.setups))


def game_hash(record: GameRecord) -> int:
    """Tells whether two games of one match that have one number are the same. Within a process."""
    return hash((record.players, record.setups, record.moves, record.returns, record.reason))
