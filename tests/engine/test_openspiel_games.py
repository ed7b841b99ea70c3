"""100 games that another program played, with every position and every legal move."""

from __future__ import annotations

import gzip
import json
import pathlib

import numpy as np

from stratkit.engine import Batch, Game
from stratkit.engine.stratego import LAKE, PIECE, REVEALED, SIDE, VARIANTS, Position, legal_moves

LETTERS = {c: t for t, c in enumerate("MCDEFGHIJKLB")}  # flag, spy, ... marshal, bomb


def position(variant: str, fen: str) -> Position:
    """Reads the other program's text: lower case is revealed; who moved is not recorded."""
    board, side, plies = fen.split()
    cells = np.zeros(100, np.uint8)
    for i, c in enumerate(board):
        if c == "_":
            cells[i] = LAKE
        elif c not in "aA":
            upper = c.upper()
            blue = upper >= "N"
            letter = chr(ord(upper) - 12) if blue else upper
            shown = REVEALED if c.islower() else 0
            cells[i] = PIECE | (SIDE if blue else 0) | shown | LETTERS[letter]
    return Position(VARIANTS[variant], cells, "rb".index(side), int(plies))


def test_same_positions_moves_and_ends(shared: pathlib.Path) -> None:
    """Differences of that program, and no others: no repetition rules, no no-attack limit, a
    draw when
    its counter passes 3000, a loss where neither side can move, and a long scout move does not
    reveal."""
    plies = 0
    with gzip.open(shared / "data/openspiel_stratego_games.jsonl.gz", "rt") as lines:
        for line in lines:
            record = json.loads(line)
            rules = {"two_squares": 0, "more_squares": 0, "max_quiet": 0, "max_plies": 3001}
            batch = Batch(Game(record["variant"], rules), 1)
            first = position(record["variant"], record["initial_fen"])
            batch.start(0, first.to_bytes())
            for fen, moves, (from_, to), _ in record["plies"]:
                expected = position(record["variant"], fen)
                got = Position.from_bytes(expected.variant, batch.save(0))
                hidden = np.uint8(~(REVEALED | 0x10) & 0xFF)
                np.testing.assert_array_equal(got.cells & hidden, expected.cells & hidden)
                attacked = (expected.cells & REVEALED) > 0
                assert not (attacked & ~((got.cells & REVEALED) > 0)).any()
                assert (got.side, got.plies) == (expected.side, expected.plies)
                assert legal_moves(batch, 0) == [tuple(move) for move in moves]
                for square in (from_, to):
                    frame = square if expected.side == 0 else 99 - square
                    batch.apply(np.array([frame], np.int32))
                plies += 1
            returns, endings, _ = batch.result()
            ending = batch.game.endings[endings[0]]
            assert ending
            if ending != "no_movable_pieces":
                assert returns[0].tolist() == record["returns"], record["game"]
    assert plies == 60_746
