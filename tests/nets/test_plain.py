"""The small network for small boards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.drawn import drawn
from stratkit.engine import Batch, Game, sample
from stratkit.errors import InputError
from stratkit.netnames import check_net, check_new_net
from stratkit.nets import build

ENDLESS = 5000 * "9"  # more digits than Python makes a number of


def views(game: Game, n: int, actions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Packed observations and legal actions of n random games after some actions."""
    batch = Batch(game, n)
    for number in range(actions):
        numbers = np.full(n, number, np.int32)
        batch.apply(sample(None, batch.legal(), 3, np.arange(n), numbers)[0])
    return torch.from_numpy(batch.observe()), torch.from_numpy(batch.legal())


@pytest.mark.parametrize("name", ["mini", "barrage", "nano"])
@pytest.mark.parametrize("actions", [0, 3, 7])
def test_shapes_and_legality(name: str, actions: int) -> None:
    game = Game(name)
    packed, legal = views(game, 5, actions)
    logits, value = build("plain", game, seed=1)(packed, legal)
    assert logits.shape == (5, game.actions) and value.shape == (5,)
    assert torch.equal(torch.isfinite(logits), legal.bool())


def test_size_and_seed() -> None:
    game = Game("mini")
    one, same, other = (build("plain", game, seed=seed) for seed in (1, 1, 2))
    assert sum(p.numel() for p in one.parameters()) == 16_770
    weights = [torch.cat([p.flatten() for p in net.parameters()]) for net in (one, same, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_channels_and_blocks_are_in_the_name() -> None:
    game = Game("mini")
    net = build("plain:8x3", game, seed=1)
    assert net.embed(net.prepare(views(Game("mini"), 2, 0)[0])).shape == (2, 8, *game.shape[1:])
    assert len(list(net.blocks)) == 3  # type: ignore[call-overload]
    small = build("plain:16x1", game, seed=1).state_dict()
    assert all(
        torch.equal(w, small[name]) for name, w in build("plain", game, 1).state_dict().items()
    )
    for name in (
        "plain:",
        "plain:8",
        "plain:0x1",
        "plain:8x0",
        "plain:8x2x3",
        "plain:x",
    ):
        with pytest.raises(InputError, match="channels and blocks are given as in plain:32x2"):
            build(name, game)
    for name in ("plain:1025x1", "plain:8x101", "fromto:100000x1000", f"rise:{ENDLESS}x1"):
        with pytest.raises(InputError, match="^a network has at most 1024 channels and 100 blocks"):
            build(name, game)
    check_net("plain:1024x100")


def test_the_order_of_papers_is_told() -> None:
    """They write blocks first. A stored network is read as it was named."""
    swapped = {
        "rise:13x256": "rise:256x13",
        "rise:4x32": "rise:32x4",
        "plain:8x101": "plain:101x8",
        "fromto:2x8+deployment": r"fromto:8x2\+deployment",
        "graph:3x32": "graph:32x3",
    }
    for name, meant in swapped.items():
        with pytest.raises(InputError, match=f"^channels come first, .*, as in {meant}: '"):
            check_new_net(name)
    for name in ("rise:256x13", "plain:8x8", "plain", "mlp:4x32", "py:one:Net", "tiny+deployment"):
        check_new_net(name)
    for name in ("plain:1x5000", "plain:101x1024", "plain:1025x1"):  # neither way
        with pytest.raises(InputError, match="^a network has at most 1024 channels and 100 blocks"):
            check_new_net(name)
    check_net("rise:4x32")


def test_names_of_layers() -> None:
    check_net("mlp:4096x4096x4096x4096x4096x4096x4096x4096")
    for name in ("mlp:", "mlp:0", "pbs:8x", "mlp:8xx8", "mlp:8.5"):
        with pytest.raises(InputError, match="^the layers of a network are widths as in"):
            check_net(name)
    for name in ("mlp:4097", "pbs:99999999x99999999", "mlp:1x1x1x1x1x1x1x1x1", f"mlp:{ENDLESS}"):
        with pytest.raises(InputError, match="at most 8 layers, of widths up to 4096"):
            check_net(name)


def test_every_parameter_gets_a_gradient() -> None:
    game = Game("mini")
    net = drawn(build("plain", game, seed=1))
    logits, value = net(*views(game, 64, 19))
    (logits[torch.isfinite(logits)].square().sum() + value.sum()).backward()  # type: ignore[no-untyped-call]
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
