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
from stratkit.engine.diplomacy import NONE, VERBS, VIEW, Graph, graph_of, map_of
from stratkit.errors import InputError
from stratkit.nets import Network, build
from stratkit.nets.graph import GraphNet

FVA = Game("diplomacy:fva")


def made(game: Game, net: str = "graph:8x2", graph: Graph | None = None) -> Network:
    return build(net, game.shape, 1, game.actions, graph or graph_of(game))


def views(game: Game, longest: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    seen = views_of_games(game, 2, seed=3, longest=longest)
    return torch.from_numpy(seen.observations), torch.from_numpy(seen.legal)


def permuted(packed: torch.Tensor, game: Game, new: np.ndarray) -> torch.Tensor:
    """Observations of the same positions on a map whose province p is called new[p]."""
    first, n = game.shape[0], len(new)
    graph = graph_of(game)
    assert graph is not None
    out, old = packed.numpy().copy(), np.argsort(new)
    provinces = packed.numpy()[:, : first - graph.everywhere].reshape(len(out), n, -1)
    out[:, : first - graph.everywhere] = provinces[:, old].reshape(len(out), -1)
    view = np.ascontiguousarray(out[:, first:]).view(VIEW)[:, 0]
    for name in ("at", "whom"):
        view[name] = np.where(view[name] == NONE, NONE, new[np.minimum(view[name], n - 1)])
    out[:, first:] = view[:, None].view(np.uint8)
    return torch.from_numpy(out)


@pytest.mark.parametrize("name", ["fva", "standard", "tiny", "pure"])
def test_shapes_and_legality(name: str) -> None:
    game = Game(f"diplomacy:{name}")
    packed, legal = views(game)
    logits, value = made(game)(packed, legal)
    assert logits.shape == legal.shape and value.shape == (len(packed),)
    assert torch.equal(torch.isfinite(logits), legal.bool())
    assert not value.any() and not logits[legal.bool()].any()  # play begins uniform


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
    net, again = drawn(made(FVA)), made(FVA, graph=other)
    weights = net.state_dict()
    weights["place"], weights["coast"] = weights["place"][old], weights["coast"][old_locations]
    again.load_state_dict(weights)
    packed, legal = views(FVA)
    actions = np.append(np.arange(len(VERBS)), len(VERBS) + old_locations)
    with torch.no_grad():
        logits, value = net(packed, legal)
        found, found_value = again(permuted(packed, FVA, new), legal[:, actions])
    wanted = logits[:, actions]
    if fault:
        assert (wanted - found)[wanted.isfinite()].abs().max() > 1e-3
        return
    assert_close(found_value, value, rtol=1e-4, atol=1e-5)
    assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_what_lies_too_far_away_is_not_seen() -> None:
    """With two blocks a verb's logits depend on provinces up to two borders away alone."""
    graph = graph_of(FVA)
    assert graph is not None
    net = drawn(made(FVA, "graph:8x2"))
    assert isinstance(net, GraphNet)
    packed, legal = views(FVA, longest=1)
    inputs = net.prepare(packed[:1])
    inputs.provinces.requires_grad_()
    verbs = net.logits(net.embed(inputs), inputs, torch.ones_like(legal[:1]))[0, : len(VERBS)]
    (seen,) = torch.autograd.grad(verbs.square().sum(), inputs.provinces)
    steps = np.linalg.matrix_power(np.eye(len(graph.near), dtype=int) + graph.near, 2)
    reached = steps[int(inputs.at[0])] > 0
    assert np.array_equal(seen[0].abs().sum(1).numpy() > 0, reached) and not reached.all()


def test_every_weight_learns() -> None:
    packed, legal = views(FVA, longest=400)
    net = drawn(made(FVA))
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


def test_names_and_sizes() -> None:
    sizes = [sum(p.numel() for p in made(FVA, n).parameters()) for n in ("graph", "graph:32x3")]
    assert sizes == [20_587, 20_587]
    with pytest.raises(InputError, match="channels and blocks are given as in"):
        made(FVA, "graph:32")
    for game in (Game("mini"), Game("kuhn")):
        with pytest.raises(InputError, match="for Diplomacy, whose maps are graphs"):
            made(game, "graph")


@pytest.mark.parametrize("algorithm", ["mmd", "rnad"])
def test_it_is_learned_and_found_again(tmp_path: pathlib.Path, algorithm: str) -> None:
    """The checkpoint names the game, and so the map."""
    game = Game("diplomacy:tiny")
    games, out = tmp_path / "games.eps", tmp_path / "run"
    assert run("selfplay", "--game", game.name, "-n", 8, "--seed", 1, "-o", games).status == 0
    options = ("--algorithm", algorithm, "--net", "graph:4x1", "--steps", 1, "--batch", 8)
    done = run("train", games, "--out", out, *options)
    assert done.status == 0, done.err
    network = load(out)
    packed, legal = views(game, longest=5)
    policy = network.policy(packed.numpy(), legal.numpy())
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
