"""Game records of games that came from elsewhere."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from stratkit.convert.raw import RawEpisode, RawLog, RawPositions, RawRecord

if TYPE_CHECKING:
    from stratkit.convert.games import PlayedGame
    from stratkit.storage.records import GameRecord, RecordHeader


def record_of(game: PlayedGame) -> tuple[RecordHeader, GameRecord]:
    """The record of a game that was played out, and the header that belongs before it.

    A record stays what it was, but for moves that were cut off, and plies and returns that do not
    fit moves and result.
    """
    if isinstance(game.raw, RawRecord):
        from msgspec.structs import replace

        header, record = game.raw.header, game.raw.record
        moves = record.moves.split()[: game.log.plies]
        return header, replace(
            record, moves=" ".join(moves), plies=len(moves), returns=game.log.returns
        )
    return _of_episode(game, game.raw) if isinstance(game.raw, RawEpisode) else _of_log(game)


def _of_log(game: PlayedGame) -> tuple[RecordHeader, GameRecord]:
    """Each log, or game of positions, has a header of its own: players and variant may be others.

    The rules are those under which it can be replayed: without repetition rules and draw limits.
    The hash tells games apart whose players are the same, and finds those that are met twice.
    """
    from stratkit.storage.records import RecordHeader, RecordPlayer

    log, logged = game.log, isinstance(game.raw, RawLog)
    assert isinstance(game.raw, RawLog | RawPositions)
    if isinstance(game.raw, RawLog):
        source, data = "gravon", game.raw.data
    else:
        source, data = "fenfs", "".join(f"{f}\n" for _, f in game.raw.lines).encode()
    header = RecordHeader(
        game=log.variant.name,
        rules=_no_rules(log.variant.name),
        seed=0,
        games=1,
        players=tuple(RecordPlayer(nick, "human") for nick in log.players),
        setups={
            "from": source,
            "type": log.kind,
            "sha256": hashlib.sha256(data).hexdigest(),
        },
    )
    return header, _record(game, 0, None if log.played_out or not logged else "gravon")


@functools.cache
def _no_rules(name: str) -> dict[str, int]:
    from stratkit.engine import Game as Rules

    return dict.fromkeys(Rules(name).rules, 0)


def _of_episode(game: PlayedGame, raw: RawEpisode) -> tuple[RecordHeader, GameRecord]:
    from stratkit.storage.records import RecordHeader, RecordPlayer

    header = RecordHeader(
        game=raw.header.game,
        rules=raw.header.rules,
        seed=raw.header.seed,
        games=1,
        players=tuple(
            RecordPlayer(name, "selfplay", raw.header.network) for name in game.log.players
        ),
    )
    return header, _record(game, raw.episode.number, None)


def _record(game: PlayedGame, number: int, adjudicator: str | None) -> GameRecord:
    from stratkit.notation.setups import setup_text
    from stratkit.notation.squares import move_words
    from stratkit.storage.records import GameRecord, result_of

    log = game.log
    return GameRecord(
        number=number,
        pair=number,
        players=(0, 1),
        setups=tuple(setup_text(setup) for setup in log.setups or ()),
        moves=" ".join(move_words(log.moves, log.variant.width, log.variant.height)),
        result=result_of(log.returns),
        returns=log.returns,
        reason=log.reason,
        plies=log.plies,
        adjudicator=adjudicator,
    )
