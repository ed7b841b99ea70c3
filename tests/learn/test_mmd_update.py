"""MMD's estimates and losses against slow transcriptions, and what an update does to which
network."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learn.games import as_parts, episodes, gradient, optimizer
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.advantages import estimates
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import MMDConfig, annealed
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.losses import behaviour_loss, magnet_loss, surrogate_loss
from stratkit.learn.mmd import (
    MMD,
    NETWORKS,
    largest,
    reference_update,
)
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.request import Settings, accepted, resolve
from stratkit.learn.step_weights import explained, game_counts, game_weights
from stratkit.nets import fromto, legal_policy, plain

INFINITY = math.inf


def setting(**options: object) -> Settings:
    return resolve("plain", {}, {}, {"seed": 1, **options}, "mmd")


def a_batch(**options: object) -> tuple[Optimizer, StepBatch]:
    game, found = episodes("nano", 12)
    learner = optimizer("plain", game, setting(**options))
    return learner, make_batch(game, as_parts(game, found), BatchSpec(16))


def weights(learner: Optimizer, network: str) -> Tensor:
    state = learner.weights(network)
    return torch.from_numpy(np.concatenate([w.ravel() for w in state.values()])).clone()


# ---- equations ----


def slow_estimates(
    steps: list[tuple[int, float, float, list[float]]],
    players: int,
    value_lambda: float,
    advantage_lambda: float,
    rho_bar: float,
    c_bar: float,
    learned: list[bool] | None = None,
) -> list[tuple[float, float]]:
    """(value, advantage) of each step (player, v, ratio, rewards) of one episode, from its end; 0
    of one that is not learned from, which has no error."""
    found = [(0.0, 0.0)] * len(steps)
    for k in range(players):
        next_v = of_value = of_advantage = 0.0  # at the player's next own step
        others, rewards = 1.0, 0.0  # since this step
        for t in reversed(range(len(steps))):
            player, v, w, r = steps[t]
            rewards += r[k]
            if player != k:
                others *= w
                continue
            delta = rewards + next_v - v
            advantage = min(others, rho_bar) * delta
            advantage += advantage_lambda * min(others, c_bar) * of_advantage
            both = w * others
            error = delta if learned is None or learned[t] else 0.0
            of_value, of_advantage = (
                min(both, rho_bar) * error + decay * min(both, c_bar) * later
                for decay, later in ((value_lambda, of_value), (advantage_lambda, of_advantage))
            )
            if learned is None or learned[t]:
                found[t] = v + of_value, advantage
            next_v, others, rewards = v, 1.0, 0.0
    return found


@pytest.mark.parametrize("players", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("value_lambda", "advantage_lambda", "rho_bar", "c_bar"),
    [(1, 1, INFINITY, INFINITY), (0.8, 0.5, INFINITY, 1), (0.3, 0.9, 0.7, 1.2), (0, 0, 1, 1)],
)
def test_estimates_are_the_recursion(
    players: int, value_lambda: float, advantage_lambda: float, rho_bar: float, c_bar: float
) -> None:
    """Of several episodes of different lengths, padded in front or behind."""
    draw = np.random.default_rng(players)
    time, number = 12, 5
    shape = (time, number)
    player = np.full(shape, -1)
    value, ratio = draw.normal(size=shape), draw.lognormal(size=shape)
    rewards = draw.normal(size=(*shape, players)) * (draw.random((*shape, 1)) < 0.4)
    spans = [(0, time), (0, 5), (4, time), (2, 3), (0, 0)]
    for row, (first, end) in enumerate(spans):
        player[first:end, row] = draw.integers(0, players, end - first)
    rewards[player < 0] = 0
    learned = (draw.random(shape) < 0.7) & (player >= 0)
    found = estimates(
        torch.from_numpy(value), torch.from_numpy(ratio), torch.from_numpy(player),
        torch.from_numpy(rewards), torch.from_numpy(learned),
        value_lambda=value_lambda, advantage_lambda=advantage_lambda, rho_bar=rho_bar, c_bar=c_bar,
    )  # fmt: skip
    for row, (first, end) in enumerate(spans):
        steps = [
            (int(player[t, row]), value[t, row], ratio[t, row], rewards[t, row].tolist())
            for t in range(first, end)
        ]
        slow = slow_estimates(
            steps, players, value_lambda, advantage_lambda, rho_bar, c_bar,
            learned[first:end, row].tolist(),
        )  # fmt: skip
        expected = np.zeros((time, 2))
        if slow:
            expected[first:end] = slow
        np.testing.assert_allclose(found.value[:, row], expected[:, 0], atol=1e-12)
        np.testing.assert_allclose(found.advantage[:, row], expected[:, 1], atol=1e-12)


def test_a_clipped_action_is_pushed_no_further() -> None:
    ratio = torch.tensor([0.7, 0.9, 1.0, 1.1, 1.3] * 2, requires_grad=True)
    advantage = torch.tensor([2.0] * 5 + [-2.0] * 5)
    weight = torch.arange(1.0, 11.0)
    loss = surrogate_loss(ratio, advantage, weight, clip=0.2)
    (slope,) = torch.autograd.grad(loss, ratio)
    free = torch.tensor([1.0, 1, 1, 1, 0, 0, 1, 1, 1, 1])  # 1.3 up, and 0.7 down, are far enough
    torch.testing.assert_close(slope, -weight * advantage * free)
    unclipped = surrogate_loss(ratio, advantage, weight, clip=INFINITY)
    torch.testing.assert_close(unclipped, -(weight * ratio * advantage).sum())


def test_distances_are_those_of_kullback_and_leibler() -> None:
    draw = torch.Generator().manual_seed(0)
    legal = torch.tensor([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    (pi, log_pi), (other, log_other) = (
        legal_policy(torch.randn(4, 4, generator=draw), legal) for _ in range(2)
    )
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    kl = [
        sum(
            p * (math.log(p) - math.log(o))
            for p, o in zip(*(x[row][legal[row] > 0].tolist() for x in (pi, other)), strict=True)
        )
        for row in range(4)
    ]
    expected = pytest.approx(sum(w * d for w, d in zip(weight.tolist(), kl, strict=True)), abs=1e-5)
    assert magnet_loss(pi, log_pi, log_other, weight).item() == expected
    # Over all actions of `other`, each as often as it is drawn: the same, and never negative.
    row, action = legal.nonzero(as_tuple=True)
    log_ratio = (log_pi - log_other)[row, action]
    drawn = weight[row] * other[row, action]
    assert behaviour_loss(log_ratio, drawn).item() == expected
    assert all(behaviour_loss(x, torch.ones(())) >= 0 for x in log_ratio)


def test_each_game_has_one_vote() -> None:
    """Of each player: a draw of 6 actions counts as much as a game of 2. The weights of a player
    add up to 1, and those of parts to the whole's."""
    player = torch.tensor([[0, 0, -1], [1, 1, 1], [0, -1, -1], [1, -1, -1], [0, -1, -1]])
    games = game_counts(player, 3)
    assert games.tolist() == [2, 3, 0]
    found = game_weights(player, games)
    sixth, half = 1 / 6, 1 / 2  # steps of the first player in 2 games
    first = torch.tensor([[sixth, half, 0], [0, 0, 0], [sixth, 0, 0], [0, 0, 0], [sixth, 0, 0]])
    torch.testing.assert_close(found * (player == 0), first)
    sixth, third = 1 / 6, 1 / 3  # of the second in 3 games
    second = torch.tensor([[0, 0, 0], [sixth, third, third], [0, 0, 0], [sixth, 0, 0], [0, 0, 0]])
    torch.testing.assert_close(found * (player == 1), second)
    parts = [game_weights(player[:, some], games) for some in (slice(0, 1), slice(1, 3))]
    assert torch.equal(torch.cat(parts, 1), found)


def test_the_largest_advantages_are_left_with_the_weight_of_all() -> None:
    advantage = torch.tensor([0.1, -9.0, 3.0, -2.0, 1.0, 99.0])
    weight = torch.tensor([1.0, 2.0, 1.0, 2.0, 1.0, 0.0])  # nothing is learned from the last one
    found = largest(advantage, weight, 0.5)
    torch.testing.assert_close(found, torch.tensor([0, 2.0, 1, 2, 0, 0]) * 7 / 5)
    torch.testing.assert_close(largest(advantage, weight, 0.8)[:3], torch.tensor([0, 7.0, 0]))
    assert torch.equal(largest(torch.zeros(6), weight, 0.5), weight)
    assert not largest(advantage, torch.zeros(6), 0.5).any()


def test_the_explained_variance() -> None:
    draw = torch.Generator().manual_seed(2)
    value, outcome = torch.randn(2, 50, generator=draw)
    weight = torch.rand(50, generator=draw)
    weight[:5] = 0
    mean = np.average(outcome, weights=weight)
    variance = np.average((outcome - mean) ** 2, weights=weight)
    error = outcome - value
    left = np.average((error - np.average(error, weights=weight)) ** 2, weights=weight)
    assert explained(value, outcome, weight).sum().item() == pytest.approx(1 - left / variance)
    assert explained(outcome + 3, outcome, weight).sum().item() == pytest.approx(1)
    assert explained(value, torch.ones(50), weight).sum() == 0
    assert explained(value, outcome, torch.zeros(50)).sum() == 0


def test_an_update_reports_what_its_value_explained() -> None:
    """An untrained network's value is 0, which explains nothing; later it does."""
    learner, batch = a_batch(lr=0.01, value_lambda=1.0)
    assert learner.update(batch)["explained"] == pytest.approx(0, abs=1e-6)
    for _ in range(30):
        metrics = learner.update(batch)
    assert 0.2 < metrics["explained"] < 1


def test_what_is_annealed() -> None:
    """Ataraxos' temperature: .05 n^-.3."""
    assert annealed(0.05, 0.0, 0.3, 0, 1) == 0.05
    assert annealed(0.05, 0.0, 0.3, 41_999, 1) == pytest.approx(0.05 * 42_000**-0.3)
    assert annealed(3.0, 0.0, 0.5, 300, 100) == 1.5
    assert annealed(3.0, 2.0, 0.5, 300, 100) == 2.0
    assert annealed(3.0, 0.0, 0.0, 300, 100) == 3.0
    algorithm = a_batch(lr=0.1, lr_power=1, lr_floor=0.01, eta=4, eta_power=0.5, anneal_after=10)[
        0
    ].algorithm
    assert isinstance(algorithm, MMD)
    assert [algorithm.learning_rate(n) for n in (0, 10, 10**6)] == [0.1, 0.05, 0.01]
    assert [algorithm.eta(n) for n in (0, 30)] == [4, 2]


def test_a_rate_falls_in_a_line() -> None:
    """Over so many steps or decisions, to its floor; powers and the warm-up count as well."""
    line = MMDConfig(lr=0.1, lr_linear=100, lr_floor=0.02)
    assert [line.rate(n) for n in (0, 25, 50)] == pytest.approx([0.1, 0.08, 0.06])
    assert [line.rate(n) for n in (100, 10**6)] == [0.02, 0.02]
    by = replace(line, anneal_by="decisions", lr_floor=0.0)
    assert [by.rate(7, n) for n in (0, 25, 100, 101)] == pytest.approx([0.1, 0.075, 0, 0])
    both = replace(line, lr_floor=0.0, lr_power=1.0, anneal_after=50.0, warm_up=100)
    assert both.rate(49) == pytest.approx(0.1 / (1 + 49 / 50) * 0.51 * 0.5)


def test_by_decisions_a_schedule_is_the_same_at_every_batch_size() -> None:
    fall = {"anneal_by": "decisions", "anneal_after": 100, "lr_power": 1, "eta_power": 0.5}
    (whole, batch), (halves, _) = (a_batch(lr=0.1, eta=4, eta_floor=0, **fall) for _ in range(2))
    game, found = episodes("nano", 12)
    first = whole.update(batch)
    assert (first["lr"], first["eta"]) == (0.1, 4)  # what an update has is of those before it
    for part in (found[:5], found[5:]):
        halves.update(make_batch(game, as_parts(game, part), BatchSpec(16)))
    n = len(batch.trained)
    second = [learner.update(batch) for learner in (whole, halves)]
    for metrics in second:
        assert metrics["decisions"] == 2 * n
        assert metrics["lr"] == pytest.approx(0.1 / (1 + n / 100))
        assert metrics["eta"] == pytest.approx(4 / math.sqrt(1 + n / 100))


# ---- an update ----


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 1, "chunk": 9999},
        {"threads": 2, "chunk": 30, "magnet": "average", "weight_by": "game", "kl_mu": 0.2},
        {"advantage_filter": 0.5, "draw_score": -0.3, "advantage_lambda": 0.7, "rho": 0.9},
        {"anneal_by": "decisions", "anneal_after": 2e3},
        {"magnet": "copy:3"},
        {"magnet": "average:0.1"},
    ],
    ids=["plain", "average", "filter", "decisions", "copy", "average:TAU"],
)
def test_an_update_is_the_reference_update(options: dict[str, object]) -> None:
    """Which is the algorithm as plain equations, and torch's own Adam. Some steps are judged by
    their game's outcome, as setups are, and the unit of returns is not 1."""
    learner, batch = a_batch(
        **{"lr": 1e-3, "b1": 0.5, "eps": 1e-3, "grad_norm": 1.0, "eta": 0.3, "eta_power": 0.5,
           "lr_power": 0.5, "anneal_after": 3.0, "ratio_clip": 1e-3, "value_lambda": 0.9,
           "deployment_eta": 0.4, "average_rate": 0.3, **options},
    )  # fmt: skip
    setup = torch.arange(len(batch.player)) % 7 == 0
    batch = replace(batch, by_outcome=setup, unit=2.0)
    algorithm = learner.algorithm
    config = algorithm.config
    assert isinstance(config, MMDConfig)
    networks = {name: copy.deepcopy(network) for name, network in algorithm.networks.items()}
    online = networks["online"]
    adam = torch.optim.Adam(online.parameters(), config.lr, (config.b1, config.b2), config.eps)
    start = weights(learner, "online")
    for step in range(8):
        decisions = algorithm.decisions
        metrics = learner.update(batch)
        losses = reference_update(networks, adam, batch, config, step, decisions)
        assert losses == pytest.approx((metrics["policy_loss"], metrics["value_loss"]), abs=1e-4)
        for name, parameter in online.named_parameters():
            found = algorithm.trained.get_parameter(name).grad
            torch.testing.assert_close(found, parameter.grad, rtol=1e-3, atol=1e-5, msg=name)
        for name, network in networks.items():
            expected = torch.cat([p.detach().flatten() for p in network.parameters()])
            torch.testing.assert_close(weights(learner, name), expected, rtol=1e-3, atol=2e-5)
    assert metrics["clipped"] > 0.01
    assert (weights(learner, "online") - start).abs().max() > 2e-3
    assert not torch.equal(weights(learner, "online"), weights(learner, "average"))


def test_the_rate_of_a_step_is_adam_s() -> None:
    """With b1 = 0 and eps 0, Adam's first step has the size of the rate, whichever step it is."""
    for step, size in ((0, 0.02), (10, 0.01)):
        learner, batch = a_batch(
            lr=0.02, lr_power=1, anneal_after=10, b1=0.0, eps=1e-20, grad_norm=0
        )
        before, learner.step = weights(learner, "online"), step
        metrics = learner.update(batch)
        moved = (weights(learner, "online") - before).abs().max()
        assert (moved.item(), metrics["lr"]) == pytest.approx((size, size), rel=1e-3)


def test_the_average_follows_and_no_other_network_is_there() -> None:
    learner, batch = a_batch(average_rate=0.01)
    assert tuple(learner.algorithm.networks) == NETWORKS
    learner.update(batch)
    assert torch.equal(weights(learner, "average"), weights(learner, "online"))
    learner.step = 10_000
    before = weights(learner, "average")
    learner.update(batch)
    expected = torch.lerp(before, weights(learner, "online"), 0.01)
    torch.testing.assert_close(weights(learner, "average"), expected)


@pytest.mark.parametrize(("magnet", "passes"), [("uniform", 0), ("average", 1)])
def test_only_what_is_used_is_evaluated(magnet: str, passes: int) -> None:
    learner, batch = a_batch(magnet=magnet)
    called: list[str] = []
    for name, network in learner.algorithm.networks.items():
        for method in ("embed", "value"):
            true = getattr(network, method)

            def noted(*arguments: Any, true: Any = true, what: str = f"{name} {method}") -> Any:
                called.append(what)
                return true(*arguments)

            setattr(network, method, noted)
    learner.update(batch)
    assert called.count("online embed") == called.count("online value") == 1
    assert called.count("average embed") == passes and called.count("average value") == 0


@pytest.mark.parametrize(("magnet", "quantile"), [("uniform", 0), ("average", 0), ("uniform", 0.7)])
def test_parts_give_the_gradient_of_the_whole(magnet: str, quantile: float) -> None:
    results = []
    for threads, chunk in ((1, 9999), (2, 40)):
        learner, batch = a_batch(
            magnet=magnet, threads=threads, chunk=chunk, kl_mu=0.1, advantage_filter=quantile
        )
        for _ in range(2):
            metrics = learner.update(batch)
        results.append((metrics, gradient(learner)))
    (metrics, whole), (of_parts, parts) = results
    assert metrics == pytest.approx(of_parts, rel=1e-3, abs=1e-5)
    torch.testing.assert_close(whole, parts, rtol=1e-2, atol=1e-4)
    assert whole.abs().max() > 1e-3


def test_the_filter_leaves_setups_as_they_are() -> None:
    """They are judged by the outcome, so their advantages are larger than those of play."""
    weight = []
    for quantile in (0.0, 0.9):
        learner, batch = a_batch(advantage_filter=quantile)
        setup = torch.arange(len(batch.player)) % 7 == 0
        batch = replace(batch, by_outcome=setup)
        algorithm = learner.algorithm
        with torch.no_grad():
            views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
            outputs = algorithm.outputs(views)
            forward = algorithm.forward(views, outputs, 0)
            targets = algorithm.targets(batch, outputs, forward, batch.step_counts())
        weight.append(targets.weight)
    assert weight[0].all() and torch.equal(weight[0][setup], weight[1][setup])
    assert 0.05 < (weight[1][~setup] > 0).float().mean() < 0.2
    assert weight[1].sum().item() == pytest.approx(weight[0].sum().item())


@pytest.mark.parametrize("quantile", [0.0, 0.8])
def test_a_filter_alone_makes_it_pay_to_look_where_gradients_are(quantile: float) -> None:
    assert a_batch(advantage_filter=quantile)[0].algorithm.sparse == (quantile > 0)


def test_what_is_not_learned_from_is_not_differentiated(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where all of it is, the gradient is the same."""
    rows, gradients = [], []
    for sparse in (True, False):
        learner, batch = a_batch(advantage_filter=0.8, rows=16)
        if not sparse:
            monkeypatch.setattr(MMD, "sparse", False)
        network = learner.algorithm.trained
        embed = network.embed

        def noted(inputs: Tensor, embed: Any = embed) -> Tensor:
            rows.append(len(inputs) if torch.is_grad_enabled() else 0)
            return embed(inputs)

        network.embed = noted  # type: ignore[method-assign]
        learner.update(batch)
        gradients.append(gradient(learner))
    assert rows[0] == 0 and rows[1] < 0.3 * rows[2] and rows[1] % 16 == 0
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-6)
    assert gradients[0].abs().max() > 1e-3


def test_a_first_pass_by_the_engine_leaves_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy and the values before the update differ from torch's by rounding."""
    game, found = episodes("mini", 4)
    batch = make_batch(game, as_parts(game, found), BatchSpec(8))
    results = []
    for by_torch in (False, True):
        if by_torch:
            for module in (fromto, plain):
                monkeypatch.setattr(module, "engine_is_faster", lambda x: False)
        learner = optimizer("fromto:16x1", game, setting(advantage_filter=0.7, lr=1e-2))
        metrics = [learner.update(batch) for _ in range(3)]
        results.append((metrics[-1], gradient(learner)))
    (metrics, by_engine), (again, wanted) = results
    assert metrics == pytest.approx(again, rel=1e-4, abs=1e-5)
    torch.testing.assert_close(by_engine, wanted, rtol=1e-3, atol=1e-5)
    assert wanted.abs().max() > 1e-3


@pytest.mark.parametrize(
    "change",
    [
        {"eta": 1.0}, {"eta_power": 2.0}, {"anneal_after": 1.0}, {"ratio_clip": 1e-3},
        {"kl_mu": 1.0}, {"advantage_lambda": 1.0}, {"value_lambda": 0.0}, {"value_weight": 2.0},
        {"rho": 0.5}, {"c": 0.5}, {"magnet": "average"}, {"lr_power": 2.0}, {"average_rate": 1.0},
        {"warm_up": 9}, {"eta_floor": 0.1}, {"lr_power": 9.0, "lr_floor": 2.9e-3},
        {"weight_by": "game"}, {"advantage_filter": 0.5}, {"draw_score": -0.5},
        {"anneal_after": 99.0, "anneal_by": "decisions"},
    ],
    ids=lambda change: [*change][-1],
)  # fmt: skip
def test_every_setting_matters(change: dict[str, Any]) -> None:
    """The last one. A floor takes a rate that falls."""
    results = []
    for options in (dict([*change.items()][:-1]), change):
        learner, batch = a_batch(**options)
        for _ in range(4):
            learner.update(batch)
        results.append(torch.cat([weights(learner, name) for name in NETWORKS]))
    assert (results[0] - results[1]).abs().max() > 1e-6


def test_a_draw_brings_both_its_score() -> None:
    """Of games that have ended: another one has returned nothing yet."""
    _, batch = a_batch()
    drawn = (batch.returns == 0).all(1)
    going_on = drawn.nonzero()[0]
    assert drawn.sum() > 1 and not drawn.all() and batch.ended.all()
    ended = batch.ended.clone()
    ended[going_on] = False
    found = replace(batch, ended=ended).with_draws(-0.25)
    wanted = torch.where(drawn[:, None], -0.25, batch.returns)
    wanted[going_on] = 0.0
    assert torch.equal(found.returns, wanted)
    assert torch.equal(found.rewards().sum(0), wanted)


def test_the_score_of_a_draw_is_in_the_game_s_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, batch = a_batch(draw_score=-0.5)
    asked = []
    monkeypatch.setattr(StepBatch, "with_draws", lambda self, score: asked.append(score) or self)
    learner.update(replace(batch, unit=13.0))
    assert asked == [-6.5]


def test_a_loaded_learner_goes_on_bit_for_bit() -> None:
    straight, batch = a_batch(magnet="average")
    before, _ = a_batch(magnet="average")
    for _ in range(5):
        straight.update(batch)
    for _ in range(3):
        before.update(batch)
    tensors = {name: tensor.copy() for name, tensor in before.tensors().items()}
    after = optimizer("plain", Game("nano"), setting(seed=7, magnet="average"))
    after.load(tensors, 3)
    for _ in range(2):
        after.update(batch)
    for network in NETWORKS:
        assert torch.equal(weights(after, network), weights(straight, network))


# ---- settings ----


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eta", -0.1), ("eta", math.nan), ("eta", INFINITY), ("eta_power", -1.0),
        ("eta_floor", -1.0), ("lr_power", 11.0), ("lr_floor", INFINITY), ("anneal_after", 0.0),
        ("warm_up", -1),
        ("ratio_clip", 0.0), ("kl_mu", -1.0), ("advantage_lambda", 1.1), ("value_lambda", -0.1),
        ("value_weight", 0.0), ("rho", 0.0), ("c", 0.0), ("average_rate", 0.0),
        ("magnet", "none"), ("magnet", "copy:x"),
        ("deployment_eta", -0.1), ("deployment_eta", math.nan), ("deployment_eta", INFINITY),
        ("weight_by", "side"), ("advantage_filter", 1.0), ("advantage_filter", -0.1),
        ("draw_score", -1.1), ("draw_score", 1.1), ("draw_score", math.nan),
    ],
)  # fmt: skip
def test_what_is_out_of_its_range(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} must be "):
        accepted({name: value}, "mmd")


def test_settings_of_the_other_algorithm() -> None:
    with pytest.raises(InputError, match="^--beta is no setting of the algorithm mmd$"):
        setting(beta=1.0)
    with pytest.raises(InputError, match="^--magnet is no setting of the algorithm rnad$"):
        resolve("plain", {}, {}, {"magnet": "uniform"})
    stored = setting(ratio_clip=INFINITY).to_json()
    assert resolve("plain", accepted(stored, "mmd"), {}, {}, "mmd").to_json() == stored


def test_the_losses_that_are_reported() -> None:
    """Of games that the network has played itself: the ratios are 1, and its distance from mu 0."""
    learner, batch = a_batch(kl_mu=0.5)
    algorithm = learner.algorithm
    with torch.no_grad():
        views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
        outputs = algorithm.outputs(views)
        forward = algorithm.forward(views, outputs, 0)
        batch = replace(batch, mu=forward.pi[batch.view, batch.action])
        found = algorithm.targets(batch, outputs, forward, batch.step_counts())
    metrics = learner.update(batch)
    kl = (forward.eta * forward.metrics[:, 1])[batch.view]
    squares = (outputs[1][batch.view] - found.value).square()
    policy, value = ((found.weight * x).sum().item() for x in (kl - found.advantage, squares))
    assert metrics["policy_loss"] == pytest.approx(policy, abs=2e-6) and abs(policy) > 1e-4
    assert metrics["value_loss"] == pytest.approx(value, rel=1e-4) and value > 1e-3


def test_clipped_is_the_share_of_steps_beyond_the_ratio_clip() -> None:
    """Each player's share, and of these the mean. The network is untrained, and mu was its policy
    but for some steps of the first player and fewer of the second."""
    learner, batch = a_batch(ratio_clip=0.2)
    assert learner.update(batch)["clipped"] == 0
    learner, _ = a_batch(ratio_clip=0.2)
    own = [(batch.player == k).nonzero()[:, 0] for k in (0, 1)]
    ratio = torch.ones_like(batch.mu)
    ratio[own[0][:7]], ratio[own[0][7:12]], ratio[own[1][:5]] = 1.3, 0.7, 1.3
    ratio[own[0][12:20]], ratio[own[1][5:20]] = 1.1, 0.9
    expected = (12 / len(own[0]) + 5 / len(own[1])) / 2
    metrics = learner.update(replace(batch, mu=batch.mu / ratio))
    assert metrics["clipped"] == pytest.approx(expected, rel=1e-5)


def test_the_distance_from_a_uniform_magnet_is_what_entropy_lacks() -> None:
    learner, batch = a_batch()
    metrics = learner.update(batch)
    choices = batch.legal[batch.view[batch.trained]].sum(1).double()
    assert metrics["kl"] + metrics["entropy"] == pytest.approx(choices.log().mean().item(), 1e-4)
