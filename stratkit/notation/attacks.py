"""Whether players use what they know: attacks on pieces whose type is public, and pieces that stand
beside stronger ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bools, Bytes, Int8s, Int64s
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    TYPES,
    WINS,
    fight,
)

if TYPE_CHECKING:
    from stratkit.notation.play import Played

# What is counted, by the names that `fenfs stats --json` has.
PLIES, ATTACKS, KNOWN, KNOWN_LOST, BESIDE, BESIDE_TAKEN = COUNTED = (
    "plies",
    "attacks",
    "known",
    "known_lost",
    "beside",
    "beside_taken",
)

_MOVES = [t for t in range(len(TYPES)) if t not in (FLAG, BOMB)]
# By attacker and defender, 16 x 16 for every value of a cell's type.
_OUTCOME = np.zeros((16, 16), np.int8)
for _attacker in _MOVES:
    for _defender in range(len(TYPES)):
        _OUTCOME[_attacker, _defender] = fight(_attacker, _defender)


def count_attacks(played: Played) -> tuple[Counter[str], Counter[str]]:
    """What red and blue did in a game with its `boards`, by the names of `COUNTED`:

    plies; attacks; those on pieces of known type; those of these in which the attacker alone falls,
    which it knew; movable pieces beside an enemy's piece of known type that wins if it attacks, one
    a ply and piece, after the own move; how many of these the enemy takes in its next move.
    """
    nothing = dict.fromkeys(COUNTED, 0)
    counts: tuple[Counter[str], Counter[str]] = (Counter(nothing), Counter(nothing))
    if len(played.boards) < 2:
        return counts
    variant = played.log.variant
    attack, known, outcome, end = _attacks(played)
    ply = np.arange(len(attack))
    beside = _beside(_cells(played)[1:], ply % 2, variant.height, variant.width)
    taken = np.append(beside[ply[:-1], end[1:]] & attack[1:] & (outcome[1:] == WINS), False)
    lost = known & (outcome == LOSES)
    sums = (np.ones(len(ply)), attack, known, lost, beside.sum(1), taken)
    for side in (0, 1):
        for name, each in zip(COUNTED, sums, strict=True):
            counts[side][name] = int(each[side::2].sum())
    return counts


def lost_attacks(played: Played) -> list[int]:
    """The plies (from 0) of the attacks in which the attacker alone falls, and knew it. Needs
    `boards`."""
    if len(played.boards) < 2:
        return []
    _, known, outcome, _ = _attacks(played)
    return [int(ply) for ply in np.flatnonzero(known & (outcome == LOSES))]


def _cells(played: Played) -> Bytes:
    """The boards, uint8 [plies + 1, squares]."""
    return np.frombuffer(b"".join(played.boards), np.uint8).reshape(len(played.boards), -1)


def _attacks(played: Played) -> tuple[Bools, Bools, Int8s, Bytes]:
    """Of each ply: is it an attack, and one on a piece of known type; what `fight` says of the two
    pieces; and the square that the move ends on."""
    before = _cells(played)[:-1]
    ply = np.arange(len(before))
    start, end = np.frombuffer(played.log.moves, np.uint8).reshape(-1, 2)[: len(ply)].T
    attacker, met = before[ply, start], before[ply, end]
    attack = met & PIECE != 0
    return attack, attack & (met & REVEALED != 0), _OUTCOME[attacker & TYPE, met & TYPE], end


def _beside(cells: Bytes, side: Int64s, height: int, width: int) -> Bools:
    """Bool [n, squares]: where a movable piece of `side` [n] stands beside a known stronger one."""
    blue = (cells & SIDE != 0) == (side[:, None] == 1)
    type_ = cells & TYPE
    movable = (cells & PIECE != 0) & blue & np.isin(type_, _MOVES)
    enemy = (cells & PIECE != 0) & ~blue & (cells & REVEALED != 0)
    grid = (len(cells), height, width)
    own = np.where(movable, type_, FLAG).reshape(grid)
    their = np.pad(np.where(enemy, type_, FLAG).reshape(grid), ((0, 0), (1, 1), (1, 1)))
    loses = np.zeros(grid, bool)
    for up, right in ((0, 1), (2, 1), (1, 0), (1, 2)):
        loses |= _OUTCOME[their[:, up : up + height, right : right + width], own] == WINS
    return np.asarray(loses.reshape(len(cells), -1) & movable)
