"""The expansion in torch, the engine's encoder and the slow Python one agree bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nets.random_play import views_of_games
from nets.slow_planes import planes
from stratkit.engine import Game, expand_planes, observation_dtype
from stratkit.engine.stratego import VARIANTS
from stratkit.nets import expand
from stratkit.nets.expansion import expand_in_torch


def play(name: str, games: int, seed: int, **rules: int) -> tuple[Game, NDArray[np.uint8]]:
    game = Game(name, rules)
    return game, views_of_games(game, games, seed).observations


@pytest.mark.parametrize("name", list(VARIANTS))
def test_three_encoders_agree(name: str) -> None:
    game, packed = play(name, games=2, seed=1)
    _, height, width = game.shape
    ours = expand_in_torch(torch.from_numpy(packed), game.shape, None).numpy()
    assert ours.shape == (len(packed), 82, height, width)
    np.testing.assert_array_equal(ours, expand_planes(game, packed))
    np.testing.assert_array_equal(ours, expand(torch.from_numpy(packed), game.shape).numpy())

    chosen = np.random.default_rng(0).permutation(len(packed))[:60]
    for row in sorted({0, len(packed) - 1, *map(int, chosen)}):
        record = packed[row].view(observation_dtype(width * height))[0]
        np.testing.assert_array_equal(ours[row], planes(record, width, height), f"row {row}")


def test_without_limits_the_ratios_are_zero() -> None:
    game, packed = play("nano", games=4, seed=2, max_plies=0, max_quiet=30)
    ours = expand_in_torch(torch.from_numpy(packed), game.shape, None).numpy()
    np.testing.assert_array_equal(ours, expand_planes(game, packed))
    assert not ours[:, 77].any() and ours[:, 78].any()


def test_public_information_sums_to_the_pieces_on_the_board() -> None:
    """As the paper demands, and its Eq. 6 does not give."""
    game, packed = play("barrage", games=3, seed=3)
    in_play = packed[packed[:, 8] == 0]
    ours = expand(torch.from_numpy(in_play), game.shape).numpy()
    for first, own in ((13, False), (25, True)):
        public = ours[:, first : first + 12]
        pieces = public.sum(1)  # each piece is of some type
        np.testing.assert_allclose(pieces[pieces > 0], 1, atol=1e-6)
        if own:
            private = ours[:, 1:13].sum((2, 3))
            np.testing.assert_allclose(public.sum((2, 3)), private, atol=1e-5)


def test_a_player_may_bring_its_own_public_information() -> None:
    game, packed = play("mini", games=1, seed=4)
    observations = torch.from_numpy(packed)
    exact = expand(observations, game.shape)
    opinion = torch.rand(len(packed), 24, 6, 6)
    ours = expand(observations, game.shape, pub=opinion)
    assert torch.equal(ours, expand_in_torch(observations, game.shape, opinion))
    assert torch.equal(ours[:, 13:37], opinion)
    assert torch.equal(ours[:, :13], exact[:, :13]) and torch.equal(ours[:, 37:], exact[:, 37:])
    assert torch.equal(expand(observations, game.shape, pub=exact[:, 13:37]), exact)


def test_planes_are_channels_last_and_need_the_right_board() -> None:
    game, packed = play("nano", games=1, seed=5)
    for ours in (
        expand(torch.from_numpy(packed), game.shape),
        expand_in_torch(torch.from_numpy(packed), game.shape, None),
    ):
        assert ours.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(ValueError, match="uint8"):
        expand(torch.from_numpy(packed), (82, 6, 6))
    with pytest.raises(ValueError, match="uint8"):
        expand(torch.from_numpy(packed).int(), game.shape)
