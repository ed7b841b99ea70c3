"""The log files in which Gravon publishes its games: `.gsn` (older) and `.xml`.

formats/gravon.md describes both. Reading is in two parts: this module reads what a file says, and
`stratkit.notation.play` plays it out on the engine. `stratkit.notation.gravon_text` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from stratkit.engine.stratego import BLUE, RED, VARIANTS
from stratkit.errors import InputError, nearest
from stratkit.notation.log import FREE, Log
from stratkit.notation.setups import Setup, parse_field
from stratkit.notation.squares import move_bytes, parse_square, split_move, square_bytes
from stratkit.notation.xml import Element, parse_xml

MOST = 1 << 20  # bytes of one log; the longest games need about 40,000

# Gravon's words for the types of games, in the order of .gsn's numbers, and the variants they are.
KINDS = {
    "classic": "classic",
    "barrage": "barrage",
    FREE: "classic",
    "ultimate lightning": "ultimate",
    "duell": "duel",
}
RESCUES = "ultimate lightning"
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
FLAG_CAPTURED, FORFEIT, TIE_AGREED = 1, 3, 4
_DRAWN = (2, TIE_AGREED)  # endings that have no winner

# The endings in one word: the engine's where it has one, else as `tie_agreed`.
REASONS = {
    code: {0: "no_legal_move", 1: "flag_captured", 2: "no_movable_pieces"}.get(
        code, text.replace("'", "").replace(" ", "_")
    )
    for code, text in ENDINGS.items()
}

_GSN_WINNERS = {"0": RED, "1": BLUE, "2": None}
_XML_WINNERS = {"1": RED, "2": BLUE, "3": None}

BOARD = _WIDTH, _HEIGHT = 10, 10  # Gravon has no other

_GSN_HEAD = re.compile(r"#(\S+) Stratego-Notation v([12])")
_GSN_TYPE = re.compile("type ([0-9])")
_GSN_ENDING = re.compile(" result ([0-9]{1,2}) winner ([0-9])$")
_LINE_END = re.compile("\r\n|\n|\r")
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_XML_CHILDREN = {
    "": ("stratego",),
    "stratego": ("game",),
    "game": ("field", "move", "player", "result"),
}


def is_xml(data: bytes) -> bool:
    """Whether this looks like the `.xml` form."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def is_gsn(data: bytes) -> bool:
    """Whether this looks like the `.gsn` form."""
    return data.removeprefix(b"\xef\xbb\xbf")[:1] == b"#"


def parse_log(data: bytes, name: str) -> Log:
    """Reads the content of one log file; raises `InputError` with the file's `name` in it.

    Faults that can be survived are the log's `remarks`, and the one after which no move can be read
    is `broken`. They have the `name` too.
    """
    try:
        if len(data) > MOST:
            raise InputError(f"a log of over {MOST >> 20} MiB")
        if is_xml(data):
            log = _parse_xml(data)
        elif is_gsn(data):
            log = _parse_gsn(data)
        else:
            start = data[:20].decode("utf-8", "replace")
            raise InputError("neither a .gsn nor an .xml log", text=start if data else None)
    except InputError as error:
        error.file = name
        raise
    for fault in (*log.remarks, *([log.broken] if log.broken else [])):
        fault.file = name
    return log


# ---- .gsn ----


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


def _parse_gsn(data: bytes) -> Log:
    lines = _Lines(data)
    text = lines.next("the header")
    head = _GSN_HEAD.fullmatch(text)
    if not head:
        raise lines.wrong("a header like '#X38FA11 Stratego-Notation v1' is needed", text)
    kind = _gsn_kind(lines)
    setups = _gsn_field(lines, kind)
    moves = _GsnMoves(lines, kind)
    remarks: list[InputError] = []
    result = _gsn_result(lines, remarks)
    if moves.squares and setups is None:
        where = f"line {moves.lines[0]}, move 1"
        raise InputError("moves without setups", where=where, text=lines.lines[moves.lines[0] - 1])
    return Log(
        VARIANTS[KINDS[kind]],
        kind,
        setups,
        moves.squares,
        *result,
        lines=moves.lines,
        rescues=tuple(moves.rescues),
        stamp=(head[1], head[2]),
        remarks=tuple(remarks),
        broken=moves.broken,
    )


def _gsn_kind(lines: _Lines) -> str:
    text = lines.next("the type of the game")
    found = _GSN_TYPE.fullmatch(text)
    if not found or int(found[1]) >= len(KINDS):
        raise lines.wrong(f"a type from 0 to {len(KINDS) - 1} is needed, like 'type 0'", text)
    return list(KINDS)[int(found[1])]


def _gsn_field(lines: _Lines, kind: str) -> tuple[Setup, Setup] | None:
    text = lines.next("the field")
    if text == "END" or split_move(text) or _split_result(text):
        lines.back()
        return None
    return _field(text, kind, lines.where)


class _GsnMoves:
    """The lines up to END, or up to the result, if that comes first: `squares` two bytes a move,
    `lines` where each is, and `broken`, the first line that is no move, if there is one."""

    def __init__(self, lines: _Lines, kind: str) -> None:
        self.rescues: list[tuple[int, str]] = []
        self.broken: InputError | None = None
        first = lines.number
        try:
            end = lines.lines.index("END", first)
            self.squares = b"".join(map(_known_moves().__getitem__, lines.lines[first:end]))
            self.lines: Sequence[int] = range(first + 1, end + 1)
            lines.number = end + 1
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
        self.squares, self.lines = b"".join(squares), numbers


def _known_moves() -> dict[str, bytes]:
    return move_bytes(_WIDTH, _HEIGHT, "-")


def _gsn_move(text: str, kind: str, lines: _Lines, number: int) -> bytes | None:
    """The squares of a line with a move; None for a rescue."""
    if text in _known_moves():
        return _known_moves()[text]
    words = split_move(text)
    if words is None:
        raise lines.wrong("a move like A4-A5 or END is needed", text)
    if words[1] == ":":
        if kind != RESCUES:
            raise lines.wrong(f"a rescue, which {kind} does not have", text)
        return None
    return _move(words[0], words[2], f"{lines.where}, move {number}", text)


def _split_result(text: str) -> tuple[str, str, str, str] | None:
    """Nicks, ending and winner of a result line; red's nick is the shortest possible."""
    found = _GSN_ENDING.search(text, max(0, len(text) - 30))
    red, vs, blue = text[: found.start() if found else 0].partition(" vs ")
    return (red, blue, found[1], found[2]) if found and vs else None


_Result = tuple[tuple[str, str], str, int | None]


def _gsn_result(lines: _Lines, remarks: list[InputError]) -> _Result:
    """Nicks, ending and winner, from the first line that has them: there may be rubbish between END
    and it, END may come after it, and other things after both."""
    ended = lines.number > 0 and lines.lines[lines.number - 1] == "END"
    first = lines.number
    while not (found := _split_result(text := lines.next("the result"))):
        if _GSN_HEAD.fullmatch(text) or lines.number == len(lines.lines):
            lines.number = first + 1
            what = "a result like 'RED vs BLUE result 1 winner 0' is needed"
            raise lines.wrong(what, lines.lines[first])
    at = lines.number
    red, blue, ending, winner = found
    reason, side = _result(ending, winner, _GSN_WINNERS, lines.where)
    _tell_first(lines, first, at - 1, "between END and the result, left out", remarks)
    if not ended:
        lines.number = at
        remarks.append(lines.wrong("the result comes before END", text))
        at += lines.lines[at : at + 1] == ["END"]
    _tell_first(lines, at, len(lines.lines), "something after the result, left out", remarks)
    return (red, blue), reason, side


def _tell_first(lines: _Lines, first: int, end: int, what: str, remarks: list[InputError]) -> None:
    """A remark on the first of some lines that is not empty."""
    for lines.number in range(first + 1, end + 1):
        if text := lines.lines[lines.number - 1]:
            remarks.append(lines.wrong(what, text))
            break


# ---- .xml ----


def _parse_xml(data: bytes) -> Log:
    remarks: list[InputError] = []
    elements = [e for e in _elements(data, remarks) if e.name != "stratego"]
    games = [e for e in elements if e.name == "game"]
    if len(games) != 1:
        where = games[1].where if games else None
        raise InputError(f"one game is needed, not {len(games)}", where=where)
    kind = _xml_kind(games[0])
    fields = [e for e in elements if e.name == "field"]
    if len(fields) > 1:
        raise InputError("a second field", where=fields[1].where)
    setups = _field(_attribute(fields[0], "content"), kind, fields[0].where) if fields else None
    moves = [e for e in elements if e.name == "move"]
    if moves and setups is None:
        text = "-".join(_attribute(moves[0], name) for name in ("source", "target"))
        raise InputError("moves without setups", where=f"{moves[0].where}, move 1", text=text)
    squares, broken = _xml_moves(moves, remarks)
    results = [e for e in elements if e.name == "result"]
    if len(results) != 1:
        where = results[1].where if results else games[0].where
        raise InputError(f"one result is needed, not {len(results)}", where=where)
    ending, winner = (_attribute(results[0], name) for name in ("type", "winner"))
    result = _result(ending, winner, _XML_WINNERS, results[0].where)
    players = _xml_players([e for e in elements if e.name == "player"], games[0].where)
    return Log(
        VARIANTS[KINDS[kind]],
        kind,
        setups,
        squares,
        players,
        *result,
        lines=[element.line for element in moves],
        remarks=tuple(remarks),
        broken=broken,
    )


def _elements(data: bytes, remarks: list[InputError]) -> list[Element]:
    """The elements of the file; an ampersand of a nick may stand there as it is."""
    try:
        return parse_xml(data, _XML_CHILDREN)
    except InputError:
        bare = _BARE_AMPERSAND.search(data)
        if not bare:
            raise
        elements = parse_xml(_BARE_AMPERSAND.sub(b"&amp;", data), _XML_CHILDREN)
        line = data.count(b"\n", 0, bare.start()) + 1
        text = data[bare.start() : bare.start() + 20].decode("utf-8", "replace")
        remarks.append(InputError("& that is not written &amp;", where=f"line {line}", text=text))
        return elements


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
    elements: list[Element], remarks: list[InputError]
) -> tuple[bytes, InputError | None]:
    """Two bytes a move up to the first that cannot be read, and why; a remark if the file J stands
    for K in them."""
    squares = square_bytes(_WIDTH, _HEIGHT)
    moves: list[bytes] = []
    last = -1
    try:
        for element in elements:
            attributes = element.attributes
            try:
                number = int(attributes["id"])
                if str(number) != attributes["id"]:
                    raise ValueError
                move = squares[attributes["source"]] + squares[attributes["target"]]
            except (KeyError, ValueError):
                number, move = _odd_xml_move(element, len(moves) + 1, remarks)
            if not last < number < 10**6:
                what = "moves are not numbered upwards"
                raise InputError(what, where=element.where, text=attributes["id"])
            last = number
            moves.append(move)
    except InputError as error:
        return b"".join(moves), error
    return b"".join(moves), None


def _odd_xml_move(element: Element, count: int, remarks: list[InputError]) -> tuple[int, bytes]:
    number, source, target = (_attribute(element, name) for name in ("id", "source", "target"))
    if not re.fullmatch("[0-9]{1,6}", number):
        raise InputError("moves are not numbered upwards", where=element.where, text=number)
    where, text = f"{element.where}, move {count}", f"{source}-{target}"
    if "J" in text and not any(remark.what.startswith("file J") for remark in remarks):
        remarks.append(InputError("file J, read as K", where=where, text=text))
    return int(number), _move(source.replace("J", "K"), target.replace("J", "K"), where, text)


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


def _move(from_: str, to: str, where: str, text: str) -> bytes:
    try:
        return bytes(parse_square(word, _WIDTH, _HEIGHT) for word in (from_, to))
    except InputError as error:
        raise InputError(error.what, where=where, text=text) from None


def _result(
    ending: str, winner: str, winners: dict[str, int | None], where: str
) -> tuple[str, int | None]:
    """The reason and the winner."""
    if not re.fullmatch("[0-9]{1,2}", ending) or int(ending) not in ENDINGS:
        raise InputError("unknown ending", where=where, text=ending)
    if winner not in winners:
        raise InputError(f"the winner is one of {', '.join(winners)}", where=where, text=winner)
    if int(ending) in _DRAWN and winners[winner] is not None:
        raise InputError(f"{ENDINGS[int(ending)]} has no winner", where=where, text=winner)
    return REASONS[int(ending)], winners[winner]
