"""The log files in which Gravon publishes its games: `.gsn` (older) and `.xml`.

formats/gravon.md describes both. Reading is in two parts: this module reads what a file says, and
`stratkit.notation.play` plays it out on the engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stratkit.engine.stratego import BLUE, RED, VARIANTS, Variant
from stratkit.errors import InputError, nearest
from stratkit.notation.setups import Setup, parse_field
from stratkit.notation.squares import parse_square, split_move
from stratkit.notation.xml import Element, parse_xml

MOST = 1 << 20  # bytes of one log; the longest games need about 40,000

# Gravon's words for the types of games, in the order of .gsn's numbers, and the variants they are.
KINDS = {
    "classic": "classic",
    "barrage": "barrage",
    "classicfree": "classic",
    "ultimate lightning": "ultimate",
    "duell": "duel",
}
FREE, RESCUES = "classicfree", "ultimate lightning"
_OTHER_WORDS = {"free": FREE, "freesetup": FREE, "ultimate": RESCUES}

ENDINGS = {
    0: "unable to move",
    1: "flag captured",
    2: "both unable to move",
    3: "forfeit",
    4: "tie agreed",
    10: "both missing",
    11: "player's clock ran out",
    12: "game clock ran out",
    13: "player's clock ran out while missing",
    14: "opponent missing",
}
FLAG_CAPTURED = 1
_ON_THE_BOARD = {0: "no_legal_move", 1: "flag_captured", 2: "no_movable_pieces"}  # as in the engine
_DRAWN = (2, 4)  # endings that have no winner

_GSN_WINNERS = {"0": RED, "1": BLUE, "2": None}
_XML_WINNERS = {"1": RED, "2": BLUE, "3": None}

_GSN_HEAD = re.compile(r"#\S+ Stratego-Notation v[12]")
_GSN_TYPE = re.compile("type ([0-9])")
_GSN_RESULT = re.compile("(.*?) vs (.*) result ([0-9]{1,2}) winner ([0-9])")
_XML_CHILDREN = {
    "": ("stratego",),
    "stratego": ("game",),
    "game": ("field", "move", "player", "result"),
}


@dataclass(frozen=True)
class LoggedMove:
    """Absolute squares, where the file says so, and how."""

    from_: int
    to: int
    where: str
    text: str


@dataclass(frozen=True)
class Log:
    """What one log file says.

    `kind` is one of `KINDS`; `setups` (red's, blue's, from their owners' views) is None when the
    game ended before they were complete; `players` are red's and blue's nicks; `ending` is one of
    `ENDINGS`; `winner` is RED, BLUE or None (a draw). `rescues` counts the moves left out because
    they only put a piece back. `remarks` are faults that the reader survived.
    """

    kind: str
    setups: tuple[Setup, Setup] | None
    moves: tuple[LoggedMove, ...]
    players: tuple[str, str]
    ending: int
    winner: int | None
    rescues: int = 0
    remarks: tuple[InputError, ...] = ()

    @property
    def variant(self) -> Variant:
        return VARIANTS[KINDS[self.kind]]

    @property
    def played_out(self) -> bool:
        """Whether the board decided, and not a player, a clock or the server."""
        return self.ending in _ON_THE_BOARD

    @property
    def reason(self) -> str:
        """The ending in one word: the engine's where it has one, else as `tie_agreed`."""
        word = ENDINGS[self.ending].replace("'", "").replace(" ", "_")
        return _ON_THE_BOARD.get(self.ending, word)

    @property
    def returns(self) -> tuple[float, float]:
        """Red's and blue's: 1, 0 or -1."""
        red = {RED: 1.0, BLUE: -1.0, None: 0.0}[self.winner]
        return red, -red


def is_xml(data: bytes) -> bool:
    """Whether this looks like the `.xml` form."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def is_gsn(data: bytes) -> bool:
    """Whether this looks like the `.gsn` form."""
    return data.removeprefix(b"\xef\xbb\xbf")[:1] == b"#"


def parse_log(data: bytes, name: str) -> Log:
    """Reads the content of one log file; raises `InputError` with the file's `name` in it."""
    try:
        if len(data) > MOST:
            raise InputError(f"a log of over {MOST >> 20} MiB")
        if is_xml(data):
            return _parse_xml(data)
        if is_gsn(data):
            return _parse_gsn(data)
        start = data[:20].decode("utf-8", "replace")
        raise InputError("neither a .gsn nor an .xml log", text=start if data else None)
    except InputError as error:
        error.file = name
        raise


# ---- .gsn ----


class _Lines:
    """The lines of a .gsn, read one after the other."""

    def __init__(self, data: bytes) -> None:
        lines = re.split("\r\n|\n|\r", _decoded(data))
        while lines and not lines[-1].strip():
            lines.pop()
        self._lines, self.number = [line.rstrip(" \t") for line in lines], 0

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def next(self, expected: str) -> str:
        self.number += 1
        if self.number > len(self._lines):
            raise self.wrong(f"the file ends where {expected} should be", None)
        return self._lines[self.number - 1]

    def back(self) -> None:
        self.number -= 1

    def wrong(self, what: str, text: str | None) -> InputError:
        return InputError(what, where=self.where, text=text)

    def end(self) -> None:
        if self.number < len(self._lines):
            raise self.wrong("something after the result", self.next(""))


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = data[error.start : error.start + 20].decode("utf-8", "replace")
        raise InputError("not UTF-8", where=f"line {line}", text=text) from None


def _parse_gsn(data: bytes) -> Log:
    lines = _Lines(data)
    head = lines.next("the header")
    if not _GSN_HEAD.fullmatch(head):
        raise lines.wrong("a header like '#X38FA11 Stratego-Notation v1' is needed", head)
    kind = _gsn_kind(lines)
    setups = _gsn_field(lines, kind)
    moves, rescues = _gsn_moves(lines, kind)
    text = lines.next("the result")
    found = _GSN_RESULT.fullmatch(text)
    if not found:
        raise lines.wrong("a result like 'RED vs BLUE result 1 winner 0' is needed", text)
    red, blue, ending, winner = found.groups()
    result = _result(ending, winner, _GSN_WINNERS, lines.where)
    lines.end()
    if moves and setups is None:
        raise InputError("moves without setups", where=moves[0].where, text=moves[0].text)
    return Log(kind, setups, tuple(moves), (red, blue), *result, rescues)


def _gsn_kind(lines: _Lines) -> str:
    text = lines.next("the type of the game")
    found = _GSN_TYPE.fullmatch(text)
    if not found or int(found[1]) >= len(KINDS):
        raise lines.wrong(f"a type from 0 to {len(KINDS) - 1} is needed, like 'type 0'", text)
    return list(KINDS)[int(found[1])]


def _gsn_field(lines: _Lines, kind: str) -> tuple[Setup, Setup] | None:
    text = lines.next("the field")
    if text == "END" or split_move(text):
        lines.back()
        return None
    return _field(text, kind, lines.where)


def _gsn_moves(lines: _Lines, kind: str) -> tuple[list[LoggedMove], int]:
    """The moves up to END, and how many rescues were left out."""
    moves: list[LoggedMove] = []
    rescues = 0
    while (text := lines.next("a move or END")) != "END":
        words = split_move(text)
        if words is None:
            raise lines.wrong("a move like A4-A5 or END is needed", text)
        if words[1] == ":":
            if kind != RESCUES:
                raise lines.wrong(f"a rescue, which {kind} does not have", text)
            rescues += 1
        else:
            where = f"{lines.where}, move {len(moves) + 1}"
            moves.append(_move(words[0], words[2], kind, where, text))
    return moves, rescues


# ---- .xml ----


def _parse_xml(data: bytes) -> Log:
    elements = [e for e in parse_xml(data, _XML_CHILDREN) if e.name != "stratego"]
    games = [e for e in elements if e.name == "game"]
    if len(games) != 1:
        where = games[1].where if games else None
        raise InputError(f"one game is needed, not {len(games)}", where=where)
    kind = _xml_kind(games[0])
    fields = [e for e in elements if e.name == "field"]
    if len(fields) > 1:
        raise InputError("a second field", where=fields[1].where)
    setups = _field(_attribute(fields[0], "content"), kind, fields[0].where) if fields else None
    moves, remarks = _xml_moves([e for e in elements if e.name == "move"], kind)
    if moves and setups is None:
        raise InputError("moves without setups", where=moves[0].where, text=moves[0].text)
    results = [e for e in elements if e.name == "result"]
    if len(results) != 1:
        where = results[1].where if results else games[0].where
        raise InputError(f"one result is needed, not {len(results)}", where=where)
    ending, winner = (_attribute(results[0], name) for name in ("type", "winner"))
    result = _result(ending, winner, _XML_WINNERS, results[0].where)
    players = _xml_players([e for e in elements if e.name == "player"], games[0].where)
    return Log(kind, setups, moves, players, *result, remarks=remarks)


def _attribute(element: Element, name: str) -> str:
    if name not in element.attributes:
        raise InputError(f"<{element.name}> without {name}", where=element.where)
    return element.attributes[name]


def _xml_kind(game: Element) -> str:
    word = _attribute(game, "type")
    kind = _OTHER_WORDS.get(word, word)
    if kind not in KINDS:
        raise InputError(f"unknown type of game{nearest(word, KINDS)}", where=game.where, text=word)
    return kind


def _xml_moves(
    elements: list[Element], kind: str
) -> tuple[tuple[LoggedMove, ...], tuple[InputError, ...]]:
    """The moves, and a remark if the file J stands for K in them."""
    moves: list[LoggedMove] = []
    remarks: list[InputError] = []
    last = 0
    for element in elements:
        number = _attribute(element, "id")
        if not re.fullmatch("[0-9]{1,6}", number) or int(number) < last + bool(moves):
            raise InputError("moves are not numbered upwards", where=element.where, text=number)
        last, where = int(number), f"{element.where}, move {number}"
        source, target = _attribute(element, "source"), _attribute(element, "target")
        text = f"{source}-{target}"
        if "J" in text and not remarks:
            remarks.append(InputError("file J, read as K", where=where, text=text))
        from_, to = source.replace("J", "K"), target.replace("J", "K")
        moves.append(_move(from_, to, kind, where, text))
    return tuple(moves), tuple(remarks)


def _xml_players(elements: list[Element], where: str) -> tuple[str, str]:
    nicks: dict[str, str] = {}
    for element in elements:
        number = _attribute(element, "id")
        if number not in ("1", "2") or number in nicks:
            raise InputError("players are 1 and 2, each once", where=element.where, text=number)
        nicks[number] = element.text.strip()
    if len(nicks) != 2:
        raise InputError("two players are needed", where=where)
    return nicks["1"], nicks["2"]


# ---- both ----


def _field(text: str, kind: str, where: str) -> tuple[Setup, Setup]:
    try:
        return parse_field(text, VARIANTS[KINDS[kind]], free=kind == FREE)
    except InputError as error:
        error.where = where
        raise


def _move(from_: str, to: str, kind: str, where: str, text: str) -> LoggedMove:
    variant = VARIANTS[KINDS[kind]]
    try:
        squares = [parse_square(word, variant.width, variant.height) for word in (from_, to)]
    except InputError as error:
        raise InputError(error.what, where=where, text=text) from None
    return LoggedMove(squares[0], squares[1], where, text)


def _result(
    ending: str, winner: str, winners: dict[str, int | None], where: str
) -> tuple[int, int | None]:
    if not re.fullmatch("[0-9]{1,2}", ending) or int(ending) not in ENDINGS:
        raise InputError("unknown ending", where=where, text=ending)
    if winner not in winners:
        raise InputError(f"the winner is one of {', '.join(winners)}", where=where, text=winner)
    if int(ending) in _DRAWN and winners[winner] is not None:
        raise InputError(f"{ENDINGS[int(ending)]} has no winner", where=where, text=winner)
    return int(ending), winners[winner]
