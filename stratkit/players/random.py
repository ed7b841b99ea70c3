"""The uniformly random player."""

from __future__ import annotations

from stratkit.engine import sample
from stratkit.players.player import Decision, Player, Views


class RandomPlayer(Player):
    """Chooses uniformly among the legal actions (not among the moves: a piece, then its
    destination)."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, views: Views) -> Decision:
        return Decision(*sample(None, views.legal, self.seed, views.games, views.numbers))
