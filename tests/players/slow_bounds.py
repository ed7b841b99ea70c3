"""Eq. 8 word by word, on small positions: every assignment of the enemy's hidden pieces is played
out on the engine, and what is safe is asked of every assignment of both sides."""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from collections.abc import Iterator

import numpy as np

from stratkit.engine import Batch, Game
from stratkit.engine.observation import MOVES, ONLY_ATTACKS
from stratkit.engine.stratego import (
    BLUE,
    BOMB,
    FLAG,
    LOSES,
    MOVED,
    PIECE,
    RED,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    WINS,
    Position,
    fight,
    legal_moves,
    variant,
)

FREE = Game("mini", {"two_squares": 0, "more_squares": 0, "max_plies": 0, "max_quiet": 0})


def value(packed: bytes) -> float:
    """What a network might say: some number that depends on all that its values read."""
    read = packed[:ONLY_ATTACKS] + packed[MOVES:]
    return zlib.crc32(read) % 2001 / 1000 - 1


def assignments(cells: bytes, side: int) -> Iterator[bytes]:
    """The cells with each assignment of types to a side's hidden pieces that public facts allow."""
    wanted = PIECE | (SIDE if side == BLUE else 0)
    hidden = [i for i, c in enumerate(cells) if c & (PIECE | SIDE | REVEALED) == wanted]
    for kinds in set(itertools.permutations(cells[i] & TYPE for i in hidden)):
        if all(
            k not in (FLAG, BOMB) or not cells[i] & MOVED
            for i, k in zip(hidden, kinds, strict=True)
        ):
            out = bytearray(cells)
            for i, kind in zip(hidden, kinds, strict=True):
                out[i] = out[i] & ~TYPE | kind
            yield bytes(out)


def begin(cells: bytes, side: int) -> Batch:
    batch = Batch(FREE, 1)
    start = Position(variant("mini"), np.frombuffer(cells, np.uint8), side)
    batch.start(0, start.to_bytes())
    return batch


def play(batch: Batch, start: int, end: int) -> None:
    for square in (start, end):
        at = square if batch.actors()[0] == RED else 35 - square
        batch.apply(np.array([at], np.int32))


@functools.cache
def legal(cells: bytes, side: int) -> frozenset[tuple[int, int]]:
    return frozenset(legal_moves(begin(cells, side), 0))


def public(cells: bytes) -> tuple[bytes, tuple[int, ...], tuple[int, ...]]:
    """What both sides know."""
    seen = bytes(c | TYPE if c & PIECE and not c & REVEALED else c for c in cells)
    counts = [
        tuple(
            sorted(
                c & TYPE
                for c in cells
                if c & (PIECE | REVEALED) == PIECE and bool(c & SIDE) == bool(side)
            )
        )
        for side in (RED, BLUE)
    ]
    return seen, counts[0], counts[1]


_SAFE: dict[object, bool] = {}


def safe(cells: bytes, start: int, end: int) -> bool:
    """Whether blue's legal move is safe."""
    key = public(cells), start, end
    if key not in _SAFE:
        _SAFE[key] = _safe(cells, start, end)
    return _SAFE[key]


def _safe(cells: bytes, start: int, end: int) -> bool:
    piece = cells[start]
    known = bool(piece & REVEALED)
    if not (known or piece & MOVED):
        return False
    far = abs(start - end) not in (1, 6)
    if far and not (known and piece & TYPE == SCOUT):
        return False
    for blues in assignments(cells, BLUE):
        for both in assignments(blues, RED):
            attacker = both[start] & TYPE
            if both[end] & PIECE and fight(attacker, both[end] & TYPE) != WINS:
                return False
            after = bytearray(both)
            after[end], after[start] = both[start], 0
            if any(to == end and takes(after, at, to) for at, to in legal(bytes(after), RED)):
                return False
    return True


def takes(cells: bytearray, start: int, end: int) -> bool:
    """Whether a move takes the piece that it attacks, perhaps together with its own."""
    return bool(cells[end] & PIECE) and fight(cells[start] & TYPE, cells[end] & TYPE) != LOSES


def bound(cells: bytes, move: tuple[int, int]) -> float:
    """max over h of min over safe a' of the value of x(haa'), red to move."""
    best = -math.inf
    for truth in assignments(cells, BLUE):
        batch = begin(truth, RED)
        play(batch, *move)
        if batch.actors()[0] < 0:
            best = max(best, float(batch.returns()[0, RED]))
            continue
        after = _cells(batch)
        worst = math.inf
        for answer in legal_moves(batch, 0):
            if safe(after, *answer):
                other = begin(truth, RED)
                play(other, *move)
                play(other, *answer)
                over = other.actors()[0] < 0
                found = (
                    float(other.returns()[0, RED]) if over else value(other.observe()[0].tobytes())
                )
                worst = min(worst, found)
        best = max(best, worst)
    return best


def _cells(batch: Batch) -> bytes:
    copy = Batch(batch.game, 1)
    copy.copy_row(0, batch, 0)
    return copy.save(0)[:36]
