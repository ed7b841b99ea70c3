"""PPO and NashPG: their update against plain equations, and its expected gradient, over all games
of Kuhn poker, against exact values."""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learn.games import as_parts, episodes, gradient, optimizer
from learn.test_learned_slices import cut, keyed
from learn.test_mmd_exact import exact_values, games_of, reach_of
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import NashPGConfig, PPOConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.nashpg import NETWORKS, NashPG, normalised, reference_update, shuffled
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.ranks import Ranks
from stratkit.learn.request import Settings, accepted, resolve
from stratkit.nets import legal_policy

MAGNET = ("magnet_weight", "magnet")
ALL = (*NETWORKS, "magnet")


def setting(algorithm: str = "nashpg", **options: object) -> Settings:
    return resolve("plain", {}, {}, {"seed": 1, "rows": 16, **options}, algorithm)


def a_batch(algorithm: str = "nashpg", **options: object) -> tuple[Optimizer, StepBatch]:
    """Drawn games among them; returns in a unit that is not 1."""
    game, found = episodes("nano", 12)
    learner = optimizer("plain", game, setting(algorithm, **options))
    return learner, replace(make_batch(game, as_parts(game, found), BatchSpec(16)), unit=2.0)


def weights(learner: Optimizer, network: str) -> Tensor:
    state = learner.weights(network)
    return torch.from_numpy(np.concatenate([w.ravel() for w in state.values()])).clone()


# ---- an update ----


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 1, "chunk": 9999},
        {"threads": 2, "chunk": 30, "weight_by": "game", "epochs": 1, "minibatches": 3},
        {"rows": 1, "ratio_clip": math.inf, "epochs": 3, "minibatches": 1, "grad_norm": 0.0},
        {"anneal_by": "decisions", "anneal_after": 2e3, "entropy_power": 2.0},
        {"magnet": "average:0.1"},
        {"magnet": "average"},
        {"magnet": "uniform"},
        {"kl_mu": 0.5, "lr_linear": 5.0},
    ],
    ids=["plain", "chunks", "whole", "decisions", "average:TAU", "average", "uniform", "kl_mu"],
)
def test_an_update_is_the_reference_update(options: dict[str, object]) -> None:
    """Which is the algorithm as plain equations, and torch's own Adam."""
    learner, batch = a_batch(
        **{"lr": 1e-3, "eps": 1e-3, "lr_power": 0.5, "anneal_after": 3.0, "ratio_clip": 1e-2,
           "advantage_lambda": 0.7, "epochs": 2, "minibatches": 2, "grad_norm": 0.1,
           "magnet": "copy:2", "average_rate": 0.3, **options},
    )  # fmt: skip
    algorithm = learner.algorithm
    config = algorithm.config
    assert isinstance(config, NashPGConfig)
    networks = {name: copy.deepcopy(network) for name, network in algorithm.networks.items()}
    online = networks["online"]
    adam = torch.optim.Adam(online.parameters(), config.lr, (config.b1, config.b2), config.eps)
    start = weights(learner, "online")
    for step in range(4):
        decisions = algorithm.decisions
        metrics = learner.update(batch)
        losses = reference_update(networks, adam, batch, config, 1, step, decisions)
        assert losses == pytest.approx((metrics["policy_loss"], metrics["value_loss"]), abs=1e-4)
        for name, parameter in online.named_parameters():
            found = algorithm.trained.get_parameter(name).grad
            torch.testing.assert_close(found, parameter.grad, rtol=1e-3, atol=1e-5, msg=name)
        for name, network in networks.items():
            expected = torch.cat([p.detach().flatten() for p in network.parameters()])
            torch.testing.assert_close(weights(learner, name), expected, rtol=1e-3, atol=2e-5)
    assert metrics["clipped"] > 0.01 or config.ratio_clip == math.inf
    assert metrics["kl"] > 1e-6
    assert (weights(learner, "online") - start).abs().max() > 2e-3


def test_without_a_magnet_it_is_ppo() -> None:
    """Bit for bit."""
    one, batch = a_batch("nashpg", magnet_weight=0.0, magnet="copy:1")
    other, _ = a_batch("ppo")
    assert tuple(other.algorithm.networks) == NETWORKS
    for _ in range(3):
        metrics, of_ppo = one.update(batch), other.update(batch)
        assert {name: metrics[name] for name in of_ppo} == of_ppo
    for network in NETWORKS:
        assert torch.equal(weights(one, network), weights(other, network))


def test_the_magnet_is_replaced_after_so_many_updates() -> None:
    learner, batch = a_batch(magnet="copy:3")
    begun = weights(learner, "magnet")
    for step in range(1, 7):
        learner.update(batch)
        if step % 3 == 0:
            begun = weights(learner, "online")
        assert torch.equal(weights(learner, "magnet"), begun)
    assert not torch.equal(weights(learner, "average"), begun)


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 2}, {"minibatches": 2}, {"ratio_clip": 1e-3}, {"advantage_lambda": 0.5},
        {"value_weight": 2.0}, {"entropy_weight": 1.0}, {"magnet_weight": 9.0},
        {"magnet": "copy:1"}, {"magnet": "uniform"}, {"magnet": "average:0.5"},
        {"average_rate": 1.0}, {"weight_by": "game"}, {"grad_norm": 1e-3},
        {"lr_power": 2.0}, {"seed": 2}, {"kl_mu": 9.0},
    ],
    ids=lambda change: [*change][-1],
)  # fmt: skip
def test_every_setting_matters(change: dict[str, Any]) -> None:
    results = []
    for options in ({}, change):
        learner, batch = a_batch(**options)
        for _ in range(3):
            learner.update(batch)
        results.append(torch.cat([weights(learner, name) for name in NETWORKS]))
    assert (results[0] - results[1]).abs().max() > 1e-6


def test_a_loaded_learner_goes_on_bit_for_bit() -> None:
    straight, batch = a_batch(magnet="copy:2")
    before, _ = a_batch(magnet="copy:2")
    for _ in range(3):
        straight.update(batch)
    for _ in range(2):
        before.update(batch)
    tensors = {name: tensor.copy() for name, tensor in before.tensors().items()}
    after = optimizer("plain", Game("nano"), setting(magnet="copy:2"))
    after.load(tensors, 2)
    after.update(batch)
    for network in ALL:
        assert torch.equal(weights(after, network), weights(straight, network))


# ---- its parts ----


def test_each_epoch_has_each_step_once() -> None:
    learned = torch.arange(0, 22, 2)
    found = list(shuffled(learned, 3, 4, seed=5, step=7))
    assert [len(rows) for rows in found] == [3, 3, 3, 2] * 3
    epochs = [torch.cat(found[at : at + 4]) for at in (0, 4, 8)]
    assert all(torch.equal(epoch.sort().values, learned) for epoch in epochs)
    assert not any(torch.equal(one, other) for one, other in itertools.pairwise(epochs))
    again, other, later = (
        torch.cat([*shuffled(learned, 3, 4, *at)]) for at in ((5, 7), (6, 7), (5, 8))
    )
    whole = torch.cat(found)
    assert torch.equal(again, whole) and not torch.equal(other, whole)
    assert not torch.equal(later, whole)
    assert [len(rows) for rows in shuffled(learned[:2], 1, 4, 0, 0)] == [1, 1, 0, 0]


class TwoRanks(Ranks):
    """Of which the other has the same."""

    def sum(self, x: Tensor) -> Tensor:
        return 2 * x


def test_advantages_are_normalised_over_what_is_learned_from() -> None:
    advantage = torch.tensor([3.0, 100.0, -1.0, 4.0])
    learned = torch.tensor([0, 2, 3])
    found = normalised(advantage, learned)
    assert found[learned].mean().item() == pytest.approx(0, abs=1e-6)
    assert found[learned].std(unbiased=False).item() == pytest.approx(1)
    torch.testing.assert_close(normalised(advantage, learned, TwoRanks()), found)
    assert normalised(torch.ones(3), torch.arange(3)).tolist() == [0, 0, 0]
    assert normalised(torch.ones(3), torch.arange(0)).isfinite().all()


def test_slices_teach_the_same_where_a_target_needs_the_next_step_alone() -> None:
    game, found = episodes("nano", 5)
    slices = [part for one in found for part in cut(one, 7)]
    config = NashPGConfig(advantage_lambda=0.0)
    algorithm = NashPG("plain", game, config, seed=1)
    with torch.no_grad():
        for parameter in algorithm.trained.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator())
    results = []
    for batch in (make_batch(game, as_parts(game, some)) for some in (found, slices)):
        views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
        with torch.no_grad():
            outputs = algorithm.outputs(views)
            forward = algorithm.forward(views, outputs, 0)
            targets = algorithm.targets(batch, outputs, forward, batch.step_counts())
        results.append(keyed(batch, targets.advantage, targets.value, targets.weight))
    assert results[0].keys() == results[1].keys()
    for key, expected in results[0].items():
        assert results[1][key] == pytest.approx(expected, abs=1e-4)


# ---- against exact values ----


@pytest.mark.parametrize(("magnet", "entropy"), [(0.7, 0.0), (0.0, 0.3), (0.2, 0.1)])
def test_the_expected_gradient(magnet: float, entropy: float) -> None:
    """Over all games, each by its probability: reach times that of sum pi q / deviation + entropy -
    KL(pi | magnet), where q is exact; and that of the value's squared error."""
    games = games_of("kuhn")
    config = NashPGConfig(
        magnet_weight=magnet, entropy_weight=entropy, advantage_lambda=1.0, minibatches=1,
        value_weight=0.25,
    )  # fmt: skip
    algorithm = NashPG("mlp:4", games.game, config, seed=0)
    draw = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in algorithm.networks["magnet"].parameters():
            parameter += torch.randn(parameter.shape, generator=draw)
    legal = games.batch.legal
    logits = torch.randn(legal.shape, generator=draw).double()
    value = torch.randn(len(legal), generator=draw).double()
    pi, log_pi = legal_policy(logits, legal)
    batch = games.played_by(pi)
    views = DistinctViews(algorithm.prepare(batch.observations), legal)
    forward = algorithm.forward(views, (logits, value), 0)
    targets = algorithm.targets(batch, (logits, value), forward, batch.step_counts())
    weight = games.probability(batch.mu)[games.episode] * (batch.player >= 0)
    leaves = tuple(x[batch.view].requires_grad_() for x in (logits, value))
    everything = torch.arange(len(batch.view))
    loss, _ = algorithm.loss(batch, everything, leaves, forward, targets._replace(weight=weight))
    found, of_value = (
        torch.zeros_like(x).index_add_(0, batch.view, g)
        for x, g in zip((logits, value), torch.autograd.grad(loss, leaves), strict=True)
    )

    q, truth = exact_values(games, batch, pi)
    _, reach = reach_of(games, batch.mu)
    learned = batch.trained
    outcome = batch.returns[games.episode[learned], batch.player[learned]]
    deviation = (outcome - value[batch.view[learned]]).std(unbiased=False)
    of_magnet = algorithm.networks["magnet"](batch.observations, legal)[0].detach()
    log_magnet = legal_policy(of_magnet.double(), legal)[1]
    gain = q / deviation - magnet * (log_pi - log_magnet) - entropy * log_pi
    centred = (gain - (pi * gain).sum(1, keepdim=True)) * legal
    torch.testing.assert_close(found, -reach[:, None] * pi * centred, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(of_value, 0.25 * 2 * reach * (value - truth), atol=1e-6, rtol=1e-5)
    assert found.abs().max() > 0.01


# ---- settings ----


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0), ("minibatches", 0), ("ratio_clip", 0.0), ("advantage_lambda", 1.1),
        ("value_weight", 0.0), ("entropy_weight", -0.1), ("magnet_weight", -1.0),
        ("magnet_weight", math.inf), ("magnet", "copy:0"), ("magnet", "average:2"),
        ("magnet", "old"), ("magnet", "uniform:1"), ("entropy_power", -1.0), ("average_rate", 0.0),
    ],
)  # fmt: skip
def test_what_is_out_of_its_range(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} must be"):
        accepted({name: value}, "nashpg")


def test_ppo_has_no_magnet() -> None:
    assert {*NashPGConfig.__dataclass_fields__} - {*PPOConfig.__dataclass_fields__} == {*MAGNET}
    for name in MAGNET:
        with pytest.raises(InputError, match=f"^--{name.replace('_', '-')} is no setting of"):
            setting("ppo", **{name: 1})


def test_the_gradient_is_there_after_an_update() -> None:
    learner, batch = a_batch()
    learner.update(batch)
    assert 0 < gradient(learner).norm() <= 0.5 + 1e-6
