"""MMD's update by its own code, in expectation over all games of Kuhn or Leduc poker, against exact
mirror descent: every game is learned from once, weighted by its probability."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learn.games import as_parts
from solve.slow_tree import Node, grow
from solve.small_games import tree_of
from stratkit.engine import Game, replay_many
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.config import MMDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.mmd import MMD
from stratkit.nets import legal_policy
from stratkit.solve.exploitability import evaluate
from stratkit.solve.mmd import TabularMMD
from stratkit.storage.episodes import Episode

INFINITY = float("inf")
RANKS, COPIES = 3, {"kuhn": 1, "leduc": 2}  # of each rank, in the deck


def histories(node: Node, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The actions of every whole game."""
    if not node.children:
        yield before
    for action, child in node.children.items():
        yield from histories(child, (*before, action))


@dataclass
class AllGames:
    """Every game of Kuhn or Leduc poker as one batch; `episode`: of each step, int64 [n]; `chance`:
    the probability of its card, or 1, float64 [n]; `first`: rows [k] of the steps of players, of
    those with one past (that several games share) one alone."""

    game: Game
    batch: StepBatch
    episode: Tensor
    chance: Tensor
    first: Tensor

    def played_by(self, policy: Tensor) -> StepBatch:
        """The batch as if this policy, float64 [u, A], had acted."""
        b = self.batch
        mu = torch.where(b.player >= 0, policy[b.view, b.action], self.chance)
        return replace(b, mu=mu)

    def probability(self, mu: Tensor) -> Tensor:
        """Of each game, float64 [B]."""
        out = torch.ones(len(self.batch.returns), dtype=torch.float64)
        return out.scatter_reduce_(0, self.episode, mu, "prod")


@functools.cache
def games_of(name: str) -> AllGames:
    game = Game(name)
    actions = [np.array(one, np.int32) for one in histories(grow(game))]
    played = replay_many(game, [(b"", one) for one in actions])
    found = [
        Episode(k, 0, int(played.endings[k]), played.returns[k], one, np.ones(len(one), np.float32))
        for k, one in enumerate(actions)
    ]
    batch = make_batch(game, as_parts(game, found))
    episode = torch.repeat_interleave(torch.arange(len(actions)), batch.lengths)
    chance, first, seen = torch.ones(len(episode)).double(), [], set[tuple[int, ...]]()
    before: list[int] = []
    for row, action in enumerate(batch.action.tolist()):
        if row and episode[row] == episode[row - 1]:
            before.append(batch.action[row - 1].item())
        else:
            before, dealt = [], list[int]()
        if batch.player[row] < 0:
            left = RANKS * COPIES[name] - len(dealt)
            chance[row] = (COPIES[name] - dealt.count(action)) / left
            dealt.append(action)
        elif tuple(before) not in seen:
            first.append(row)
            seen.add(tuple(before))
    return AllGames(game, batch, episode, chance, torch.tensor(first))


@pytest.fixture
def all_games() -> AllGames:
    return games_of("kuhn")


def algorithm_of(game: Game, **settings: Any) -> MMD:
    config = MMDConfig(**{"ratio_clip": INFINITY, "c": INFINITY, **settings})
    return MMD("mlp:4", game, config, seed=0)


def reach_of(games: AllGames, mu: Tensor) -> tuple[Tensor, Tensor]:
    """Probabilities by mu, float64: of each step's past [n], and of coming to each view [u]."""
    batch = games.batch
    parts = mu.split(batch.lengths.tolist())
    past = torch.cat([torch.cat([torch.ones(1), x.cumprod(0)[:-1]]) for x in parts])
    reach = torch.zeros(len(batch.observations), dtype=torch.float64)
    return past, reach.index_add_(0, batch.view[games.first], past[games.first])


def expected_gradient(
    algorithm: MMD, games: AllGames, batch: StepBatch, logits: Tensor, value: Tensor, step: int = 0
) -> tuple[Tensor, Tensor]:
    """Of the loss with respect to the logits, float64 [u, A], and to the value, [u]."""
    outputs = (logits, value)
    inputs = algorithm.prepare(batch.observations)
    forward = algorithm.forward(DistinctViews(inputs, batch.legal), outputs, step)
    targets = algorithm.targets(batch, outputs, forward, batch.step_counts())
    weight = games.probability(batch.mu)[games.episode] * (batch.player >= 0)
    leaves = tuple(x[batch.view].requires_grad_() for x in outputs)
    found = targets._replace(weight=weight)
    loss, _ = algorithm.loss(batch, slice(None), leaves, forward, found)
    gradients = torch.autograd.grad(loss, leaves)
    return tuple(  # type: ignore[return-value]
        torch.zeros_like(x).index_add_(0, batch.view, g)
        for x, g in zip(outputs, gradients, strict=True)
    )


def exact_values(games: AllGames, batch: StepBatch, pi: Tensor) -> tuple[Tensor, Tensor]:
    """q of each view's actions, float64 [u, A], and its value [u]: what came before by mu, what
    follows by pi."""
    past, reach = reach_of(games, batch.mu)
    q = torch.zeros_like(pi)
    later = torch.where(batch.player >= 0, pi[batch.view, batch.action], batch.mu)
    for row in batch.trained.tolist():
        of_game = (games.episode == games.episode[row]).nonzero()[:, 0]
        after = later[of_game[of_game > row]].prod()
        gain = batch.returns[games.episode[row], batch.player[row]]
        q[batch.view[row], batch.action[row]] += past[row] * after * gain
    q /= reach.clamp_min(1e-300)[:, None]
    return q, (pi * q).sum(1)


def sets_of(games: AllGames) -> list[int]:
    """The view of each information set of the game's tree."""
    seen = games.batch.observations.numpy(), games.batch.legal.numpy()
    views = {(o.tobytes(), a.tobytes()): u for u, (o, a) in enumerate(zip(*seen, strict=True))}
    tree = tree_of(games.game.name)
    sets = zip(tree.observations(), tree.legal(), strict=True)
    return [views[o.tobytes(), a.tobytes()] for o, a in sets]


def tabular(games: AllGames, **settings: Any) -> MMD:
    """The step size and the temperature are 1 / sqrt(t)."""
    return algorithm_of(games.game, eta=1.0, eta_power=0.5, anneal_after=1.0, **settings)


def after_step(algorithm: MMD, games: AllGames, logits: Tensor, value: Tensor, t: int) -> Tensor:
    """The logits after step t. A natural gradient's step of size s / (1 + s eta) is mirror
    descent's of size s: (logits + s q) / (1 + s eta)."""
    legal = games.batch.legal
    pi = legal_policy(logits, legal)[0]
    batch = games.played_by(pi)
    gradient, _ = expected_gradient(algorithm, games, batch, logits, value, t - 1)
    _, reach = reach_of(games, batch.mu)
    force = -gradient / (reach[:, None] * pi).clamp_min(1e-300) * legal
    size = algorithm.eta(t - 1)
    assert size == pytest.approx(t**-0.5)
    return logits + size / (1 + size * size) * force


@pytest.mark.parametrize("decay", [1.0, 0.3])
def test_followed_exactly_it_is_tabular_mmd(all_games: AllGames, decay: float) -> None:
    tree, sets = tree_of("kuhn"), sets_of(all_games)
    algorithm = tabular(all_games, advantage_lambda=decay, value_lambda=decay)
    legal = all_games.batch.legal
    logits = torch.zeros(legal.shape, dtype=torch.float64)
    noise = torch.randn(len(legal), generator=torch.Generator().manual_seed(1)).double()
    found = {}
    for t in range(1, 201):
        pi = legal_policy(logits, legal)[0]
        # At lambda 1 what the network says of the value does not matter in the mean.
        value = noise if decay == 1 else exact_values(all_games, all_games.played_by(pi), pi)[1]
        logits = after_step(algorithm, all_games, logits, value, t)
        if t in (5, 20, 100, 200):
            dense = legal_policy(logits, legal)[0][sets].numpy()
            found[t] = sum(evaluate(tree, tree.flat(dense)).incentives)
    assert found == pytest.approx({5: 0.3352, 20: 0.1600, 100: 0.0583, 200: 0.0304}, abs=1e-4)


def test_step_by_step_it_is_tabular_mmd_of_leduc() -> None:
    """A card comes in the middle of the game, and returns have a unit."""
    games, tree = games_of("leduc"), tree_of("leduc")
    sets, legal, solver = sets_of(games), games.batch.legal, TabularMMD(tree)
    algorithm = tabular(games, advantage_lambda=1.0, value_lambda=1.0)
    logits = torch.zeros(legal.shape, dtype=torch.float64)
    noise = torch.randn(len(legal), generator=torch.Generator().manual_seed(1)).double()
    for t in range(1, 16):
        logits = after_step(algorithm, games, logits, noise, t)
        solver.step()
        policy = tree.flat(legal_policy(logits, legal)[0][sets].numpy())
        np.testing.assert_allclose(policy, solver.solution(), atol=1e-4)
    assert evaluate(tree, policy).nash_conv < 3  # uniform play has 4.75


@pytest.mark.parametrize("magnet", ["uniform", "average"])
@pytest.mark.parametrize("kl_mu", [0.0, 0.7])
def test_the_expected_gradient_off_policy(all_games: AllGames, magnet: str, kl_mu: float) -> None:
    """Games of another policy teach the values of one's own: the gradient is that of reach, by mu,
    times sum pi q - eta KL(pi | magnet) - kl_mu KL(pi | mu); the value's that of its error."""
    algorithm = algorithm_of(
        all_games.game, magnet=magnet, kl_mu=kl_mu, eta=0.3, advantage_lambda=1.0,
        value_lambda=1.0, value_weight=0.25,
    )  # fmt: skip
    draw = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in algorithm.networks["average"].parameters():
            parameter += torch.randn(parameter.shape, generator=draw)
    legal = all_games.batch.legal
    logits, mu = (torch.randn(legal.shape, generator=draw).double() for _ in range(2))
    value = torch.randn(len(legal), generator=draw).double()
    pi, log_pi = legal_policy(logits, legal)
    mu, log_mu = legal_policy(mu, legal)
    batch = all_games.played_by(mu)
    found, of_value = expected_gradient(algorithm, all_games, batch, logits, value)

    log_magnet = -legal.sum(1, keepdim=True).clamp_min(1).double().log()
    if magnet == "average":
        network = algorithm.networks["average"]
        of_network = network(batch.observations, legal)[0].detach()
        log_magnet = legal_policy(of_network.double(), legal)[1]
    q, truth = exact_values(all_games, batch, pi)
    _, reach = reach_of(all_games, batch.mu)
    gain = q - 0.3 * (log_pi - log_magnet) - kl_mu * (log_pi - log_mu)
    centred = (gain - (pi * gain).sum(1, keepdim=True)) * legal
    torch.testing.assert_close(found, -reach[:, None] * pi * centred, atol=1e-6, rtol=1e-5)
    expected = 0.25 * 2 * reach * (value - truth)
    torch.testing.assert_close(of_value, expected, atol=1e-6, rtol=1e-5)
    assert (mu - pi).abs().max() > 0.3 and found.abs().max() > 0.01


@pytest.mark.parametrize(("name", "number", "sets"), [("kuhn", 30, 12), ("leduc", 1116, 288)])
def test_the_games_are_all(name: str, number: int, sets: int) -> None:
    games = games_of(name)
    batch = games.batch
    policy, _ = legal_policy(torch.randn(batch.legal.shape).double(), batch.legal)
    total = games.probability(games.played_by(policy).mu).sum()
    assert total.item() == pytest.approx(1) and len(batch.returns) == number
    assert len(batch.view[batch.trained].unique()) == sets


def test_returns_are_in_the_unit_of_the_game(all_games: AllGames) -> None:
    """A game that pays four times as much is learned alike, if four is its unit."""
    algorithm = algorithm_of(all_games.game, eta=0.3, value_lambda=0.6, advantage_lambda=0.4)
    legal, draw = all_games.batch.legal, torch.Generator().manual_seed(5)
    logits, mu = (torch.randn(legal.shape, generator=draw).double() for _ in range(2))
    value = torch.randn(len(legal), generator=draw).double()
    batch = all_games.played_by(legal_policy(mu, legal)[0])
    dearer = replace(batch, returns=4 * batch.returns, unit=4.0)
    one, of_value = expected_gradient(algorithm, all_games, batch, logits, value)
    other, of_dearer = expected_gradient(algorithm, all_games, dearer, logits, 4 * value)
    torch.testing.assert_close(other, one)
    torch.testing.assert_close(4 * of_dearer, of_value)  # of four times the value
    assert one.abs().max() > 0.01 and of_value.abs().max() > 0.01
