"""Games from their positions: which moves lead from each FENfS to the next.

Only the observer's text tells it. One thing it does not tell: who attacked a known piece and was
lost, if several pieces could have met that end there. Any of them leads to the same positions; the
first in the order of the squares is taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import RED, free_game
from stratkit.errors import InputError
from stratkit.notation.fenfs import OBSERVER, Fenfs, fenfs_of, position, start_setups
from stratkit.notation.gravon_words import KINDS
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
    red, blue = start_setups(start, anywhere=True)
    variants = {variant_of(setup, start.variant) for setup in (red, blue)}
    variant = variants.pop() if len(variants) == 1 else None
    board = variant or start.variant
    kind = next((kind for kind, name in KINDS.items() if variant and name == variant.name), "")
    arbiter = Arbiter(free_game(board.name), position(start))
    lines, broken = [], None
    for line, after in numbered[1:]:
        move = _move(arbiter, after)
        if move is None:
            what = "no legal move leads from the position before to this one"
            broken = InputError(what, where=f"line {line}", text=str(after))
            break
        arbiter.move(*move)
        lines.append(line)
    return Log(
        board,
        kind if variant else FREE,
        (red, blue),
        bytes(itertools.chain.from_iterable(arbiter.moves)),
        PLAYERS,
        arbiter.ending or "cut",
        arbiter.winner,
        lines,
        broken=broken,
    )


def _move(arbiter: Arbiter, after: Fenfs) -> tuple[int, int] | None:
    """The first legal move (from, to) that leads to the board of `after`, if there is one."""
    before = arbiter.position()
    boards = zip(fenfs_of(before).board, after.board, strict=True)
    changed = {square for square, (a, b) in enumerate(boards) if a != b}
    for move in arbiter.legal() if len(changed) <= 2 else []:
        if move[0] in changed and changed <= set(move):
            trial = Arbiter(arbiter.game, before)
            trial.move(*move)
            if fenfs_of(trial.position()).board == after.board:
                return move
    return None
