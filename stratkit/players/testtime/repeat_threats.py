"""No pointless threats (Perolat et al. 2022, supplement, "Avoid repetitive play").

To threaten is to step beside an enemy piece without attacking. A piece that goes back and forth
between two squares while the other evades to and fro beside it stays with it in one region of 2 x 2
squares. Three such threats are allowed, as by the two-squares rule; after that, of the same two
pieces in the same region, only single ones: a move is pointless if all that it threatens are pieces
that the move before has threatened there.
"""

from __future__ import annotations

from collections.abc import Sequence

from stratkit.engine.stratego import PIECE
from stratkit.players.side_board import OTHER, SideBoard

ALLOWED = 3

Threat = tuple[int, int, int]  # own piece, enemy piece, lowest square of the region


class Threats:
    """What one side has threatened in a game."""

    def __init__(self) -> None:
        self._made: dict[Threat, int] = {}
        self._last: list[Threat | None] = []  # by the ply before

    def note(self, before: SideBoard, pieces: Sequence[int], start: int, end: int) -> None:
        """Takes note of an own ply."""
        self._last = threats(before, pieces, start, end)
        for threat in self._last:
            if threat is not None:
                self._made[threat] = self._made.get(threat, 0) + 1

    def pointless(self, board: SideBoard, pieces: Sequence[int], start: int, end: int) -> bool:
        """Whether the own ply would only go on threatening what has evaded often enough."""
        made = threats(board, pieces, start, end)
        return bool(made) and all(
            threat is not None and threat in self._last and self._made[threat] >= ALLOWED
            for threat in made
        )


def threats(board: SideBoard, pieces: Sequence[int], start: int, end: int) -> list[Threat | None]:
    """What an own ply threatens; None where step and enemy are not in one region."""
    if board.cells[end] & PIECE or board.is_long(start, end):
        return []
    return [
        _threat(board, pieces, start, end, enemy)
        for enemy in board.neighbours(end)
        if board.cells[enemy] & PIECE and board.side(enemy) == OTHER
    ]


def _threat(
    board: SideBoard, pieces: Sequence[int], start: int, end: int, enemy: int
) -> Threat | None:
    squares = (start, end, enemy)
    files = {square % board.width for square in squares}
    ranks = {square // board.width for square in squares}
    if len(files) > 2 or len(ranks) > 2:
        return None
    corner = board.width * min(ranks) + min(files)
    return pieces[start], pieces[enemy], corner
