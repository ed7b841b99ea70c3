"""A game of Stratego so far, as a player knows it: which piece stood where at the start.

Moves are public. Of the other side's placements those are public whose pieces are revealed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stratkit.arguments import Player, checked, fitting, within
from stratkit.engine.batch import Batch
from stratkit.engine.game import Game
from stratkit.engine.stratego import (
    LOSES,
    NO_PIECE,
    PIECE,
    PLACING_ORDER,
    REVEALED,
    SIDE,
    TYPE,
    VARIANTS,
    WINS,
    Variant,
    fight,
)
from stratkit.errors import InputError

UNKNOWN = -1  # an action that a player does not know

Actions = npt.NDArray[np.int32]


@dataclass
class Walk:
    """The pieces of a game by their start squares (absolute). A piece that is not known and has not
    moved is in none of them.

        kind       the variant
        types      types of the pieces that are known
        revealed   pieces whose type both sides know
        at         by square, the start square of the piece that stands there now
    """

    kind: Variant
    types: dict[int, int] = field(default_factory=dict)
    revealed: set[int] = field(default_factory=set)
    at: dict[int, int] = field(default_factory=dict)

    @classmethod
    @checked
    def of(cls, kind: Variant, actions: Actions, open_types: int = 0) -> Walk:
        """A game of these actions, int32 [k], `UNKNOWN` where they are not known, under the rule
        `open`. `InputError`: they are no legal game."""
        walk, pieces = cls(kind), kind.pieces
        fitting("actions", actions, (None,))
        within("actions", actions, UNKNOWN, kind.squares - 1)
        for number, square in enumerate(actions[: 2 * pieces].tolist()):
            if square != UNKNOWN:
                start = kind.framed(number // pieces, square)
                walk.types[start] = _order(kind)[number % pieces]
                walk.at[start] = start
                if open_types >> walk.types[start] & 1:
                    walk.revealed.add(start)
        moves = actions[2 * pieces :].tolist()
        for ply in range(len(moves) // 2):
            start, end = (kind.framed(ply % 2, square) for square in moves[2 * ply : 2 * ply + 2])
            walk._move(start, end)
        return walk

    def _move(self, start: int, end: int) -> None:
        piece = self.at.pop(start, start)
        if abs(start - end) not in (1, self.kind.width):
            self.revealed.add(piece)  # a scout
        other = self.at.get(end)
        if other is None:
            self.at[end] = piece
            return
        if piece not in self.types or other not in self.types:
            raise InputError("a piece of unknown type in an attack: this is no legal game")
        self.revealed |= {piece, other}
        outcome = fight(self.types[piece], self.types[other])
        if outcome == WINS:
            self.at[end] = piece
        elif outcome != LOSES:
            del self.at[end]

    @checked
    def setups(self, worlds: Batch, side: Player) -> npt.NDArray[np.uint8]:
        """The setup of `side` in each of some worlds of this game, uint8 [n, zone], in its view."""
        kind = self.kind
        if worlds.game.name != kind.name:
            raise ValueError(f"worlds must be of {kind.name}, not of {worlds.game.name}")
        try:
            saved = [worlds.save(i) for i in range(worlds.size)]
        except ValueError as error:
            raise ValueError(f"worlds: {error}") from None
        cells = np.stack([np.frombuffer(one, np.uint8, kind.squares) for one in saved])
        mine = (cells[0] & (PIECE | SIDE | REVEALED)) == PIECE | side * SIDE
        hidden = np.flatnonzero(mine)
        starts = [self.at.get(square, square) for square in hidden.tolist()]
        out = np.full((worlds.size, kind.squares), NO_PIECE, np.uint8)
        for start in self.types:
            if kind.framed(side, start) < kind.zone:
                out[:, kind.framed(side, start)] = self.types[start]
        out[:, [kind.framed(side, start) for start in starts]] = cells[:, hidden] & TYPE
        return out[:, : kind.zone]


def _order(kind: Variant) -> list[int]:
    return [t for t in PLACING_ORDER for _ in range(kind.counts[t])]


@checked
def placing_actions(kind: Variant, setups: npt.NDArray[np.uint8]) -> Actions:
    """The actions that place each of some setups, int32 [n, pieces], as `placements` has them.
    uint8 [n, zone]. `InputError`: a setup has other pieces."""
    fitting("setups", setups, (None, kind.zone))
    place = np.full(256, 255, np.uint8)
    place[list(PLACING_ORDER)] = np.arange(len(PLACING_ORDER))
    order = np.argsort(place[setups], axis=1, kind="stable")[:, : kind.pieces]
    places = np.take_along_axis(setups, order, axis=1)
    if (places != _order(kind)).any() or ((setups != NO_PIECE).sum(1) != kind.pieces).any():
        raise InputError("a world's pieces are not the variant's: this is no legal game")
    return order.astype(np.int32)


@checked
def known_actions(game: Game, actions: Actions, player: Player) -> Actions | None:
    """The actions of a game so far, int32 [k], as `player` knows them: `UNKNOWN` where it does not.

    In Stratego all moves are public, and so are placements of revealed pieces. Of pieces of one
    type the revealed ones come first, by square: in which order they were placed is not public.
    None: of this game it cannot be told action by action.
    """
    kind = VARIANTS.get(game.name)
    if kind is None:
        return None
    fitting("actions", actions, (None,))
    within("actions", actions, UNKNOWN, kind.squares - 1)
    known = actions.copy()
    first = kind.pieces * (1 - player)  # red deploys first
    theirs = slice(first, first + kind.pieces)
    known[theirs] = UNKNOWN
    if len(actions) < 2 * kind.pieces:
        return known
    walk = Walk.of(kind, actions, game.rules.get("open", 0))
    order = np.array(_order(kind))
    for type_ in PLACING_ORDER:
        places = first + np.flatnonzero(order == type_)
        squares = sorted(
            int(square)
            for square in actions[places]
            if kind.framed(1 - player, int(square)) in walk.revealed
        )
        known[places[: len(squares)]] = squares
    return known


@checked
def past_actions(game: Game, actions: Actions) -> Actions:
    """Of a game's actions so far, int32 [k], those before the simultaneous turn that goes on. Where
    players move in turn there are none. `ValueError`: they are no legal game."""
    fitting("actions", actions, (None,))
    within("actions", actions, 0, game.actions - 1)
    batch, first, turn = Batch(game, 1), 0, -1
    for at, action in enumerate(actions):
        if batch.turns()[0] != turn:
            first, turn = at, batch.turns()[0]
        batch.apply(np.array([action], np.int32))
    goes_on = batch.actors()[0] >= 0 and batch.turns()[0] == turn
    return actions[:first] if goes_on else actions
