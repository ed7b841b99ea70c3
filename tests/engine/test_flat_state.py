"""A state is one flat block of bytes: a copy of it is the game itself, wherever it was taken."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fingerprint import Preferences
from stratkit.engine import Batch, Game, sample
from stratkit.engine.stratego import VARIANTS

GAMES = 24


def one_step(
    batch: Batch, preferences: Preferences, numbers: np.ndarray, running: np.ndarray
) -> np.ndarray:
    """Plays one action in the running games."""
    weights = preferences.weights(batch.actors(), batch.observe())
    actions, _ = sample(weights, batch.legal(), 8, np.arange(GAMES), numbers)
    actions[~running] = -1
    batch.apply(actions)
    return actions


def seen(batch: Batch) -> list[np.ndarray]:
    return [batch.actors(), batch.legal(), batch.observe(), *batch.result()]


def length_of_games(game: Game) -> np.ndarray:
    batch, preferences = Batch(game, GAMES), Preferences(game, GAMES)
    lengths = np.zeros(GAMES, np.int32)
    while (running := batch.actors() >= 0).any():
        one_step(batch, preferences, lengths, running)
        lengths += running
    return lengths


@pytest.mark.parametrize("name", VARIANTS)
def test_copies_go_on_as_the_original_does(name: str) -> None:
    """Half of the copies are taken in deployment, some of the others with a piece selected; each
    goes to another row of another batch, over a game that was going on there."""
    game = Game(name, {"max_plies": min(300, VARIANTS[name].max_plies)})
    rng = random.Random(name)
    lengths = length_of_games(game)
    deployment = 2 * VARIANTS[name].pieces
    times = [
        rng.randrange(deployment) if row % 4 < 2 else rng.randrange(deployment, int(lengths[row]))
        for row in range(GAMES)
    ]
    original, copies = Batch(game, GAMES), Batch(game, GAMES)
    preferences = Preferences(game, GAMES)
    numbers, all_rows = np.zeros(GAMES, np.int32), np.arange(GAMES)
    shift = rng.randrange(1, GAMES)
    places = (all_rows + shift) % GAMES
    for _ in range(rng.randrange(1, deployment)):
        one_step(copies, preferences, numbers, np.ones(GAMES, bool))
    taken = np.zeros(GAMES, bool)
    phases = set()
    while (running := original.actors() >= 0).any():
        for row in all_rows[running & (numbers == times)]:
            copies.copy_row(int(places[row]), original, int(row))
            taken[row] = True
            phases.add((times[row] < deployment, times[row] % 2))
        for ours, theirs in zip(seen(original), seen(copies), strict=True):
            np.testing.assert_array_equal(ours[taken], theirs[places][taken])
        actions = one_step(original, preferences, numbers, running)
        on_copies = np.full(GAMES, -1, np.int32)
        on_copies[places[taken]] = actions[taken]
        copies.apply(on_copies)
        numbers += running
    assert taken.all() and len(phases) == 4
    for ours, theirs in zip(seen(original), seen(copies), strict=True):
        np.testing.assert_array_equal(ours, theirs[places])


@pytest.mark.parametrize("name", VARIANTS)
def test_sizes(name: str) -> None:
    game = Game(name)
    assert game.state_bytes <= 1024
    assert game.observation_bytes <= 512
