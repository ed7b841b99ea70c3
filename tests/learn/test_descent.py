"""That a step of Adam goes where the gradient says, element by element."""

from __future__ import annotations

import pytest
import torch

from learn.games import as_parts, episodes, optimizer
from stratkit.learn.data import make_batch
from stratkit.learn.settings import resolve


@pytest.mark.parametrize("net", ["plain", "tiny"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_step_follows_the_gradient(net: str, threads: int) -> None:
    """Without momentum Adam's first step is -lr g / (|g| + eps). Convolutions give gradients whose
    memory is laid out otherwise than their weights: a fused step must not notice."""
    game, found = episodes("mini", number=4)
    config = resolve(net, {}, {}, {"threads": threads, "seed": 1, "b1": 0.0, "lr": 0.01})
    learner = optimizer(net, game.shape, config)
    before = {name: p.detach().clone() for name, p in learner.algorithm.trained.named_parameters()}
    learner.update(make_batch(game, as_parts(game, found), 128))
    for name, parameter in learner.algorithm.trained.named_parameters():
        gradient = parameter.grad
        assert gradient is not None
        expected = before[name] - 0.01 * gradient / (gradient.abs() + 1e-8)
        torch.testing.assert_close(parameter.detach(), expected, msg=name, rtol=1e-3, atol=1e-5)
