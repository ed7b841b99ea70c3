"""`train --algorithm belief` against the posterior of known players."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from players.habits import Habits, played
from search.test_beliefs import NANO, consistent
from stratkit.engine import Batch, Game, hidden_types, worlds
from stratkit.engine.observation import PHASE, STAGE
from stratkit.engine.stratego import NO_PIECE, Position
from stratkit.learn.algorithm import CPU
from stratkit.learn.algorithm_kinds import open_algorithm
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.config import BeliefConfig, RunConfig
from stratkit.learn.data import make_batch
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.replayed import EpisodeChunk
from stratkit.nets.belief import BeliefEvaluator
from stratkit.storage.columns import Episode, Episodes

GAME = Game("nano")


def chunk(episodes: list[Episode]) -> EpisodeChunk:
    return EpisodeChunk(Episodes.of(episodes), list(GAME.endings), "games")


def test_what_is_learned_is_the_posterior() -> None:
    """Of a player whose deployment and moves tell a lot, on games that were not learned from."""
    episodes = played(GAME, 8200)
    config = BeliefConfig(lr=1e-2, b1=0.9, average_rate=0.01)
    algorithm = open_algorithm("belief", "plain:16x1", GAME, config, 1, CPU)
    optimizer = Optimizer(algorithm, RunConfig(threads=1))
    first = None
    for at in range(0, 8000, 100):
        batch = make_batch(GAME, [chunk(episodes[at : at + 100])], BatchSpec(hidden=True))
        metrics = optimizer.update(batch)
        first = first or metrics
    assert first["nats"] == pytest.approx(first["uniform"], abs=1e-5)  # untrained
    average = BeliefEvaluator(algorithm.networks["average"])  # type: ignore[arg-type]
    distance, alike = np.array(
        [both for e in episodes[8000:] if (both := distances(e, average))][:25]
    ).T
    assert len(distance) == 25 and alike.mean() > 0.6
    assert distance.mean() < 0.01 and distance.max() < 0.25


def distances(episode: Episode, network: BeliefEvaluator) -> tuple[float, float] | None:
    """KL(posterior | network) and KL(posterior | uniform) in nats, somewhere in a game; None where
    nothing is hidden."""
    plies = 1 + episode.number % 6
    k = 2 * (NANO.pieces + plies)
    if k >= len(episode.actions):
        return None
    actions = episode.actions[:k]
    exact = consistent(actions, plies % 2, Habits(GAME))  # type: ignore[arg-type]
    if len(exact) < 2:
        return None
    truth = Batch(GAME, 1)
    for action in actions:
        truth.apply(np.array([action], np.int32))
    drawn = worlds(truth, 0, 300, 1)
    cells = [Position.from_bytes(NANO, drawn.save(i)).cells.tobytes() for i in range(300)]
    types = hidden_types(drawn)[[cells.index(one) for one in exact]]
    p = np.exp([odds.sum() for odds in exact.values()])
    p /= p.sum()
    log_q = network.log_probabilities(np.repeat(truth.observe(), len(p), 0), types)
    return float((p * (np.log(p) - log_q)).sum()), float((p * np.log(p * len(p))).sum())


def test_a_batch_has_the_moments_at_which_a_move_begins() -> None:
    episodes = played(GAME, 20)
    batch = make_batch(GAME, [chunk(episodes)], BatchSpec(hidden=True))
    size = GAME.observation_bytes
    seen = batch.observations.numpy()[batch.view.numpy()]
    assert (seen[:, PHASE] == 0).all() and (seen[:, STAGE] == 0).all()
    row = 0
    for e in episodes:
        state, hidden = Batch(GAME, 1), 0
        for number, action in enumerate(e.actions):
            types = hidden_types(state)
            begins = number >= 2 * NANO.pieces and number % 2 == 0
            if begins and (types != NO_PIECE).any():
                np.testing.assert_array_equal(seen[row, size:], types[0])
                np.testing.assert_array_equal(seen[row, :size], state.observe()[0])
                assert int(batch.player[row]) == state.actors()[0]
                row, hidden = row + 1, hidden + 1
            state.apply(np.array([action], np.int32))
        assert hidden
    assert row == len(batch.player) == batch.states


def test_games_that_nobody_sampled_will_do() -> None:
    episodes = played(GAME, 5)
    given = [dataclasses.replace(e, mu=np.full(len(e.mu), np.nan, np.float32)) for e in episodes]
    one, other = (
        make_batch(GAME, [chunk(some)], BatchSpec(hidden=True)) for some in (episodes, given)
    )
    np.testing.assert_array_equal(one.observations, other.observations)
    np.testing.assert_array_equal(one.player, other.player)
