"""Game records and results -> a pool. Of a game only who played and who won is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count, groupby, islice
from operator import itemgetter
from typing import BinaryIO

import numpy as np

from stratkit.errors import InputError, Say, UsageError, counted, nearest_or_all, printable
from stratkit.rating.distinct import beginning_and_game, repeated
from stratkit.rating.pool import DRAWN, LOST, WON, Ints, Pool, pair_codes
from stratkit.storage.identities import (
    CommonRules,
    KnownPlayers,
    game_hash,
    match_key,
    on_its_day,
)
from stratkit.storage.records import BLUE, DRAW, RED, GameRecord, RecordHeader, read_records
from stratkit.storage.results import Results, form_of

SCORE = "rate --score squares rates games of more"
_GAMES = 1 << 14  # that are kept as objects
_RESULTS: Mapping[str | None, int] = {RED: WON, DRAW: DRAWN, BLUE: LOST}  # for red


class PoolReader:
    """Collects the games of streams of game records, and of results in PGN or CSV.

    All records must be of one game under one set of rules, unless `mixed` rules are wanted. A name
    must always mean the same player. A game that is met again is not counted again.

        tell         called with what else was noticed, such as a last line that is left out because
                     a match goes on or was killed
        wrong        says what is wrong with a record, or nothing
        by_day       a player who is another one each day that its games have a date of
        repeated     number of games that were met again
        adjudicated  number of games that were not played out
        differing    numbers of games left out, since another game of their match came with this
                     number
        alike        number of games that are alike another one (distinct.py)
        left_out     how many of these are left out
        denied       games left out because their record cannot be right: it contradicts itself, or
                     is `wrong`
    """

    def __init__(
        self,
        tell: Say = lambda line: None,
        mixed: bool = False,
        wrong: Callable[[RecordHeader, GameRecord], str] = lambda header, record: "",
        by_day: str | None = None,
    ) -> None:
        self._by_day, self._dated = by_day, False
        self._tell, self._wrong = tell, wrong
        self.denied: list[InputError] = []
        self.repeated = self.adjudicated = self.alike = self.left_out = 0
        self.differing: list[int] = []
        self.rules = CommonRules(mixed, tell)
        self._files: list[str] = []
        self._unnamed: list[str] = []  # files that do not say which game was played
        self._names: dict[str, int] = {}
        self._matches: dict[str, int] = {}
        self._players = KnownPlayers()
        self._blocks: list[Ints] = []  # [9, games]: match, number, pair, red, blue, result, hashes

    def read(self, stream: BinaryIO, name: str) -> None:
        """Adds all games of a stream; raises `InputError` for what is no game record and no results
        or does not belong to the others."""
        self._files.append(name)
        form, stream = form_of(stream, name)
        if form is not None:
            self._unnamed.append(name)
            self._add_results(Results(form, stream, name))
            return
        lines: list[int] = []  # of the headers so far
        games = read_records(stream, name, lambda error: self._tell(str(error)), lines.append)
        numbers = count(1)
        for header, following in groupby(games, key=itemgetter(0)):
            self.rules.add(header, name, lines.pop())
            lines.clear()
            match, ids = self._match(header, name)
            numbered = ((record, next(numbers)) for _, record in following)
            sound = ((r, at) for r, at in numbered if self._is_sound(header, r, name, at))
            while some := list(islice(sound, _GAMES)):
                rows = [_row(r, name, at) for r, at in some]
                columns = np.array(rows, np.int64).T
                number, pair, red, blue, result, adjudicated, same, begun, played = columns
                self.adjudicated += int(adjudicated.sum())
                red, blue = ids[red], ids[blue]
                if self._by_day is not None:
                    self._tell_days(header, [record for record, _ in some], red, blue)
                game = np.full(len(rows), match), number, pair, red, blue, result
                self._blocks.append(np.stack([*game, same, begun, played]))

    def _is_sound(self, header: RecordHeader, record: GameRecord, name: str, number: int) -> bool:
        """Whether the record can be right; else it is `denied`."""
        what = contradiction(header, record) or self._wrong(header, record)
        if what:
            self.denied.append(InputError(what, file=name, where=f"game {number}"))
        return not what

    def finish(self) -> Pool:
        """The pool. Raises `InputError` when there is no game at all, `UsageError` when nobody is
        called `by_day`."""
        if not self._blocks:
            raise InputError("no games to rate", file=" ".join(self._files))
        self._check_day()
        if self.rules.game:
            for name in self._unnamed:
                self._tell(f"{name}: names no game: taken for games of {self.rules.game}")
        table = np.concatenate(self._blocks, axis=1)
        self._blocks = [table]
        keys = pair_codes(table[0], table[1])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        self.differing = table[1, table[6] != table[6, first[which]]].tolist()
        self.repeated = table.shape[1] - len(first) - len(self.differing)
        table = table[:, np.sort(first)]
        again, once = repeated(table[3], table[4], table[7], table[8])
        self.alike, self.left_out = int(again.sum()), int(once.sum())
        match, _, pair, red, blue, result, *_ = table[:, ~once]
        return Pool(list(self._names), red, blue, result, pair_codes(match, pair))

    def _check_day(self) -> None:
        """Tells that the games of the player `by_day` have no date. `UsageError`: who is that?"""
        name = self._by_day
        names = list(dict.fromkeys([*self._players.names, *self._names]))
        if name is not None and name not in names:
            what = f"--by-day: no player is called {name!r}{nearest_or_all(name, names)}"
            raise UsageError(what)
        if name is not None and not self._dated:
            self._tell(f"--by-day: no game of {printable(name)} has a date")

    def _match(self, header: RecordHeader, name: str) -> tuple[int, Ints]:
        """The number of the match, and its players' indices."""
        self._players.add(header.players, name)
        key = match_key(header)
        names = [player.name for player in header.players]
        ids = [-1 if name == self._by_day else self._id(name) for name in names]
        return self._matches.setdefault(key, len(self._matches)), np.array(ids)

    def _tell_days(
        self, header: RecordHeader, records: Sequence[GameRecord], red: Ints, blue: Ints
    ) -> None:
        """Instead of the player `by_day` who it was that day."""
        for row, record in enumerate(records):
            for ids, player in zip((red, blue), record.players, strict=True):
                if (name := header.players[player].name) == self._by_day:
                    ids[row] = self._id(on_its_day(name, record))
                    self._dated = self._dated or record.date is not None

    def _id(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _add_results(self, results: Results) -> None:
        """Adds the games of a stream of results: a match of its own, unless another stream had the
        same bytes."""
        games, blocks = enumerate(results), []
        while some := list(islice(games, _GAMES)):
            rows = [
                (0, n, r.pair, self._id(r.first), self._id(r.second), _RESULTS[r.result], 0, 0, 0)
                for n, r in some
            ]
            blocks.append(np.array(rows, np.int64).T)
        key = f"results {results.digest}"
        match = self._matches.setdefault(key, len(self._matches))
        for block in blocks:
            block[0] = match
        self._blocks += blocks
        for why, (many, line) in results.left_out.items():
            first = "" if many == 1 else "the first "
            what = f"left out: {counted(many, 'game')} {why}, {first}at line {line}"
            self._tell(f"{results.name}: {what}")


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


def _row(record: GameRecord, name: str, number: int) -> tuple[int, ...]:
    """Number, pair, red, blue, result, whether adjudicated, a hash by which games are the same, and
    those of how it began and of what was played. `InputError`: not a game of two, `number` in the
    stream `name`."""
    result = _RESULTS.get(record.result)
    if result is None or record.players[0] == record.players[1]:
        players = len(record.players)
        what = "a player against itself" if players == 2 else f"Elo is for two players: {SCORE}"
        raise InputError(what, file=name, where=f"game {number}")
    red, blue = record.players
    adjudicated = record.adjudicator is not None
    hashes = game_hash(record), *beginning_and_game(record)
    return record.number, record.pair, red, blue, result, adjudicated, *hashes


WON_BY = ("flag_captured", "no_legal_move", "resigned", "surrender", "attrition")
DRAWN_BY = ("no_movable_pieces", "max_plies", "max_quiet", "agreed")


def contradiction(header: RecordHeader, record: GameRecord) -> str:
    """Why the record cannot be right, or "". A record without setups and a start, or without moves,
    carries no game: its result is taken at its word."""
    if (record.setups is None and header.start is None) or not record.moves:
        return ""
    moves = record.moves.count(" ") + 1  # far quicker than to split them
    if moves != record.plies or "  " in f" {record.moves} ":
        moves = len(record.moves.split())
    if record.plies != moves:
        return f"it says {record.plies} plies, but has {moves} moves"
    if record.reason in (WON_BY if record.result == DRAW else DRAWN_BY):
        return f"{record.reason}, but the result is {record.result}"
    limit = header.rules.get(record.reason, 0)
    short = record.plies < limit or (record.reason == "max_plies" and record.plies != limit)
    if limit and short and header.start is None:  # else plies before the record count, too
        return f"{record.reason} is {limit}, but it has {moves} moves"
    return ""
