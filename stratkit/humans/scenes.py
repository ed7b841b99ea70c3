"""What a person may know, as JSON for a page: boards as `board.js` draws them, and all that stands
beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stratkit.engine.stratego import (
    BLUE,
    LAKE,
    MOVED,
    PIECE,
    RED,
    REVEALED,
    SIDE,
    TYPE,
    TYPES,
    UNKNOWN,
    Position,
    Variant,
)
from stratkit.humans.choice import SEATS, Choice
from stratkit.humans.observed_game import Counts, Offer, Ply, Turn
from stratkit.humans.phase import Phase
from stratkit.notation.squares import RANKS, move_text
from stratkit.players.player import Explanation

SIDES = ("red", "blue")
BEST = 5  # moves of advice


def offer_scene(offer: Offer) -> dict[str, Any]:
    """A setup that the person may take; `zone` are the squares that it may use."""
    variant = offer.variant
    zone = [variant.framed(offer.side, square) for square, may in enumerate(variant.places) if may]
    shown = _board(offer.position, offer.side, offer.game)
    return {"kind": "offer", **shown, "zone": zone, "favourites": list(offer.favourites)}


def choice_scene(choice: Choice) -> dict[str, Any]:
    """A turn in a game of single actions: `actions` by name, each with its cell where there are
    `cells`."""
    cells = choice.cells
    return {
        "kind": "choice",
        "game": choice.game + 1,
        "side": SEATS[choice.side],
        "column": choice.column,
        "facts": choice.facts.splitlines(),
        "cells": cells and {"size": cells.size, "stones": cells.stones, "slanted": cells.slanted},
        "actions": choice.actions,
        "resigns": choice.resigns,
    }


def phase_scene(phase: Phase) -> dict[str, Any]:
    """A power's phase: the map with its orders as SVG, what came of the phases before, and the
    legal orders of each unit."""
    return {
        "kind": "phase",
        "game": phase.game + 1,
        "side": phase.power,
        "phase": phase.name,
        "asks": phase.asks,
        "default": phase.default,
        "map": phase.picture,
        "standing": phase.standing,
        "past": [[name, list(lines)] for name, lines in phase.past],
        "new": phase.new,
        "orders": phase.texts,
        "units": [
            [text, phase.legal(p), phase.text(p, phase.orders[p]) if p in phase.orders else ""]
            for p, text in phase.units.items()
        ],
        "resigns": phase.resigns,
    }


def turn_scene(turn: Turn) -> dict[str, Any]:
    """The person's turn; `log` has the moves so far, [text, from, to, whether it was a fight, its
    text as `ply_text` writes it]."""
    variant, side = turn.position.variant, turn.side
    return {
        "kind": "turn",
        **_board(turn.position, side, turn.game),
        "ply": turn.position.plies,
        "moves": [list(move) for move in turn.moves],
        "last": turn.last,
        "new": turn.new,
        "log": _log(turn.plies, side, variant),
        "lost": {SIDES[of]: _ranks(turn.lost[of]) for of in (RED, BLUE)},
        "hidden": _ranks(turn.hidden),
        "draw": turn.draw,
    }


def public_scene(turn: Turn) -> dict[str, Any]:
    """What both sides know at a turn: nothing of it depends on a hidden piece. `log` names a piece
    only where it fought."""
    variant, position = turn.position.variant, turn.position
    cells = position.cells.copy()
    secret = (cells & PIECE != 0) & (cells & REVEALED == 0)
    own = cells[secret & (cells & SIDE == turn.side * SIDE)] & TYPE
    hidden = {turn.side: np.bincount(own, minlength=len(TYPES)), 1 - turn.side: turn.hidden}
    cells[secret] |= UNKNOWN  # all bits of a type
    public = Position(variant, cells, position.side, position.plies)
    plies = [ply if ply.enemy is not None else replace(ply, piece=UNKNOWN) for ply in turn.plies]
    return {
        "kind": "watch",
        **_board(public, RED, turn.game),
        "turn": SIDES[turn.side],
        "ply": position.plies,
        "moves": [],
        "last": turn.last,
        "new": min(1, len(plies)),
        "log": _log(plies, None, variant),
        "lost": {SIDES[of]: _ranks(turn.lost[of]) for of in (RED, BLUE)},
        "hidden": {SIDES[of]: _ranks(hidden[of]) for of in (RED, BLUE)},
    }


def advice_scene(turn: Turn, advice: Explanation) -> dict[str, Any]:
    """What another player thinks of the turn: the value, and its best moves, [text, from, to,
    probability in per cent]."""
    variant, policy = turn.position.variant, advice.stages[-1][1]
    best = np.argsort(-policy, kind="stable")[:BEST].tolist()
    framed = [advice.moves[at] for at in best]
    moves = [tuple(variant.framed(turn.side, square) for square in move) for move in framed]
    return {
        "value": None if advice.value is None else round(float(advice.value), 3),
        "moves": [
            [move_text(start, end, variant.width), start, end, round(100 * float(policy[at]), 1)]
            for (start, end), at in zip(moves, best, strict=True)
        ],
    }


def _board(position: Position, side: int, game: int) -> dict[str, Any]:
    variant = position.variant
    return {
        "game": game + 1,
        "side": SIDES[side],
        "width": variant.width,
        "height": variant.height,
        "board": [_square(int(cell)) for cell in position.cells],
    }


def _log(plies: Sequence[Ply], side: int | None, variant: Variant) -> list[list[Any]]:
    """The moves so far, to who plays `side`; None: who plays neither."""
    return [
        [ply.told(side, variant), ply.start, ply.end, ply.enemy is not None, ply.text(variant)]
        for ply in plies
    ]


def _square(cell: int) -> dict[str, Any] | str | None:
    if not cell & PIECE:
        return "lake" if cell == LAKE else None
    type_, moved, known = cell & TYPE, bool(cell & MOVED), bool(cell & REVEALED)
    hidden = type_ == UNKNOWN
    return {
        "side": SIDES[bool(cell & SIDE)],
        "text": ("•" if moved else "") if hidden else RANKS[type_],
        "name": ("a piece that has moved" if moved else "a piece") if hidden else TYPES[type_],
        "known": known,
    }


def _ranks(counts: Counts) -> list[list[Any]]:
    """The ranks of which there are any, the strongest first, each with its number."""
    order = [*range(10, 0, -1), 11, 0]
    return [[RANKS[type_], int(counts[type_])] for type_ in order if counts[type_]]
