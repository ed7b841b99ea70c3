"""Games against a frozen player as batches: only the other side's decisions are steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from learn.games import as_parts, changed, episodes
from learn.test_learned_slices import cut, keyed, targets_of
from stratkit.engine import Game, replay_many
from stratkit.errors import InputError
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import MMDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.mmd import MMD
from stratkit.learn.step_weights import explained
from stratkit.storage.episodes import Episode


def against(game: Game, found: list[Episode]) -> list[Episode]:
    """The games as if all but player k had been frozen in game k."""
    out = []
    for one in found:
        actors = replay_many(game, [(b"", one.actions)]).actors
        out.append(changed(one, mu=np.where(actors == one.number % 2, one.mu, np.nan)))
    return out


def batch_of(game: Game, found: list[Episode], layout: BatchSpec | None = None) -> StepBatch:
    chunks = [replace(chunk, against=True) for chunk in as_parts(game, found)]
    return make_batch(game, chunks, layout or BatchSpec())


def test_the_other_side_s_decisions_are_no_steps() -> None:
    """And no view that a network looks at."""
    game, found = episodes("nano", 6)
    whole, batch = make_batch(game, as_parts(game, found)), batch_of(game, against(game, found))
    episode = torch.repeat_interleave(torch.arange(6), whole.lengths)
    own = whole.player == episode % 2
    assert torch.equal(batch.player, whole.player[own])
    assert torch.equal(batch.mu, whole.mu[own]) and batch.mu.isfinite().all()
    seen = batch.observations[batch.view]
    assert torch.equal(seen, whole.observations[whole.view[own]])
    assert len(batch.observations) == int(batch.view.max()) + 1 < len(whole.observations)
    ends = batch.rewards().sum(0)
    assert torch.equal(ends, whole.returns) and torch.equal(batch.lengths, whole.lengths)


def test_values_are_those_of_the_own_chain() -> None:
    """With lambdas and ratios of 1 an advantage is the own outcome less the value. What the frozen
    player did has no ratio."""
    game, found = episodes("nano", 6)
    batch = batch_of(game, against(game, found))
    config = MMDConfig(value_lambda=1.0, advantage_lambda=1.0)
    algorithm = MMD("plain", game, config, seed=1)
    with torch.no_grad():
        views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
        outputs = algorithm.outputs(views)
        forward = algorithm.forward(views, outputs, 0)
        played = replace(batch, mu=forward.pi[batch.view, batch.action])
        targets = algorithm.targets(played, outputs, forward, batch.step_counts())
    value = outputs[1][batch.view]
    steps = batch.grid((batch.player >= 0).float()).sum(0).long()
    outcome = batch.returns[torch.arange(6), torch.arange(6) % 2].repeat_interleave(steps)
    assert outcome.unique().numel() > 1
    assert torch.allclose(targets.value, outcome, atol=1e-5)
    assert torch.allclose(targets.advantage * batch.unit, outcome - value, atol=1e-5)


@pytest.mark.parametrize("length", [1, 5, 23])
def test_slices_are_learned_as_whole_games_are(length: int) -> None:
    """With a lambda of 0, as for games of two learners; slices without an own decision, too."""
    game, found = episodes("nano", 5)
    found = against(game, found)
    parts = [one for of_game in (cut(game_, length) for game_ in found) for one in of_game]
    results = []
    for batch in (batch_of(game, found), batch_of(game, parts)):
        targets, _ = targets_of(game, batch, value_lambda=0.0, advantage_lambda=0.0)
        results.append(keyed(batch, targets.advantage, targets.value, targets.weight))
    assert results[0].keys() == results[1].keys()
    for key, expected in results[0].items():
        assert results[1][key] == pytest.approx(expected, abs=1e-5)


def test_a_deployment_network_learns_from_its_own_setups() -> None:
    game, found = episodes("nano", 4)
    found = against(game, found)
    batch = batch_of(game, found, BatchSpec(own_deployment=True, deployment_only=True))
    assert batch.states == int(batch.by_outcome[batch.trained].sum()) > 0
    learned = batch.player[batch.trained]
    assert learned.tolist() == [k % 2 for k in range(4) for _ in range(batch.states // 4)]


def test_own_decisions_must_have_been_sampled() -> None:
    """The frozen side is the one of which nothing was."""
    game, found = episodes("nano", 4)
    some = against(game, found)
    at = int(np.flatnonzero(np.isfinite(some[2].mu))[-1])
    mu = some[2].mu.copy()
    mu[at] = np.nan
    wrong = f"x.eps: episode 2, action {at}: this action of play was not sampled"
    with pytest.raises(InputError, match=wrong):
        batch_of(game, [*some[:2], changed(some[2], mu=mu), some[3]])
    with pytest.raises(InputError, match="episode 0, action .*: this action of play was not sam"):
        make_batch(game, as_parts(game, some))


def test_nothing_is_explained_where_all_outcomes_are_alike() -> None:
    """As when a frozen player wins every game: rounding is no variance."""
    weight = torch.rand(1000, generator=torch.Generator().manual_seed(1))
    outcome, value = torch.full((1000,), -0.1), torch.linspace(-1, 1, 1000)
    assert not explained(value, outcome, weight).any()
