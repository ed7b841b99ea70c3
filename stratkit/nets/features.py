"""Packed observations -> what small networks read: 48 features of each square, counts, outcomes.

Next to DeepNash's planes there are fewer plies, each once, and comparisons: what an attack on a
neighbour brings, as far as the side knows. A small network would have to find out what two ranks
side by side are worth, and few of its games show it. formats/observation.md lists the features. The
engine makes them on a CPU, and torch elsewhere.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import embedding, pad

from stratkit.engine.observation import (
    CELLS,
    COUNTS,
    ENEMY_PUBLIC,
    ENEMY_UNREVEALED,
    FEATURES,
    LAKES,
    LAST_MOVES,
    MOVES,
    NO_SQUARE,
    ONLY_ATTACKS,
    OWN_TYPES,
    OWN_UNREVEALED,
    PHASE,
    RATIOS,
    SELECTED,
    SHOWN_PLIES,
    attack_outcomes,
    board_features,
)
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    MOVED,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    TYPES,
    WINS,
    fight,
)
from stratkit.nets.expansion import expand
from stratkit.nets.network import on_cpu

LATEST = 8  # plies that have a feature each
SCALE = 8  # of the counts
NEIGHBOURS = ((2, 1), (0, 1), (1, 2), (1, 0))  # north, south, east, west, on a padded board


def features(
    packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Features float32 [n, 48, H, W], channels last in memory, and counts float32 [n, 51].

    packed: uint8 [n, 172 + H * W], on any device; shape: (82, H, W); pub: as of `expand`.
    """
    if on_cpu(packed) and pub is None:
        planes, counts = board_features(packed.contiguous().numpy(), shape)
        return torch.from_numpy(planes), torch.from_numpy(counts)
    return features_in_torch(packed, shape, pub)


def outcomes(packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None = None) -> Tensor:
    """Of the selected piece, on each square: the probabilities that its attack there wins, that it
    loses, and the danger to it if it stands there: that of the neighbour that most probably takes
    it. Where nothing is selected, of each own piece that can only attack: the highest probability
    that an attack on a neighbour wins, the lowest that it loses, and 0. float32 [n, H * W, 3].
    Arguments as of `features`."""
    if on_cpu(packed) and pub is None:
        return torch.from_numpy(attack_outcomes(packed.contiguous().numpy(), shape))
    return outcomes_in_torch(packed, shape, pub)


def features_in_torch(
    packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None
) -> tuple[Tensor, Tensor]:
    """What `features` does where the engine cannot."""
    _, height, width = shape
    planes = expand(packed, shape, pub)
    cells = packed[:, CELLS:].view(-1, 1, height, width)
    own = (cells & (PIECE | SIDE)) == PIECE
    enemy = (cells & (PIECE | SIDE)) == PIECE | SIDE
    flags = [(cells & flag) != 0 for flag in (REVEALED, MOVED)]
    blocks = [
        planes[:, LAKES : OWN_TYPES.stop],
        *(own & flag for flag in flags),
        planes[:, ENEMY_PUBLIC],
        *(enemy & flag for flag in flags),
        planes[:, LAST_MOVES.start : LAST_MOVES.start + LATEST],
        _recency(packed, height, width),
        _own_meetings(cells, own, planes[:, ENEMY_PUBLIC]),
    ]
    joined = torch.cat([block.permute(0, 2, 3, 1).float() for block in blocks], 3)
    assert joined.shape[3] == FEATURES
    return joined.permute(0, 3, 1, 2), _counts(packed, planes)


def outcomes_in_torch(packed: Tensor, shape: tuple[int, int, int], pub: Tensor | None) -> Tensor:
    """What `outcomes` does where the engine cannot."""
    chosen = (packed[:, SELECTED] != NO_SQUARE)[:, None]
    square = torch.where(chosen, packed[:, SELECTED, None], 0).long()
    type_ = packed[:, CELLS:].gather(1, square) & TYPE
    enemy = expand(packed, shape, pub)[:, ENEMY_PUBLIC]
    wins, loses, danger = _meetings(enemy)
    worst = _beside(danger).amax(0)
    index = torch.where(chosen, type_, 0).long()[:, :, None, None]
    picked = [
        block.gather(1, index.expand(-1, -1, *shape[1:])).flatten(1)
        for block in (wins, loses, worst)
    ]
    cornered = _cornered(packed, enemy)
    return torch.where(chosen[:, :, None], torch.stack(picked, 2), cornered)


def _cornered(packed: Tensor, enemy: Tensor) -> Tensor:
    """Of each own piece that can only attack, what its best attack on a neighbour brings: [n, H *
    W, 3]."""
    cells = packed[:, CELLS:].view(-1, 1, *enemy.shape[2:])
    own, attacked = ((cells & (PIECE | SIDE)) == kind for kind in (PIECE, PIECE | SIDE))
    attacked = _beside(attacked.float())[:, :, 0] > 0
    met = _own_meetings(cells, own, enemy)
    wins = met[:, :4].amax(1)
    loses = torch.where(attacked.transpose(0, 1), met[:, 4:8], torch.inf).amin(1)
    best = torch.stack([wins, loses, torch.zeros_like(wins)], 3).flatten(1, 2)
    square = torch.arange(best.shape[1], device=packed.device)
    bits = packed[:, ONLY_ATTACKS:MOVES].index_select(1, square // 8) >> (square % 8).byte()
    only_attacks = (bits & 1).bool() & (own & attacked.any(0)[:, None]).flatten(1)
    return torch.where(only_attacks[:, :, None], best, 0.0)


def _own_meetings(cells: Tensor, own: Tensor, enemy: Tensor) -> Tensor:
    """Of each own piece [n, 9, H, W]: by neighbour, the probability that its attack wins, then that
    it loses; and its danger."""
    type_ = torch.where(own, cells & TYPE, 0).long()
    wins, loses, danger = (_beside(block) for block in _meetings(enemy))
    index = type_[None].expand(len(NEIGHBOURS), -1, -1, -1, -1)
    by_neighbour = [block.gather(2, index)[:, :, 0] for block in (wins, loses, danger)]
    together = torch.cat([by_neighbour[0], by_neighbour[1], by_neighbour[2].amax(0, keepdim=True)])
    return together.transpose(0, 1) * own


def _meetings(enemy: Tensor) -> list[Tensor]:
    """From the public probabilities of the enemy's types [n, 12, H, W], by the own type, each the
    same shape: that the own piece's attack wins, that it loses, that the enemy's attack wins."""
    return [torch.einsum("eo,nehw->nohw", table, enemy) for table in _tables(enemy.device)]


@cache
def _tables(device: torch.device) -> Tensor:
    """float32 [3, 12, 12], by the enemy's type and the own one."""
    table = torch.zeros((3, len(TYPES), len(TYPES)))
    for enemy in range(len(TYPES)):
        for own in range(len(TYPES)):
            if own not in (FLAG, BOMB):
                table[0, enemy, own] = fight(own, enemy) == WINS
                table[1, enemy, own] = fight(own, enemy) == LOSES
            if enemy not in (FLAG, BOMB):
                table[2, enemy, own] = fight(enemy, own) == WINS
    return table.to(device)


def _beside(x: Tensor) -> Tensor:
    """[4, n, C, H, W]: what stands beside each square, 0 beyond the edge."""
    height, width = x.shape[2:]
    around = pad(x, (1, 1, 1, 1))
    return torch.stack(
        [around[:, :, up : up + height, right : right + width] for up, right in NEIGHBOURS]
    )


def _recency(packed: Tensor, height: int, width: int) -> Tensor:
    """[n, 2, H, W]: where the own side, or the enemy, came last or attacked last, 1 for the latest
    ply and less for each before it; 0 where somebody has left since."""
    squares = height * width
    moves = packed[:, MOVES:CELLS].view(-1, SHOWN_PLIES, 3)[:, :, :2].long()
    made = (moves < squares).all(2, keepdim=True)
    # Each square keeps its latest event: of plies, the later one; of a ply, who came.
    event = torch.arange(2 * SHOWN_PLIES, device=packed.device).view(-1, 2).flip(0) + 2
    touched = torch.where(made, moves, squares).flatten(1)
    last = touched.new_zeros((len(packed), squares + 1))
    last.scatter_reduce_(1, touched, event.flatten().expand_as(touched), "amax")
    recency = embedding(last[:, :squares], _events(packed.device))
    return recency.transpose(1, 2).reshape(-1, 2, height, width)


@cache
def _events(device: torch.device) -> Tensor:
    """float32 [2 + 2 SHOWN_PLIES, 2]: what `_recency` says of a square whose latest event has this
    number: none (0, 1); somebody left, or came, from the earliest ply shown to the latest."""
    table = torch.zeros((2 + 2 * SHOWN_PLIES, 2))
    for age in range(1, SHOWN_PLIES + 1):
        table[2 * age + 1, 1 - (SHOWN_PLIES - age) % 2] = age / SHOWN_PLIES
    return table.to(device)


def _counts(packed: Tensor, planes: Tensor) -> Tensor:
    """float32 [n, 51]: a SCALE-th of the pieces on the board, by type, of both sides, of those the
    hidden ones, of both sides; the ratios, and whether this is deployment."""
    cells = packed[:, CELLS:]
    hidden = packed[:, OWN_UNREVEALED : ENEMY_UNREVEALED + len(TYPES)].float()
    known = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE | REVEALED
    types = torch.arange(len(TYPES), device=packed.device)
    shown = ((cells & TYPE)[:, :, None] == types) & known[:, :, None]
    enemy = shown.sum(1) + hidden[:, len(TYPES) :]
    own = planes[:, OWN_TYPES].sum((2, 3))
    rest = [planes[:, RATIOS, 0, 0], packed[:, PHASE, None].float()]
    counts = torch.cat([own / SCALE, enemy / SCALE, hidden / SCALE, *rest], 1)
    assert counts.shape[1] == COUNTS
    return counts
