"""The players without a network: uniformly random, and by the rules of thumb of a game."""

from __future__ import annotations

from stratkit.engine import Game, sample
from stratkit.games.table import kit_of
from stratkit.players.player import Decision, Player, Views


class RandomPlayer(Player):
    """Chooses uniformly among the legal actions (not among the moves: a piece, then its
    destination)."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, views: Views) -> Decision:
        return Decision(*sample(None, views.legal, self.seed, views.games, views.numbers))


class HeuristicPlayer(Player):
    """Plays by the rules of thumb of `game`, which has some. `seed` decides between moves that are
    about as good."""

    def __init__(self, game: Game, seed: int) -> None:
        heuristic = kit_of(game).heuristic
        assert heuristic is not None
        self.heuristic, self.seed = heuristic, seed

    def act(self, views: Views) -> Decision:
        key = self.seed, views.games, views.numbers
        policy = self.heuristic.choice(views.observations, views.legal, *key)
        return Decision(*sample(policy, views.legal, *key))
