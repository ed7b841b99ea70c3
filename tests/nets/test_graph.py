"""The graph network of Diplomacy: what it sees of a map, whatever the order of the provinces."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from running import run
from stratkit import load
from stratkit.engine import Game
from stratkit.engine.diplomacy import VERBS, Graph, graph_of, map_of, views_of
from stratkit.errors import InputError
from stratkit.nets import Network, build
from stratkit.nets.graph import GraphInputs, GraphNet, GraphShares

FVA = Game("diplomacy:fva")


def made(game: Game, net: str = "graph:8x2") -> Network:
    return build(net, game, 1)


def views(game: Game, longest: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    seen = views_of_games(game, 2, seed=3, longest=longest)
    return torch.from_numpy(seen.observations), torch.from_numpy(seen.legal)


def permuted(inputs: GraphInputs, new: np.ndarray) -> GraphInputs:
    """Of the same positions on a map whose province p is called new[p]."""
    old, numbers = torch.from_numpy(np.argsort(new)), torch.from_numpy(np.append(new, len(new)))
    return inputs._replace(
        provinces=inputs.provinces[:, old],
        orders=inputs.orders[:, old],
        at=numbers[inputs.at],
        whom=numbers[inputs.whom],
    )


def said(
    net: Network, inputs: GraphInputs, legal: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    embedding = net.embed(inputs)
    return net.logits(embedding, inputs, legal), net.value(embedding, inputs)


@pytest.mark.parametrize("name", ["fva", "standard", "tiny", "pure"])
def test_shapes_and_legality(name: str) -> None:
    game = Game(f"diplomacy:{name}")
    packed, legal = views(game)
    logits, value = made(game)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (len(packed),)
    assert torch.equal(torch.isfinite(logits), legal.bool())
    assert not value.any() and not logits[legal.bool()].any()  # play begins uniform


@pytest.mark.parametrize("name", ["standard", "fva"])
def test_shares_sum_to_one_and_begin_with_squares(name: str) -> None:
    """Those of the power that acts come first; what is learned moves them."""
    game = Game(f"diplomacy:{name}")
    packed, _ = views(game, longest=400)
    net, n = made(game, "graph:8x1+shares"), game.players
    seen = views_of(game, packed.numpy())
    squares = np.stack([(seen["position"]["owner"] == 1 + p).sum(1) ** 2 for p in range(n)], 1)
    order = (seen["power"][:, None] + np.arange(n)) % n
    wanted = np.take_along_axis(squares / squares.sum(1, keepdims=True), order, 1)
    assert isinstance(net, GraphShares)
    for learned in (False, True):
        network = drawn(net) if learned else net
        with torch.no_grad():
            inputs = net.prepare(packed)
            embedding = network.embed(inputs)
            shares = network.shares(embedding, inputs).numpy()
            value = network.value(embedding, inputs).numpy()
        np.testing.assert_allclose(shares.sum(1), 1, atol=1e-5)
        np.testing.assert_allclose(value, shares[:, 0] - (n == 2) * shares[:, 1], atol=1e-6)
        assert np.allclose(shares, wanted, atol=1e-4) != learned


def test_the_graph_is_the_map() -> None:
    graph, map_ = graph_of(FVA), map_of(FVA)
    assert graph is not None and graph_of(Game("mini")) is None
    assert np.array_equal(graph.near, graph.near.T) and not graph.near.diagonal().any()

    def beside(name: str) -> set[str]:
        return {map_.locations[p] for p in np.flatnonzero(graph.near[map_.number[name]])}

    assert beside("PAR") == {"BRE", "BUR", "GAS", "PIC"}
    assert beside("SPA") == {"GAS", "MAR", "POR", "MAO", "LYO", "WES"}  # from any of its coasts
    parents = [map_.locations[p] for p in graph.parent]
    assert len(parents) == 81 and parents[map_.number["STP/SC"]] == "STP"


@pytest.mark.parametrize("fault", [None, "near", "parent"])
def test_the_order_of_the_provinces_does_not_matter(fault: str | None) -> None:
    """Numbered otherwise, with each place's own weights, it says the same; not so with the old
    borders, or coasts."""
    graph = graph_of(FVA)
    assert graph is not None
    new = np.random.default_rng(1).permutation(len(graph.near))
    locations = np.append(new, np.arange(len(new), len(graph.parent)))  # coasts stay last
    old, old_locations = np.argsort(new), np.argsort(locations)
    other = Graph(graph.near[old][:, old], new[graph.parent][old_locations], graph.everywhere)
    if fault:
        other = other._replace(**{fault: getattr(graph, fault)})
    net, again = drawn(made(FVA)), GraphNet(FVA.shape, other, 8, 2)
    weights = net.state_dict()
    weights["place"], weights["coast"] = weights["place"][old], weights["coast"][old_locations]
    again.load_state_dict(weights)
    packed, legal = views(FVA)
    actions = np.append(np.arange(len(VERBS)), len(VERBS) + old_locations)
    with torch.no_grad():
        inputs = net.prepare(packed)
        logits, value = said(net, inputs, legal)
        found, found_value = said(again, permuted(inputs, new), legal[:, actions])
    wanted = logits[:, actions]
    if fault:
        assert (wanted - found)[wanted.isfinite()].abs().max() > 1e-3
        return
    assert_close(found_value, value, rtol=1e-4, atol=1e-5)
    assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_what_lies_too_far_away_is_not_seen() -> None:
    """With two blocks a verb's logits depend on provinces up to three borders away alone."""
    graph = graph_of(FVA)
    assert graph is not None
    net = drawn(made(FVA, "graph:8x2"))
    assert isinstance(net, GraphNet)
    packed, legal = views(FVA, longest=1)
    inputs = net.prepare(packed[:1])
    inputs.provinces.requires_grad_()
    legal = torch.zeros_like(legal[:1])
    legal[:, : len(VERBS)] = 1
    verbs = net.logits(net.embed(inputs), inputs, legal)[0, : len(VERBS)]
    (seen,) = torch.autograd.grad(verbs.square().sum(), inputs.provinces)
    steps = np.linalg.matrix_power(np.eye(len(graph.near), dtype=int) + graph.near, 3)
    reached = steps[int(inputs.at[0])] > 0
    assert np.array_equal(seen[0].abs().sum(1).numpy() > 0, reached) and not reached.all()


@pytest.mark.parametrize("name", ["graph:8x2", "graph:8x2+shares"])
def test_every_weight_learns(name: str) -> None:
    packed, legal = views(FVA, longest=400)
    net = drawn(made(FVA, name))
    logits, value = net(packed, legal)
    of_legal = torch.log_softmax(logits, 1).masked_fill(~legal.bool(), 0)
    (of_legal.square().sum() + value.square().sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), name


def test_a_position_does_not_depend_on_its_company() -> None:
    packed, legal = views(FVA)
    net = drawn(made(FVA))
    with torch.no_grad():
        logits, values = net(packed, legal)
        alone = [net(packed[i : i + 1], legal[i : i + 1]) for i in range(0, len(packed), 20)]
    assert_close(torch.cat([v for _, v in alone]), values[::20], rtol=1e-4)
    assert_close(torch.cat([row for row, _ in alone]), logits[::20], rtol=1e-4, atol=1e-5)


def test_views_of_a_phase_share_a_position() -> None:
    packed, legal = views(FVA)
    net = drawn(made(FVA))
    assert isinstance(net, GraphNet)
    before: object = None
    with torch.no_grad():
        wanted, values = said(net, net.prepare(packed), legal)
        shared = net.prepare_shared(packed)
        assert len(shared.provinces) < len(packed) / 3
        found, found_values = said(net, shared, legal)
        assert_close(found, wanted, rtol=1e-4, atol=1e-5)
        assert_close(found_values, values, rtol=1e-4, atol=1e-5)
        for at in range(0, len(packed), 3):  # some positions are remembered, others are new
            inputs = net.prepare_shared(packed[at : at + 5])
            embedding, before = net.embed_after(inputs, before)
            logits = net.logits(embedding, inputs, legal[at : at + 5])
            assert_close(logits, wanted[at : at + 5], rtol=1e-4, atol=1e-5)


def test_names_and_sizes() -> None:
    sizes = [sum(p.numel() for p in made(FVA, n).parameters()) for n in ("graph", "graph:32x3")]
    assert sizes == [22_315, 22_315]
    with pytest.raises(InputError, match="channels and blocks are given as in"):
        made(FVA, "graph:32")
    for game in (Game("mini"), Game("kuhn")):
        with pytest.raises(InputError, match="for Diplomacy, whose maps are graphs"):
            made(game, "graph")


@pytest.mark.parametrize(
    ("policy", "net", "algorithm"),
    [
        ("random", "graph:4x1", "rnad"),
        ("dumbbot", "graph:4x1+shares", "alphaze --targets played"),  # imitation
    ],
)
def test_it_is_learned_and_found_again(
    tmp_path: pathlib.Path, policy: str, net: str, algorithm: str
) -> None:
    """The checkpoint names the game, and so the map."""
    game = Game("diplomacy:tiny")
    games, out = tmp_path / "games.eps", tmp_path / "run"
    play = ("--game", game.name, "--policy", policy, "-n", 8, "--seed", 1, "-o", games)
    assert run("selfplay", *play).status == 0
    options = ("--algorithm", *algorithm.split(), "--net", net, "--steps", 1, "--batch", 8)
    done = run("train", games, "--out", out, *options)
    assert done.status == 0, done.err
    network = load(out)
    packed, legal = views(game, longest=5)
    policy = network.policy(packed.numpy(), legal.numpy())
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
