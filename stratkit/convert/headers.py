"""What is wrong with the header of game records or episodes, for which `train` or `rate` refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stratkit.convert.raw import RECORD, Raw
from stratkit.errors import InputError, shown

if TYPE_CHECKING:
    from stratkit.storage.records import GameRecord, RecordHeader


def header_faults(raw: Raw) -> list[InputError]:
    """Rules that the engine does not know; different players of one name; a player that the header
    does not have, or that plays against itself."""
    from stratkit.engine import Game
    from stratkit.engine.stratego import VARIANTS

    faults = []
    try:
        if raw.data[0].game in VARIANTS:  # of no other game there is a log: that is told elsewhere
            Game(raw.data[0].game, raw.data[0].rules)
    except InputError as error:
        faults.append(InputError(error.what, file=raw.name, text=error.text))
    if raw.form == RECORD:
        faults += [InputError(what, file=raw.name) for what in _wrong_players(*raw.data)]
    return faults


def _wrong_players(header: RecordHeader, record: GameRecord) -> list[str]:
    from stratkit.storage.identities import plays_as

    known: dict[str, object] = {}
    wrong = []
    for player in header.players:
        identity = player.sha256, plays_as(player)
        if known.setdefault(player.name, identity) != identity:
            wrong.append(f"two players of one name, {shown(player.name)}")
    if len(set(record.players)) < len(record.players):
        wrong.append("a player against itself")
    return wrong
