"""Game records -> a pool. Of a game only who played and who won is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count, groupby, islice
from operator import itemgetter
from typing import BinaryIO

import numpy as np

from stratkit.errors import InputError, Say, counted
from stratkit.rating.claims import contradiction
from stratkit.rating.pool import DRAWN, LOST, WON, Ints, Pool, joined
from stratkit.storage.identities import KnownPlayers, game_hash, match_key
from stratkit.storage.records import BLUE, DRAW, RED, GameRecord, RecordHeader, read_records

SCORE = "rate --score squares rates games of more"
_GAMES = 1 << 14  # that are kept as objects
_RESULTS: Mapping[str | None, int] = {RED: WON, DRAW: DRAWN, BLUE: LOST}  # for red


class PoolReader:
    """Collects the games of streams of game records.

    All games must be of one game under one set of rules, and a name must always mean the same
    player. A game that is met again is not counted again: `repeated` says how many were, and
    `adjudicated` how many games were not played out. `differing` are the numbers of games that are
    left out because another game of their match came with this number. `torn` is told of a last
    line that is left out: of a match that goes on, or was killed. `denied` are games left out
    because their record cannot be right: it contradicts itself, or what `wrong` says of it.
    """

    def __init__(
        self,
        torn: Callable[[InputError], object] = lambda error: None,
        wrong: Callable[[RecordHeader, GameRecord], str] = lambda header, record: "",
    ) -> None:
        self._torn, self._wrong = torn, wrong
        self.denied: list[InputError] = []
        self.repeated = self.adjudicated = 0
        self.differing: list[int] = []
        self.game = ""
        self._files: list[str] = []
        self._names: dict[str, int] = {}
        self._matches: dict[str, int] = {}
        self._common: tuple[str, Mapping[str, int], str] | None = None  # game, rules, of which file
        self._players = KnownPlayers()
        self._blocks: list[Ints] = []  # [7, games]: match, number, pair, red, blue, result, hash

    def read(self, stream: BinaryIO, name: str) -> None:
        """Adds all games of a stream; raises `InputError` for what is no game record or does not
        belong to the others."""
        self._files.append(name)
        lines: list[int] = []  # of the headers so far
        games, numbers = read_records(stream, name, self._torn, lines.append), count(1)
        for header, following in groupby(games, key=itemgetter(0)):
            match, ids = self._match(header, name, lines.pop())
            lines.clear()
            numbered = ((record, next(numbers)) for _, record in following)
            sound = ((r, at) for r, at in numbered if self._is_sound(header, r, name, at))
            while rows := [_row(r, name, at) for r, at in islice(sound, _GAMES)]:
                number, pair, red, blue, result, adjudicated, same = np.array(rows, np.int64).T
                self.adjudicated += int(adjudicated.sum())
                columns = np.full(len(rows), match), number, pair, ids[red], ids[blue], result
                self._blocks.append(np.stack([*columns, same]))

    def _is_sound(self, header: RecordHeader, record: GameRecord, name: str, number: int) -> bool:
        """Whether the record can be right; else it is `denied`."""
        what = contradiction(header, record) or self._wrong(header, record)
        if what:
            self.denied.append(InputError(what, file=name, where=f"game {number}"))
        return not what

    def finish(self) -> Pool:
        """The pool. Raises `InputError` when there is no game at all."""
        if not self._blocks:
            raise InputError("no games to rate", file=" ".join(self._files))
        table = np.concatenate(self._blocks, axis=1)
        self._blocks = [table]
        keys = joined(table[0], table[1])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        self.differing = table[1, table[6] != table[6, first[which]]].tolist()
        self.repeated = table.shape[1] - len(first) - len(self.differing)
        match, _, pair, red, blue, result, _ = table[:, np.sort(first)]
        return Pool(list(self._names), red, blue, result, joined(match, pair))

    def _match(self, header: RecordHeader, name: str, line: int) -> tuple[int, Ints]:
        """The number of the match, and its players' indices; checks that it belongs to those
        before it. `line`: of the header."""
        self._common = self._common or (header.game, header.rules, name)
        self.game, rules, file = self._common
        where = f"line {line}"
        if header.game != self.game:
            what = f"games of {header.game}, but {file} has {self.game}"
            if name == file:
                what = f"games of {header.game} behind games of {self.game}{_remedy(header)}"
            raise InputError(what, file=name, where=where)
        if header.rules != rules:
            what = "other rules than before" if name == file else f"other rules than in {file}"
            raise InputError(what, file=name, where=where, text=dict(header.rules))
        self._players.add(header.players, name)
        key = match_key(header)
        ids = [self._names.setdefault(p.name, len(self._names)) for p in header.players]
        return self._matches.setdefault(key, len(self._matches)), np.array(ids)


def warn_of_denied(denied: Sequence[InputError], warn: Say) -> None:
    """Says of how many games the record cannot be right, and why the first."""
    if denied:
        what = f"left out: {counted(len(denied), 'game')} whose record cannot be right, such as"
        warn(f"{what} {denied[0]}")


def warn_of_repeats(repeated: int, differing: Sequence[int], warn: Say) -> None:
    """Says of how many games one was counted: of those met again, and of those of one number."""
    if repeated:
        warn(f"{counted(repeated, 'game')} met again, counted once")
    if differing:
        what = "with the number of another game of the match, such as"
        warn(f"left out: {counted(len(differing), 'game')} {what} {differing[0]}")


def _remedy(header: RecordHeader) -> str:
    """How to rate games of one variant of Stratego out of several."""
    return "; fenfs convert --variant chooses one" if "two_squares" in header.rules else ""


def _row(record: GameRecord, name: str, number: int) -> tuple[int, ...]:
    """Number, pair, red, blue, result, whether adjudicated, and a hash by which games are the same.
    `InputError`: not a game of two, `number` in the stream `name`."""
    result = _RESULTS.get(record.result)
    if result is None or record.players[0] == record.players[1]:
        players = len(record.players)
        what = "a player against itself" if players == 2 else f"Elo is for two players: {SCORE}"
        raise InputError(what, file=name, where=f"game {number}")
    red, blue = record.players
    adjudicated = record.adjudicator is not None
    return record.number, record.pair, red, blue, result, adjudicated, game_hash(record)
