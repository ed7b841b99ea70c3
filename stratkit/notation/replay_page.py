"""Games as one HTML file in which they can be stepped through, and which needs nothing else."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

from stratkit.engine.stratego import TYPES, Position
from stratkit.errors import printable
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.play import Played, move_texts
from stratkit.notation.squares import LETTER_ORDER, RANKS
from stratkit.pages import part

_TEMPLATE = pathlib.Path(__file__).with_name("replay.html")


def board_parts() -> tuple[str, str]:
    """Style and script of the board (class `Board`), for every page that draws one."""
    style, script = (_TEMPLATE.with_name(f"board.{kind}") for kind in ("css", "js"))
    return style.read_text("utf-8"), script.read_text("utf-8")


@dataclass(frozen=True)
class Shown:
    """A game to be shown. Texts may hold anything: they reach the page only as escaped text.

    played     played out, with its boards
    title      what a list of games calls it
    result     how it ended
    analysis   records of an analysis (formats/analysis.md), or none
    analyst    whose they are
    go_on      the command by which a person goes on from ply `PLY` of it; "": there is none
    """

    played: Played
    title: str
    result: str
    analysis: Sequence[Mapping[str, Any]] = ()
    analyst: str = ""
    go_on: str = ""


def replay_page(shown: Sequence[Shown]) -> str:
    """The page of these games, one at least."""
    page = _page(shown)
    next(page.iter("title")).text = printable(" – ".join(shown[0].played.log.players))
    return "<!DOCTYPE html>\n" + tostring(page, encoding="unicode", method="html") + "\n"


def unfilled_page(mark: str) -> str:
    """The page with `mark` where its games belong: JSON, as `replay_page` has it, with no `<`."""
    return "<!DOCTYPE html>\n" + tostring(_filled(mark), encoding="unicode", method="html") + "\n"


def viewer(shown: Sequence[Shown]) -> tuple[str, Element]:
    """A viewer of these games, one at least, for a page of others: its style, and the element that
    goes into the body. It runs inline scripts, and all its identifiers are its own."""
    page = _page(shown)
    look, section = (page.find(path) for path in (".//style[@id='look']", ".//section"))
    assert look is not None and look.text and section is not None
    return look.text, section


def _page(shown: Sequence[Shown]) -> Element:
    data = {
        "ranks": [RANKS[TYPES.index(name)] for name in LETTER_ORDER],
        "games": [_game(one) for one in shown],
    }
    return _filled(in_script(data))


def in_script(data: Any) -> str:
    """JSON for a page's script. Its text is not escaped, and `<` must not end it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _filled(text: str) -> Element:
    page = fromstring(_TEMPLATE.read_text("utf-8"))
    style, script = board_parts()
    for path, text_of in (
        (".//script[@id='games']", text),
        (".//script[@id='board-code']", script),
        (".//script[@id='analysis-code']", _TEMPLATE.with_name("analysis.js").read_text("utf-8")),
        (".//style[@id='look']", style),
        (".//style[@id='page']", part("page.css")),
    ):
        place = page.find(path)
        assert place is not None
        place.text = text_of + (place.text or "")
    return page


def _game(shown: Shown) -> dict[str, Any]:
    played = shown.played
    log, variant = played.log, played.log.variant
    boards = [_squares(played.position(ply)) for ply in range(len(played.boards))]
    return {
        "width": variant.width,
        "height": variant.height,
        "title": printable(shown.title),
        "players": [printable(nick) for nick in log.players],
        "result": printable(shown.result),
        "first": log.mover(0),
        "texts": move_texts(played),
        "moves": [list(log.moves[at : at + 2]) for at in range(0, len(log.moves), 2)],
        "board": boards[0],
        "changes": [list(_changes(before, after)) for before, after in pairwise(boards)],
        "analyst": printable(shown.analyst),
        "go_on": printable(shown.go_on),
        "analysis": [_printable(one) for one in shown.analysis],
    }


def _printable(value: Any) -> Any:
    """A record, its texts as a page may show them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: _printable(one) for key, one in value.items()}
    return [_printable(one) for one in value] if isinstance(value, list) else value


def _squares(position: Position) -> list[str]:
    """What the observer sees on each square: a letter of FENfS, and `*` if it has moved."""
    seen = fenfs_of(position, extended=True)
    moved = set(seen.moved or ())
    return [letter + "*" * (square in moved) for square, letter in enumerate(seen.board)]


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[int | str]:
    """Each square that is not what it was, and what it is now."""
    for square, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            yield from (square, new)
