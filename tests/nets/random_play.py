"""Random games, for the tests of networks and of learning."""

from __future__ import annotations

import numpy as np

from stratkit.engine import Batch, Game, Replay, replay_many, sample


def actions_of_games(
    game: Game, games: int, seed: int = 0, longest: int = 10_000
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Actions int32 [T] and mu float32 [T] of random games, cut after `longest` actions."""
    batch = Batch(game, games)
    batch.reset()
    numbers = np.zeros(games, np.int32)
    played: list[list[tuple[int, float]]] = [[] for _ in range(games)]
    while (batch.actors() >= 0).any() and numbers[0] < longest:
        actions, mu = sample(None, batch.legal(), seed, np.arange(games), numbers)
        batch.apply(actions)
        numbers += 1
        for row in np.flatnonzero(actions >= 0):
            played[row].append((int(actions[row]), float(mu[row])))
    return (
        [np.array([action for action, _ in steps], np.int32) for steps in played],
        [np.array([mu for _, mu in steps], np.float32) for steps in played],
    )


def views_of_games(game: Game, games: int, seed: int = 0, longest: int = 10_000) -> Replay:
    """What the acting side knew, over random games."""
    actions, _ = actions_of_games(game, games, seed, longest)
    return replay_many(game, [(b"", a) for a in actions])
