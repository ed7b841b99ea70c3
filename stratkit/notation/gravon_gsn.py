"""Reading the older form of Gravon's logs, `.gsn`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stratkit.engine.stratego import BLUE, RED, VARIANTS
from stratkit.errors import InputError
from stratkit.notation.gravon_words import (
    HEIGHT,
    KINDS,
    RESCUES,
    WIDTH,
    read_field,
    read_move,
    read_result,
)
from stratkit.notation.log import Log
from stratkit.notation.setups import Setup
from stratkit.notation.squares import move_bytes, split_move

_WINNERS = {"0": RED, "1": BLUE, "2": None}
_HEAD = re.compile(r"#(\S+) Stratego-Notation v([12])")
_TYPE = re.compile("type ([0-9])")
_ENDING = re.compile(" result ([0-9]{1,2}) winner ([0-9])$")
# Rank 10 in one character, as the lines of Gravon's archive have it; which one is not known.
_SHORT_TEN = re.compile("(?<=^[A-K])[0X:](?=[-:])|(?<=[-:][A-K])[0X:]$", re.ASCII)
_ONE_DIGIT = re.compile("[A-K][0-9]-[A-K][0-9]", re.ASCII)
_LINE_END = re.compile("\r\n|\n|\r")


class _Lines:
    """The lines of a .gsn, read one after the other."""

    def __init__(self, data: bytes) -> None:
        lines = [line.rstrip(" \t") for line in _LINE_END.split(_decoded(data))]
        while lines and not lines[-1]:
            lines.pop()
        self.lines, self.number = lines, 0

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def next(self, expected: str) -> str:
        self.number += 1
        if self.number > len(self.lines):
            raise self.wrong(f"the file ends where {expected} should be", None)
        return self.lines[self.number - 1]

    def back(self) -> None:
        self.number -= 1

    def wrong(self, what: str, text: str | None) -> InputError:
        return InputError(what, where=self.where, text=text)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = data[error.start : error.start + 20].decode("utf-8", "replace")
        raise InputError("not UTF-8", where=f"line {line}", text=text) from None


def parse_gsn(data: bytes) -> Log:
    """The log of a file of text, uninterpreted. `InputError`: nothing of it can be used."""
    lines = _Lines(data)
    text = lines.next("the header")
    head = _HEAD.fullmatch(text)
    if not head:
        raise lines.wrong("a header like '#X38FA11 Stratego-Notation v1' is needed", text)
    kind = _gsn_kind(lines)
    setups = _gsn_field(lines, kind)
    moves = _GsnMoves(lines, kind)
    remarks: list[InputError] = []
    late = _LateMoves([] if moves.broken or setups is None else lines.lines)
    result = _gsn_result(lines, late, remarks)
    if moves.squares and setups is None:
        where = f"line {moves.lines[0]}, move 1"
        raise InputError("moves without setups", where=where, text=lines.lines[moves.lines[0] - 1])
    return Log(
        VARIANTS[KINDS[kind]],
        kind,
        setups,
        moves.squares + b"".join(late.moves),
        *result,
        lines=[*moves.lines, *late.numbers] if late.moves else moves.lines,
        rescues=tuple(moves.rescues),
        stamp=(head[1], head[2]),
        remarks=tuple(remarks),
        broken=moves.broken,
        late=len(late.moves),
        one_digit=moves.one_digit,
    )


def _gsn_kind(lines: _Lines) -> str:
    text = lines.next("the type of the game")
    match = _TYPE.fullmatch(text)
    if not match or int(match[1]) >= len(KINDS):
        raise lines.wrong(f"a type from 0 to {len(KINDS) - 1} is needed, like 'type 0'", text)
    return list(KINDS)[int(match[1])]


def _gsn_field(lines: _Lines, kind: str) -> tuple[Setup, Setup] | None:
    text = lines.next("the field")
    if text == "END" or split_move(text) or _split_result(text):
        lines.back()
        return None
    return read_field(text, kind, lines.where)


class _GsnMoves:
    """The lines up to END, or up to the result, if that comes first: `squares` two bytes a move,
    `lines` where each is, and `broken`, the first line that is no move, if there is one.
    `one_digit`: every rank is written as one digit."""

    def __init__(self, lines: _Lines, kind: str) -> None:
        self.rescues: list[tuple[int, str]] = []
        self.broken: InputError | None = None
        first = lines.number
        self.one_digit = True
        try:
            end = lines.lines.index("END", first)
            self.squares = b"".join(map(_known_moves().__getitem__, lines.lines[first:end]))
            self.lines: Sequence[int] = range(first + 1, end + 1)
            lines.number = end + 1
            self.one_digit = all(len(text) == 5 for text in lines.lines[first:end])
        except (ValueError, KeyError):  # there is more in it than moves and END
            self._read(lines, kind)

    def _read(self, lines: _Lines, kind: str) -> None:
        squares: list[bytes] = []
        numbers: list[int] = []
        while (text := lines.next("a move or END")) != "END":
            if _split_result(text):
                lines.back()
                break
            if self.broken:
                continue
            try:
                move = _gsn_move(text, kind, lines, len(squares) + 1)
            except InputError as error:
                self.broken = error
                continue
            if move is None:
                self.rescues.append((len(squares), text))
            else:
                squares.append(move)
                numbers.append(lines.number)
                self.one_digit = self.one_digit and bool(_ONE_DIGIT.fullmatch(text))
        self.squares, self.lines = b"".join(squares), numbers


class _LateMoves:
    """Moves that stand after END: directly behind it, or behind the result. `numbers` are those of
    their lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.moves: list[bytes] = []
        self.numbers: list[int] = []

    def read(self, first: int) -> int:
        """Takes the moves from line index `first` on; returns the index of the line after them."""
        for at, text in enumerate(self._lines[first:], first):
            move = _known_moves().get(_SHORT_TEN.sub("10", text))
            if move is None:
                return at
            self.moves.append(move)
            self.numbers.append(at + 1)
        return max(first, len(self._lines))


def _known_moves() -> dict[str, bytes]:
    return move_bytes(WIDTH, HEIGHT, "-")


def _gsn_move(text: str, kind: str, lines: _Lines, number: int) -> bytes | None:
    """The squares of a line with a move; None for a rescue."""
    if text in _known_moves():
        return _known_moves()[text]
    text = _SHORT_TEN.sub("10", text)
    words = split_move(text)
    if words is None:
        raise lines.wrong("a move like A4-A5 or END is needed", text)
    if words[1] == ":":
        if kind != RESCUES:
            raise lines.wrong(f"a rescue, which {kind} does not have", text)
        return None
    return read_move(words[0], words[2], f"{lines.where}, move {number}", text)


def _split_result(text: str) -> tuple[str, str, str, str] | None:
    """Nicks, ending and winner of a result line; red's nick is the shortest possible."""
    match = _ENDING.search(text, max(0, len(text) - 30))
    red, vs, blue = text[: match.start() if match else 0].partition(" vs ")
    return (red, blue, match[1], match[2]) if match and vs else None


_Result = tuple[tuple[str, str], str, int | None]


def _gsn_result(lines: _Lines, late: _LateMoves, remarks: list[InputError]) -> _Result:
    """Nicks, ending and winner, from the first line that has them: there may be `late` moves or
    rubbish between END and it, END may come after it, and other things after both."""
    ended = lines.number > 0 and lines.lines[lines.number - 1] == "END"
    first = lines.number
    while not (fields := _split_result(text := lines.next("the result"))):
        if _HEAD.fullmatch(text) or lines.number == len(lines.lines):
            lines.number = first + 1
            what = "a result like 'RED vs BLUE result 1 winner 0' is needed"
            raise lines.wrong(what, lines.lines[first])
    at = lines.number
    red, blue, ending, winner = fields
    reason, side = read_result(ending, winner, _WINNERS, lines.where, remarks)
    first = late.read(first) if ended else first
    _tell_first(lines, first, at - 1, "between END and the result, left out", remarks)
    if not ended:
        lines.number = at
        remarks.append(lines.wrong("the result comes before END", text))
        at += lines.lines[at : at + 1] == ["END"]
    at = late.read(at)
    _tell_first(lines, at, len(lines.lines), "something after the result, left out", remarks)
    return (red, blue), reason, side


def _tell_first(lines: _Lines, first: int, end: int, what: str, remarks: list[InputError]) -> None:
    """A remark on the first of some lines that is not empty."""
    for lines.number in range(first + 1, end + 1):
        if text := lines.lines[lines.number - 1]:
            remarks.append(lines.wrong(what, text))
            break
