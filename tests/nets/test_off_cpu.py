"""Off the CPU no network waits for a number of rows: it looks at more of them, and says the
same."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.nets import Network, UNet, build
from stratkit.nets.deployment import WithDeployment

MODULES = ("deployment", "expansion", "features", "fromto", "graph", "mirrored", "network", "unet")
# A U-Net that learns waits once a chunk, by a `tolist` that `Waits` does not see: three heads for
# all rows would be more than half as much work again.
NETS = ["plain", "tiny", "rise:8x2", "fromto:8x1", "plain+deployment"]
NETS += ["fromto:8x1+deployment", "fromto:8x1+mirrored"]


class Waits(TorchDispatchMode):
    """Fails at what a device would have to tell the host: a number, or how many rows there are."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        masks = name.startswith("index") and isinstance(args[1], list | tuple)
        kinds = {x.dtype for x in args[1] if x is not None} if masks else set()
        waits = ("nonzero", "masked_select", "_local_scalar_dense", "item", "equal")
        assert name not in waits, name
        assert not kinds & {torch.bool, torch.uint8}, f"{name} by a mask"
        return func(*args, **(kwargs or {}))


def one_hot(x: Tensor, classes: int) -> Tensor:
    """As torch's, which asks for the largest number on a CPU, and not on a GPU."""
    return (x[..., None] == torch.arange(classes)).long()


def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on networks think that their tensors are not on a CPU."""
    for name in MODULES:
        module = importlib.import_module(f"stratkit.nets.{name}")
        monkeypatch.setattr(module, "on_cpu", lambda x: False)
        if hasattr(module, "one_hot"):
            monkeypatch.setattr(module, "one_hot", one_hot)


def said(net: Network, packed: Tensor, legal: Tensor) -> tuple[Tensor, ...]:
    """Logits, values, and the gradient of something of them."""
    inputs = net.prepare_shared(packed)
    embedding = net.embed(inputs)
    logits, value = net.logits(embedding, inputs, legal), net.value(embedding, inputs)
    loss = logits.masked_fill(~legal.bool(), 0).square().sum() + value.square().sum()
    found = torch.autograd.grad(loss, tuple(net.parameters()), materialize_grads=True)
    return logits.detach(), value.detach(), torch.cat([x.flatten() for x in found])


def compared(monkeypatch: pytest.MonkeyPatch, net: Network, packed: Tensor, legal: Tensor) -> None:
    here = said(net, packed, legal)
    elsewhere(monkeypatch)
    said(net, packed[:1], legal[:1])  # tables that are made once
    with Waits():
        there = said(net, packed, legal)
    for one, other in zip(here, there, strict=True):
        assert_close(other, one, rtol=1e-4, atol=1e-5 * float(one[one.isfinite()].abs().max()))


@pytest.mark.parametrize("net", NETS)
def test_boards(monkeypatch: pytest.MonkeyPatch, net: str) -> None:
    game = Game("mini")
    seen = views_of_games(game, 2, seed=3, longest=60)
    views = torch.from_numpy(seen.observations), torch.from_numpy(seen.legal)
    compared(monkeypatch, drawn(build(net, game, seed=1)), *views)


@pytest.mark.parametrize("net", ["tiny", "tiny+eq6", "tiny+deployment"])
def test_all_heads_of_a_u_net_that_plays_look_at_all_rows(
    monkeypatch: pytest.MonkeyPatch, net: str
) -> None:
    game = Game("mini")
    seen = views_of_games(game, 2, seed=3, longest=60)
    views = torch.from_numpy(seen.observations), torch.from_numpy(seen.legal)
    network = drawn(build(net, game, seed=1))
    heads = network.get_submodule("play") if "deployment" in net else network
    assert isinstance(heads, UNet)
    looks: list[int] = []
    for head in (heads.deployment, heads.selection, heads.target):
        head.register_forward_hook(lambda _, given, out: looks.append(len(out)))
    with torch.inference_mode():
        here = network(*views)
        assert max(looks) < len(views[0])
        looks.clear()
        elsewhere(monkeypatch)
        network(*(x[:1] for x in views))  # tables that are made once
        looks.clear()
        with Waits():
            there = network(*views)
    assert looks == 3 * [len(views[0])]
    for one, other in zip(here, there, strict=True):
        assert_close(other, one, rtol=1e-5, atol=1e-5)


def test_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game("diplomacy:fva")
    seen = views_of_games(game, 2, seed=3, longest=60)
    net = drawn(build("graph:8x2", game, 1))
    compared(monkeypatch, net, torch.from_numpy(seen.observations), torch.from_numpy(seen.legal))


def test_where_all_deploy_the_network_of_play_is_asked_for_one_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = Game("mini")
    seen = views_of_games(game, 2, seed=3, longest=20)
    net = drawn(build("plain+deployment", game, seed=1))
    assert isinstance(net, WithDeployment)
    packed, legal = torch.from_numpy(seen.observations[:8]), torch.from_numpy(seen.legal[:8])
    assert seen.given[:8].all()
    net.deploys_only = True
    compared(monkeypatch, net, packed, legal)
    assert len(net.prepare(packed).play) == 1
