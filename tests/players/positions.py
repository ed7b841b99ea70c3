"""Positions written as FENfS, as one side sees them, and plies played from there."""

from __future__ import annotations

import numpy as np

from stratkit.engine import Batch, Game
from stratkit.engine.stratego import MOVED, RED, Position
from stratkit.notation.fenfs import parse_fenfs, position
from stratkit.notation.squares import parse_move, parse_square
from stratkit.players.player import Views
from stratkit.players.side_board import SideBoard


def mini(pieces: str, side: str = "r", ply: int = 0) -> str:
    """The FENfS of `M:A1 l:C3 ...` on the board of 6 x 6."""
    board = ["a"] * 36
    for word in pieces.split():
        letter, _, at = word.partition(":")
        board[6 * (int(at[1]) - 1) + "ABCDEF".index(at[0])] = letter
    return f"{''.join(board)} {side} {ply}"


class Scene:
    """A game of `mini` from the pieces of an observer's FENfS, as `M:A1 l:C3`: capitals are hidden.
    Pieces on the squares named in `moved` have moved."""

    def __init__(self, pieces: str, moved: str = "", ply: int = 0, **rules: int) -> None:
        text = mini(pieces, ply=ply)
        fenfs = parse_fenfs(text)
        start = position(fenfs)
        cells = start.cells.copy()
        self.variant = fenfs.variant
        for word in moved.split():
            cells[self.square(word)] |= MOVED
        self.game = Game(self.variant.name, rules or None)
        self.batch = Batch(self.game, 1)
        self.batch.start(0, Position(self.variant, cells, fenfs.side, fenfs.ply, 0).to_bytes())
        self.number = 0

    def square(self, word: str) -> int:
        """An absolute square."""
        return parse_square(word, self.variant.width, self.variant.height)

    @property
    def side(self) -> int:
        return int(self.batch.actors()[0])

    def seen(self, word: str) -> int:
        """A square as the side to move sees it."""
        at = self.square(word)
        return at if self.side == RED else self.variant.squares - 1 - at

    def move(self, text: str) -> tuple[int, int]:
        """A move, `A1A2`, as the side to move sees it."""
        start, end = parse_move(text, self.variant.width, self.variant.height)
        last = self.variant.squares - 1
        return (start, end) if self.side == RED else (last - start, last - end)

    def play(self, *moves: str) -> None:
        """Plays moves, of both sides in turn."""
        for text in moves:
            for action in self.move(text):
                self.batch.apply(np.array([action], np.int32))
                self.number += 1

    def packed(self) -> bytes:
        return self.batch.observe()[0].tobytes()

    def board(self) -> SideBoard:
        return SideBoard.of(self.variant.width, self.variant.height, self.packed())

    def views(self) -> Views:
        """What the side to move sees."""
        return Views.of_one(self.batch, 0, self.number)
