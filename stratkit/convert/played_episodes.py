"""Games that were played, by people or by anybody, as episodes for a learner.

What was played is known, but not with which probability: mu is 1, and the header says so.
"""

from __future__ import annotations

import functools
import hashlib
from typing import IO, BinaryIO, cast

import numpy as np

from stratkit.convert.games import PlayedGame
from stratkit.convert.raw import RawEpisode
from stratkit.convert.records import record_of
from stratkit.engine import Game as Rules
from stratkit.engine.replay import legal_prefix
from stratkit.engine.stratego import placements
from stratkit.errors import InputError
from stratkit.notation.actions import actions_of
from stratkit.notation.endings import KNOWN, End
from stratkit.notation.gravon_words import FORFEIT, REASONS, TIE_AGREED
from stratkit.notation.log import LIMITS, ON_THE_BOARD
from stratkit.notation.setups import has_counts
from stratkit.storage.columns import Episode, Episodes
from stratkit.storage.episodes import PLAYED, EpisodeWriter, Header
from stratkit.storage.records import RecordHeader


def episode_of(game: PlayedGame) -> tuple[Header, Episode]:
    """The episode of a game of Stratego that was played out, with the header that it needs.

    `InputError`: free setups, which no actions place; a move that the rules of its record forbid.
    """
    if isinstance(game.raw, RawEpisode):
        raise InputError("an episode already: --to episodes takes logs and records")
    log, variant = game.log, game.log.variant
    setups = log.setups or ()
    if not all(has_counts(variant, setup) for setup in setups):
        raise InputError(f"free setups: there are no actions of {variant.name} that place them")
    match, record = record_of(game)
    header = _header(match.game, tuple(match.rules.items()))
    placed = [action for setup in setups for action in placements(variant, setup)]
    actions = np.concatenate([np.array(placed, np.int32), actions_of(log)])
    if not len(actions):
        raise InputError("no move was played: an episode has one at least")
    start = log.start.to_bytes() if log.start else b""
    legal_part = legal_prefix(Rules.stored(match.game, match.rules), actions, start)
    if legal_part.legal < len(actions):
        ply = (legal_part.legal - len(placed)) // 2
        what = "the rules of its record forbid this move"
        raise InputError(what, where=log.where(ply), text=log.move_text(ply))
    end = End.of(legal_part) if legal_part.ending else _off_the_board(End(log.reason, log.winner))
    red = {0: 1.0, 1: -1.0, None: 0.0}[end.winner]
    mu = np.ones(len(actions), np.float32)
    if "file" in (match.setups or {}):
        mu[: len(placed)] = np.nan  # given: no player chose them
    return header, Episode(
        number=_number(match, record.number),
        step=-1,
        ending=header.endings.index(end.ending),
        returns=np.array([red, -red], np.float32),
        actions=actions.astype(np.int32),
        mu=mu,
        start=start,
    )


@functools.cache
def _header(game: str, rules: tuple[tuple[str, int], ...]) -> Header:
    """The header of all games of these rules. Nothing in it is of one game, or tells who played."""
    known = Rules(game, dict(rules))
    return Header(
        version=PLAYED,
        game=game,
        rules=known.rules,
        endings=tuple(dict.fromkeys((*known.endings, *sorted(KNOWN)))),
        seed=0,
        sampled=False,
    )


def _off_the_board(claim: End) -> End:
    """An ending that no replay shows, in a word that is not the engine's."""
    if claim.ending in KNOWN.difference(ON_THE_BOARD, LIMITS):
        return claim
    return End(REASONS[TIE_AGREED if claim.winner is None else FORFEIT], claim.winner)


def _number(match: RecordHeader, number: int) -> int:
    """A number for the game: the same game has the same one in all files."""
    setups = match.setups and dict(sorted(match.setups.items()))
    rules = sorted(match.rules.items())
    key = match.game, rules, match.seed, match.games, match.players, setups
    # For good: episodes that were written have these numbers.
    identity = f"{key!r} {number}{match.begins}"
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) >> 1


class EpisodeSink:
    """Writes episodes, each with its header, as streams one after the other."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._header: Header | None = None
        self._writer: EpisodeWriter | None = None

    def write(self, episode: Episode, header: Header, name: str) -> None:
        """Writes an episode; a new header begins a new stream."""
        if header != self._header or self._writer is None:
            if self._writer is not None:
                self._writer.close()
            self._header, self._writer = header, EpisodeWriter(cast(BinaryIO, self._out), header)
        self._writer.write(Episodes.of([episode]))

    def end(self) -> None:
        """Ends the last stream. `InputError`: there is none, and nothing to learn from."""
        if self._writer is None:
            raise InputError("no game that makes an episode")
        self._writer.close()
