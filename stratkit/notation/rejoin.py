"""Games from their positions: which moves lead from each FENfS to the next.

Only the observer's text tells it. One thing it does not tell: who attacked a known piece and was
lost, if several pieces could have met that end there. Any of them leads to the same positions; the
first in the order of the squares is taken.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from stratkit.engine import Game
from stratkit.engine.batch import Batch
from stratkit.engine.stratego import BLUE, RED, Position, legal_moves
from stratkit.errors import InputError
from stratkit.notation.fenfs import OBSERVER, Fenfs, fenfs_of, position, start_setups
from stratkit.notation.gravon import KINDS
from stratkit.notation.log import FREE, Log
from stratkit.notation.setups import variant_of

PLAYERS = ("red", "blue")


def game_of(numbered: Sequence[tuple[int, Fenfs]]) -> Log:
    """The game of these positions, each (line, FENfS), from its start; its ending is the board's,
    or `cut`.

    A position that does not follow from the one before breaks the log off. Raises `InputError` when
    the first is no start of a game, or these are a player's views.
    """
    line, start = numbered[0]
    if any(fenfs.view is not OBSERVER for _, fenfs in numbered):
        raise InputError("only the observer's positions tell the moves", where=f"line {line}")
    if start.ply:
        what = f"positions from ply {start.ply} on are no game: its start is needed"
        raise InputError(what, where=f"line {line}")
    if start.side != RED:
        raise InputError("no start of a game: blue is to move", where=f"line {line}")
    red, blue = start_setups(start)
    variants = {variant_of(red), variant_of(blue)}
    variant = variants.pop() if len(variants) == 1 else None
    board = variant or start.variant
    kind = next((kind for kind, name in KINDS.items() if variant and name == variant.name), "")
    batch = _batch(board.name)
    batch.start(0, position(start).to_bytes())
    moves, lines, broken = bytearray(), [], None
    for (_, before), (line, after) in itertools.pairwise(numbered):
        move = _move(batch, before, after)
        if move is None:
            what = "no legal move leads from the position before to this one"
            broken = InputError(what, where=f"line {line}", text=str(after))
            break
        moves += bytes(move)
        lines.append(line)
    returns, endings, _ = batch.result()
    over = batch.game.endings[endings[0]]
    winner = {1: RED, -1: BLUE}.get(int(returns[0, RED]))
    return Log(
        board,
        kind if variant else FREE,
        (red, blue),
        bytes(moves),
        PLAYERS,
        over or "cut",
        winner,
        lines,
        broken=broken,
    )


def _move(batch: Batch, before: Fenfs, after: Fenfs) -> tuple[int, int] | None:
    """The first legal move (from, to) after which the board is `after`'s; the batch has made it. If
    there is none, the batch is where it was."""
    here = batch.save(0) if batch.actors()[0] >= 0 else b""
    changed = {s for s, (a, b) in enumerate(zip(before.board, after.board, strict=True)) if a != b}
    if not here or len(changed) > 2:
        return None
    for from_, to in legal_moves(batch, 0):
        if from_ in changed and changed <= {from_, to}:
            for square in (from_, to):
                own = square if before.side == RED else len(before.board) - 1 - square
                batch.apply(np.array([own], np.int32))
            if _board(batch, after) == after.board:
                return from_, to
            batch.start(0, here)
    return None


def _board(batch: Batch, like: Fenfs) -> str:
    return fenfs_of(Position.from_bytes(like.variant, batch.save(0))).board


@functools.cache
def _batch(name: str) -> Batch:
    """One game without repetition rules and draw limits."""
    return Batch(Game(name, dict.fromkeys(Game(name).rules, 0)), 1)
