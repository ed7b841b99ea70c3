"""DeepNash's network: its parts, shapes on every board, heads by phase, and what the heads see."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.nets import UNet, build, legal_policy
from stratkit.nets.builder import U_NETS
from stratkit.nets.unet import ConvBlock, DeconvBlock, Pyramid, Size, spread, strided

PHASE, STAGE, SELECTED, CELLS = 8, 9, 10, 172


def states(name: str = "mini", rows: int = 150) -> tuple[Game, Tensor, Tensor]:
    """Observations and legal actions of all three phases."""
    game = Game(name)
    views = views_of_games(game, games=2, seed=1, longest=rows)
    return game, torch.from_numpy(views.observations), torch.from_numpy(views.legal)


@pytest.mark.parametrize("name", ["mini", "nano", "classic"])
@pytest.mark.parametrize("net", ["tiny", "small"])
def test_any_board(name: str, net: str) -> None:
    game, packed, legal = states(name)
    logits, value = build(net, game, seed=0)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (len(packed),)
    assert torch.equal(logits.isfinite(), legal.bool())
    assert torch.equal(logits.isneginf(), ~legal.bool())
    assert value.isfinite().all()


@pytest.mark.parametrize(("height", "width"), [(3, 4), (5, 5), (7, 10), (1, 1)])
def test_pyramid_keeps_the_size_of_the_board(height: int, width: int) -> None:
    pyramid = Pyramid(3, Size(outer=4, inner=6, outer_blocks=1, inner_blocks=2))
    assert pyramid(torch.rand(2, 3, height, width)).shape == (2, 4, height, width)


@pytest.mark.parametrize("net", ["tiny", "small"])
def test_planes_begin_about_as_large_at_the_end_as_at_the_entry(net: str) -> None:
    """With torch's own first weights they fade to a fiftieth, and learning with them."""
    game, packed, legal = states("barrage")
    network, sizes = build(net, game, seed=0), {}
    for name, module in network.named_modules():
        if name.endswith(("entry", "pyramid", "torso")):
            module.register_forward_hook(
                lambda _, inputs, out, name=name: sizes.update({name: out.square().mean().sqrt()})
            )
    logits, value = network(packed, legal)
    assert set(logits[legal.bool()].tolist()) == {0.0} and not value.any()
    assert {"torso", "deployment.pyramid", "critic.pyramid"} < set(sizes)
    for name, size in sizes.items():
        assert 0.2 < size / sizes["torso.entry"] < 3, name


def test_paper_preset_has_the_papers_channels() -> None:
    with torch.device("meta"):
        net = UNet((82, 10, 10), U_NETS["paper"])
    down = [(block.second.out_channels, block.first.stride[0]) for block in net.torso.down]
    assert down == [(256, 1), (256, 1), (256, 2), (320, 1), (320, 1)]
    up = [(block.second.out_channels, block.stride) for block in net.torso.up]
    assert up == [(320, 1), (320, 1), (256, 2), (256, 1), (256, 1)]
    assert net.torso.down[0].first.out_channels == 128
    for head, extra in ((net.deployment, 0), (net.selection, 1), (net.target, 11)):
        assert head.pyramid.entry.in_channels == 256 + extra
        assert [block.first.stride[0] for block in head.pyramid.down] == [1, 2]
    assert net.critic.pyramid.entry.in_channels == 256 + 11
    assert [block.first.stride[0] for block in net.critic.pyramid.down] == [2]
    assert net.critic.value.in_features == 100


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize(("height", "width"), [(6, 6), (5, 4), (1, 3)])
def test_a_strided_deconvolution_leaves_out_the_zeros(height: int, width: int, kernel: int) -> None:
    x = torch.rand(2, 3, -(-height // 2), -(-width // 2))
    layer = torch.nn.Conv2d(3, 5, kernel, padding=kernel // 2)
    whole = spread(x, height, width)
    torch.testing.assert_close(strided(layer, x, (height, width)), layer(whole))
    assert torch.equal(strided(torch.nn.Identity(), x, (height, width)), whole)


def test_blocks_are_the_papers() -> None:
    """Written out once more for one block each way."""
    relu, conv = torch.relu, torch.nn.functional.conv2d
    x, skip = torch.rand(2, 4, 6, 6), torch.rand(2, 6, 6, 6)
    block = ConvBlock(4, 8, stride=2)
    a, b, r = block.first, block.second, block.residual
    inner = relu(conv(relu(conv(x, a.weight, a.bias, 2, 1)), b.weight, b.bias, 1, 1))
    torch.testing.assert_close(block(x), inner + conv(x, r.weight, r.bias, 2))
    other = DeconvBlock(4, 8, 6)
    a, b, r, s = other.first, other.second, other.residual, other.skip
    half = relu(conv(x, a.weight, a.bias, 1, 1)) + conv(skip, s.weight, s.bias)
    inner = relu(conv(half, b.weight, b.bias, 1, 1))
    torch.testing.assert_close(other(x, skip), inner + conv(x, r.weight, r.bias))


def gradients(net: UNet, packed: Tensor, legal: Tensor) -> set[str]:
    """The parts of the network that the logits of these rows depend on."""
    net.zero_grad(set_to_none=True)
    logits, _ = net(packed, legal)
    torch.where(legal.bool(), logits, 0.0).sum().backward()
    moved = [name for name, p in net.named_parameters() if p.grad is not None and p.grad.any()]
    return {name.split(".")[0] for name in moved}


def test_each_phase_has_its_head() -> None:
    game, packed, legal = states()
    net = build("tiny", game, seed=0)
    assert not gradients(net, packed, legal) & {"torso"}  # heads begin with zeros: uniform play
    drawn(net)
    for phase, stage, head in ((1, 0, "deployment"), (0, 0, "selection"), (0, 1, "target")):
        rows = (packed[:, PHASE] == phase) & (packed[:, STAGE] == stage)
        assert rows.any()
        assert gradients(net, packed[rows], legal[rows]) == {"torso", head}


@torch.inference_mode()
def test_a_row_does_not_depend_on_the_others() -> None:
    """Each has its own logits and its own value, whichever rows of which phases are beside it."""
    game, packed, legal = states()
    net = drawn(build("tiny", game, seed=0))
    order = torch.randperm(len(packed), generator=torch.Generator().manual_seed(1))
    shuffled = net(packed[order], legal[order])
    alone = [net(packed[row : row + 1], legal[row : row + 1]) for row in order]
    for ours, theirs in zip(shuffled, zip(*alone, strict=True), strict=True):
        assert_close(ours, torch.cat(theirs))


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_comparisons_of_constants_fail(shape: tuple[int, ...]) -> None:
    """What other tests rely on."""
    assert_close(np.arange(12.0)[:4], np.arange(12.0)[:4])
    for constant in (np.zeros(shape), np.full(shape, 0.25)):
        with pytest.raises(AssertionError, match="constants"):
            assert_close(constant, constant)
    uniform = np.array([[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
    with pytest.raises(AssertionError, match="constants"):
        assert_close(uniform, uniform)


def test_inputs_of_the_heads() -> None:
    game, packed, _ = states()
    net = build("tiny", game, seed=0)
    inputs = net.prepare(packed)
    ratio = inputs.planes[:, 78:79]
    assert torch.equal(inputs.no_attack, ratio) and ratio.any()
    for row, record in enumerate(packed.numpy()):
        expected = np.zeros((10, 36), np.float32)
        if record[STAGE]:
            kind = record[CELLS + record[SELECTED]] & 15
            expected[kind - 1, record[SELECTED]] = 1  # spy is the first type that can move
        np.testing.assert_array_equal(inputs.selected[row].flatten(1), expected)


def test_seed_and_names() -> None:
    first, again, other = (build("tiny", Game("mini"), seed=s) for s in (1, 1, 2))
    before = torch.random.get_rng_state()
    build("tiny", Game("mini"), seed=3)
    assert torch.equal(before, torch.random.get_rng_state())
    for name, weight in first.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
    assert not torch.equal(first.torso.entry.weight, other.torso.entry.weight)
    with pytest.raises(InputError, match="did you mean 'tiny'"):
        build("tinny", Game("mini"))


def test_legal_policy() -> None:
    logits = torch.tensor([[1.0, 2.0, -3.0, 0.0], [900.0, -900.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    legal = torch.tensor([[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=torch.uint8)
    pi, log_pi = legal_policy(logits, legal)
    np.testing.assert_allclose(pi[0], [0.721399, 0, 0.013213, 0.265388], atol=1e-6)
    np.testing.assert_allclose(log_pi[0], [-0.326563, 0, -4.326563, -1.326563], atol=1e-6)
    assert pi[1].tolist() == [1, 0, 0, 0] and log_pi[1].tolist() == [0, -1800, 0, 0]
    assert not pi[2].any() and not log_pi[2].any()  # padding
    again = legal_policy(logits.masked_fill(legal == 0, -torch.inf), legal)
    assert torch.equal(again[0], pi) and torch.equal(again[1], log_pi)
