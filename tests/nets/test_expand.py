"""The expansion in torch, the engine's encoder and the slow Python one agree bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nets.random_play import views_of_games
from nets.slow_planes import planes
from stratkit.engine import Game, expand_planes, observation_dtype
from stratkit.engine.stratego import BOMB, FLAG, MOVED, PIECE, REVEALED, SIDE, TYPE, VARIANTS
from stratkit.errors import InputError
from stratkit.nets import build, expand
from stratkit.nets.expansion import expand_in_torch, public_as_written


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


@pytest.mark.parametrize("name", ["mini", "classic"])
def test_equation_6_as_it_is_written(name: str) -> None:
    """Square by square, from the text; a network that is shown it sees nothing else otherwise."""
    game, packed = play(name, games=1, seed=5)
    packed = packed[:: len(packed) // 30 + 1].copy()
    _, height, width = game.shape
    found = public_as_written(torch.from_numpy(packed), game.shape).numpy()
    for row, planes_ in zip(packed, found, strict=True):
        record = row.view(observation_dtype(width * height))[0]
        expected = np.zeros((2, 12, height * width), np.float32)
        for square, cell in enumerate(record["cells"]):
            block, enemy = expected[1 - bool(cell & SIDE)], bool(cell & SIDE)
            if not cell & PIECE:
                continue
            if cell & REVEALED:
                block[cell & TYPE, square] = 1
                continue
            hidden = record["enemy_unrevealed" if enemy else "own_unrevealed"].astype(np.float32)
            if cell & MOVED:
                hidden = np.where(np.isin(np.arange(12), (FLAG, BOMB)), 0, hidden)
            block[:, square] = hidden / max(1, hidden.sum())
        np.testing.assert_allclose(planes_.reshape(2, 12, -1), expected, atol=1e-6)
    exact = expand(torch.from_numpy(packed), game.shape)[:, 13:37].numpy()
    assert abs(exact - found).max() > 0.01


def test_a_network_may_be_shown_equation_6() -> None:
    game, packed = play("mini", games=1, seed=4)
    observations = torch.from_numpy(packed)
    plain, written = (build(net, game, 1) for net in ("tiny", "tiny+eq6"))
    assert {*plain.state_dict()} == {*written.state_dict()}
    of_text = public_as_written(observations, game.shape)
    assert torch.equal(written.prepare(observations).planes[:, 13:37], of_text)
    others = [*range(13), *range(37, 82)]
    for one, other in ((plain.prepare(observations, of_text), written.prepare(observations)),):
        assert torch.equal(one.planes[:, others], other.planes[:, others])
    own = torch.rand(len(packed), 24, 6, 6)
    assert torch.equal(written.prepare(observations, own).planes[:, 13:37], own)
    assert build("tiny+eq6+deployment", game, 1).play.as_written
    for wrong in ("plain+eq6", "mlp+eq6", "paper+eq7", "fromto+eq6"):
        with pytest.raises(InputError, match="unknown network|channels and blocks"):
            build(wrong, game, 1)


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
