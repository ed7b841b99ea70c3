"""One game of Stratego by absolute squares: whose turn it is, what is legal, how it ended.

`stratkit.notation.board.Board` is the same in text.
"""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from stratkit.arguments import checked, integer
from stratkit.arrays import Bytes, Float32s
from stratkit.engine.batch import OVER, Batch
from stratkit.engine.game import Game
from stratkit.engine.stratego import (
    PIECE,
    RED,
    SIDE,
    TYPE,
    Position,
    legal_moves,
    placements,
    variant,
    why_illegal,
)

REPETITION_RULES = ("two_squares", "more_squares")  # as `Game.rules` calls them


class IllegalMove(ValueError):
    """A move that the rules forbid; the text says why."""


class Arbiter:
    """A game in progress on one row of a batch, all its rules in force.

    It begins with the placement of the setups, red's first, or from the position `start`. `actions`
    are the game so far, each in the acting side's frame, as an episode stores them; `batch` is what
    players look at. Raises `InputError` when `game` is no Stratego, or `start` no position of it.
    """

    @checked
    def __init__(self, game: Game, start: Position | None = None) -> None:
        self.game, self.variant, self.start = game, variant(game.name), start
        self.batch = Batch(game, 1)
        self.actions: list[int] = []
        if start:
            self.batch.start(0, start.to_bytes())

    def copy(self) -> Self:
        """The same game, to be played on by itself."""
        other = copy.copy(self)
        other.batch, other.actions = Batch(self.game, 1), self.actions.copy()
        other.batch.copy_row(0, self.batch, 0)
        return other

    # ---- What holds now ----

    @property
    def turn(self) -> int | None:
        """RED or BLUE, who places or moves next; None when the game is over."""
        actor = int(self.batch.actors()[0])
        return None if actor == OVER else actor

    @property
    def deploying(self) -> bool:
        """Whether a side has yet to place pieces."""
        return not self.start and len(self.actions) < 2 * self.variant.pieces

    @property
    def plies(self) -> int:
        """Moves since the start of the game, those before `start` included."""
        return int(self.batch.plies()[0])

    @property
    def ending(self) -> str:
        """The name of the ending, one of `Game.endings`; "" while the game runs."""
        return self.game.endings[int(self.batch.endings()[0])]

    @property
    def returns(self) -> Float32s:
        """float32 [2]: red's and blue's, 1, 0 or -1; zeros while the game runs."""
        both: Float32s = self.batch.returns()[0]
        return both

    @property
    def winner(self) -> int | None:
        """RED, BLUE, or None: nobody (yet)."""
        red, blue = self.returns
        return None if red == blue else int(blue > red)

    def position(self) -> Position:
        """The position between two plies. Raises `ValueError` in deployment, or when a piece is
        selected."""
        return Position.from_bytes(self.variant, self.batch.save(0))

    def pieces(self) -> dict[int, tuple[int, int]]:
        """(side, type) of every piece by its square, between two plies."""
        cells = self.position().cells
        squares = np.flatnonzero(cells & PIECE).tolist()
        return {s: (int(bool(cells[s] & SIDE)), int(cells[s] & TYPE)) for s in squares}

    def legal(self) -> list[tuple[int, int]]:
        """The legal moves (from, to), ascending; none in deployment, or when the game is over."""
        return legal_moves(self.batch, 0)

    @property
    def moves(self) -> list[tuple[int, int]]:
        """(from, to) of every move so far since `start`."""
        first = self.start.side if self.start else RED
        actions = self.actions if self.start else self.actions[2 * self.variant.pieces :]
        pairs = zip(actions[::2], actions[1::2], strict=False)  # a piece may be selected
        return [
            (self.variant.framed(ply % 2, from_), self.variant.framed(ply % 2, to))
            for ply, (from_, to) in enumerate(pairs, first)
        ]

    # ---- Playing ----

    def act(self, action: int) -> None:
        """One action in the acting side's frame. Raises `IllegalAction`."""
        action = integer("action", action, 0, self.game.actions - 1)
        self.batch.apply(np.array([action], np.int32))
        self.actions.append(action)

    @checked
    def deploy(self, setup: Bytes) -> None:
        """Places all pieces of the side whose turn it is, equal ones in ascending order.

        `setup` uint8 [zone]: types in its own view, as in `placements`. Raises `InputError` when
        they are not the variant's, and `ValueError` when this side has begun to place or to move.
        """
        if not self.deploying or len(self.actions) % self.variant.pieces:
            raise ValueError("nobody is to place a whole setup now")
        for action in placements(self.variant, setup).tolist():
            self.act(action)

    @checked
    def move(self, from_: int, to: int) -> None:
        """One ply. Raises `IllegalMove`, and leaves the game as it was."""
        if why := self.why_illegal(from_, to):
            raise IllegalMove(why)
        side = self.turn or RED
        for square in (from_, to):
            self.act(self.variant.framed(side, square))

    @checked
    def why_illegal(self, from_: int, to: int) -> str:
        """Why a move is not legal, in words; "" when it is."""
        if (from_, to) in self.legal():
            return ""
        if self.turn is None:
            return f"the game is over ({self.ending})"
        if self.deploying:
            return "the setups are not complete"
        if rule := self.broken_rule(from_, to):
            return f"the {rule.replace('_', '-')} rule forbids it"
        return why_illegal(self.position(), from_, to)

    @checked
    def broken_rule(self, from_: int, to: int) -> str:
        """The repetition rule, of `REPETITION_RULES`, that alone forbids a move between two plies;
        of two that do, the first; "" where none does."""
        if (from_, to) in self.legal() or (from_, to) not in self.position().legal():
            return ""
        for rule in REPETITION_RULES:
            other = Arbiter(Game(self.game.name, {**self.game.rules, rule: 0}), self.start)
            for action in self.actions:
                other.act(action)
            if (from_, to) in other.legal():
                return rule
        return REPETITION_RULES[0]  # both do
