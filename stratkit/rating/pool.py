"""Who scored what against whom, kept by pairs of games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from stratkit.errors import InputError
from stratkit.storage.numbers import Numbers
from stratkit.storage.records import GameRecord, RecordHeader, RecordPlayer, read_records

Score = tuple[int, int, int]  # games won by the first of two players, drawn, won by the second
Meeting = tuple[int, int]  # two players, as indices, the smaller one first


@dataclass
class Pool:
    """The games between `names`.

    `meetings[i, j]` says how many *units* ended with each score. A unit is what is independent of
    all others: the two games of a pair, which share their setups, or a game without its partner.
    """

    names: list[str] = field(default_factory=list)
    meetings: dict[Meeting, Counter[Score]] = field(default_factory=dict)

    def index(self, name: str) -> int:
        """The player's index; a new name gets the next one."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def add(self, first: str, second: str, score: Score, units: int = 1) -> None:
        """Adds `units` units that ended with `score` (of `first`, drawn, of `second`)."""
        i, j = self.index(first), self.index(second)
        if i == j:
            raise ValueError(f"{first!r} against itself")
        if i > j:
            i, j, score = j, i, score[::-1]
        self.meetings.setdefault((i, j), Counter())[score] += units

    def totals(self) -> dict[Meeting, Score]:
        """Games won by the first, drawn, won by the second, for each two players who met."""
        return {meeting: _total(units) for meeting, units in sorted(self.meetings.items())}

    def games(self) -> int:
        """How many games were played."""
        return sum(map(sum, self.totals().values()))

    def points(self) -> npt.NDArray[np.float64]:
        """[i, j]: what i scored against j, a draw as one half."""
        points = np.zeros((len(self.names), len(self.names)))
        for (i, j), (won, drawn, lost) in self.totals().items():
            points[i, j], points[j, i] = won + drawn / 2, lost + drawn / 2
        return points


def _total(units: Counter[Score]) -> Score:
    won, drawn, lost = (sum(score[k] * n for score, n in units.items()) for k in range(3))
    return won, drawn, lost


class PoolReader:
    """Fills `pool` from streams of game records.

    All games must be of one game under one set of rules, and a name must always mean the same
    player. A game that is met again is not counted again: `repeated` says how many were.
    """

    def __init__(self) -> None:
        self.pool = Pool()
        self.repeated = 0
        self._files: list[str] = []
        self._seen: dict[str, Numbers] = {}
        self._half: dict[tuple[str, int, str, str], Score] = {}  # games without partner so far
        self._common: tuple[str, Mapping[str, int], str] | None = None  # game, rules, of which file
        self._players: dict[str, tuple[RecordPlayer, str]] = {}
        self._header: RecordHeader | None = None
        self._key = ""

    def read(self, stream: BinaryIO, name: str) -> None:
        """Adds all games of a stream; raises `InputError` for what is no game record or does not
        belong to the others."""
        self._files.append(name)
        for header, record in read_records(stream, name):
            if header is not self._header:
                self._begin(header, name)
            if self._seen[self._key].add(record.number):
                self._count(header, record, name)
            else:
                self.repeated += 1

    def finish(self) -> Pool:
        """The pool; games whose partner never came count as units of one.

        Raises `InputError` when there is no game at all.
        """
        for (_, _, first, second), score in self._half.items():
            self.pool.add(first, second, score)
        self._half.clear()
        if not self.pool.names:
            raise InputError("no games to rate", file=" ".join(self._files))
        return self.pool

    @property
    def game(self) -> str:
        """The game that was played."""
        return self._common[0] if self._common else ""

    def _begin(self, header: RecordHeader, name: str) -> None:
        """Checks that a match belongs to those before it."""
        self._header = header
        self._key = repr((header.game, header.seed, header.games, header.players, header.setups))
        self._seen.setdefault(self._key, Numbers())
        game, rules, file = self._common = self._common or (header.game, header.rules, name)
        if header.game != game:
            raise InputError(f"games of {header.game}, but {file} has {game}", file=name)
        if header.rules != rules:
            raise InputError(f"other rules than in {file}", file=name, text=dict(header.rules))
        for player in header.players:
            known, file = self._players.setdefault(player.name, (player, name))
            if known.sha256 != player.sha256:
                what = f"player {player.name!r} has other weights than in {file}"
                raise InputError(what, file=name)

    def _count(self, header: RecordHeader, record: GameRecord, name: str) -> None:
        where = f"game {record.number}"
        if len(record.players) != 2:
            raise InputError("a game of two players is needed", file=name, where=where)
        red, blue = (header.players[index].name for index in record.players)
        if red == blue:
            raise InputError(f"{red!r} against itself", file=name, where=where)
        result = record.result
        score = (int(result == "red"), int(result == "draw"), int(result == "blue"))
        if red > blue:  # any order will do that does not depend on colours
            red, blue, score = blue, red, score[::-1]
        key = (self._key, record.pair, red, blue)
        if key not in self._half:
            self._half[key] = score
            return
        partner = self._half.pop(key)
        self.pool.add(
            red, blue, (score[0] + partner[0], score[1] + partner[1], score[2] + partner[2])
        )
