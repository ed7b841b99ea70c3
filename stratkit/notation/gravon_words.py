"""Gravon's words: types of games, endings, winners; what both forms of its logs share."""

from __future__ import annotations

import re

from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError, error_context
from stratkit.notation.log import FREE
from stratkit.notation.setups import Setup, parse_field
from stratkit.notation.squares import parse_square

# Gravon's words for the types of games, in the order of .gsn's numbers, and the variants they are.
KINDS = {
    "classic": "classic",
    "barrage": "barrage",
    FREE: "classic",
    "ultimate lightning": "ultimate",
    "duell": "duel",
}
RESCUES = "ultimate lightning"

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
FORFEIT, TIE_AGREED = 3, 4
_DRAWN = (2, TIE_AGREED)  # endings that have no winner

# The endings in one word: the engine's where it has one, else as `tie_agreed`.
REASONS = {
    code: {0: "no_legal_move", 1: "flag_captured", 2: "no_movable_pieces"}.get(
        code, text.replace("'", "").replace(" ", "_")
    )
    for code, text in ENDINGS.items()
}

BOARD = WIDTH, HEIGHT = 10, 10  # Gravon has no other


def read_field(text: str, kind: str, where: str) -> tuple[Setup, Setup]:
    """Both setups of a field of a log of this kind. `InputError`, at `where`: it is none."""
    with error_context(None, where):
        return parse_field(text, VARIANTS[KINDS[kind]], free=kind == FREE)


def read_move(from_: str, to: str, where: str, text: str) -> bytes:
    """The squares of a move, two bytes. `InputError`, at `where`: `from_` or `to` is none."""
    try:
        return bytes(parse_square(word, WIDTH, HEIGHT) for word in (from_, to))
    except InputError as error:
        raise InputError(error.what, where=where, text=text) from None


def read_result(
    ending: str,
    winner: str,
    winners: dict[str, int | None],
    where: str,
    remarks: list[InputError],
) -> tuple[str, int | None]:
    """The reason and the winner."""
    if not re.fullmatch("[0-9]{1,2}", ending) or int(ending) not in ENDINGS:
        raise InputError("unknown ending", where=where, text=ending)
    if winner not in winners:
        raise InputError(f"the winner is one of {', '.join(winners)}", where=where, text=winner)
    if int(ending) in _DRAWN and winners[winner] is not None:
        wrong = InputError(f"{ENDINGS[int(ending)]} has no winner", where=where, text=winner)
        if int(ending) != TIE_AGREED:
            raise wrong
        remarks.append(wrong)  # a few real games have one
    return REASONS[int(ending)], winners[winner]
