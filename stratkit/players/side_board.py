"""A position as one side sees it, on which moves can be played: to look ahead, and to look back.

"Own" is the side that looks, "enemy" the other one. Squares and cells are those of a packed
observation (formats/observation.md).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from stratkit.engine.observation import CELLS, ENEMY_UNREVEALED, ONLY_ATTACKS, OWN_UNREVEALED
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LAKE,
    LOSES,
    MOVED,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    WINS,
    fight,
)

ENEMY = SIDE
OWN, OTHER = 0, 1  # whose pieces

Squares = tuple[int, ...]
Bytes = bytes | bytearray


def _cells(mask: int, value: int) -> re.Pattern[bytes]:
    """Finds the cells with these bits; thousands of boards are searched for one decision, and
    this is several times as fast as a loop over their squares."""
    matching = bytes(cell for cell in range(256) if cell & mask == value)
    return re.compile(b"[" + re.escape(matching) + b"]")


# Of either side, own first.
PIECES = [_cells(PIECE | ENEMY, PIECE | side) for side in (0, ENEMY)]
UNMOVED = [_cells(PIECE | ENEMY | REVEALED | MOVED, PIECE | side) for side in (0, ENEMY)]


@functools.cache
def rays(width: int, height: int) -> list[tuple[Squares, ...]]:
    """From each square the squares in the four directions, up to the edge of the board."""

    def ray(file: int, rank: int, right: int, up: int) -> Squares:
        squares = []
        while 0 <= (file := file + right) < width and 0 <= (rank := rank + up) < height:
            squares.append(width * rank + file)
        return tuple(squares)

    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return [
        tuple(filter(None, (ray(square % width, square // width, *step) for step in steps)))
        for square in range(width * height)
    ]


class SideBoard:
    """A position as one side sees it. Types of the enemy's hidden pieces are not known; own ones
    are.

        cells       [squares] as in an observation
        unrevealed  of each side, own first: the number of unrevealed pieces by type
        rays        by square: the squares in each direction
    """

    def __init__(self, width: int, height: int, cells: Bytes, unrevealed: Sequence[Bytes]) -> None:
        self.width, self.height = width, height
        self.cells = bytearray(cells)
        self.unrevealed = [bytearray(counts) for counts in unrevealed]
        self.rays = rays(width, height)

    @classmethod
    def of(cls, width: int, height: int, packed: bytes) -> SideBoard:
        """The position of a packed observation of play."""
        own, enemy = packed[OWN_UNREVEALED:ENEMY_UNREVEALED], packed[ENEMY_UNREVEALED:ONLY_ATTACKS]
        return cls(width, height, packed[CELLS:], [own, enemy])

    def side(self, square: int) -> int:
        """Whose piece stands there."""
        return int(bool(self.cells[square] & ENEMY))

    def pieces(self, side: int) -> Iterator[int]:
        """The squares of a side's pieces."""
        return (match.start() for match in PIECES[side].finditer(self.cells))

    def neighbours(self, square: int) -> list[int]:
        """The squares beside it."""
        return [ray[0] for ray in self.rays[square]]

    def hidden(self, square: int) -> bool:
        """Whether a piece stands there that one side does not know."""
        return self.cells[square] & (PIECE | REVEALED) == PIECE

    def possible(self, square: int) -> list[int]:
        """The types that the piece there may have, for all that both sides know."""
        cell = self.cells[square]
        if cell & REVEALED:
            return [cell & TYPE]
        counts = self.unrevealed[self.side(square)]
        movable = [t for t in range(FLAG + 1, BOMB) if counts[t]]
        if cell & MOVED:
            return movable
        still = [t for t in (FLAG, BOMB) if counts[t]]
        unmoved = len(UNMOVED[self.side(square)].findall(self.cells))
        return still + movable if unmoved > sum(counts[t] for t in still) else still

    def known_movable(self, square: int) -> bool:
        """Whether both sides know that the piece there can move."""
        cell = self.cells[square]
        if cell & REVEALED:
            return cell & TYPE not in (FLAG, BOMB)
        return bool(cell & MOVED)

    def reach(self, square: int, far: bool) -> Iterator[int]:
        """Where a piece of that square's side could go: beside it, or `far` like a scout."""
        side = self.side(square)
        for ray in self.rays[square]:
            for target in ray if far else ray[:1]:
                cell = self.cells[target]
                if cell == LAKE or (cell & PIECE and self.side(target) == side):
                    break
                yield target
                if cell & PIECE:
                    break

    def attackers(self, square: int) -> Iterator[tuple[int, bool]]:
        """Pieces of the other side from which the piece on `square` can be reached: their squares,
        and whether only a scout could do it."""
        side = self.side(square)
        for ray in self.rays[square]:
            for distance, origin in enumerate(ray):
                cell = self.cells[origin]
                if cell & PIECE and self.side(origin) != side:
                    yield origin, distance > 0
                if cell:
                    break

    def is_long(self, start: int, end: int) -> bool:
        """Whether a move is longer than one square."""
        return abs(start - end) not in (1, self.width)

    def play(self, start: int, end: int, attacker: int = 0, defender: int = 0) -> SideBoard:
        """The board after a ply of either side; `attacker` and `defender` are the types of an
        enemy's piece that an attack reveals."""
        after = SideBoard(self.width, self.height, self.cells, self.unrevealed)
        cells = after.cells
        if not cells[end] & PIECE:
            if self.is_long(start, end):
                after._reveal(start, SCOUT)
            cells[end] = cells[start] | MOVED
            cells[start] = 0
            return after
        first, second = after._reveal(start, attacker), after._reveal(end, defender)
        outcome = fight(first, second)
        if outcome != LOSES:
            cells[end] = cells[start] | MOVED if outcome == WINS else 0
        cells[start] = 0
        return after

    def _reveal(self, square: int, kind: int) -> int:
        """Makes the piece known to both; returns its type, which is `kind` if it is an enemy's
        that was hidden."""
        cell = self.cells[square]
        if not cell & REVEALED:
            kind = kind if cell & ENEMY else cell & TYPE
            self.unrevealed[self.side(square)][kind] -= 1
            self.cells[square] = cell & ~TYPE | REVEALED | kind
        return self.cells[square] & TYPE
