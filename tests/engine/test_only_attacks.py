"""The observation tells which pieces can only attack, also where a repetition rule forbids more."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from fingerprint import Preferences
from stratkit.engine import Batch, Game, observation_dtype, sample
from stratkit.engine.stratego import PIECE, SIDE, legal_moves, variant

N = 300


@pytest.mark.parametrize("name", ["mini", "barrage"])
def test_they_are_those_whose_legal_moves_are_attacks(name: str) -> None:
    game, games, board = Game(name), np.arange(N), variant(name)
    batch, preferences = Batch(game, N), Preferences(game, N)
    dtype = observation_dtype(board.squares)
    cornered = forbidden = 0
    for number in range(500):
        packed, legal, actors = batch.observe(), batch.legal(), batch.actors()
        for row in np.flatnonzero(actors >= 0).tolist():
            seen = packed[row].view(dtype)[0]
            bits = np.unpackbits(seen["only_attacks"], bitorder="little")
            found = set(np.flatnonzero(bits).tolist())
            if seen["phase"] == 1 or seen["stage"] == 1:
                assert not found
                continue
            moves = defaultdict(list)
            for move in legal_moves(batch, row):
                start, end = (int(board.framed(int(actors[row]), square)) for square in move)
                moves[start].append(seen["cells"][end] & (PIECE | SIDE) == PIECE | SIDE)
            assert found == {start for start, attacks in moves.items() if all(attacks)}
            cornered += len(found)
            forbidden += sum(_has_room(seen["cells"], start, board.width) for start in found)
        weights = preferences.weights(actors, packed)
        batch.apply(sample(weights, legal, 1, games, np.full(N, number, np.int32))[0])
    assert cornered > 30 and forbidden > 5


def _has_room(cells: np.ndarray, square: int, width: int) -> bool:
    """Whether a square beside this one is empty."""
    y, x = divmod(square, width)
    board = cells.reshape(-1, width)
    beside = ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1))
    return any(board[at] == 0 for at in beside if 0 <= at[0] < len(board) and 0 <= at[1] < width)
