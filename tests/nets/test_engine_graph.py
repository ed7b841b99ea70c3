"""The engine computes the networks `graph`: what torch computes of them."""

from __future__ import annotations

import pathlib
import pickle
import re
import threading

import numpy as np
import pytest
import torch

from nets.drawn import assert_close, drawn
from nets.random_play import views_of_games
from stratkit.arrays import Weights
from stratkit.engine import Batch, Game, Replay
from stratkit.engine import graph as module
from stratkit.engine.diplomacy import ADJUSTMENTS, FALL_RETREATS, SPRING_RETREATS, VERBS, views_of
from stratkit.engine.graph import WholeGraph
from stratkit.engine.residual import residual_lanes
from stratkit.errors import InputError
from stratkit.nets import Network, build
from stratkit.nets.choice import network_with
from stratkit.nets.engine_graph import EngineGraph, graph_weights
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.torch_backend import TorchBackend


def made(game: Game, net: str) -> Network:
    """A network whose every layer says something."""
    return drawn(build(net, game, 1))


def weights_of(network: Network) -> Weights:
    return {name: w.detach().numpy().copy() for name, w in network.named_parameters()}


def views(name: str, longest: int = 10_000, games: int = 2) -> Replay:
    """Of every phase, and of all parts of orders."""
    return views_of_games(Game(f"diplomacy:{name}"), games, seed=3, longest=longest)


MAP = """year 1901
years 2
win 3
inland EAST * army MID
inland NORTH * army MID
coast WEST * army MID fleet SEA
inland MID * army EAST NORTH WEST
sea SEA fleet WEST
power RED home EAST units A EAST
power BLUE home NORTH units A NORTH
power GREEN home WEST units F WEST
"""  # of one's own


@pytest.mark.parametrize(
    "name, net",
    [
        ("own.map", "graph:16x2+shares"),
        ("largest.map", "graph:16x2+shares"),
        ("standard", "graph:32x3+shares"),
        ("fva", "graph:16x3"),
        ("fva", "graph:20x2+shares"),
        ("pure", "graph:8x1"),
        ("tiny", "graph:40x2+shares"),
    ],
)
def test_it_says_what_torch_says(
    name: str, net: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with channels that fill no vector."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("own.map").write_text(MAP)
    pathlib.Path("largest.map").write_text(largest_map())
    seen, game = views(name, games=3, longest=1200), Game(f"diplomacy:{name}")
    shown = views_of(game, seen.observations)
    assert len(np.unique(shown["stage"])) == 3 and len(np.unique(shown["whom"])) > 2
    assert game.actions == len(VERBS) + 96 or name != "largest.map"
    if name == "standard":
        phases = set(shown["position"]["phase"].tolist())
        assert ADJUSTMENTS in phases and phases & {SPRING_RETREATS, FALL_RETREATS}
    network = made(game, net)
    by_torch, by_engine = TorchBackend(network), EngineGraph(net, game, weights_of(network))
    asked = seen.observations, seen.legal, None, True, None
    policy, values = by_engine.policy(*asked)
    wanted, of_torch = by_torch.policy(*asked)
    assert_close(policy, wanted, rtol=1e-4, atol=1e-5)
    assert_close(values, of_torch, rtol=1e-4, atol=1e-5)
    if by_engine.tells_shares:
        (shares,) = by_engine.shares(seen.observations, None)
        assert_close(shares, by_torch.shares(seen.observations, None)[0], rtol=1e-4, atol=1e-5)


def largest_map() -> str:
    """A ring of 76 coastal provinces, ten of them with two coasts, and seven powers."""
    n, lines = 76, ["year 1901", "win 30", "years 2"]
    split = range(0, 70, 7)

    def coast(at: int, beside: int) -> str:
        """Where a fleet from the province `beside` arrives."""
        if at % n not in split:
            return f"P{at % n}"
        return f"P{at % n}/{'NC' if (at - 1) % n == beside % n else 'SC'}"

    for p in range(n):
        both = f"P{(p - 1) % n} P{(p + 1) % n}"
        line = f"coast P{p} {'* ' if p < 40 else ''}army {both}"
        if p not in split:
            lines.append(f"{line} fleet {coast(p - 1, p)} {coast(p + 1, p)}")
            continue
        lines += [line, f"part P{p}/NC fleet P{(p - 1) % n}", f"part P{p}/SC fleet P{p + 1}"]
    for number, power in enumerate("ABCDEFG"):
        home = [f"P{5 * number + i}" for i in (1, 2, 3)]
        units = " ".join(f"A {province}" for province in home)
        lines.append(f"power {power}{power} home {' '.join(home)} units {units}")
    return "\n".join(lines)


def test_a_view_does_not_depend_on_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on those beside it, nor on the positions that are kept, nor on threads."""
    seen, game, net = views("fva", 120), Game("diplomacy:fva"), "graph:16x1+shares"
    packed, legal = seen.observations, seen.legal
    weights = weights_of(made(game, net))
    found: list[np.ndarray] = []

    def evaluate(whole: WholeGraph, some: np.ndarray) -> None:
        policy, values, shares = whole.evaluate(packed[some], legal[some], True, True)
        assert policy is not None and values is not None and shares is not None
        all_ = np.concatenate([policy, values[:, None], shares], 1)
        found.append(all_[np.argsort(some)])

    order, other = np.arange(len(packed)), np.random.default_rng(1).permutation(len(packed))
    for most in (2**25, 1):  # of all positions, of one
        monkeypatch.setattr(module, "MOST_BYTES", most)
        whole = EngineGraph(net, game, weights).whole
        evaluate(whole, order)
        threads = [threading.Thread(target=evaluate, args=(whole, other)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        each = [whole.evaluate(packed[i : i + 1], legal[i : i + 1]).policy for i in range(9)]
        np.testing.assert_array_equal(np.concatenate(each), found[0][:9, : game.actions])
    assert len(found) == 8 and len(np.unique(found[0], axis=0)) > 20
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])


def test_what_an_evaluator_makes_of_it() -> None:
    seen, game, net = views("tiny"), Game("diplomacy:tiny"), "graph:8x1+shares"
    weights = weights_of(made(game, net))
    evaluator = Evaluator(net, network_with(net, game, weights), 64)
    assert isinstance(evaluator.backend, EngineGraph)
    assert evaluator.tells_shares and evaluator.keeps_positions and not evaluator.tells_moves
    policy, values = evaluator.evaluate(seen.observations, seen.legal, values=True)
    shares = evaluator.shares(seen.observations)
    assert values is not None
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(values, shares[:, 0] - shares[:, 1], atol=1e-6)
    again = pickle.loads(pickle.dumps(evaluator))
    np.testing.assert_array_equal(again.policy(seen.observations, seen.legal), policy)
    again.place("cpu", torch.bfloat16)
    assert again.backend.name == "torch"
    assert np.abs(again.values(seen.observations) - values).max() < 0.1


def test_weights_and_games_that_do_not_fit() -> None:
    game = Game("diplomacy:tiny")
    weights = weights_of(made(game, "graph:8x1"))
    for net in ("graph:8x2", "graph:9x1", "graph:8x1+shares"):
        with pytest.raises(InputError, match=re.escape(f"not this network's: '{net}'")):
            EngineGraph(net, game, weights)
    with pytest.raises(InputError, match="its weights are not all finite"):
        EngineGraph("graph:8x1", game, {**weights, "coast": weights["coast"] * np.float32("nan")})
    nothing = np.zeros(9, np.float32)
    with pytest.raises(ValueError, match="game: kuhn is no game of Diplomacy"):
        WholeGraph(Game("kuhn"), 16, 1, nothing)
    with pytest.raises(ValueError, match="channels must be a multiple of 16, not 8"):
        WholeGraph(game, 8, 1, nothing)
    with pytest.raises(ValueError, match="weights must be"):
        WholeGraph(game, 16, 1, nothing)
    with pytest.raises(ValueError, match="lanes: this processor has "):
        WholeGraph(game, 16, 1, nothing, lanes=2)
    alone, packed = EngineGraph("graph:8x1", game, weights), Batch(game, 1).observe()
    with pytest.raises(InputError, match="tells no shares: 'graph:8x1'"):
        alone.shares(packed, None)
    with pytest.raises(ValueError, match="shares: the network tells none"):
        alone.whole.evaluate(packed, shares=True)


def test_every_width_of_vectors() -> None:
    """That the processor has."""
    seen, game, net = views("fva", 60), Game("diplomacy:fva"), "graph:16x2+shares"
    network = made(game, net)
    flat = graph_weights(net, weights_of(network))
    asked = seen.observations, seen.legal, None, True, None
    wanted, of_torch = TorchBackend(network).policy(*asked)
    for lanes in (lanes for lanes in (1, 8, 16) if lanes <= residual_lanes(16)):
        whole = WholeGraph(game, 16, 2, flat, True, lanes)
        policy, values, _ = whole.evaluate(seen.observations, seen.legal, True)
        assert_close(policy, wanted, rtol=1e-4, atol=1e-5)
        assert_close(values, of_torch, rtol=1e-4, atol=1e-5)


def test_the_map_is_the_games(tmp_path: pathlib.Path) -> None:
    """Not what its file holds by now."""
    file = tmp_path / "a.map"
    file.write_text(MAP)
    game, net = Game(f"diplomacy:{file}"), "graph:8x1"
    weights = weights_of(made(game, net))
    file.unlink()
    evaluator = Evaluator(net, EngineGraph(net, game, weights), 8)
    evaluator.load(weights)
    begun = Batch(game, 1)
    assert evaluator.policy(begun.observe(), begun.legal()).sum() == pytest.approx(1)


def test_bytes_that_no_game_shows() -> None:
    """Whatever they are, nothing beside them is read (`make sanitize` would tell), what is illegal
    has no probability, and no other view changes."""
    game, net = Game("diplomacy:standard"), "graph:16x2+shares"
    whole = EngineGraph(net, game, weights_of(made(game, net))).whole
    rng = np.random.default_rng(1)
    packed = rng.integers(0, 256, (50, game.observation_bytes)).astype(np.uint8)
    packed[:10], legal = 255, rng.integers(0, 2, (50, game.actions)).astype(np.uint8)
    begun = Batch(game, 1)
    before = whole.evaluate(begun.observe(), begun.legal()).policy
    out = whole.evaluate(packed, legal, values=True, shares=True)
    assert out.policy is not None and not out.policy[legal == 0].any()
    assert out.shares is not None and (out.shares.sum(1) < 1.001).all()
    assert before is not None and before.sum() == pytest.approx(1)
    np.testing.assert_array_equal(before, whole.evaluate(begun.observe(), begun.legal()).policy)
