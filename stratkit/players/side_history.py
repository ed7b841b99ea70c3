"""One game of Stratego as one side sees it, from one of its turns to the next.

An observation shows the last plies, but not the type of the piece that the own ply attacked. A side
that looks at each of its turns misses nothing: the two plies since then can be told in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stratkit.engine.observation import MOVES, NO_SQUARE, PLIES, number
from stratkit.engine.stratego import SCOUT, TYPE, UNKNOWN
from stratkit.players.side_board import OTHER, OWN, SideBoard


@dataclass(frozen=True)
class SeenPly:
    """A ply, in the frame of the side that sees it.

    side           whose it is, `OWN` or `OTHER`
    start, end     squares
    piece          type of the piece that moved, or `UNKNOWN`
    enemy          type of the piece that it attacked; None: it attacked none
    before, after  positions
    """

    side: int
    start: int
    end: int
    piece: int
    enemy: int | None
    before: SideBoard
    after: SideBoard


@dataclass
class SideHistory:
    """A game at the last turn of a side.

    plies  played before that turn
    board  its position
    """

    plies: int
    board: SideBoard

    def follow(self, packed: bytes) -> tuple[SeenPly, SeenPly]:
        """The own ply and the enemy's answer, up to the turn with this observation: the next one,
        which is the last one from now on."""
        before, after = self.board, SideBoard.of(self.board.width, self.board.height, packed)
        start, end, attacker = packed[MOVES + 3 : MOVES + 6]
        answer, target, answering = packed[MOVES : MOVES + 3]
        enemy = None if attacker == NO_SQUARE else before.cells[end] & TYPE
        if enemy == UNKNOWN:
            revealed = None
            if answer != end and before.hidden(answer):
                if answering != NO_SQUARE:
                    revealed = answering
                elif before.is_long(answer, target):
                    revealed = SCOUT
            enemy = _attacked_type(before.unrevealed[OTHER], after.unrevealed[OTHER], revealed)
        between = before.play(start, end, defender=enemy or 0)
        piece, met = answering, None
        if answering == NO_SQUARE:
            piece = after.cells[target] & TYPE
        else:
            met = between.cells[target] & TYPE
        self.plies, self.board = number(packed, PLIES), after
        return (
            SeenPly(OWN, start, end, before.cells[start] & TYPE, enemy, before, between),
            SeenPly(OTHER, answer, target, piece, met, between, after),
        )


def _attacked_type(before: Sequence[int], now: Sequence[int], revealed: int | None) -> int:
    """The type of the hidden piece that the own ply attacked.

    before, now  [12] hidden enemy pieces of each type, at the own turn and at the next
    revealed     type of the hidden piece that the enemy's answer revealed; None: it revealed none

    The attacked piece is the other one that is missing. Type 0: none is.
    """
    missing = [old - new for old, new in zip(before, now, strict=True)]
    if revealed is not None:
        missing[revealed] -= 1
    return missing.index(1) if 1 in missing else 0
