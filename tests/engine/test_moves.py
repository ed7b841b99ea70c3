"""Stratego with one action a move, beside the game that has two."""

from __future__ import annotations

import itertools

import numpy as np

from stratkit.engine import Batch, Game, sample
from stratkit.engine.batch import OVER
from stratkit.engine.stratego import legal_moves
from test_small_games import sights


def test_moves_are_those_of_stratego() -> None:
    """`moves:nano` beside `nano`: the same actors, moves, endings and returns, ply by ply."""
    games, n = np.arange(200, dtype=np.int64), 200
    whole, split = Batch(Game("moves:nano"), n), Batch(Game("nano"), n)
    for number in range(20):
        legal, actors = whole.legal(), whole.actors()
        assert actors.tolist() == split.actors().tolist()
        chosen, _ = sample(None, legal, 7, games, np.full(n, number, np.int32))
        placing = number < 6
        playing = chosen >= 0
        if placing:
            np.testing.assert_array_equal(legal[:, :12], split.legal())
            assert not legal[:, 12:].any()
        else:
            for row in np.flatnonzero(playing):
                from_to = {(a // 12, a % 12) for a in np.flatnonzero(legal[row]).tolist()}
                blue = bool(actors[row])
                moves = [(11 - a, 11 - b) if blue else (a, b) for a, b in legal_moves(split, row)]
                assert from_to == set(moves)
            split.apply(np.where(playing, chosen // 12, -1).astype(np.int32))
        whole.apply(chosen)
        second = chosen if placing else np.where(playing, chosen % 12, -1)
        split.apply(second.astype(np.int32))
        for one, other in zip(whole.result(), split.result(), strict=True):
            np.testing.assert_array_equal(one, other)
    assert (whole.actors() == OVER).all() and set(whole.returns()[:, 0].tolist()) == {-1, 0, 1}


def test_moves_show_nothing_that_is_hidden() -> None:
    """Another order of the enemy's hidden pieces, and the side to move sees the same."""
    line = [0, 1, 2]  # red's flag, marshal, spy; then blue's in each order, and a move each
    games = [
        sights("moves:nano", [*line, *blue, 1 * 12 + 4, 1 * 12 + 4, 4 * 12 + 3])
        for blue in itertools.permutations(range(3))
        if blue[0] != 1  # a flag does not move
    ]
    red = [[(legal, seen) for actor, legal, seen in game if actor == 0] for game in games]
    assert len(games) == 4 and all(game == red[0] for game in red)
    blue_side = {tuple(seen for actor, _, seen in game if actor == 1) for game in games}
    assert len(blue_side) == 4
