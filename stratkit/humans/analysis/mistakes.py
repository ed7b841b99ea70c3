"""A mistake, looked at closely: every move that was legal, what the side knew, how play goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from stratkit.arrays import Int64s
from stratkit.engine import Batch
from stratkit.engine.stratego import PIECE, SIDE, Variant
from stratkit.engine.worlds import NOT_HIDDEN, hidden_types
from stratkit.humans.analysis.analyst import Analyst, Judgement, Turn, views_of
from stratkit.notation.squares import RANKS, move_text, square_text
from stratkit.players.player import Moves
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search.blueprint import PlayableBlueprint

KNOWN_WORLDS = 1024  # by which hidden pieces are counted
EVENT_WORLDS = 32  # in which is counted what a move takes and loses
LINE_WORLDS = 64
LINE_PLIES = 6  # of the most probable play after a move
NUMBERS = ("value", "error", "loss", "loss_error", "takes", "falls")  # of each move
LEAST_WORLDS = 4  # that agree with a line


def rounded(value: float) -> float | None:
    """A number of a record; None: there is none."""
    return None if np.isnan(value) else round(value, 3)


def names(variant: Variant, side: int, moves: Moves) -> list[str]:
    """Moves in the frame of `side` as records have them, such as A4A5."""
    squares = [(int(variant.framed(side, a)), int(variant.framed(side, b))) for a, b in moves]
    return [move_text(a, b, variant.width) for a, b in squares]


def details(analyst: Analyst, turn: Turn, judged: Judgement, played: int) -> Mapping[str, Any]:
    """What a record has of a mistake, beside what every ply has. All of it is a function of what
    the side to move knew."""
    player = analyst.player
    assert isinstance(player, PostprocessedPlayer)
    state = views_of([turn]).state(0)
    worlds = state.worlds(KNOWN_WORLDS)
    first = Batch.gathered([(worlds, np.arange(EVENT_WORLDS))])
    some = Batch.gathered([(worlds, np.arange(LINE_WORLDS))])
    evaluator, kind = player.evaluator, analyst.variant
    takes, falls = _events(evaluator, first, judged, kind)
    texts, moves = names(kind, judged.side, judged.moves), list[dict[str, Any]]()
    for at in sorted(range(len(texts)), key=lambda at: at != judged.best):  # first among equals
        numbers = *judged.value(at), *judged.loss(at), float(takes[at]), float(falls[at])
        named = dict(zip(NUMBERS, map(rounded, numbers), strict=True))
        moves.append({"move": texts[at], **named})
    return {
        "moves": sorted(moves, key=lambda move: (move["loss"] is None, move["loss"] or 0)),
        "knew": _knew(worlds, judged.side, kind),
        "line": _line(evaluator, some, judged, judged.best, kind),
        "instead": _line(evaluator, some, judged, played, kind),
    }


def _knew(worlds: Batch, side: int, kind: Variant) -> list[dict[str, Any]]:
    """Of each hidden piece of the enemy how often it is what, in worlds that count the same."""
    types, found = hidden_types(worlds), []
    for square in np.flatnonzero(types[0] != NOT_HIDDEN).tolist():
        counts = Counter(types[:, square].tolist()).most_common()
        could = {RANKS[type_]: round(n / worlds.size, 3) for type_, n in counts}
        name = square_text(int(kind.framed(side, square)), kind.width)
        found.append({"square": name, "could": could})
    return sorted(found, key=lambda one: (len(one["could"]), one["square"]))


def _pieces(batch: Batch, side: int, squares: int) -> tuple[Int64s, Int64s]:
    """How many pieces that side has in each row, and the other one."""
    cells = np.stack([np.frombuffer(batch.save(row), np.uint8) for row in range(batch.size)])
    cells = cells[:, :squares]
    theirs = (cells & SIDE > 0) == (side == 1)
    there = cells & PIECE > 0
    return (there & theirs).sum(1), (there & ~theirs).sum(1)


def _events(
    evaluator: PlayableBlueprint, worlds: Batch, judged: Judgement, kind: Variant
) -> tuple[Any, Any]:
    """Of each move in how many of the worlds it takes a piece, and in how many the side has lost
    one by it or by the most probable reply: float64 [m] each."""
    n, m = worlds.size, len(judged.moves)
    batch = Batch.gathered([(worlds, np.tile(np.arange(n), m))])
    own, enemy = _pieces(batch, judged.side, kind.squares)
    for action in np.repeat(np.array(judged.moves, np.int32), n, 0).T:
        batch.apply(np.ascontiguousarray(action))
    takes = _pieces(batch, judged.side, kind.squares)[1] < enemy
    _play(evaluator, batch)
    falls = _pieces(batch, judged.side, kind.squares)[0] < own
    return takes.reshape(m, n).mean(1), falls.reshape(m, n).mean(1)


def _play(evaluator: PlayableBlueprint, batch: Batch) -> list[tuple[int, int]]:
    """Plays the most probable ply in each row; who moved is one side. The moves, -1 where the game
    was over."""
    columns = []
    for _ in range(batch.game.actions_per_ply):
        chosen = np.full(batch.size, -1, np.int32)
        rows = np.flatnonzero(batch.actors() >= 0)
        if len(rows):
            seen, legal = batch.observe()[rows], batch.legal()[rows]
            chosen[rows] = evaluator.evaluate_distinct(seen, legal)[0].argmax(1)
        batch.apply(chosen)
        columns.append(chosen.tolist())
    return list(zip(*columns, strict=True))


def _line(
    evaluator: PlayableBlueprint, worlds: Batch, judged: Judgement, move: int, kind: Variant
) -> list[dict[str, Any]]:
    """The play after a move that is the most probable one: of each ply the move that comes in most
    of the worlds which agree so far, and in which part of them."""
    side, at = judged.side, judged.moves[move]
    line = [{"move": names(kind, side, [at])[0], "share": 1.0}]
    batch = worlds.clone()
    for action in at:
        batch.apply(np.full(batch.size, action, np.int32))
    for ply in range(1, LINE_PLIES):
        mover = (side + ply) % 2
        played = _play(evaluator, batch)
        (most, count) = Counter(played).most_common(1)[0]
        if most[0] < 0 or count < LEAST_WORLDS:
            break
        line.append({"move": names(kind, mover, [most])[0], "share": round(count / len(played), 3)})
        rows = [row for row, one in enumerate(played) if one == most]
        batch = Batch.gathered([(batch, rows)])
    return line
