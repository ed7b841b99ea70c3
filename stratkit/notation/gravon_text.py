"""Writing Gravon's log files, in the canonical form of formats/gravon.md."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from stratkit.engine.stratego import BLUE, RED
from stratkit.errors import InputError
from stratkit.notation.gravon_words import BOARD, FORFEIT, KINDS, REASONS, TIE_AGREED
from stratkit.notation.log import Log
from stratkit.notation.setups import field_text
from stratkit.notation.squares import move_words

_CODES = {reason: code for code, reason in REASONS.items()}
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_GSN_WINNERS = {RED: 0, BLUE: 1, None: 2}
_XML_WINNERS = {RED: 1, BLUE: 2, None: 3}
# What a line, or XML 1.0, has no place for.
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def gsn_text(log: Log) -> str:
    """The log as a .gsn file; raises `InputError` for a variant that Gravon does not have."""
    word, version = log.stamp
    head = [f"#{word} Stratego-Notation v{version}", f"type {_NUMBERS[_kind(log)]}"]
    field = [_field(log)] if log.setups is not None else []
    moves = list(move_words(log.moves, log.variant.width, log.variant.height, "-"))
    for at, text in reversed(log.rescues):
        moves.insert(at, text)
    red, blue = map(_nick, log.players)
    result = f"{red} vs {blue} result {_code(log)} winner {_GSN_WINNERS[log.winner]}"
    return "\n".join([*head, *field, *moves, "END", result, ""])


def xml_text(log: Log) -> str:
    """The log as an .xml file; raises `InputError` for a variant that Gravon does not have."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<stratego>"]
    lines.append(f' <game type="{_kind(log)}">')
    if log.setups is not None:
        lines.append(f'  <field content="{_field(log)}"/>')
    moves = move_words(log.moves, log.variant.width, log.variant.height, '" target="')
    lines += [f'  <move id="{n}" source="{move}"/>' for n, move in enumerate(moves, 1)]
    for number, nick in enumerate(log.players, 1):
        lines.append(f'  <player id="{number}">{escape(_nick(nick).strip())}</player>')
    lines.append(f'  <result type="{_code(log)}" winner="{_XML_WINNERS[log.winner]}"/>')
    return "\n".join([*lines, " </game>", "</stratego>", ""])


def losses(log: Log, form: str) -> list[str]:
    """What of the log its text in `form`, gsn or xml, does not say as the log does."""
    lost = []
    if log.reason not in _CODES:
        nearest = REASONS[_code(log)].replace("_", " ")
        lost.append(f"Gravon has no ending {log.reason!r}: {nearest} is written")
    if any(map(_CONTROL.search, log.players)):
        lost.append("control characters of a nick are written as \ufffd")
    if form == "gsn" and " vs " in f"{log.players[0]} vs"[:-1]:
        lost.append("red's nick has ' vs ' in it: readers will cut it there")
    if form == "xml" and log.rescues:
        lost.append(f"{len(log.rescues)} rescues, which .xml does not have, are left out")
    return lost


def _kind(log: Log) -> str:
    """Gravon's word for the type of game."""
    if not log.kind or (log.variant.width, log.variant.height) != BOARD:
        raise InputError(f"Gravon has no {log.variant.name}")
    return log.kind


def _field(log: Log) -> str:
    assert log.setups is not None
    return field_text(log.variant, *log.setups)


def _code(log: Log) -> int:
    """The ending; one that Gravon does not have is told as a tie agreed, or as a forfeit."""
    return _CODES.get(log.reason, TIE_AGREED if log.winner is None else FORFEIT)


def _nick(text: str) -> str:
    return _CONTROL.sub("\ufffd", text)
