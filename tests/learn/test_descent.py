"""That a step of Adam goes where the gradient says, element by element."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from learn.games import as_parts, episodes, optimizer
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import AdamConfig
from stratkit.learn.data import make_batch
from stratkit.learn.optimizer import SGD, Adam
from stratkit.learn.request import resolve


@pytest.mark.parametrize("net", ["plain", "tiny"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_step_follows_the_gradient(net: str, threads: int) -> None:
    """Without momentum Adam's first step is -lr g / (|g| + eps). Convolutions give gradients whose
    memory is laid out otherwise than their weights: a fused step must not notice."""
    game, found = episodes("mini", number=4)
    config = resolve(net, {}, {}, {"threads": threads, "seed": 1, "b1": 0.0, "lr": 0.01})
    learner = optimizer(net, game, config)
    before = {name: p.detach().clone() for name, p in learner.algorithm.trained.named_parameters()}
    learner.update(make_batch(game, as_parts(game, found), BatchSpec(128)))
    for name, parameter in learner.algorithm.trained.named_parameters():
        gradient = parameter.grad
        assert gradient is not None
        expected = before[name] - 0.01 * gradient / (gradient.abs() + 1e-8)
        torch.testing.assert_close(parameter.detach(), expected, msg=name, rtol=1e-3, atol=1e-5)


def test_momentum_is_torchs() -> None:
    torch.manual_seed(1)
    start = [torch.randn(5, 4, 3, 3), torch.randn(7)]
    ours, theirs = ([nn.Parameter(x.clone()) for x in start] for _ in range(2))
    found = SGD(ours, AdamConfig(), 0.9)
    expected = torch.optim.SGD(theirs, 0.05, 0.9, weight_decay=0.01, nesterov=True)
    for step in range(6):
        gradients = [torch.randn_like(x) for x in start]
        for parameter, gradient in zip(theirs, gradients, strict=True):
            parameter.grad = gradient.clone()
        expected.step()
        found.step(gradients, 0.05, 0.01)
        if step == 3:  # a checkpoint goes on where it was
            moments = enumerate(found.moments["momentum_buffer"])
            kept = {f"momentum_buffer/{at}": x.numpy() for at, x in moments}
            found = SGD(ours, AdamConfig(), 0.9)
            assert found.load(["0", "1"], kept) and not found.load(["0", "2"], kept)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("b1", [0.0, 0.9])
def test_adam_is_torchs(b1: float) -> None:
    """Bit for bit over several steps, also where memory is laid out by channels."""
    torch.manual_seed(1)
    start = [torch.randn(5, 4, 3, 3), torch.randn(7), torch.randn(3, 2)]
    start[0] = start[0].contiguous(memory_format=torch.channels_last)
    ours, theirs = ([nn.Parameter(x.clone()) for x in start] for _ in range(2))
    config = AdamConfig(lr=0.01, b1=b1, b2=0.99, eps=1e-5)
    found = Adam(ours, config)
    expected = torch.optim.Adam(theirs, 0.01, (b1, 0.99), 1e-5, fused=True)
    for _ in range(6):
        gradients = [torch.randn_like(x) for x in start]
        for parameter, gradient in zip(theirs, gradients, strict=True):
            parameter.grad = gradient.clone()
        expected.step()
        found.step(gradients, config.lr)
    for mine, other, before in zip(ours, theirs, start, strict=True):
        assert torch.equal(mine, other) and not torch.equal(mine, before)
