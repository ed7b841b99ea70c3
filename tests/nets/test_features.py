"""The engine's features, torch's and the slow ones in Python agree bit for bit."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import torch

from nets.random_play import views_of_games
from nets.slow_features import features as slow_features
from nets.slow_features import outcomes as slow_outcomes
from stratkit.engine import Batch, Game, observation_dtype
from stratkit.engine.observation import (
    CELLS,
    COUNTS,
    FEATURES,
    OUTCOMES,
    PHASE,
    SELECTED,
    STAGE,
    attack_outcomes,
    move_outcomes,
)
from stratkit.engine.stratego import PIECE, REVEALED, TYPE
from stratkit.nets.expansion import expand
from stratkit.nets.features import features, features_in_torch, outcomes, outcomes_in_torch


@pytest.mark.parametrize("name", ["classic", "barrage", "mini", "nano"])
def test_three_ways_agree(name: str) -> None:
    game = Game(name)
    _, height, width = game.shape
    observations = views_of_games(game, 2, seed=1, longest=900).observations
    packed = torch.from_numpy(observations)
    board, counts = features(packed, game.shape)
    met = outcomes(packed, game.shape)
    assert board.shape == (len(packed), FEATURES, height, width)
    assert counts.shape == (len(packed), COUNTS)
    assert met.shape == (len(packed), height * width, OUTCOMES)
    assert board.is_contiguous(memory_format=torch.channels_last)
    for ours, theirs in zip(
        (board, counts), features_in_torch(packed, game.shape, None), strict=True
    ):
        assert torch.equal(ours, theirs)
    assert torch.equal(met, outcomes_in_torch(packed, game.shape, None))

    chosen = np.random.default_rng(0).permutation(len(packed))[:6]
    for row in sorted({0, len(packed) - 1, *map(int, chosen)}):
        record = observations[row].view(observation_dtype(width * height))[0]
        slow_board, slow_counts = slow_features(record, width, height)
        np.testing.assert_array_equal(board[row], slow_board, f"row {row}")
        np.testing.assert_array_equal(counts[row], slow_counts, f"row {row}")
        np.testing.assert_array_equal(met[row], slow_outcomes(record, width, height), f"row {row}")
    if name == "classic":  # nothing is never there
        assert (board.abs().amax((0, 2, 3)) > 0).all() and (met.amax((0, 1)) > 0).all()


def test_a_player_may_bring_its_own_public_information() -> None:
    game = Game("mini")
    packed = torch.from_numpy(views_of_games(game, 2, seed=4).observations)
    exact = expand(packed, game.shape)[:, 13:37]
    for found, wanted in zip(
        features(packed, game.shape, exact), features(packed, game.shape), strict=True
    ):
        assert torch.equal(found, wanted)
    assert torch.equal(outcomes(packed, game.shape, exact), outcomes(packed, game.shape))
    opinion = torch.rand(exact.shape)
    board = features(packed, game.shape, opinion)[0]
    assert torch.equal(board[:, 15:27], opinion[:, :12])
    assert torch.equal(board[:, :15], features(packed, game.shape)[0][:, :15])


def test_moves_bring_what_their_squares_say() -> None:
    game = Game("mini")
    seen = views_of_games(game, 2, seed=1, longest=200).observations
    packed = seen[(seen[:, PHASE] == 0) & (seen[:, STAGE] == 0)][::9].copy()
    moves = np.argwhere(np.ones((len(packed), 36, 36), bool)).astype(np.int32)[::7].copy()
    found = move_outcomes(packed, game.shape, moves)
    for row in (0, len(packed) - 1):
        for source in range(36):
            its = moves[(moves[:, 0] == row) & (moves[:, 1] == source)]
            selected = packed[row : row + 1].copy()
            selected[:, [STAGE, SELECTED]] = 1, source
            whole = attack_outcomes(selected, game.shape)[0]
            same = found[(moves[:, 0] == row) & (moves[:, 1] == source)]
            np.testing.assert_array_equal(same, whole[its[:, 2]])
    assert found.any()
    with pytest.raises(ValueError, match="the squares of moves must hold numbers from 0 to 35"):
        move_outcomes(packed, game.shape, np.array([[0, 36, 0]], np.int32))


def test_the_right_board_is_needed() -> None:
    packed = torch.from_numpy(views_of_games(Game("nano"), 1).observations)
    for function in (features, outcomes):
        with pytest.raises(ValueError, match="packed must be a contiguous array|shape"):
            function(packed, (82, 6, 6))


def test_a_piece_that_can_only_attack_is_told_from_one_that_can_move() -> None:
    """As the engine's list of moves has it, without the rules that forbid repetitions."""
    game = Game("mini", {"two_squares": 0, "more_squares": 0})
    batch, rng, found = Batch(game, 256), np.random.default_rng(3), 0
    while (batch.endings() == 0).any():
        legal, seen, sides = batch.legal(), batch.observe(), batch.actors()
        brings = outcomes(torch.from_numpy(seen), game.shape).numpy()
        for row in np.flatnonzero((sides >= 0) & (seen[:, PHASE] == 0) & (seen[:, STAGE] == 0)):
            cells, ends = seen[row, CELLS:], defaultdict[int, list[int]](list)
            for start, end in batch.moves(int(row), int(sides[row])):
                ends[start].append(int(cells[end]))
            attackers = {start for start, cells in ends.items() if all(c & PIECE for c in cells)}
            told = set(np.flatnonzero(brings[row].any(1)))
            assert told <= attackers
            for start in attackers - told:  # both fall for certain
                assert {c & (REVEALED | TYPE) for c in ends[start]} == {
                    REVEALED | (int(cells[start]) & TYPE)
                }
            found += len(told)
        noise = rng.random(legal.shape) * legal
        batch.apply(np.where(sides >= 0, noise.argmax(1), -1).astype(np.int32))
    assert found > 100
