"""Game records -> a pool. Of a game only who played and who won is kept.

Millions of games are read, so a game as `match` writes it is recognised by one regular expression,
which checks the whole line several times faster than parsing its JSON does. Every other line goes
to the reader of game records, which knows all that is allowed and says what is wrong.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np

from stratkit.errors import InputError, shown
from stratkit.rating.pool import DRAWN, LOST, WON, Ints, Pool, joined
from stratkit.storage.records import (
    MOST_LINE,
    GameRecord,
    RecordHeader,
    RecordPlayer,
    read_records,
)

_BLOCK = 1 << 20
_SPEC = re.compile(r"((?:[\w-]+=[^,]*,)*)(.*)", re.DOTALL)  # of a player: options, and what it is

_WHOLE = rb"(?:0|[1-9]\d{0,17})"
_POSITIVE = rb"([1-9]\d{0,8}(?:\.\d{1,17})?|0\.\d{0,16}[1-9])"
_NUMBER = rb"(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?"
_TEXT = rb'"[^"]*+"'  # where there are neither backslashes nor control characters
_GAME = re.compile(
    rb'\{"number":(%(whole)b),"pair":(%(whole)b),"players":\[(\d{1,6}),(\d{1,6})\],'
    rb'"setups":(?:null|\[%(text)b,%(text)b\]),"moves":%(text)b,'
    rb'"result":"(?:(red)","returns":\[%(positive)b,-\6|(draw)","returns":\[0,0'
    rb'|(blue)","returns":\[-%(positive)b,\9)\],'
    rb'"reason":%(text)b,"adjudicator":(?:null|(%(text)b)),(?:"fault":(?:null|%(text)b),)?"plies":%(whole)b,'
    rb'"times":(?:null|\[%(number)b,%(number)b\])'
    rb'(?:,"[a-z_]+":(?:null|true|false|%(number)b|%(text)b))*+\}\n'
    % {b"whole": _WHOLE, b"text": _TEXT, b"positive": _POSITIVE, b"number": _NUMBER}
)


class PoolReader:
    """Collects the games of streams of game records.

    All games must be of one game under one set of rules, and a name must always mean the same
    player. A game that is met again is not counted again: `repeated` says how many were, and
    `adjudicated` how many games were not played out.
    """

    def __init__(self) -> None:
        self.repeated = self.adjudicated = 0
        self.game = ""
        self._files: list[str] = []
        self._names: dict[str, int] = {}
        self._matches: dict[str, int] = {}
        self._common: tuple[str, Mapping[str, int], str] | None = None  # game, rules, of which file
        self._players: dict[str, tuple[RecordPlayer, str]] = {}
        self._blocks: list[Ints] = []  # [6, games]: match, number, pair, red, blue, result

    def read(self, stream: BinaryIO, name: str) -> None:
        """Adds all games of a stream; raises `InputError` for what is no game record or does not
        belong to the others."""
        self._files.append(name)
        for header, rows in _games(stream, name):
            match, ids = self._match(header, name)
            number, pair, red, blue, result, adjudicated = _columns(rows)
            _check_players(number, red, blue, len(ids), name)
            self.adjudicated += int(adjudicated.sum())
            columns = np.full(len(rows), match), number, pair, ids[red], ids[blue], result
            self._blocks.append(np.stack(columns))

    def finish(self) -> Pool:
        """The pool. Raises `InputError` when there is no game at all."""
        if not self._blocks:
            raise InputError("no games to rate", file=" ".join(self._files))
        table = np.concatenate(self._blocks, axis=1)
        self._blocks = [table]
        _, first = np.unique(joined(table[0], table[1]), return_index=True)
        self.repeated = table.shape[1] - len(first)
        match, _, pair, red, blue, result = table[:, np.sort(first)]
        return Pool(list(self._names), red, blue, result, joined(match, pair))

    def _match(self, header: RecordHeader, name: str) -> tuple[int, Ints]:
        """The number of the match, and its players' indices; checks that it belongs to those
        before it."""
        self._common = self._common or (header.game, header.rules, name)
        self.game, rules, file = self._common
        if header.game != self.game:
            raise InputError(f"games of {header.game}, but {file} has {self.game}", file=name)
        if header.rules != rules:
            raise InputError(f"other rules than in {file}", file=name, text=dict(header.rules))
        for player in header.players:
            known, file = self._players.setdefault(player.name, (player, name))
            if known.sha256 != player.sha256:
                what = f"player {player.name!r} has other weights than in {file}"
                raise InputError(what, file=name)
            if _plays_as(known) != _plays_as(player):
                what = f"player {player.name!r} is another one in {file}, {shown(known.spec)}"
                raise InputError(what, file=name, text=player.spec)
        key = match_key(header)
        ids = [self._names.setdefault(p.name, len(self._names)) for p in header.players]
        return self._matches.setdefault(key, len(self._matches)), np.array(ids)


def _plays_as(player: RecordPlayer) -> tuple[str, str | None]:
    """What may not differ between players of one name, beside the weights: of a checkpoint, which
    of its networks, and what is done to its policy; of a program, its limits and its command; but
    not where their files lie, nor with which setup a person begins."""
    options, spec = _SPEC.fullmatch(player.spec).groups()  # type: ignore[union-attr]
    options = re.sub("setup=[^,]*,", "", options)
    return options, player.sha256 or re.sub("^ucc:[^ ]*/", "ucc:", spec)


def match_key(header: RecordHeader) -> str:
    """Tells matches apart: in one match there is one game of a number."""
    return repr((header.seed, header.games, header.players, header.setups))


# What is written of a game: number, pair, red, blue, `red`, returns, `draw`, `blue`, returns,
# adjudicator.
Row = Sequence[bytes | None]


def _games(stream: BinaryIO, name: str) -> Iterator[tuple[RecordHeader, list[Row]]]:
    """The games of a stream, those that follow each other under one header together."""
    lines = _Lines(name)
    rest = b""
    while block := stream.read(_BLOCK):
        data = rest + block
        end = data.rfind(b"\n") + 1
        yield from lines.games(data[:end])
        rest = data[end:]
        if len(rest) >= MOST_LINE:
            lines.parse(rest)
    if not lines.head:
        lines.parse(b"")


class _Lines:
    """Reads lines; remembers the header that they belong to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0  # of the line
        self.head = b""  # the line of the header
        self.header: RecordHeader | None = None  # known once a game followed it

    def games(self, data: bytes) -> Iterator[tuple[RecordHeader, list[Row]]]:
        """The games in whole lines."""
        plain = _plain(data)
        rows: list[Row] = []
        position = 0
        while position < len(data):
            if plain and self.header:
                before = len(rows)
                while found := _GAME.match(data, position):
                    rows.append(found.groups())
                    position = found.end()
                self.number += len(rows) - before
                if position == len(data):
                    break
            end = data.index(b"\n", position) + 1
            line, position = data[position:end], end
            if game := self.parse(line):
                self.header, record = game
                rows.append(_record_row(record, self.name))
            else:
                if self.header and rows:
                    yield self.header, rows
                self.head, self.header, rows = line, None, []
        if self.header and rows:
            yield self.header, rows

    def parse(self, line: bytes) -> tuple[RecordHeader, GameRecord] | None:
        """What the reader of records sees in a line; None if it is a header."""
        self.number += 1
        try:
            return next(read_records(io.BytesIO(self.head + line), self.name), None)
        except InputError as error:
            error.where = error.where and f"line {self.number}"
            raise


def _plain(data: bytes) -> bool:
    """Whether lines are in ASCII, without backslashes and control characters."""
    ends = np.count_nonzero(np.frombuffer(data, np.int8) < 32)  # bytes above 127 are negative
    return b"\\" not in data and ends == data.count(b"\n")


def _record_row(record: GameRecord, name: str) -> Row:
    if len(record.players) != 2:
        what = "a game of two players is needed"
        raise InputError(what, file=name, where=f"game {record.number}")
    number, pair, red, blue = (b"%d" % n for n in (record.number, record.pair, *record.players[:2]))
    won, drawn = (b"1" if record.result == result else None for result in ("red", "draw"))
    adjudicator = None if record.adjudicator is None else b"1"
    return number, pair, red, blue, won, None, drawn, None, None, adjudicator


def _columns(rows: list[Row]) -> tuple[Ints, ...]:
    """Number, pair, red, blue, result, and whether it was adjudicated."""
    *whole, won, _, drawn, _, _, adjudicator = zip(*rows, strict=True)

    def is_there(column: Sequence[bytes | None]) -> Ints:
        return np.fromiter((text is not None for text in column), np.int64, len(rows))

    numbers = (np.fromiter(map(int, column), np.int64, len(rows)) for column in whole)
    result = np.where(is_there(won), WON, np.where(is_there(drawn), DRAWN, LOST))
    return *numbers, result, is_there(adjudicator)


def _check_players(number: Ints, red: Ints, blue: Ints, players: int, name: str) -> None:
    for wrong, what in (
        (np.maximum(red, blue) >= players, "a player that the header does not name"),
        (red == blue, "a player against itself"),
    ):
        for game in number[wrong][:1]:
            raise InputError(what, file=name, where=f"game {game}")
