"""Fine-tuning: v-trace by the processed policy, the rest by the network's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from learn import slow_rnad
from learn.games import as_parts, episodes, optimizer
from players.sharp import sharp_player
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.learn.config import RNaDConfig
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.request import accepted, resolve
from stratkit.learn.rnad import RNaDForward, action_values
from stratkit.nets import legal_policy, process
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.factory import post_processed
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Player
from stratkit.players.registry import parse_player
from stratkit.players.searching.options import SearchOptions
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer


def a_learner(**options: object) -> tuple[Optimizer, StepBatch]:
    game, found = episodes("nano", 6)
    batch = make_batch(game, as_parts(game, found))
    learner = optimizer("plain", game, resolve("tiny", {}, {}, {"seed": 1, **options}))
    with torch.no_grad():
        learner.algorithm.trained.policy.weight *= 30  # something to drop
    return learner, batch


def forward(learner: Optimizer, batch: StepBatch) -> tuple[Tensor, RNaDForward]:
    """The logits and the rest of all views."""
    outputs, found = learner._forward(batch, slice(None), keep=False)
    return outputs[0], found


def test_the_targets_are_those_of_the_processed_policy() -> None:
    """Against the slow transcription: ratios and tax by the processed policy, L by the raw one."""
    learner, batch = a_learner(threshold=0.1, quanta=8)
    config = learner.algorithm.config
    assert isinstance(config, RNaDConfig)
    learner.step = 50  # alpha is 1/2
    logits, seen = forward(learner, batch)
    pi = legal_policy(logits, batch.legal)[0]
    assert torch.equal(seen.played, process(pi, 0.1, 8)) and ((pi > 0) & (seen.played == 0)).any()
    played, ratio, values_seen = (
        x[batch.view] for x in (seen.played, seen.log_ratio, seen.target_value)
    )
    outputs = (logits, seen.target_value)
    targets = learner.algorithm.targets(batch, outputs, seen, batch.step_counts())
    values = action_values(
        values_seen,
        ratio,
        targets.q_correction,
        batch.action,
        batch.mu,
        eta=config.eta,
        mu_floor=config.mu_floor,
    )
    starts = np.concatenate([[0], np.cumsum(batch.lengths.numpy())])
    for episode, first in enumerate(starts[:-1]):
        rows = range(first, starts[episode + 1])
        end = batch.returns[episode]
        steps: list[slow_rnad.Step | None] = [
            slow_rnad.Step(
                player=int(batch.player[row]),
                pi=played[row].tolist(),
                mu=[float(batch.mu[row])] * played.shape[1],
                log_ratio=ratio[row].tolist(),
                action=int(batch.action[row]),
                rewards=(float(end[0]), float(end[1])) if row == rows[-1] else (0.0, 0.0),
                value=float(values_seen[row]),
            )
            for row in rows
        ]
        for player in (0, 1):
            eta, policy_c = config.eta, config.policy_c
            v_hat, _ = slow_rnad.v_trace(steps, player, eta, math.inf, 1.0)
            _, q = slow_rnad.v_trace(steps, player, eta, math.inf, policy_c)
            for at, row in enumerate(rows):
                if int(batch.player[row]) == player:
                    assert math.isclose(targets.value[row], v_hat[at], rel_tol=1e-4, abs_tol=1e-5)
                    np.testing.assert_allclose(values[row], q[at], rtol=1e-3, atol=1e-4)


def test_without_post_processing_nothing_is_removed() -> None:
    plain, batch = a_learner()
    assert plain.update(batch)["mass_removed"] == 0
    tuned, _ = a_learner(threshold=0.1, quanta=8)
    pi = legal_policy(forward(tuned, batch)[0], batch.legal)[0][batch.view]
    removed = float((pi * (process(pi, 0.1, 8) == 0)).sum(1).mean())
    assert 0 < removed < 1
    assert math.isclose(tuned.update(batch)["mass_removed"], removed, rel_tol=1e-4)


def ratios(learner: Optimizer, player: Player, number: int = 5) -> np.ndarray:
    """v-trace's pi / mu of each action in games that the player plays against itself."""
    game = Game("mini")
    seatings = Seatings(Seating(k, (0, 0)) for k in range(number))
    rounds = Table(game, [player], seatings, 4, max_actions=80).rounds()
    found = [episode for ended in rounds if ended for episode, _, _ in ended]
    batch = make_batch(game, as_parts(game, found))
    played = forward(learner, batch)[1].played
    return (played[batch.view, batch.action] / batch.mu).numpy()


def test_the_policy_that_plays_is_the_one_that_is_valued() -> None:
    """With equal weights pi / mu is 1 in every action: of the network as a player, and of the
    stages, through which a policy of whole moves goes."""
    raw = sharp_player(Game("mini"))
    asked: dict[str, Any] = {"threshold": 0.1, "quanta": 8}
    learner = optimizer("plain", raw.game, resolve("tiny", {}, {}, {"seed": 1, **asked}))
    learner.algorithm.trained.load_state_dict(raw.evaluator.network.state_dict())
    post = PostProcessing(**asked, per="action")
    plain = NetworkPlayer(raw.evaluator, raw.game, 1, post.processing(False))
    assert post_processed(plain, SearchOptions(), post, 8) is plain
    stages = PostprocessedPlayer(raw.evaluator, raw.game, 1, post)
    for player in (plain, stages):
        found = ratios(learner, player)
        np.testing.assert_allclose(found, 1, rtol=1e-5)
        assert len(found) > 300
    of_moves = post_processed(plain, SearchOptions(), PostProcessing(**asked), 8)
    found = ratios(learner, of_moves)
    assert (found == 0).any() and (np.abs(found - 1) > 0.1).mean() > 0.1  # another policy


def test_settings_of_fine_tuning() -> None:
    def acting(**options: object) -> str:
        return resolve("tiny", {}, {}, {"seed": 1, **options}).hyper.acting(0)

    assert acting() == acting(threshold=0.03) == acting(actors="processed") == "none"
    asked = acting(threshold=0.03, quanta=32, actors="processed")
    assert asked == "per=action,threshold=0.03,quanta=32"
    post = parse_player(f"{asked},run").options.post
    assert post.processing(False) == (0.03, 32) and post.of_single_actions
    for wrong in ({"actors": "prosessed"}, {"threshold": 2.0}, {"quanta": -1}, {"quanta": 10**6}):
        with pytest.raises(InputError):
            accepted(wrong, "rnad")
