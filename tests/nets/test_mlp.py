"""The multilayer perceptron: its value with layers of its own, and the engine that computes it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from nets.drawn import drawn
from stratkit.engine import Game
from stratkit.engine.dice import DiceSets
from stratkit.engine.mlp import MLPLayers, legal_softmax
from stratkit.errors import InputError
from stratkit.learn.presets import MMD_PRESETS
from stratkit.netnames import check_new_net, preset_of
from stratkit.nets import build
from stratkit.nets.choice import network_with
from stratkit.nets.engine_mlp import EngineMLP
from stratkit.nets.evaluator import Evaluator


def test_policy_and_value_share_no_weight() -> None:
    game = Game("kuhn")
    together, apart = (build(f"mlp:8x5{end}", game, seed=3) for end in ("", "+critic"))
    packed = torch.arange(game.observation_bytes)[None].byte() % 2
    legal = torch.ones(1, game.actions, dtype=torch.uint8)
    logits, value = apart(packed, legal)
    assert torch.equal(logits, together(packed, legal)[0])  # the weights are drawn first
    weights = {name: w.detach().numpy() for name, w in apart.named_parameters()}
    x = packed[0, : game.shape[0]].numpy().astype(np.float32)
    for layer in ("critic_layers.0", "critic_layers.1"):
        x = np.maximum(weights[f"{layer}.weight"] @ x + weights[f"{layer}.bias"], 0)
    expected = weights["critic.weight"] @ x + weights["critic.bias"]
    assert value.detach().numpy() == pytest.approx(expected, abs=1e-6)
    for output, own in ((logits.sum(), ("layers", "policy")), (value.sum(), ("critic",))):
        apart.zero_grad()
        output.backward()
        moved = {
            name for name, w in apart.named_parameters() if w.grad is not None and w.grad.any()
        }
        assert moved and all(name.startswith(own) for name in moved)


def test_its_name() -> None:
    for name in ("mlp+critic", "mlp:8+critic"):
        check_new_net(name)
        assert preset_of(name, MMD_PRESETS) == "mlp"
    assert preset_of("mlp:8", MMD_PRESETS, "dark_hex:3") == "mlp/dark_hex"
    assert preset_of("mlp:8", MMD_PRESETS, "dark_hex:3:classical") == "mlp/dark_hex:3:classical"
    assert preset_of("mlp:8", MMD_PRESETS, "dark_hexagon:3") == "mlp"
    assert preset_of("plain", MMD_PRESETS, "dark_hex:3") == "plain"
    for name in ("plain+critic", "mlp:8+critics", "pbs:8+critic", "mlp:8+critic+deployment"):
        with pytest.raises(InputError):
            check_new_net(name)
            build(name, Game("kuhn"))


@pytest.mark.parametrize("net", ["mlp:70x130", "mlp:40+critic"])
def test_the_engine_computes_it(net: str) -> None:
    """To rounding what torch computes, and each row by itself, whatever threads there are."""
    game = Game("liars_dice:1x4")
    module = drawn(build(net, game, seed=1))
    weights = {name: w.detach().numpy() for name, w in module.named_parameters()}
    packed, legal = DiceSets(game).views(100, 900)
    by_torch = Evaluator(net, module, 64).evaluate(packed, legal, values=True)
    evaluator = Evaluator(net, EngineMLP(net, game, weights), 64)
    found = evaluator.evaluate(packed, legal, values=True)
    for one, other in zip(found, by_torch, strict=True):
        assert one is not None and other is not None and other.std() > 0.01
        assert np.abs(one - other).max() < 1e-6
    assert np.array_equal(evaluator.policy(packed[33:36], legal[33:36]), found[0][33:36])
    assert np.array_equal(evaluator.values(packed[33:36]), found[1][33:36])
    wider = {name: w.astype(np.float64, order="F") for name, w in weights.items()}
    other_layout = Evaluator(net, EngineMLP(net, game, wider), 64)
    assert np.array_equal(other_layout.policy(packed, legal), found[0])
    again = pickle.loads(pickle.dumps(evaluator))
    assert np.array_equal(again.policy(packed, legal), found[0])
    again.place("cpu", torch.bfloat16)
    assert again.backend.name == "torch" and np.abs(again.values(packed) - found[1]).max() < 0.1


def test_who_asks_for_torch_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game("kuhn")
    weights = {n: w.detach().numpy() for n, w in build("mlp:8", game, seed=3).named_parameters()}
    for asked, kind in (
        ("", "engine"),
        ("engine", "engine"),
        ("onnx", "engine"),
        ("torch", "torch"),
    ):
        monkeypatch.setenv("STRATKIT_BACKEND", asked)
        network = network_with("mlp:8", game, weights)
        assert Evaluator("mlp:8", network, 8).backend.name == kind
    with pytest.raises(InputError, match="its tensors are not this network's: 'mlp:9'"):
        EngineMLP("mlp:9", game, weights)
    with pytest.raises(InputError, match="its weights are not all finite"):
        EngineMLP("mlp:8", game, {**weights, "critic.bias": np.full(1, np.nan, np.float32)})


def test_layers_that_do_not_fit() -> None:
    fine, wide = ((np.zeros((n, 4), np.float32), np.zeros(n, np.float32)) for n in (4, 4097))
    for layers in ([fine, (fine[0][:, :3].copy(), fine[1])], [(fine[0], fine[1][:3])]):
        with pytest.raises(ValueError, match="layers' weights must be"):
            MLPLayers(layers)
    with pytest.raises(ValueError, match="a layer of 4097 by 4, of at most 4096"):
        MLPLayers([wide])
    nothing = legal_softmax(np.ones((2, 3), np.float32), np.array([[0, 0, 0], [0, 1, 1]], np.uint8))
    assert nothing.tolist() == [[0, 0, 0], [0, 0.5, 0.5]]
