"""A network that looks at a view with the own flag on the left as in a mirror."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch import Tensor

from nets.drawn import assert_close, drawn
from nets.random_play import actions_of_games, views_of_games
from stratkit.engine import Game, replay_many
from stratkit.engine.observation import MOVES, ONLY_ATTACKS
from stratkit.engine.stratego import FLAG, PIECE, SIDE, TYPE
from stratkit.errors import InputError
from stratkit.netnames import check_new_net, has_deployment, without_ending
from stratkit.nets import build
from stratkit.nets.deployment import WithDeployment
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.mirrored import Mirrored

Pair = tuple[Tensor, Tensor, Tensor, Tensor]


def image(game: Game) -> np.ndarray:
    _, height, width = game.shape
    return np.fliplr(np.arange(height * width).reshape(height, width)).ravel()


def games_and_images(name: str, longest: int = 10_000) -> tuple[Game, Pair]:
    """Observations and legal actions of random games, and those of the same games in a mirror."""
    game = Game(name)
    actions, _ = actions_of_games(game, 12, seed=3, longest=longest)
    both = []
    for played in (actions, [image(game)[a].astype(np.int32) for a in actions]):
        views = replay_many(game, [(b"", a) for a in played])
        both += [torch.from_numpy(views.observations), torch.from_numpy(views.legal)]
    return game, (both[0], both[1], both[2], both[3])


def mirrored(game: Game, net: str = "fromto:8x1") -> Mirrored:
    network = drawn(build(f"{net}+mirrored", game, seed=1))
    assert isinstance(network, Mirrored)
    return network


def flag_file(game: Game, packed: Tensor) -> Tensor:
    """int64 [n]: where the own flag stands, -1 before it does."""
    squares = game.shape[1] * game.shape[2]
    flag = (packed[:, -squares:] & (PIECE | SIDE | TYPE)) == PIECE | FLAG
    return torch.where(flag.any(1), flag.int().argmax(1) % game.shape[2], -1)


@pytest.mark.parametrize("name", ["classic", "barrage", "mini", "nano"])
def test_the_image_of_an_observation_is_that_of_the_game_s_image(name: str) -> None:
    game, (packed, _, other, _) = games_and_images(name)
    assert packed[:, ONLY_ATTACKS:MOVES].any() or name != "mini"
    assert torch.equal(mirrored(game).reflected(packed), other)
    assert not torch.equal(packed, other)


@pytest.mark.parametrize("net", ["plain", "fromto:8x1", "tiny"])
@pytest.mark.parametrize("name", ["barrage", "nano"])
def test_it_says_the_same_of_both_images(name: str, net: str) -> None:
    """But for a flag on the middle file, which is its own image."""
    game, (packed, legal, other, allowed) = games_and_images(name, longest=120)
    network = mirrored(game, net)
    with torch.no_grad():
        logits, value = network(packed, legal)
        found, said = network(other, allowed)
    width = game.shape[2]
    sided = flag_file(game, packed) * 2 != width - 1
    assert sided.any() and (flag_file(game, packed) >= 0).any()
    assert_close(found[sided][:, image(game)], logits[sided], rtol=1e-4, atol=1e-5)
    assert_close(said[sided], value[sided], rtol=1e-4, atol=1e-5)


def test_with_the_flag_on_the_right_it_is_the_network_that_it_was() -> None:
    game, (packed, legal, _, _) = games_and_images("barrage", longest=60)
    network = mirrored(game)
    plain = build("fromto:8x1+deployment", game, seed=1)
    plain.load_state_dict(network.state_dict())
    with torch.no_grad():
        (logits, value), (found, said) = plain(packed, legal), network(packed, legal)
    right = flag_file(game, packed) >= 5
    assert_close(found[right], logits[right], rtol=1e-4, atol=1e-5)
    assert_close(said[right], value[right], rtol=1e-4, atol=1e-5)
    left = (flag_file(game, packed) >= 0) & ~right
    assert (found[left] != logits[left]).any(1).float().mean() > 0.9


@pytest.mark.parametrize("name", ["classic", "barrage", "barrage-blocked", "mini", "nano"])
def test_the_flag_stands_on_either_side_alike(name: str) -> None:
    """Also where an image is a lake, whose logit no other square has."""
    game = Game(name)
    views = views_of_games(game, 1, longest=1)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    assert len(packed) == 1
    with torch.no_grad():
        logits, _ = mirrored(game)(packed, legal)
    found, both = logits.softmax(1)[0], legal[0].bool() & legal[0, image(game)].bool()
    assert torch.equal(found > 0, legal[0].bool()) and len(found[found > 0].unique()) > 1
    assert torch.equal(found[both], found[image(game)][both])
    assert both.sum() < legal.sum() or name != "barrage-blocked"
    # Whoever allows few squares only, as `deploy-gen --fix` does, asks for the same logits.
    half = torch.arange(game.shape[2]).repeat(game.shape[1]) * 2 < game.shape[2] - 1
    for allowed in (legal * half, legal * ~half, legal * half * both):
        with torch.no_grad():
            some, _ = mirrored(game)(packed, allowed)
        assert torch.equal(some.isfinite(), allowed.bool())
        assert torch.equal(some[some.isfinite()], logits[some.isfinite()])


def test_who_remembers_positions_says_the_same() -> None:
    """And who looks once at what pieces share; the public probabilities are reflected, too."""
    game, (packed, legal, _, _) = games_and_images("mini", longest=80)
    network = mirrored(game)
    observations, allowed = packed.numpy(), legal.numpy()
    wanted, value = Evaluator("fromto:8x1+mirrored", network, 8).evaluate(
        observations, allowed, values=True
    )
    elastic = Evaluator("fromto:8x1+mirrored", network, 8, elastic=True)
    for _ in range(2):
        found, said = elastic.evaluate(observations, allowed, values=True)
        assert_close(found, wanted)
        assert_close(said, value)
    pub = torch.rand((len(packed), 24, *game.shape[1:]), generator=torch.Generator().manual_seed(1))
    network = mirrored(game, "plain")
    turned, public = network.reflected(packed), pub.flip(-1)
    sides = flag_file(game, packed)
    rows = (sides >= 0) & (sides * 2 != game.shape[2] - 1)
    with torch.no_grad():
        said_of = [
            network.value(network.embed(inputs), inputs)[rows]
            for inputs in (network.prepare(packed, pub), network.prepare(turned, public))
        ]
    assert_close(said_of[1], said_of[0])


def test_its_name() -> None:
    for net in ("fromto:32x3+mirrored", "plain+mirrored", "tiny+deployment"):
        check_new_net(net)
        assert has_deployment(net) and not has_deployment(without_ending(net))
    for net in ("fromto+mirrored+deployment", "fromto+deployment+mirrored", "+mirrored"):
        with pytest.raises(InputError, match=re.escape(f"unknown network '{net}'")):
            check_new_net(net)
    with pytest.raises(
        InputError, match=r"'plain\+mirror'.*, with \+deployment or \+mirrored behind it"
    ):
        check_new_net("plain+mirror")
    with pytest.raises(InputError, match=r"as in fromto:8x2\+mirrored"):
        check_new_net("fromto:2x8+mirrored")
    assert type(build("plain+deployment", Game("nano"))) is WithDeployment
