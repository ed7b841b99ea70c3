"""The multilayer perceptron whose value has layers of its own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.presets import MMD_PRESETS
from stratkit.netnames import check_new_net, preset_of
from stratkit.nets import build


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
    for name in ("plain+critic", "mlp:8+critics", "pbs:8+critic", "mlp:8+critic+deployment"):
        with pytest.raises(InputError):
            check_new_net(name)
            build(name, Game("kuhn"))
