"""Reading the newer form of Gravon's logs, `.xml`."""

from __future__ import annotations

import re

from stratkit.engine.stratego import BLUE, RED, VARIANTS
from stratkit.errors import InputError, nearest_or_all, shown
from stratkit.notation.gravon_words import (
    HEIGHT,
    KINDS,
    RESCUES,
    WIDTH,
    read_field,
    read_move,
    read_result,
)
from stratkit.notation.log import FREE, Log
from stratkit.notation.squares import square_bytes
from stratkit.notation.xml import Element, parse_xml

_OTHER_WORDS = {"free": FREE, "freesetup": FREE, "ultimate": RESCUES}
_WINNERS = {"1": RED, "2": BLUE, "3": None}
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_CHILDREN = {
    "": ("stratego",),
    "stratego": ("game",),
    "game": ("field", "move", "player", "result"),
}


def parse_xml_log(data: bytes) -> Log:
    """The log of a file of XML, uninterpreted. `InputError`: nothing of it can be used."""
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
    setups = read_field(_attribute(fields[0], "content"), kind, fields[0].where) if fields else None
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
    result = read_result(ending, winner, _WINNERS, results[0].where, remarks)
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
        return parse_xml(data, _CHILDREN)
    except InputError:
        bare = _BARE_AMPERSAND.search(data)
        if not bare:
            raise
        elements = parse_xml(_BARE_AMPERSAND.sub(b"&amp;", data), _CHILDREN)
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
        hint = nearest_or_all(word, KINDS)
        raise InputError(f"unknown type of game {shown(word)}{hint}", where=game.where)
    return kind


def _xml_moves(
    elements: list[Element], remarks: list[InputError]
) -> tuple[bytes, InputError | None]:
    """Two bytes a move up to the first that cannot be read, and why; a remark if the file J stands
    for K in them."""
    squares = square_bytes(WIDTH, HEIGHT)
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
    return int(number), read_move(source.replace("J", "K"), target.replace("J", "K"), where, text)


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
