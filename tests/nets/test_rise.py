"""RISEv2-mobile: its sizes are the paper's, and it reads boards of Stratego and of Hex."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Batch, Game
from stratkit.errors import InputError
from stratkit.nets import build
from stratkit.nets.rise import Excitation, Rise, stone_planes


def hex_views(name: str, moves: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    batch = Batch(Game(name), 1)
    for move in moves:
        batch.apply(np.array([move], np.int32))
    return torch.from_numpy(batch.observe()), torch.from_numpy(batch.legal())


@pytest.mark.parametrize("name", ["mini", "barrage", "nano"])
def test_shapes_and_legality_on_boards(name: str) -> None:
    game = Game(name)
    views = views_of_games(game, 2, seed=2)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    logits, value = build("rise:16x2", game, seed=1)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (len(packed),)
    assert torch.equal(torch.isfinite(logits), legal.bool())
    assert not value.any()  # it begins with the mean of any game


@pytest.mark.parametrize("name", ["hex:2", "hex:5", "dark_hex:3", "hex:11"])
def test_shapes_and_legality_in_hex(name: str) -> None:
    game = Game(name)
    packed, legal = hex_views(name, [0, 1])
    logits, value = build("rise:16x2", game, 1)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (1,)
    assert torch.equal(torch.isfinite(logits), legal.bool())


def test_the_planes_of_hex() -> None:
    packed, _ = hex_views("hex:3", [4, 2, 7])  # player 1 is to move
    planes = stone_planes(packed, (3, 3))[0]
    assert planes.shape == (4, 3, 3)
    assert not planes[0].any() and planes[1].all()
    assert planes[2].nonzero().tolist() == [[0, 2]]
    assert planes[3].nonzero().tolist() == [[1, 1], [2, 1]]


def test_the_size_is_that_of_the_paper() -> None:
    """13 blocks of 128, 192, ..., 896 inner channels, excitation in the last five; 4.8 M parameters
    with stratkit's planes and heads, where the paper's come to 4.7 M."""
    net = build("rise:256x13", Game("barrage"), seed=1)
    assert isinstance(net, Rise)
    inner = [block.depthwise[0].out_channels for block in net.blocks]  # type: ignore[index,union-attr]
    assert inner == list(range(128, 897, 64))
    excited = [isinstance(block.excitation, Excitation) for block in net.blocks]
    assert excited == [False] * 8 + [True] * 5
    blocks = sum(p.numel() for p in net.blocks.parameters())
    of_a_block = [2 * 256 * k + 9 * k + 2 * (2 * k + 256) for k in inner]
    assert blocks == sum(of_a_block) + 5 * (2 * 256 * 128 + 128 + 256)
    assert sum(p.numel() for p in net.parameters()) == 4_824_721


@pytest.mark.parametrize("name", ["nano", "hex:4"])
def test_a_position_does_not_depend_on_its_company(name: str) -> None:
    game = Game(name)
    if name == "nano":
        views = views_of_games(game, 1, seed=3)
        packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
        packed, legal = packed[-4:], legal[-4:]
    else:
        some = [hex_views(name, moves) for moves in ([], [1], [1, 2], [1, 2, 5])]
        packed, legal = (torch.cat(parts) for parts in zip(*some, strict=True))
    net = drawn(build("rise:16x2", game, 1)).train()
    logits, values = net(packed, legal)
    alone = [net(packed[i : i + 1], legal[i : i + 1]) for i in range(4)]
    assert_close(torch.cat([v for _, v in alone]).detach(), values[:4].detach(), rtol=1e-4)
    for i, (row, _) in enumerate(alone):
        torch.testing.assert_close(row[0], logits[i], rtol=1e-4, atol=1e-5)


def test_every_weight_learns() -> None:
    game = Game("hex:4")
    packed, legal = hex_views("hex:4", [1, 2, 5])
    net = drawn(build("rise:16x2", game, 1))
    logits, value = net(packed, legal)
    (torch.log_softmax(logits, 1)[0, 0] + value.sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), name
    assert not any(isinstance(module, nn.BatchNorm2d) for module in net.modules())


def test_names() -> None:
    game = Game("mini")
    default = sum(p.numel() for p in build("rise", game, 1).parameters())
    assert default == sum(p.numel() for p in build("rise:32x4", game, 1).parameters())
    with pytest.raises(InputError, match="channels and blocks are given as in"):
        build("rise:32", game)
    with pytest.raises(InputError, match="this network is for boards"):
        build("rise", Game("kuhn"))
    game = Game("hex:3")
    with pytest.raises(InputError, match=r"none \(Hex has the nets rise, alphaze and mlp\)"):
        build("small", game)
