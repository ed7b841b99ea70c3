"""A larger network that begins with a smaller one's weights."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.nets import Network, build
from stratkit.nets.grow import can_grow, grow

MINI = Game("mini")
PAIRS = [
    ("plain", "plain:24x1"),
    ("plain", "plain:16x3"),
    ("fromto:8x1", "fromto:20x2"),
    ("fromto:60x1", "fromto:61x1"),
    ("fromto+deployment", "fromto:32x3+deployment"),
]


def grown(small: Network, its: str, large: str) -> Network:
    made = build(large, MINI, seed=2)
    grow(made, small.state_dict(), its, large)
    return made


def logits_and_values(network: Network) -> tuple[Tensor, Tensor]:
    seen = views_of_games(MINI, 2, seed=4, longest=60)
    packed, legal = torch.from_numpy(seen.observations), torch.from_numpy(seen.legal)
    logits, value = network(packed, legal)
    return logits.masked_fill(~legal.bool(), 0), value


@pytest.mark.parametrize(("its", "large"), PAIRS)
def test_it_says_the_same(its: str, large: str) -> None:
    small = drawn(build(its, MINI, seed=1))
    with torch.no_grad():
        wanted = logits_and_values(small)
        found = logits_and_values(grown(small, its, large))
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("its", "large"), PAIRS)
def test_all_that_is_new_is_learned(its: str, large: str) -> None:
    """After a step that gives new weights a reader, each tensor has a gradient all over."""
    network = grown(drawn(build(its, MINI, seed=1)), its, large)
    parameters = dict(network.named_parameters())

    def gradients() -> dict[str, Tensor]:
        logits, value = logits_and_values(network)
        loss = logits.square().sum() + value.square().sum()
        return dict(zip(parameters, torch.autograd.grad(loss, network.parameters()), strict=True))

    for _ in range(4):
        for name, gradient in gradients().items():
            parameters[name].data -= 1e-3 * gradient.sign()
    learned = gradients()
    for name, gradient in learned.items():
        if "blocks." in name and name.endswith(".weight"):
            assert gradient.flatten(2).any(2).float().mean() > 0.8, name


@pytest.mark.parametrize(
    ("its", "large"),
    [
        ("fromto", "fromto:16x2"),
        ("fromto", "fromto:24x1"),
        ("plain+deployment", "plain:16x2+deployment"),
        ("plain+deployment", "plain:32x2+deployment"),
    ],
)
@pytest.mark.parametrize("boards", [("mini", "barrage"), ("barrage", "mini")])
def test_weights_of_another_board(its: str, large: str, boards: tuple[str, str]) -> None:
    """Nothing of them is taken."""
    small = build(its, Game(boards[0]), seed=1)
    made = build(large, Game(boards[1]), seed=2)
    before = {name: tensor.clone() for name, tensor in made.state_dict().items()}
    with pytest.raises(RuntimeError, match="does not fit"):
        grow(made, small.state_dict(), its, large)
    assert all(torch.equal(before[name], tensor) for name, tensor in made.state_dict().items())


def test_names_that_can_grow() -> None:
    assert can_grow("fromto", "fromto:32x3+deployment")
    assert not can_grow("fromto+deployment", "fromto:32x3")
    assert not can_grow("plain", "fromto:32x3")
    assert not can_grow("tiny", "small")
    assert not can_grow("fromto:32x2", "fromto:64x1")
    assert not can_grow("fromto:32x2", "fromto:16x4")
