"""A player of one's own. In the folder of this file:
match py:greedy:Greedy,courage=1 random --game barrage -n 10 -o games.jsonl"""

from dataclasses import dataclass

import numpy as np

from stratkit.engine import Game, sample
from stratkit.players.player import Decision, Player, Views


@dataclass
class Greedy(Player):
    """Prefers squares near the enemy's back rank: to deploy on, to move from and to move to."""

    game: Game  # `game` and `seed` are given to every class that asks for them
    seed: int
    courage: float = 0.5  # an option, with its type

    def act(self, views: Views) -> Decision:
        ranks = np.arange(self.game.actions) // self.game.shape[2]
        weights = views.legal * np.exp(self.courage * ranks)
        policy = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
        return Decision(*sample(policy, views.legal, self.seed, views.games, views.numbers))
