"""A player by the rules of thumb of its game."""

from __future__ import annotations

from stratkit.engine import Game, sample
from stratkit.games.table import kit_of
from stratkit.players.player import Decision, Player, Views


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
