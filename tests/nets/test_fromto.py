"""The network that looks once at a position for both parts of a move."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.engine.residual import residual, residual_lanes
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.nets import build, fromto, plain
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.features import outcomes
from stratkit.nets.fromto import DEPLOY, TARGET, FromTo


def network(game: Game, net: str = "fromto:8x1") -> FromTo:
    made = drawn(build(net, game, seed=1))
    assert isinstance(made, FromTo)
    return made


@pytest.mark.parametrize("name", ["mini", "barrage", "nano"])
def test_shapes_legality_and_a_uniform_beginning(name: str) -> None:
    game = Game(name)
    views = views_of_games(game, 2, seed=2)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    logits, value = build("fromto", game, seed=1)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (len(packed),)
    assert torch.equal(torch.isfinite(logits), legal.bool())
    certain = (outcomes(packed, game.shape)[..., 1] == 1)[legal.bool()]
    assert torch.equal(logits[legal.bool()], torch.where(certain, -16.0, 0.0)) and not value.any()


def test_both_parts_of_a_move_share_one_position() -> None:
    game = Game("barrage")
    packed = torch.from_numpy(views_of_games(game, 2, seed=3).observations)
    net = network(game)
    inputs = net.prepare_shared(packed)
    plies = int((inputs.part == TARGET).sum())
    placed = int((inputs.part == DEPLOY).sum())
    distinct = len(inputs.position.unique())
    assert distinct <= plies + placed and len(packed) == 2 * plies + placed
    assert len(inputs.packed) % 8 == 0 and len(inputs.packed) - distinct < 8


def test_shared_or_not_the_answers_are_the_same() -> None:
    game = Game("barrage")
    views = views_of_games(game, 2, seed=3)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    net = network(game)
    alone = net(packed, legal)
    inputs = net.prepare_shared(packed)
    embedding = net.embed(inputs)
    assert_close(net.logits(embedding, inputs, legal).detach(), alone[0].detach())
    assert_close(net.value(embedding, inputs).detach(), alone[1].detach())


@pytest.mark.parametrize("net", ["fromto:8x1", "fromto:8x1+deployment", "fromto:8x1+mirrored"])
def test_heads_together_are_the_heads_one_by_one(net: str) -> None:
    """Up to rounding, and so are their gradients."""
    views = views_of_games(Game("mini"), 2, seed=3)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    made = drawn(build(net, Game("mini"), seed=1))
    parameters = list(made.parameters())
    weights = [torch.randn(int(legal.sum())), torch.randn(len(legal))]

    def learned(together: bool) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        inputs = made.prepare_shared(packed)
        read = (made.embed(inputs), inputs)
        heads = (
            made.logits_and_value(*read, legal)
            if together
            else (made.logits(*read, legal), made.value(*read))
        )
        said = [heads[0][legal.bool()], heads[1]]
        return said, list(torch.autograd.grad(said, parameters, weights))

    (found, gradient), (wanted, its) = learned(True), learned(False)
    for one, other in zip(found, wanted, strict=True):
        assert_close(one.detach(), other.detach())
    apart = torch.cat([(a - b).flatten() for a, b in zip(gradient, its, strict=True)]).norm()
    assert apart <= 1e-6 * torch.cat([x.flatten() for x in its]).norm()


@pytest.mark.parametrize(
    ("name", "net"),
    [
        ("barrage", "fromto:16x2"),
        ("mini", "fromto:8x1+deployment"),
        ("mini", "fromto:16x1+mirrored"),
    ],
)
def test_with_a_graph_the_engine_computes_all_of_it(
    name: str, net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What torch says, and its gradients, up to rounding."""
    views = views_of_games(Game(name), 1, seed=3)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    made = drawn(build(net, Game(name), seed=1))
    dice = torch.Generator().manual_seed(1)
    weights = [torch.randn(n, generator=dice) for n in (int(legal.sum()), len(legal))]

    def learned() -> tuple[list[torch.Tensor], torch.Tensor]:
        inputs = made.prepare_shared(packed)
        logits, values = made.logits_and_value(made.embed(inputs), inputs, legal)
        said = [logits[legal.bool()], values]
        gradients = torch.autograd.grad(said, list(made.parameters()), weights)
        return said, torch.cat([x.flatten() for x in gradients])

    found, gradient = learned()
    for module in (plain, fromto):
        monkeypatch.setattr(module, "engine_is_faster", lambda x: False)
    for function in ("entry", "heads"):
        monkeypatch.setattr(fromto, function, lambda *a: pytest.fail("the engine was asked"))
    wanted, its = learned()
    for one, other in zip(found, wanted, strict=True):
        assert_close(one.detach(), other.detach(), atol=1e-5)
    assert (gradient - its).norm() <= 1e-5 * its.norm()
    assert (gradient != its).any() == (residual_lanes(8) > 1)


@pytest.mark.parametrize(
    ("name", "net"),
    [
        ("barrage", "fromto:16x2"),
        ("mini", "fromto:8x1+deployment"),
        ("mini", "fromto:16x1+mirrored"),
    ],
)
def test_without_a_graph_the_engine_computes_the_blocks(
    name: str, net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for it gets the same up to rounding; with a graph nobody does."""
    game, asked = Game(name), []
    monkeypatch.setattr(plain, "residual", lambda *a: asked.append(len(a[0])) or residual(*a))
    views = views_of_games(game, 1, seed=3)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    made = drawn(build(net, game, seed=1))
    with torch.no_grad():
        inputs = made.prepare_shared(packed)
        wanted = made.embed(inputs)
        assert not asked
        found = made.embed_without_graph(inputs)
        assert len(asked) == (residual_lanes(8) > 1)
        for part in (made.logits, lambda embedding, inputs, _: made.value(embedding, inputs)):
            assert_close(part(found, inputs, legal), part(wanted, inputs, legal), atol=1e-5)


def test_blocks_that_are_not_for_the_engine_are_torch_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels that fill no vector, more of them than squares, and bfloat16."""
    monkeypatch.setattr(plain, "residual", lambda *a: pytest.fail("the engine was asked"))
    packed = torch.from_numpy(views_of_games(Game("mini"), 1, seed=3).observations)
    for net, bf16 in (("12x1", False), ("40x1", False), ("16x1", True)):
        made = network(Game("mini"), f"fromto:{net}")
        inputs = made.prepare(packed)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            wanted, found = made.embed(inputs), made.embed_without_graph(inputs)
        assert torch.equal(found.squares, wanted.squares)


def test_what_was_seen_a_moment_ago_is_remembered_until_other_weights_come() -> None:
    game = Game("mini")
    net = network(game)
    views = views_of_games(game, 8, seed=5)
    placed = 2 * VARIANTS["mini"].pieces
    rows = [views.offsets[:-1] + number for number in range(placed + 8)]  # games in lockstep
    seen = [0]
    whole = net._embed
    net._embed = lambda *all_: seen.append(len(all_[0])) or whole(*all_)  # type: ignore[method-assign,assignment,func-returns-value]
    fixed, elastic = Evaluator("fromto:8x1", net, 8), Evaluator("fromto:8x1", net, 8, elastic=True)
    weights = {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()}
    other = {name: w + 0.1 for name, w in weights.items()}
    for number, at in enumerate(rows):
        if number == placed + 5:  # with a piece in hand
            fixed.load(other)
            elastic.load(other)
        packed, legal = views.observations[at], views.legal[at]
        wanted, value = fixed.evaluate(packed, legal, values=True)
        del seen[:]
        found, said = elastic.evaluate(packed, legal, values=True)
        in_hand = number > placed and number % 2 == 1
        assert sum(seen) == (0 if in_hand and number != placed + 5 else 8), number
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        np.testing.assert_allclose(said, value, atol=1e-6)
    # Some are known, some new.
    known, new = rows[-2], rows[-1].copy()
    new[::2] = rows[-4][::2]
    elastic.evaluate(views.observations[known], views.legal[known])
    wanted = fixed.evaluate(views.observations[new], views.legal[new])[0]
    np.testing.assert_allclose(
        elastic.evaluate(views.observations[new], views.legal[new])[0], wanted, atol=1e-6
    )


def test_every_parameter_gets_a_gradient_and_a_critic_that_lives() -> None:
    game = Game("mini")
    views = views_of_games(game, 4, seed=6)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    net = network(game)
    logits, value = net(packed, legal)
    (logits[torch.isfinite(logits)].square().sum() + value.sum()).backward()  # type: ignore[no-untyped-call]
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    assert float(value.detach().std()) > 0


def test_sizes_are_in_the_name() -> None:
    game = Game("barrage")
    sizes = {
        net: sum(p.numel() for p in build(net, game, seed=1).parameters())
        for net in ("fromto", "fromto:16x1", "fromto:32x2")
    }
    assert sizes["fromto"] == sizes["fromto:16x1"] < sizes["fromto:32x2"]
    with pytest.raises(InputError, match="channels and blocks"):
        build("fromto:32", game)
    with pytest.raises(InputError, match="for boards"):
        build("fromto", Game("kuhn"))


def test_what_an_attack_brings_for_certain_has_a_weight_of_its_own() -> None:
    game = Game("mini")
    views = views_of_games(game, 8, seed=6)
    packed, legal = torch.from_numpy(views.observations), torch.from_numpy(views.legal)
    net = build("fromto:8x1", game, seed=1)
    assert isinstance(net, FromTo)
    with torch.no_grad():
        net.met.copy_(torch.tensor([0.0, 0.0, 0.0, 2.0, -3.0]))
    inputs = net.prepare(packed)
    wins, loses = (inputs.outcomes[..., at] == 1 for at in (0, 1))
    found = net(packed, legal)[0][legal.bool()]
    assert torch.equal(found, (2.0 * wins - 3.0 * loses)[legal.bool()])
    assert {-3.0, 0.0, 2.0} == set(found.tolist())
