"""Slices of games as batches: every step is learned from once, with the value of what follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from learn.games import as_parts, changed, episodes, given_setup
from learn.test_mmd_update import slow_estimates
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.algorithm import DistinctViews
from stratkit.learn.config import MMDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.losses import SurrogateTargets
from stratkit.learn.mmd import MMD
from stratkit.learn.step_weights import explained
from stratkit.storage.episodes import Episode

LAMBDAS = {"value_lambda": 0.6, "advantage_lambda": 0.7}


def cut(game: Episode, length: int) -> list[Episode]:
    """The game in slices, each as a reader hands it over."""
    ends = [*range(length, len(game.actions), length), len(game.actions)]
    return [
        changed(
            game,
            actions=game.actions[:end],
            mu=game.mu[:end],
            ending=game.ending if end == len(game.actions) else 0,
            returns=game.returns * (end == len(game.actions)),
            first=first,
        )
        for first, end in zip([0, *ends], ends, strict=False)
    ]


def targets_of(game: Game, batch: StepBatch, **settings: object) -> tuple[SurrogateTargets, Tensor]:
    """What the steps are to learn, and the value of each, by a network with drawn weights."""
    algorithm = MMD("plain", game, MMDConfig(**settings), seed=1)  # type: ignore[arg-type]
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in algorithm.trained.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=draw)
        views = DistinctViews(algorithm.prepare(batch.observations), batch.legal)
        outputs = algorithm.outputs(views)
        forward = algorithm.forward(views, outputs, 0)
        found = algorithm.targets(batch, outputs, forward, batch.step_counts())
    return found, outputs[1][batch.view]


def keyed(batch: StepBatch, *columns: Tensor) -> dict[tuple[bytes, int, int], list[float]]:
    """Columns of the steps that are learned from, by what tells a step: its view and action, and
    how often these came before."""
    out: dict[tuple[bytes, int, int], list[float]] = {}
    for row in batch.trained.tolist():
        view = int(batch.view[row])
        text = batch.observations[view].numpy().tobytes() + batch.legal[view].numpy().tobytes()
        again = 0
        while (key := (text, int(batch.action[row]), again)) in out:
            again += 1
        out[key] = [float(column[row]) for column in columns]
    return out


@pytest.mark.parametrize("length", [1, 5, 23])
@pytest.mark.parametrize("setup", [0, 6])
def test_each_step_is_learned_once_and_by_what_follows_at_once_exactly(
    length: int, setup: int
) -> None:
    """With a lambda of 0 a target depends on the player's next step only, and slices change
    nothing. A given setup is in no slice's chain."""
    game, found = episodes("nano", 5)
    found = [given_setup(one, setup) for one in found]
    whole = make_batch(game, as_parts(game, found))
    parts = [one for of_game in (cut(game_, length) for game_ in found) for one in of_game]
    sliced = make_batch(game, as_parts(game, parts))
    assert sliced.states == whole.states == sum(len(e.actions) - setup for e in found)
    assert torch.equal(sliced.step_counts(), whole.step_counts())
    settings = {"value_lambda": 0.0, "advantage_lambda": 0.0}
    results = []
    for batch in (whole, sliced):
        targets, _ = targets_of(game, batch, **settings)
        results.append(keyed(batch, targets.advantage, targets.value, targets.weight))
        assert targets.explained.isfinite().all()
    assert results[0].keys() == results[1].keys()
    for key, expected in results[0].items():
        assert results[1][key] == pytest.approx(expected, abs=1e-5)
    assert max(abs(x[0]) for x in results[0].values()) > 0.05


def test_the_value_stands_for_what_follows() -> None:
    """By the slow recursion, in which a player's last step of a slice ends it with its value."""
    game, (found, *_) = episodes("nano", 1)
    parts = cut(found, 9)
    batch = make_batch(game, as_parts(game, parts[1:2]))
    targets, value = targets_of(game, batch, **LAMBDAS)
    algorithm = MMD("plain", game, MMDConfig(), seed=1)
    assert algorithm.config.c == 1 and not batch.ended.any() and batch.states < 9 + 2
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in algorithm.trained.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=draw)
        pi = algorithm.forward(
            DistinctViews(algorithm.prepare(batch.observations), batch.legal),
            algorithm.outputs(DistinctViews(algorithm.prepare(batch.observations), batch.legal)),
            0,
        ).pi
    ratio = pi[batch.view, batch.action] / batch.mu
    for k in (0, 1):
        # To player k its last step is an end, with its value as the reward; the others go on.
        last = int((batch.actor == k).nonzero()[-1])
        steps = [
            (int(batch.actor[t]), float(value[t]), float(ratio[t]), [0.0, 0.0]) for t in range(last)
        ]
        steps[-1][3][k] = float(value[last])
        slow = slow_estimates(steps, 2, 0.6, 0.7, float("inf"), 1.0)
        own = [t for t in range(last) if batch.actor[t] == k]
        assert own and batch.player[last] == -1
        for t in own:
            assert (float(targets.value[t]), float(targets.advantage[t])) == pytest.approx(
                slow[t], abs=1e-5
            )


def test_what_is_compared_with_the_outcome_are_games_that_ended() -> None:
    game, found = episodes("nano", 6)
    first, *others = cut(found[0], 20)
    batch = make_batch(game, as_parts(game, [first, *found[1:]]))
    assert batch.ended.tolist() == [False, *[True] * 5] and others
    targets, value = targets_of(game, batch)
    outcome = torch.stack(
        [batch.returns[e, p] for e, p in zip(_episode(batch), batch.player.tolist(), strict=True)]
    )
    weight = targets.weight * torch.tensor([float(e > 0) for e in _episode(batch)])
    expected = explained(value, outcome, weight).sum() * targets.weight.sum() / 2
    assert targets.explained.sum() == pytest.approx(expected.item(), abs=1e-5)


def _episode(batch: StepBatch) -> list[int]:
    number = torch.arange(len(batch.returns)).expand(batch.time, -1)
    return [int(x) for x in batch.flat(number.clone().float())]


def test_a_slice_that_says_it_goes_on_goes_on() -> None:
    game, (found, *_) = episodes("nano", 1)
    wrong = replace(found, ending=0, first=3)
    with pytest.raises(InputError, match="episode 0: the episode says that it ended by nothing"):
        make_batch(game, as_parts(game, [wrong]))


def test_a_cut_game_has_ended() -> None:
    game, (found, *_) = episodes("mini", 1)
    code = len(game.endings)
    short = changed(
        found, actions=found.actions[:30], mu=found.mu[:30], ending=code,
        returns=np.zeros(2, np.float32), first=25,
    )  # fmt: skip
    batch = make_batch(game, as_parts(game, [short]))
    assert batch.ended.all() and torch.equal(batch.player, batch.actor) and batch.states >= 5
