"""How MMD learns to deploy: against the exact equilibrium, in slices, and with play as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from learn.games import as_parts, episodes, optimizer
from learn.test_learned_slices import cut, targets_of
from stratkit.errors import InputError
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import MMDConfig
from stratkit.learn.data import make_batch
from stratkit.learn.mmd import MMD
from stratkit.learn.request import resolve
from stratkit.nets import legal_policy
from stratkit.nets.deployment import WithDeployment

NANO = 6  # placements of a game of nano, three a side
ETA = 0.15


def equilibrium(payoffs: dict[tuple[tuple[int, ...], tuple[int, ...]], float]) -> np.ndarray:
    """Probabilities float64 [3, 3] of the first two squares, where both sides deploy alike: each
    logit is the mean gain of its square / eta (the third piece has no choice).

    payoffs: red's, by the squares that red and blue chose.
    """
    gains = np.zeros((3, 3, 3, 3))
    for (red, blue), gain in payoffs.items():
        gains[red[0], red[1], blue[0], blue[1]] += gain / 2
        gains[blue[0], blue[1], red[0], red[1]] -= gain / 2
    logits_1, logits_2 = np.zeros(3), np.zeros((3, 3))
    np.fill_diagonal(logits_2, -np.inf)
    for _ in range(2000):
        first = np.exp(logits_1) / np.exp(logits_1).sum()
        second = np.exp(logits_2) / np.exp(logits_2).sum(1, keepdims=True)
        q = np.einsum("abcd,cd->ab", gains, first[:, None] * second)
        logits_1 += 0.1 * ((second * q).sum(1) / ETA - logits_1)
        step = q / ETA - np.where(np.isfinite(logits_2), logits_2, 0)
        logits_2 += 0.1 * np.where(np.isfinite(logits_2), step, 0)
    return np.asarray(first[:, None] * second)


def test_it_comes_to_the_equilibrium_of_setups() -> None:
    """Random games of nano, each weighted by the probability of its two setups, are all that can
    happen: a matrix game of setups with known payoffs. The learner's own targets, losses and
    network come to its regularised equilibrium, from the games' outcomes alone."""
    game, found = episodes("nano", 300, seed=3)
    batch = make_batch(
        game, as_parts(game, found), BatchSpec(1, own_deployment=True, deployment_only=True)
    )
    assert batch.states == NANO * len(found) and bool(batch.by_outcome.all())
    keys = [(tuple(e.actions[:3].tolist()), tuple(e.actions[3:6].tolist())) for e in found]
    number = {key: keys.count(key) for key in keys}
    payoffs = dict.fromkeys(keys, 0.0)
    for key, one in zip(keys, found, strict=True):
        payoffs[key] += float(one.returns[0]) / number[key]
    assert len(payoffs) == 36 and max(payoffs.values()) > 0.2
    config = MMDConfig(deployment_eta=ETA, eta=9.0, learn="deployment", value_lambda=0.3)
    algorithm = MMD("plain+deployment", game, config, seed=1)
    for network in algorithm.networks.values():
        assert isinstance(network, WithDeployment) and network.deploys_only
    adam = torch.optim.Adam(algorithm.trained.parameters(), lr=0.03)
    share = torch.tensor([1 / number[key] for key in keys])
    views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
    for step in range(150):
        adam.param_groups[0]["lr"] = 0.03 * (1 - step / 150)
        outputs = algorithm.outputs(views)
        known = tuple(x.detach() for x in outputs)
        forward = algorithm.forward(views, known, step)
        mu = forward.pi[batch.view, batch.action]
        played = replace(batch, mu=mu)
        targets = algorithm.targets(played, known, forward, batch.step_counts())
        weight = (mu.view(-1, NANO).prod(1) * share).repeat_interleave(NANO)
        leaves = tuple(x[batch.view] for x in outputs)
        all_ = slice(None)
        loss, _ = algorithm.loss(played, all_, leaves, forward, targets._replace(weight=weight))
        adam.zero_grad()
        loss.backward()
        adam.step()
    pi = legal_policy(known[0], batch.legal)[0]
    chosen = pi[batch.view, batch.action].view(-1, NANO)[:, :3].prod(1)
    expected = equilibrium(payoffs)
    assert 0.01 < expected[expected > 0].min() < 0.1 < expected.max()
    for key, ours in zip(keys, chosen.tolist(), strict=True):
        assert ours == pytest.approx(expected[key[0][0], key[0][1]], abs=2e-3)


def test_a_setup_is_judged_by_its_game_s_outcome() -> None:
    """Its value's target is the outcome; its advantage what the value lacks, in the game's unit."""
    game, found = episodes("nano", 8)
    batch = make_batch(game, as_parts(game, found), BatchSpec(own_deployment=True))
    batch, setup = replace(batch, unit=4.0), batch.by_outcome
    targets, value = targets_of(game, batch, value_lambda=0.3, advantage_lambda=0.3)
    episode = torch.repeat_interleave(torch.arange(len(found)), batch.lengths)
    outcome = batch.returns[episode, batch.player]
    assert torch.equal(targets.value[setup], outcome[setup])
    torch.testing.assert_close(targets.advantage[setup], (outcome - value)[setup] / 4)
    assert int(setup.sum()) == NANO * len(found) and value[setup].abs().min() > 1e-4
    assert not torch.equal(targets.value[~setup], outcome[~setup])


def test_of_slices_the_last_one_teaches_the_setup() -> None:
    game, found = episodes("nano", 4)
    for one in found:
        parts = cut(one, 9)
        assert len(parts) > 1
        for part in parts:
            batch = make_batch(game, as_parts(game, [part]), BatchSpec(own_deployment=True))
            placing = batch.player[batch.by_outcome].tolist()
            assert placing == ([0, 0, 0, 1, 1, 1] if part is parts[-1] else [])


def test_slices_of_nothing_but_setups_change_nothing() -> None:
    """As the first ones of games whose deployment is longer than a slice."""
    game, found = episodes("nano", 3)
    parts = as_parts(game, [cut(one, 3)[0] for one in found])
    batch = make_batch(game, parts, BatchSpec(8, own_deployment=True))
    assert not batch.states and len(batch.observations) == 8
    settings = resolve("plain+deployment", {}, {}, {"seed": 1, "advantage_filter": 0.5}, "mmd")
    learner = optimizer("plain+deployment", game, settings)
    before = {name: w.copy() for name, w in learner.weights("online").items()}
    assert not any(learner.update(batch)[name] for name in ("policy_loss", "value_loss"))
    after = learner.weights("online")
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_filter_and_explained_variance_are_those_of_play() -> None:
    """All setups are learned from, whatever the filter keeps, and explain nothing."""
    game, found = episodes("nano", 6)
    chunks = as_parts(game, found)
    batch = make_batch(game, chunks, BatchSpec(own_deployment=True))
    weights = {}
    for quantile in (0.0, 0.75):
        config = MMDConfig(advantage_filter=quantile)
        algorithm = MMD("plain+deployment", game, config, seed=1)
        outputs = algorithm.outputs(
            DistinctViews(algorithm.prepare(batch.observations), batch.legal)
        )
        known = tuple(x.detach() for x in outputs)
        views = DistinctViews(None, batch.legal)
        forward = algorithm.forward(views, known, 0)
        targets = algorithm.targets(batch, known, forward, batch.step_counts())
        weights[quantile] = targets.weight
    setup = batch.by_outcome
    assert not targets.explained[setup].any() and targets.explained[~setup].any()
    assert torch.equal(weights[0.75][setup], weights[0.0][setup]) and weights[0.0][setup].all()
    kept = (weights[0.75][~setup] > 0).float().mean()
    assert 0.2 < kept < 0.6  # ties at zero may be kept


def test_play_stays_as_it_is() -> None:
    """With `learn deployment`; its average, too. What is learned then is the deployment."""
    game, found = episodes("nano", 8)
    settings = resolve("plain+deployment", {}, {}, {"seed": 1, "learn": "deployment"}, "mmd")
    learner = optimizer("plain+deployment", game, settings)
    before = {net: learner.weights(net) for net in learner.algorithm.networks}
    before = {net: {k: w.copy() for k, w in found.items()} for net, found in before.items()}
    batch = make_batch(game, as_parts(game, found), BatchSpec(16, True, True))
    for _ in range(2):
        learner.update(batch)
    for net, weights in before.items():
        after = learner.weights(net)
        for name, weight in weights.items():
            same = np.array_equal(weight, after[name])
            assert same == name.startswith("play.") or name == "deployment.policy.bias"


def test_the_deployment_alone_needs_a_network_of_its_own() -> None:
    game, _ = episodes("nano", 1)
    with pytest.raises(InputError, match=r"needs a network of its own, NAME\+deployment"):
        MMD("plain", game, MMDConfig(learn="deployment"), seed=1)
