"""The learner: what an update does to which network, parts, padding, saving and loading."""

from __future__ import annotations

import copy
import dataclasses
import itertools

import numpy as np
import pytest
import torch

from learn.games import as_parts, episodes, gradient, optimizer
from learn.versus import share_of_wins
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import RNaDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.request import Settings, resolve
from stratkit.learn.rnad import NETWORKS, RNaD, mixture, reference_update
from stratkit.learn.step_weights import explained, step_weights
from stratkit.nets import legal_policy
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer


def setting(**options: object) -> Settings:
    return resolve("tiny", {}, {}, {"seed": 1, "sizes": (2,), **options})


def hyper(learner: Optimizer) -> RNaDConfig:
    config = learner.algorithm.config
    assert isinstance(config, RNaDConfig)
    return config


def a_batch(seed: int = 0, rows: int = 1) -> tuple[Optimizer, StepBatch]:
    game, found = episodes("nano", 12, seed)
    batch = make_batch(game, as_parts(game, found), BatchSpec(rows))
    return optimizer("plain", game, setting()), batch


def weights(learner: Optimizer, network: str) -> torch.Tensor:
    state = learner.weights(network)
    return torch.from_numpy(np.concatenate([w.ravel() for w in state.values()])).clone()


def test_all_networks_start_alike_and_follow_as_told() -> None:
    learner, batch = a_batch()
    config = hyper(learner)
    start = {name: weights(learner, name) for name in NETWORKS}
    assert all(torch.equal(w, start["online"]) for w in start.values())

    learner.update(batch)
    online = weights(learner, "online")
    assert not torch.equal(online, start["online"])
    expected = torch.lerp(start["online"], online, config.target_rate)
    torch.testing.assert_close(weights(learner, "target"), expected)
    assert torch.equal(weights(learner, "average"), online)
    for name in ("regularization", "previous"):
        assert torch.equal(weights(learner, name), start["online"])

    learner.update(batch)  # the last of the iteration
    assert torch.equal(weights(learner, "regularization"), weights(learner, "target"))
    assert torch.equal(weights(learner, "previous"), start["online"])
    expected = torch.lerp(online, weights(learner, "online"), 3 / 4)
    torch.testing.assert_close(weights(learner, "average"), expected)
    first_target = weights(learner, "target")
    for _ in range(2):
        learner.update(batch)
    assert torch.equal(weights(learner, "previous"), first_target)
    assert learner.step == 4


def test_the_average_follows_at_its_rate_once_it_is_old_enough() -> None:
    learner, batch = a_batch()
    learner.step = 100_000
    before = weights(learner, "average")
    learner.update(batch)
    expected = torch.lerp(before, weights(learner, "online"), hyper(learner).average_rate)
    torch.testing.assert_close(weights(learner, "average"), expected)


def vector_batch(rows: int) -> tuple[Optimizer, StepBatch]:
    """40 random games of Kuhn poker; chance's actions are among them."""
    game = Game("kuhn")
    seatings = iter(Seating(number, (0, 0)) for number in range(40))
    table = Table(game, [RandomPlayer(1)], Seatings(seatings), slots=40, seed=1)
    found = [one for finished in table.rounds() if finished for one in finished.episodes]
    learner = optimizer("mlp:16", game, setting())
    return learner, make_batch(game, as_parts(game, found), BatchSpec(rows))


@pytest.mark.parametrize("threads", [1, 2])
def test_what_looks_the_same_is_evaluated_once_and_teaches_the_same(threads: int) -> None:
    short, batch = vector_batch(rows=64)
    assert len(batch.observations) == 64 and batch.view.max() < 12 + 4  # chance has four
    long, _ = vector_batch(rows=64)
    whole = dataclasses.replace(
        batch,
        observations=batch.observations[batch.view],
        legal=batch.legal[batch.view],
        view=torch.arange(len(batch.view)),
    )
    for learner, seen in ((short, batch), (long, whole)):
        learner.config = dataclasses.replace(learner.config, threads=threads)
        for _ in range(3):
            learner.update(seen)
    torch.testing.assert_close(
        weights(short, "online"), weights(long, "online"), atol=1e-4, rtol=1e-4
    )
    assert (weights(short, "online") - weights(vector_batch(64)[0], "online")).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("net", "threads", "chunk", "vote"), [("plain", 1, 9999, "step"), ("tiny", 2, 30, "game")]
)
def test_an_update_is_the_reference_update(net: str, threads: int, chunk: int, vote: str) -> None:
    """Which is the algorithm as the paper writes it, and torch's own Adam."""
    game, found = episodes("nano", 12)
    batch = make_batch(game, as_parts(game, found), BatchSpec(16))
    settings = setting(
        lr=1e-3, sizes=(4,), b1=0.5, eps=1e-3, threads=threads, chunk=chunk, weight_by=vote
    )
    config = settings.hyper
    assert isinstance(config, RNaDConfig) and config.policy_c < config.c and config.grad_norm
    learner = optimizer(net, game, settings)
    networks = {
        name: copy.deepcopy(network) for name, network in learner.algorithm.networks.items()
    }
    online = networks["online"]
    adam = torch.optim.Adam(online.parameters(), config.lr, (config.b1, config.b2), config.eps)
    start = weights(learner, "online")
    for step in range(10):
        metrics = learner.update(batch)
        losses = reference_update(networks, adam, batch, config, step)
        assert losses == pytest.approx((metrics["policy_loss"], metrics["value_loss"]), abs=1e-4)
        for name, parameter in online.named_parameters():
            found_there = learner.algorithm.trained.get_parameter(name).grad
            torch.testing.assert_close(found_there, parameter.grad, rtol=1e-3, atol=1e-5, msg=name)
        for name, network in networks.items():
            expected = torch.cat([p.detach().flatten() for p in network.parameters()])
            torch.testing.assert_close(weights(learner, name), expected, rtol=1e-3, atol=2e-5)
    assert (weights(learner, "online") - start).abs().max() > 4e-3
    ends = [weights(learner, name) for name in NETWORKS]
    assert all(not torch.equal(x, y) for x, y in itertools.combinations(ends, 2))


def test_what_the_defaults_leave_out_matters() -> None:
    """The paper has neither votes of games nor a rate that falls."""
    ends = []
    for options in ({}, {"weight_by": "game"}, {"lr_power": 1.0, "anneal_after": 1.0}):
        learner = optimizer("plain", Game("nano"), setting(**options))
        _, batch = a_batch()
        rates = [learner.algorithm.learning_rate(step) for step in (0, 1, 3)]
        assert rates == ([0.001, 0.0005, 0.00025] if "lr_power" in options else [0.001] * 3)
        for _ in range(3):
            learner.update(batch)
        ends.append(weights(learner, "online"))
    assert all((x - y).abs().max() > 1e-4 for x, y in itertools.combinations(ends, 2))


def test_the_rate_rises_before_it_falls() -> None:
    options = {"lr": 1.0, "warm_up": 4, "lr_power": 1.0, "anneal_after": 4.0, "lr_floor": 0.1}
    algorithm = optimizer("plain", Game("nano"), setting(**options)).algorithm
    rates = [algorithm.learning_rate(step) for step in (0, 3, 4, 12, 1000)]
    assert rates == pytest.approx([0.25, 4 / 7, 0.5, 0.25, 0.1])
    learner, batch = a_batch()
    before = weights(learner, "online")
    learner = optimizer("plain", Game("nano"), setting(**options, b1=0.0, eps=1e-20, grad_norm=0))
    learner.update(batch)
    moved = (weights(learner, "online") - before).abs().max().item()
    assert moved == pytest.approx(0.25, rel=1e-3)  # Adam's first step has the size of the rate


def test_what_the_value_explains_is_reported() -> None:
    learner, batch = a_batch()
    assert learner.update(batch)["explained"] == pytest.approx(0, abs=1e-6)
    with torch.no_grad():
        for parameter in learner.algorithm.trained.parameters():
            parameter += 0.1
        value = learner.algorithm.trained(batch.observations, batch.legal)[1][batch.view]
    episode = torch.repeat_interleave(torch.arange(len(batch.lengths)), batch.lengths)
    outcome = batch.returns[episode, batch.player]
    weight = step_weights(batch.player, batch.step_counts())
    expected = explained(value, outcome, weight).sum().item()
    assert abs(expected) > 1e-4
    assert learner.update(batch)["explained"] == pytest.approx(expected, abs=1e-5)


def test_what_the_clips_bite_on_is_reported() -> None:
    """The policy that played is uniform, as that of an untrained network nearly is."""
    learner, batch = a_batch()
    fresh = learner.update(batch)
    assert (fresh["frac_saturated"], fresh["is_weight_variance"]) == pytest.approx((0, 0), abs=1e-3)
    network, beta = learner.algorithm.trained, hyper(learner).beta
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.06
        logits = network(batch.observations, batch.legal)[0][batch.view]
    legal = batch.legal[batch.view].bool()
    beyond = torch.zeros(len(legal))
    for row, (some, allowed) in enumerate(zip(logits, legal, strict=True)):
        centred = some[allowed] - some[allowed].mean()
        beyond[row] = (centred.abs() >= beta).float().mean()
    learned = batch.player >= 0
    pi = legal_policy(logits, legal)[0].gather(1, batch.action[:, None])[:, 0]
    weight = step_weights(batch.player, batch.step_counts())
    variance = (weight * (pi / batch.mu - 1) ** 2).sum() / 2
    metrics = learner.update(batch)
    assert 0.2 < metrics["frac_saturated"] == pytest.approx(beyond[learned].mean().item(), rel=1e-4)
    assert 0.05 < metrics["is_weight_variance"] == pytest.approx(variance.item(), rel=1e-4)


@pytest.mark.parametrize(
    ("alpha", "asked"), [(0, "previous"), (1, "regularization"), (0.5, "regularization previous")]
)
def test_a_policy_without_a_part_in_the_mixture_is_not_evaluated(alpha: float, asked: str) -> None:
    learner, batch = a_batch()
    for _ in range(4):
        learner.update(batch)
    algorithm = learner.algorithm
    assert isinstance(algorithm, RNaD)
    views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
    called: list[str] = []
    logarithms = {}
    for name in ("regularization", "previous"):
        network = algorithm.networks[name]
        logarithms[name] = legal_policy(network(batch.observations, batch.legal)[0], batch.legal)[1]
        true = network.embed
        network.embed = lambda x, n=name, f=true: (called.append(n), f(x))[1]
    found = algorithm._log_regularization(views, alpha)
    assert called == asked.split()
    expected = mixture(logarithms["regularization"], logarithms["previous"], alpha)
    torch.testing.assert_close(found, expected)


def test_padding_teaches_nothing() -> None:
    results = []
    for rows in (1, 200):
        learner, batch = a_batch(rows=rows)
        assert (len(batch.observations) - 1 > batch.view.max()) == (rows > 1)
        metrics = learner.update(batch)
        results.append((metrics, weights(learner, "target")))
    (metrics, after), (padded_metrics, padded_after) = results
    assert metrics == pytest.approx(padded_metrics, rel=1e-4, abs=1e-5)
    torch.testing.assert_close(after, padded_after, rtol=1e-4, atol=1e-5)


def test_parts_give_the_gradient_of_the_whole() -> None:
    """Counts are those of the whole batch, gradients are summed."""
    game, found = episodes("nano", 6)
    batch = make_batch(game, as_parts(game, found), BatchSpec(30))
    gradients = []
    for threads in (1, 3):
        learner = optimizer("tiny", game, setting(threads=threads))
        metrics = learner.update(batch)
        gradients.append((metrics, gradient(learner)))
    (metrics, whole), (parts_metrics, parts) = gradients
    assert metrics == pytest.approx(parts_metrics, rel=1e-4, abs=1e-5)
    torch.testing.assert_close(whole, parts, rtol=1e-3, atol=1e-5)


def test_parts_are_of_sizes_that_were_met_before() -> None:
    """As far as the chunk allows it; and nothing is left out."""
    for threads, chunk, rows in ((1, 64, 32), (2, 1024, 32), (2, 64, 32), (3, 50, 32), (1, 20, 1)):
        learner = optimizer("plain", Game("nano"), setting(threads=threads, chunk=chunk, rows=rows))
        for number in (1, 32, 96, 320, 352):
            unit = rows // threads
            parts = learner._split(number, unit)
            sizes = [part.stop - part.start for part in parts]
            assert [part.start for part in parts] == [sum(sizes[:k]) for k in range(len(sizes))]
            assert sum(sizes) == number and min(sizes) > 0 and max(sizes) <= chunk
            if chunk % unit == 0:
                assert all(size % unit == 0 for size in sizes[:-1])


def test_a_longer_iteration_does_not_forget_a_policy() -> None:
    """Resumed with other sizes, a run may be in its first iteration again."""
    learner, batch = a_batch()
    for _ in range(4):
        learner.update(batch)
    other = optimizer("plain", Game("nano"), setting(sizes=(100,)))
    other.load(learner.tensors(), learner.step)
    algorithm = other.algorithm
    assert isinstance(algorithm, RNaD) and algorithm.schedule.iteration(other.step)[0] == 0
    views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
    with torch.no_grad():
        seen = [algorithm._log_regularization(views, alpha) for alpha in (0.1, 0.9)]
    assert not torch.equal(*seen)


def test_the_same_seed_gives_the_same_learner() -> None:
    first, again = (a_batch() for _ in range(2))
    metrics = [learner.update(batch) for learner, batch in (first, again)]
    assert metrics[0] == metrics[1]
    assert torch.equal(weights(first[0], "online"), weights(again[0], "online"))


def test_a_loaded_learner_goes_on_bit_for_bit() -> None:
    batches = [a_batch(seed)[1] for seed in range(5)]
    straight = a_batch()[0]
    for batch in batches:
        straight.update(batch)
    before = a_batch()[0]
    for batch in batches[:3]:
        before.update(batch)
    tensors = {name: tensor.copy() for name, tensor in before.tensors().items()}
    after = optimizer("plain", Game("nano"), setting(seed=7))
    after.load(tensors, 3)
    for batch in batches[3:]:
        after.update(batch)
    for network in NETWORKS:
        assert torch.equal(weights(after, network), weights(straight, network))
    assert after.step == straight.step == 5
    with pytest.raises(InputError, match="no checkpoint of a network"):
        optimizer("tiny", Game("nano"), setting()).load(tensors, 3)
    with pytest.raises(InputError, match="no checkpoint of a network"):
        optimizer("tiny", Game("mini"), setting()).load(tensors, 3)


def test_gradient_is_clipped() -> None:
    learner, batch = a_batch()
    free = learner.update(batch)["grad_norm"]
    clipped, _ = a_batch()
    clipped = optimizer("plain", Game("nano"), setting(grad_norm=free / 2))
    assert clipped.update(batch)["grad_norm"] == pytest.approx(free)
    parameters = [p.grad for p in clipped.algorithm.trained.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in parameters]).norm()
    assert norm.item() == pytest.approx(free / 2, rel=1e-4)


def test_it_learns_a_small_board() -> None:
    """On 3 x 4 squares, a few updates teach to win more often against uniform play."""
    game, found = episodes("nano", 64, seed=3)
    learner = optimizer("plain", game, setting(lr=3e-3, sizes=(100,)))
    before = share_of_wins(game, learner.algorithm.trained)
    batch = make_batch(game, as_parts(game, found))
    for _ in range(40):
        learner.update(batch)
    assert share_of_wins(game, learner.algorithm.trained) > before + 0.1
