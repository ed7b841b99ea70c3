"""A player whose every action tells something of its pieces."""

from __future__ import annotations

import numpy as np

from stratkit.engine import Game, sample
from stratkit.engine.observation import observation_dtype
from stratkit.engine.stratego import TYPE, variant
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.player import Decision, Player, Views
from stratkit.storage.columns import Episode


class Habits(Player):
    """Has places for pieces by their types, and pieces that it likes to move."""

    def __init__(self, game: Game) -> None:
        random, squares = np.random.default_rng(5), variant(game.name).squares
        self.dtype = observation_dtype(squares)
        self.places, self.moves = random.normal(size=(12, squares)), 1.5 * random.normal(size=12)

    def policy(self, observations: np.ndarray, legal: np.ndarray) -> np.ndarray:
        seen = observations.view(self.dtype)[:, 0]
        wish = np.where(seen["phase"][:, None] == 1, self.places[seen["to_place"] % 12], 0.0)
        chooses = (seen["phase"] == 0) & (seen["stage"] == 0)
        wish = np.where(chooses[:, None], self.moves[(seen["cells"] & TYPE) % 12], wish)
        weights = np.exp(wish) * legal
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)

    def act(self, views: Views) -> Decision:
        policy = self.policy(views.observations, views.legal)
        return Decision(*sample(policy, views.legal, 1, views.games, views.numbers))


def played(game: Game, games: int) -> list[Episode]:
    """Its games against itself."""
    seatings = Seatings(Seating(number, (0, 0)) for number in range(games))
    table = Table(game, [Habits(game)], seatings, 256)
    return [episode for ended in table.rounds() if ended for episode, _, _ in ended]
