"""Networks by ONNX Runtime compute what they compute by torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.arrays import Float32s
from stratkit.engine import Game
from stratkit.engine.observation import SELECTED
from stratkit.models.open_model import open_model
from stratkit.models.shipped import SHIPPED
from stratkit.nets import build
from stratkit.nets.onnx_network import OnnxNetwork, network_of

NETS = ("fromto:8x1", "fromto:16x2", "fromto:8x1+deployment", "fromto:8x1+mirrored")


def weights_of(net: str, game: Game) -> dict[str, Float32s]:
    return {name: w.numpy() for name, w in drawn(build(net, game, seed=1)).state_dict().items()}


def by_torch(
    net: str, game: Game, weights: dict[str, Float32s], packed: np.ndarray, legal: np.ndarray
) -> tuple[Float32s, Float32s]:
    network = build(net, game, 0).eval()
    network.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    with torch.inference_mode():
        logits, values = network(torch.from_numpy(packed), torch.from_numpy(legal))
    return logits.numpy(), values.numpy()


def by_onnx(
    network: OnnxNetwork, packed: np.ndarray, legal: np.ndarray
) -> tuple[Float32s, Float32s]:
    inputs = network.prepare(packed)
    embedding = network.embed(inputs)
    return network.logits(embedding, inputs, legal), network.value(embedding, inputs)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("name", ["barrage", "nano", "classic"])
def test_logits_and_values_are_those_of_torch(name: str, net: str) -> None:
    game = Game(name)
    views = views_of_games(game, 2, seed=3, longest=100)
    weights = weights_of(net, game)
    true = by_torch(net, game, weights, views.observations, views.legal)
    found = by_onnx(network_of(net, game.shape, weights), views.observations, views.legal)
    for one, other in zip(found, true, strict=True):
        assert one.dtype == np.float32 and len(one) > 40
        assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_networks_have_the_same_logits(name: str) -> None:
    model = open_model(name)
    game = Game(model.game)
    views = views_of_games(game, 1, seed=4, longest=150)
    true = by_torch(model.net, game, dict(model.weights), views.observations, views.legal)
    found = by_onnx(
        network_of(model.net, game.shape, model.weights), views.observations, views.legal
    )
    for one, other in zip(found, true, strict=True):
        assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("net", ["fromto:16x2", "fromto:16x2+mirrored"])
def test_a_view_s_logits_do_not_depend_on_those_beside_it(net: str) -> None:
    """To the last bit, whatever the number of rows."""
    game = Game("barrage")
    views = views_of_games(game, 2, seed=5, longest=80)
    network = network_of(net, game.shape, weights_of(net, game))
    together = by_onnx(network, views.observations, views.legal)
    for size in (1, 2, 3, 8, 13):
        at = slice(len(views.legal) - size, None)
        alone = by_onnx(network, views.observations[at], views.legal[at])
        for one, other in zip(alone, together, strict=True):
            assert np.array_equal(one, other[at])


@pytest.mark.parametrize("net", ["fromto:8x1", "fromto:8x1+mirrored"])
def test_pieces_of_a_position_share_its_embedding(net: str) -> None:
    game = Game("barrage")
    views = views_of_games(game, 2, seed=5, longest=120)
    packed, legal = views.observations, views.legal
    assert (packed[:, SELECTED] < 100).sum() > 20
    network = network_of(net, game.shape, weights_of(net, game))
    true, _ = by_onnx(network, packed, legal)
    shared = network.prepare_shared(packed)
    embedding = network.embed(shared)
    assert np.array_equal(network.logits(embedding, shared, legal), true)
    before = None
    for at in (slice(0, 100), slice(50, 150), slice(100, None)):
        inputs = network.prepare_shared(packed[at])
        embedding, before = network.embed_after(inputs, before)
        assert np.array_equal(network.logits(embedding, inputs, legal[at]), true[at])


def test_another_s_weights_and_other_networks_are_refused() -> None:
    game = Game("barrage")
    assert network_of("plain", game.shape, weights_of("plain", game)) is None
    assert network_of("py:mine:Net", game.shape, {}) is None
