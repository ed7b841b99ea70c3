"""Whether players use what they know: attacks on pieces whose type is public, pieces that stand
beside stronger ones, and scouts that are let go. And whether they use what the enemy does not know:
hidden pieces that chase known ones, weaker than these or stronger (the bluffs of DeepNash's paper,
its Figure 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from stratkit.arrays import Bools, Bytes, Int8s, Int64s
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    LOSES,
    MARSHAL,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    SPY,
    TYPE,
    TYPES,
    WINS,
    fight,
)

if TYPE_CHECKING:
    from stratkit.notation.play import Played

# What is counted, by the names that `fenfs stats --json` has.
COUNTED = (
    "plies",
    "attacks",
    "known",
    "known_lost",
    "beside",
    "beside_taken",
    "chases",
    "bluffs",
    "scout_chases",
    "scout_chases_by_spy",
    "marshal_chases",
    "marshal_chases_as_spy",
    "strong_chases",
    "strong_chases_met",
    "scouts",
    "scouts_let_go",
)

_MOVES = [t for t in range(len(TYPES)) if t not in (FLAG, BOMB)]
# By attacker and defender, 16 x 16 for every value of a cell's type.
_OUTCOME = np.zeros((16, 16), np.int8)
for _attacker in _MOVES:
    for _defender in range(len(TYPES)):
        _OUTCOME[_attacker, _defender] = fight(_attacker, _defender)


def each_ply(played: Played) -> Mapping[str, Bools | Int64s]:
    """What a game with its `boards` has at each ply, [plies], by the names of `COUNTED`:

    plies                  1
    attacks                a move onto a piece
    known                  onto one of known type
    known_lost             of these: the attacker alone falls, which it knew
    beside                 how many movable pieces stand, after the own move, beside an enemy's of
                           known type that wins if it attacks
    beside_taken           the enemy takes one of these in its next move
    chases                 a hidden piece moves to a square beside movable enemies of known type
    bluffs                 of these: it would fall by an attack on each of them
    scout_chases           of the chases: a scout is among them
    scout_chases_by_spy    of these: the spy moves
    marshal_chases         of the chases: a marshal is among them
    marshal_chases_as_spy  of these: a piece moves that would fall by an attack on it
    strong_chases          of the chases: it would win against each of them
    strong_chases_met      of these: one of them attacks it at once and falls
    scouts                 before it an own piece that wins stands beside a scout of known type
    scouts_let_go          of these: no such scout is attacked
    """
    if len(played.boards) < 2:
        return {name: np.zeros(0, np.int64) for name in COUNTED}
    variant = played.log.variant
    attack, known, outcome, end = _attacks(played)
    ply = np.arange(len(attack))
    beside = _beside(_cells(played)[1:], _movers(played), variant.height, variant.width)
    taken = np.append(beside[ply[:-1], end[1:]] & attack[1:] & (outcome[1:] == WINS), False)
    lost = known & (outcome == LOSES)
    first = np.ones(len(ply), np.int64), attack, known, lost, beside.sum(1), taken
    every = (*first, *_chases(played, attack, outcome), *_scouts(played))
    return dict(zip(COUNTED, every, strict=True))


def count_attacks(played: Played) -> tuple[Counter[str], Counter[str]]:
    """What red and blue did in a game: the sums of `each_ply`."""
    every = each_ply(played)
    red, blue = (
        Counter({name: int(own_plies(played, each, side).sum()) for name, each in every.items()})
        for side in (0, 1)
    )
    return red, blue


def own_plies(played: Played, each: Bools | Int64s, side: int) -> Bools | Int64s:
    """Of what each ply has, [plies], that of a side's own."""
    return each[side ^ played.log.mover(0) :: 2]


def lost_attacks(played: Played) -> list[int]:
    """The plies (from 0) of the attacks in which the attacker alone falls, and knew it. Needs
    `boards`."""
    return [int(ply) for ply in np.flatnonzero(each_ply(played)["known_lost"])]


def _chases(played: Played, attack: Bools, outcome: Int8s) -> tuple[Bools, ...]:
    """Of each ply: whether a hidden piece moves beside a known movable one, and what kind of chase
    that is, as `each_ply` says."""
    after = _cells(played)[1:]
    ply = np.arange(len(after))
    start, end = _squares(played)
    mover = after[ply, end]
    known = _enemies(after, _movers(played), np.isin(after & TYPE, _MOVES))
    near = known & _steps_from(end, played.log.variant.height, played.log.variant.width)
    chases = ~attack & (mover & REVEALED == 0) & near.any(1)
    fights = _OUTCOME[(mover & TYPE)[:, None], after & TYPE]
    of_scout = chases & (near & (after & TYPE == SCOUT)).any(1)
    of_marshal = chases & (near & (after & TYPE == MARSHAL)).any(1)
    strong = chases & ((fights == WINS) | ~near).all(1)
    by_chased = near[ply[:-1], start[1:]] & (end[1:] == end[:-1]) & (outcome[1:] == LOSES)
    return (
        chases,
        chases & ((fights == LOSES) | ~near).all(1),
        of_scout,
        of_scout & (mover & TYPE == SPY),
        of_marshal,
        of_marshal & (_OUTCOME[mover & TYPE, MARSHAL] == LOSES),
        strong,
        strong & np.append(by_chased, False),
    )


def _scouts(played: Played) -> tuple[Bools, Bools]:
    """Of each ply: whether a known scout stood beside an own piece that wins against it, and
    whether that side then did not attack such a scout."""
    before, variant = _cells(played)[:-1], played.log.variant
    ply = np.arange(len(before))
    side = _movers(played)
    scouts = _enemies(before, side, before & TYPE == SCOUT)
    takers = _own(before, side) & (_OUTCOME[before & TYPE, SCOUT] == WINS)
    there = scouts & _spread(takers, variant.height, variant.width)
    end = _squares(played)[1]
    chance = there.any(1)
    return np.asarray(chance), np.asarray(chance & ~there[ply, end])


def _own(cells: Bytes, side: Int64s) -> Bools:
    """Bool [n, squares]: where a piece of `side` [n] stands."""
    return np.asarray((cells & PIECE != 0) & ((cells & SIDE != 0) == (side[:, None] == 1)))


def _enemies(cells: Bytes, side: Int64s, kind: Bools) -> Bools:
    """Bool [n, squares]: where known pieces of this kind stand that are not of `side` [n]."""
    return np.asarray(_own(cells, 1 - side) & (cells & REVEALED != 0) & kind)


def _steps_from(squares: Bytes, height: int, width: int) -> Bools:
    """Bool [n, squares]: which squares are one step from this one, uint8 [n]."""
    at = np.zeros((len(squares), height * width), bool)
    at[np.arange(len(squares)), squares] = True
    return _spread(at, height, width)


def _spread(places: Bools, height: int, width: int) -> Bools:
    """Bool [n, squares]: which squares are one step from one of these places."""
    grid = np.pad(places.reshape(-1, height, width), ((0, 0), (1, 1), (1, 1)))
    beside = np.zeros((len(places), height, width), bool)
    for up, right in ((0, 1), (2, 1), (1, 0), (1, 2)):
        beside |= grid[:, up : up + height, right : right + width]
    return beside.reshape(places.shape)


def _movers(played: Played) -> Int64s:
    """int64 [plies]: who makes each."""
    return (np.arange(len(played.boards) - 1) + played.log.mover(0)) % 2


def _cells(played: Played) -> Bytes:
    """The boards, uint8 [plies + 1, squares]."""
    return np.frombuffer(b"".join(played.boards), np.uint8).reshape(len(played.boards), -1)


def _squares(played: Played) -> tuple[Bytes, Bytes]:
    """Where the move of each ply begins and ends, uint8 [plies] each."""
    moves = np.frombuffer(played.log.moves, np.uint8).reshape(-1, 2)[: len(played.boards) - 1]
    return moves[:, 0], moves[:, 1]


def _attacks(played: Played) -> tuple[Bools, Bools, Int8s, Bytes]:
    """Of each ply: is it an attack, and one on a piece of known type; what `fight` says of the two
    pieces; and the square that the move ends on."""
    before = _cells(played)[:-1]
    ply = np.arange(len(before))
    start, end = _squares(played)
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
