"""Packed observations -> DeepNash's 82 planes (Perolat et al. 2022, supplement, table 4).

The engine writes 172 + S bytes a state (formats/observation.md); the planes are made where the
network runs: on a CPU by the engine, on any other device here, by gathers and scatters over the
whole batch. Every number that is not 0 or +-1 is one float32 division of two integers, so both
agree bit for bit.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import embedding

from stratkit.engine import board_planes
from stratkit.engine.observation import (
    CELLS,
    ENEMY_PUBLIC,
    LAKES,
    LAST_MOVES,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    OWN_PUBLIC,
    OWN_TYPES,
    OWN_UNREVEALED,
    PHASE,
    PHASE_AND_STAGE,
    PLANES,
    PLIES,
    PUBLIC,
    RATIOS,
    SELECTED,
    SELECTED_PIECE,
    SHOWN_PLIES,
    STAGE,
)
from stratkit.engine.stratego import BOMB, FLAG, LAKE, MOVED, PIECE, REVEALED, SIDE, TYPE, TYPES
from stratkit.nets.network import on_cpu

# A hidden piece's row among the marginals of its game: side (own 0, enemy 1), then moved or not.
# Row 0 is that of all other squares.
HIDDEN_ROWS = 5


def expand(packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None = None) -> Tensor:
    """The planes of a batch of packed observations.

    packed: uint8 [n, 172 + H * W], on any device; shape: (82, H, W).
    pub: float32 [n, 24, H, W], or None: what a player thinks the enemy's (12 planes) and the own
        (12) pieces are in public, in place of the exact marginals.
    Returns float32 [n, 82, H, W] on the same device, channels last in memory.
    ValueError: the packed observations are not of that board.
    """
    _, height, width = shape
    squares = height * width
    if packed.dtype != torch.uint8 or packed.ndim != 2 or packed.shape[1] != CELLS + squares:
        raise ValueError(f"packed must be uint8 [n, {CELLS + squares}] for a board of {shape}")
    if on_cpu(packed):
        planes = torch.from_numpy(board_planes(packed.contiguous().numpy(), shape))
        if pub is not None:
            planes[:, PUBLIC] = pub
        return planes
    return expand_in_torch(packed, shape, pub)


def expand_in_torch(packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None) -> Tensor:
    """What `expand` does where the engine cannot."""
    _, height, width = shape
    planes = torch.zeros((len(packed), height * width, PLANES), device=packed.device)
    _fill_pieces(packed, planes, with_public=pub is None)
    if pub is not None:
        planes[:, :, PUBLIC] = pub.flatten(2).transpose(1, 2)
    _fill_moves(packed, planes[:, :, LAST_MOVES])
    planes[:, :, RATIOS] = _ratios(packed)[:, None]
    planes[:, :, PHASE_AND_STAGE] = packed[:, None, PHASE : STAGE + 1].float()
    _fill_selected(packed, planes[:, :, SELECTED_PIECE])
    return planes.view(len(packed), height, width, PLANES).permute(0, 3, 1, 2)


def public_as_written(packed: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """Both blocks of public information by the text's Eq. 6, float32 [n, 24, H, W], as `pub` of
    `expand`: a piece that never moved is of each type with the share of this type among all
    hidden pieces. So the types do not sum to the pieces on the board."""
    known, hidden = _cell_tables(packed.device)
    cells = packed[:, CELLS:].long()
    count, movable = _hidden_counts(packed)
    moved_p = _divide(count, movable[:, :, None])
    for fixed in (FLAG, BOMB):
        moved_p[:, :, fixed] = 0.0
    never_moved_p = _divide(count, count.sum(2)[:, :, None])
    public = embedding(cells, known)[:, :, PUBLIC]
    public = public + _look_up(hidden[cells], _by_row(never_moved_p, moved_p))
    return public.transpose(1, 2).reshape(len(packed), -1, *shape[1:])


def no_attack_ratio(packed: Tensor) -> Tensor:
    """Plies since the last attack / the limit, 0 without a limit and in deployment: float32 [n]."""
    return _ratios(packed)[:, 1]


def selected_type(packed: Tensor) -> tuple[Tensor, Tensor]:
    """The square and the type, 1..10 (spy to marshal), of the piece selected in the previous
    action: int64 [n]. Both are 0 where none is."""
    selected = packed[:, SELECTED] != NO_SQUARE
    squares = torch.where(selected, packed[:, SELECTED], 0).long()
    cells = packed[:, CELLS:].gather(1, squares[:, None])[:, 0]
    return squares, torch.where(selected, cells & TYPE, 0).long()


def _fill_pieces(packed: Tensor, planes: Tensor, with_public: bool) -> None:
    """Lakes, own pieces and both sides' public information: planes 0 to 36."""
    cells = packed[:, CELLS:].long()
    known, hidden = _cell_tables(packed.device)
    planes[:, :, : PUBLIC.stop] = embedding(cells, known)
    if with_public:
        rows = hidden[cells]
        planes[:, :, PUBLIC] += _look_up(rows, _marginals(packed, rows))


def _marginals(packed: Tensor, rows: Tensor) -> Tensor:
    """What hidden pieces are, in public: float32 [n, HIDDEN_ROWS, 24] (enemy's types, then own).

    Uniform over the assignments of types that fit: n_t / N_movable for a piece that moved; for
    one that never did, n_t / U (flag, bomb) or n_t (U - N_immovable) / (U N_movable), where U
    counts the hidden pieces that never moved. (By the paper's Eq. 6, `public_as_written`, they do
    not sum to the pieces on the board.)
    """
    count, movable = _hidden_counts(packed)
    immovable = count.sum(2) - movable
    never_moved = torch.stack([(rows == _row(side, 0)).sum(1) for side in (0, 1)], 1).int()
    moved_p = _divide(count, movable[:, :, None])
    never_moved_p = _divide(
        count * (never_moved - immovable)[:, :, None], (never_moved * movable)[:, :, None]
    )
    still = _divide(count, never_moved[:, :, None])
    for fixed in (FLAG, BOMB):  # not a list of both: a GPU would have to wait for that
        moved_p[:, :, fixed] = 0.0
        never_moved_p[:, :, fixed] = still[:, :, fixed]
    return _by_row(never_moved_p, moved_p)


def _hidden_counts(packed: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden pieces of each side (own, enemy): by type, int32 [n, 2, 12], and those that move."""
    count = packed[:, OWN_UNREVEALED:ONLY_ATTACKS].int().view(-1, 2, len(TYPES))
    return count, count.sum(2) - count[:, :, FLAG] - count[:, :, BOMB]


def _by_row(never_moved_p: Tensor, moved_p: Tensor) -> Tensor:
    """Both [n, 2, 12] by side (own, enemy) as a table of rows, [n, HIDDEN_ROWS, 24]."""
    marginals = never_moved_p.new_zeros((len(moved_p), HIDDEN_ROWS, 2, len(TYPES)))
    for side, block in ((0, 1), (1, 0)):  # the enemy's block comes first
        marginals[:, _row(side, 0), block] = never_moved_p[:, side]
        marginals[:, _row(side, 1), block] = moved_p[:, side]
    return marginals.flatten(2)


def _look_up(rows: Tensor, marginals: Tensor) -> Tensor:
    """For each square [n, S] its row of the state's own table: [n, S, 24]."""
    first = torch.arange(len(rows), device=rows.device)[:, None] * HIDDEN_ROWS
    return embedding(rows + first, marginals.flatten(0, 1))


def _row(side: int, moved: int) -> int:
    return 1 + 2 * side + moved


def _divide(numerator: Tensor, denominator: Tensor) -> Tensor:
    """One float32 division of integers; 0 where the denominator is 0."""
    quotient = numerator.float() / denominator.float()
    return torch.where(denominator == 0, 0.0, quotient)


def _fill_moves(packed: Tensor, planes: Tensor) -> None:
    """The last 40 moves, a plane each, into planes [n, S, 40]: Eq. 7 of the paper."""
    moves = packed[:, MOVES:CELLS].view(-1, 1, SHOWN_PLIES, 3)
    start, end, attacker = moves.long().unbind(3)
    made = start != NO_SQUARE
    # A move that was not made writes 0 on square 0.
    left = torch.where(made, _leaving(packed.device)[attacker], 0.0)
    planes.scatter_(1, torch.where(made, start, 0), left)
    planes.scatter_(1, torch.where(made, end, 0), made.float())


def _ratios(packed: Tensor) -> Tensor:
    """Game length and plies since the last attack, each over its limit: float32 [n, 2]."""
    low, high = packed[:, PLIES:PHASE].int().view(-1, 4, 2).unbind(2)
    numbers = low + 256 * high
    return _divide(numbers[:, 0::2], numbers[:, 1::2])


def _fill_selected(packed: Tensor, plane: Tensor) -> None:
    selected = packed[:, SELECTED : SELECTED + 1].long()
    chosen = selected != NO_SQUARE
    plane.scatter_(1, torch.where(chosen, selected, 0), chosen.float())


@cache
def _cell_tables(device: torch.device) -> tuple[Tensor, Tensor]:
    """By cell byte: planes 0 to 36 as far as they are known (float32 [256, 37]), and the row
    among the marginals (int64 [256])."""
    known = torch.zeros((256, PUBLIC.stop))
    hidden = torch.zeros(256, dtype=torch.int64)
    known[LAKE, LAKES] = 1.0
    for cell in range(PIECE, 256):
        enemy, kind = int(bool(cell & SIDE)), cell & TYPE
        if not enemy and kind < len(TYPES):
            known[cell, OWN_TYPES.start + kind] = 1.0
        if not cell & REVEALED and not (enemy and kind < len(TYPES)):  # nor face up
            hidden[cell] = _row(enemy, int(bool(cell & MOVED)))
        elif kind < len(TYPES):
            known[cell, (ENEMY_PUBLIC if enemy else OWN_PUBLIC).start + kind] = 1.0
    return known.to(device), hidden.to(device)


@cache
def _leaving(device: torch.device) -> Tensor:
    """By attacker byte: the number on the square that the piece left. A table, because a GPU
    divides by a constant with a multiplication, and the last bit differs."""
    table = torch.tensor([-(float(24 + attacker) / 12) for attacker in range(256)])
    table[NO_SQUARE] = -1.0
    return table.to(device)
