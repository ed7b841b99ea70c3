"""What pieces did not do: the memory heuristic (Perolat et al. 2022, supplement).

A spy attacks a known marshal. A marshal attacks a known general or colonel, and a general attacks a
known colonel, unless another piece can recapture it. So when a side plays a move that is no attack,
its hidden pieces with such a chance are not of these types. A piece can recapture if it stands
beside the attacked one, and may by public knowledge take the attacker or fall with it.

The two-squares rule forbids such an attack in rare cases. The paper does not say what that means;
it is ignored here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine.stratego import BOMB, FLAG, LOSES, MARSHAL, PIECE, REVEALED, SPY, TYPE, fight
from stratkit.players.side_board import SideBoard

GENERAL, COLONEL = 9, 8

# (who, whom, whether a recapture would keep it from attacking)
EXPECTED = (
    (SPY, MARSHAL, False),
    (MARSHAL, GENERAL, True),
    (MARSHAL, COLONEL, True),
    (GENERAL, COLONEL, True),
)
TYPES = 12


def note(excluded: Sequence[int], before: SideBoard, start: int, end: int) -> list[int]:
    """The excluded types by square (bit t: not of type t) after a ply of either side."""
    after = list(excluded)
    if before.cells[end] & PIECE:  # an attack shows both, and nothing else
        after[start] = after[end] = 0
        return after
    for square in before.pieces(before.side(start)):
        if before.hidden(square):
            after[square] |= passed_over(before, square)
    after[end] = 0 if before.is_long(start, end) else after[start]
    after[start] = 0
    return after


def passed_over(board: SideBoard, square: int) -> int:
    """The types, as bits, of which the hidden piece there would have attacked."""
    bits = 0
    for target in board.neighbours(square):
        cell = board.cells[target]
        if cell & (PIECE | REVEALED) != PIECE | REVEALED or board.side(target) == board.side(
            square
        ):
            continue
        for attacker, victim, careful in EXPECTED:
            known = cell & TYPE == victim
            if known and not (careful and _recaptured(board, target, square, attacker)):
                bits |= 1 << attacker
    return bits


def _recaptured(board: SideBoard, target: int, origin: int, attacker: int) -> bool:
    """Whether `attacker`, having gone from `origin` to `target`, may be taken by a piece there."""
    side = board.side(target)
    return any(
        board.cells[square] & PIECE
        and board.side(square) == side
        and any(FLAG < t < BOMB and fight(t, attacker) != LOSES for t in board.possible(square))
        for square in board.neighbours(target)
        if square != origin
    )


def renormalised(left: Float32s, public: Float32s) -> Float32s:
    """`left` [n, 24, H, W] of `public` scaled so that each piece's types sum to what they did; a
    piece of which nothing is left stays as in `public`."""
    sides = (len(left), 2, TYPES, *left.shape[2:])
    totals = left.reshape(sides).sum(2, keepdims=True)
    whole = public.reshape(sides).sum(2, keepdims=True)
    scaled = left.reshape(sides) * (whole / np.where(totals > 0, totals, 1))
    return np.where(totals > 0, scaled, public.reshape(sides)).reshape(left.shape)


def possible(boards: Sequence[SideBoard], excluded: Sequence[Sequence[int]]) -> Float32s:
    """float32 [n, 24, H, W]: 0 where a piece is not of a type, else 1; the enemy's types first."""
    board = boards[0]
    out = np.ones((len(boards), 2, TYPES, board.height * board.width), np.float32)
    for row, (seen, bits) in enumerate(zip(boards, excluded, strict=True)):
        for square, some in enumerate(bits):
            if some:
                types = [t for t in range(TYPES) if some >> t & 1]
                out[row, 1 - seen.side(square), types, square] = 0
    return out.reshape(len(boards), 2 * TYPES, board.height, board.width)
