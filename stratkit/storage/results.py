"""Results of games as other programs write them, PGN and CSV (formats/results.md).

Only who played and who won is read. Who moves first is red, as in game records.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import BinaryIO

from stratkit.compressed import Rejoined, plain_name
from stratkit.errors import InputError
from stratkit.storage.pgn import TAG_LINE, PgnGame, pgn_games
from stratkit.storage.records import BLUE, DRAW, MAX_LINE, RED

PGN, CSV = "pgn", "csv"
# Columns of CSV; each file has one of each kind, but need not have the last.
COLUMNS = {
    "first player": ("player1", "white", "red", "first"),
    "second player": ("player2", "black", "blue", "second"),
    "result": ("result", "score"),
    "round": ("round", "pair"),
}
OUTCOMES = {
    **dict.fromkeys(("1-0", "1"), RED),
    **dict.fromkeys(("0-1", "0"), BLUE),
    **dict.fromkeys(("1/2-1/2", "½-½", "0.5-0.5", "1/2", "½", "0.5"), DRAW),
}
UNFINISHED = ("", "*", "?")
NO_ROUND = ("", "-", "?")
# Why a game is left out; it was read right.
WITHOUT_RESULT = "without a result"
CONTRADICTED = "whose tag and text give other results"
NAMELESS = "without both names"
ITSELF = "of a player against itself"
_MAX_BLANK = 100  # empty lines before the first one


@dataclass(frozen=True)
class Result:
    """A game of two players.

    first, second  their names
    result         `RED` if the first one won, `BLUE` or `DRAW`
    pair           number of the game with which it is a pair, or its own; from 0
    """

    first: str
    second: str
    result: str
    pair: int


def outcome(text: str) -> str | None:
    """`RED`, `BLUE` or `DRAW`; None: a word that means none of them."""
    text = text.strip()
    if re.fullmatch(r"[01]?\.\d{1,9}|[01]\.", text, re.ASCII):
        text = f"{float(text):g}"  # 1.0 as data frames write it, or .5
    return OUTCOMES.get(text)


def form_of(stream: BinaryIO, name: str) -> tuple[str | None, BinaryIO]:
    """`PGN` or `CSV`, by the first line that is not empty or by the name, and the stream with all
    its bytes; None: neither."""
    begin, line = b"", b""
    for _ in range(_MAX_BLANK):
        line = stream.readline(MAX_LINE)
        begin += line
        if _text(line).strip() or not line:
            break
    ended = not line.endswith(b"\n") and len(line) < MAX_LINE
    whole = io.BufferedReader(Rejoined(begin, stream, ended))
    text, suffix = _text(line), plain_name(name).lower().rpartition(".")[2]
    if text.lstrip().startswith('{"'):
        return None, whole
    if TAG_LINE.match(text) or suffix == PGN:
        return PGN, whole
    named = {_word(cell) for cell in re.split(r"[,;\t]", text)}
    present = [bool(named & set(words)) for words in COLUMNS.values()]
    return CSV if all(present[:3]) or suffix == CSV else None, whole


class Results:
    """The results in a stream of this form. When all were read, `digest` tells streams of other
    contents apart, and `left_out` has, by the reason, how many games were left out and the line of
    the first one."""

    def __init__(self, form: str, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.left_out: dict[str, tuple[int, int]] = {}
        self._stream, self._form, self._hash = stream, form, hashlib.sha256()
        self._half: dict[tuple[str, str, str], int] = {}  # games whose pair may be to come
        self._fields = 0  # that a row of CSV needs

    @property
    def digest(self) -> str:
        """SHA-256 of what was read so far."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Result]:
        """Raises `InputError` for what is not as formats/results.md says."""
        numbers = count()
        for line, first, second, result, round_ in (
            self._pgn() if self._form == PGN else self._csv()
        ):
            why = result if result in (WITHOUT_RESULT, CONTRADICTED) else None
            if NO_ROUND[2] in (first, second) or not (first and second):
                why = NAMELESS
            elif first == second:
                why = ITSELF
            if why is None:
                pair = self._pair(next(numbers), first, second, round_)
                yield Result(first, second, result, pair)
            else:
                many, where = self.left_out.get(why, (0, line))
                self.left_out[why] = many + 1, where

    def _pair(self, number: int, first: str, second: str, round_: str) -> int:
        """Two games of one round in which the same players swap sides are a pair."""
        if round_ in NO_ROUND:
            return number
        other = self._half.pop((round_, second, first), None)
        if other is None:
            self._half[round_, first, second] = number
        return number if other is None else other

    def _pgn(self) -> Iterator[tuple[int, str, str, str, str]]:
        for game in pgn_games(self._lines(), self.name):
            first, second, round_ = (
                game.tags.get(tag, "").strip() for tag in ("White", "Black", "Round")
            )
            yield game.line, first, second, _result_of(game), round_

    def _csv(self) -> Iterator[tuple[int, str, str, str, str]]:
        lines = (text for _, text in self._lines() if text.strip())
        head = next(lines, "")
        separating = re.sub('"[^"]*"', "", head)  # what is quoted separates nothing
        delimiter = next((c for c in ",;\t" if c in separating), ",")
        rows = self._rows(csv.reader(chain([head], lines), delimiter=delimiter, strict=True))
        columns = self._columns([_word(cell) for cell in next(rows, ())])
        for row in rows:
            cells = [row[at].strip() if at is not None else "" for at in columns]
            result = WITHOUT_RESULT if cells[2] in UNFINISHED else outcome(cells[2])
            if result is None:
                raise self._error("not a result such as 1-0, 0-1 or 1/2-1/2", cells[2])
            yield self._number, cells[0], cells[1], result, cells[3]

    def _rows(self, rows: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
        """The rows, each with so many fields as are needed."""
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                raise self._error(f"no CSV: {error}") from None
            if row is None:
                return
            if len(row) < self._fields:
                raise self._error(f"{len(row)} fields, where {self._fields} are needed")
            yield row

    def _columns(self, head: Sequence[str]) -> list[int | None]:
        """Where first player, second player, result and round are."""
        columns: list[int | None] = []
        for kind, words in COLUMNS.items():
            at = [i for i, cell in enumerate(head) if cell in words]
            if len(at) > 1:
                both = f"{head[at[0]]} and {head[at[1]]}"
                raise self._error(f"two columns for the {kind}: {both}")
            if not at and kind != "round":
                raise self._error(f"no column for the {kind}: {', '.join(words)}")
            columns.append(at[0] if at else None)
        self._fields = 1 + max(at for at in columns if at is not None)
        return columns

    def _lines(self) -> Iterator[tuple[int, str]]:
        for number in count(1):
            line = self._stream.readline(MAX_LINE)
            self._number = number
            if len(line) == MAX_LINE:
                raise self._error(f"a line of over {MAX_LINE} bytes")
            if not line:
                return
            self._hash.update(line)
            yield number, _text(line)

    def _error(self, what: str, text: str | None = None) -> InputError:
        return InputError(what, file=self.name, where=f"line {self._number}", text=text)


def _result_of(game: PgnGame) -> str:
    """What the tag says, or the end of the moves; `CONTRADICTED` if they say different things."""
    results = {outcome(text) for text in (game.tags.get("Result", ""), game.ending)} - {None}
    if len(results) > 1:
        return CONTRADICTED
    return next(filter(None, results), WITHOUT_RESULT)


def _word(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()


def _text(line: bytes) -> str:
    """UTF-8, or ISO 8859-1, which PGN's standard names."""
    try:
        return line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return line.decode("latin-1")
