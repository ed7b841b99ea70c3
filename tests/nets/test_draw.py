"""Actions drawn by torch, where a policy is on a GPU, are those that the engine draws."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nets.drawn import assert_close, drawn
from stratkit.engine import Batch, Game, sample, uniform
from stratkit.nets import build, draw
from stratkit.nets.evaluator import Evaluator
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Decision, Views


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([0.0, 0.5, 0.95]))
def test_as_the_engine_draws(seed: int, actions: int, zeros: float) -> None:
    rng, n = np.random.default_rng(seed), 200
    weights = rng.gamma(0.3, size=(n, actions)) * (rng.random((n, actions)) >= zeros)
    policy = (weights / np.maximum(weights.sum(1, keepdims=True), 1e-30)).astype(np.float32)
    games, numbers = rng.integers(0, 2**40, n), rng.integers(0, 5000, n).astype(np.int32)
    wanted = sample(policy, np.ones_like(policy, np.uint8), seed, games, numbers)
    found = draw(torch.from_numpy(policy), torch.from_numpy(uniform(seed, games, numbers)))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.numpy(), other)


def test_the_ends_of_the_range() -> None:
    policy = torch.tensor([[0, 0.25, 0, 0.75, 0]]).expand(2, -1)
    chosen, mu = draw(policy, torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64))
    assert chosen.tolist() == [1, 3] and mu.tolist() == [0.25, 0.75]


def test_where_nothing_can_be_drawn() -> None:
    policy = torch.tensor([[0.0, 0.0], [torch.nan, torch.nan]])
    chosen, mu = draw(policy, torch.zeros(2, dtype=torch.float64))
    assert chosen.tolist() == [-1, -1] and mu.isnan().all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_a_player_on_a_gpu_draws_nearly_the_same(precision: torch.dtype) -> None:
    game, n = Game("barrage"), 500
    batch, games = Batch(game, n), np.arange(n)
    for number in range(40):
        numbers = np.full(n, number, np.int32)
        batch.apply(sample(None, batch.legal(), 1, games, numbers)[0])
    views = Views(games, batch.actors(), numbers + 1, batch.legal(), batch.observe())
    decisions = []
    for device in ("cpu", "cuda"):
        network = drawn(build("tiny", game, 1))
        evaluator = Evaluator("tiny", network, 256)
        player = NetworkPlayer(evaluator, game, seed=1)
        evaluator.place(device, precision if device == "cuda" else torch.float32)
        decisions.append(player.act(views))
    here, there = decisions
    over = ~views.legal.any(1)  # some games have ended
    np.testing.assert_array_equal(there.actions == -1, over)
    assert (views.legal[np.arange(n), there.actions] == 1)[~over].all()
    same = there.actions == here.actions
    assert same.mean() > (0.98 if precision == torch.float32 else 0.8)
    same &= ~over
    if precision == torch.float32:
        assert_close(there.mu[same], here.mu[same], rtol=1e-3)
    else:
        np.testing.assert_allclose(there.mu[same], here.mu[same], rtol=0.1)


def test_a_player_that_draws_where_its_network_is() -> None:
    game, n = Game("nano"), 50
    rng = np.random.default_rng(1)
    views = Views(
        rng.integers(0, 2**40, n),
        rng.integers(0, 2, n).astype(np.int8),
        rng.integers(0, 9, n).astype(np.int32),
        np.ones((n, game.actions), np.uint8),
        rng.integers(0, 2, (n, game.observation_bytes)).astype(np.uint8),
    )
    network = drawn(build("plain", game, 1))
    player = NetworkPlayer(Evaluator("plain", network, 16), game, 1, processing=(0.08, 16))
    here = player.act_with_values(views)
    u = uniform(1, views.games, views.numbers)
    process = player._process
    there = Decision(*player.evaluator.draw(views.observations, views.legal, u, process, True))
    np.testing.assert_array_equal(there.actions, here.actions)
    assert_close(there.mu, here.mu, rtol=0, atol=0)
    assert_close(there.values, here.values, rtol=0, atol=0)
