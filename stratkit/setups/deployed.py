"""Players as placers: they deploy as red does at the beginning of a game."""

from __future__ import annotations

import numpy as np

from stratkit.arrays import Float32s, Int64s
from stratkit.engine import Batch, Game
from stratkit.engine.stratego import PLACING_ORDER, RED, variant
from stratkit.errors import StratkitError, UsageError
from stratkit.models.shipped import SHIPPED
from stratkit.players.factory import open_player
from stratkit.players.player import NO_ACTION, Player, PolicyPlayer, Views, decide
from stratkit.players.registry import parse_player
from stratkit.setups.constraints import constraints_of
from stratkit.setups.placing import Legal, PlacedSetups, Squares

ROWS = 64  # positions that a network evaluates at a time


def good_setups(game: Game, seed: int) -> PlacedSetups:
    """Setups as stratkit's own network for the game deploys, or the rules of thumb where there is
    none."""
    name = game.name if game.name in SHIPPED else "heuristic"
    player = open_player(parse_player(name), game, seed, ROWS).player
    return PlacedSetups(PlayerPlacer(game, player), constraints_of(variant(game.name), (), ()))


class PlayerPlacer:
    """A placer that asks `player` for each square; squares that constraints forbid are illegal."""

    types = PLACING_ORDER

    def __init__(self, game: Game, player: Player) -> None:
        self.game, self.player = game, player
        self.pieces = variant(game.name).pieces

    def choose(self, games: Int64s, placed: Squares, legal: Legal) -> Squares:
        """The squares that the player chooses."""
        sides = np.full(len(games), RED, np.int8)
        if not placed.shape[1]:
            self.player.begin(games, sides)
        squares = decide(self.player, self._views(games, placed, legal)).actions
        if placed.shape[1] == self.pieces - 1:
            self.player.end(games, sides)
        return squares

    def policy(self, placed: Squares, legal: Legal) -> Float32s:
        """The player's policy; `UsageError`: it has none that is fixed."""
        if not isinstance(self.player, PolicyPlayer):
            raise UsageError("--logprob: this player has no probabilities")
        if self.player.random_ties:
            raise UsageError("--logprob: with ties=random, chance decides on the policy too")
        views = self._views(np.zeros(len(placed), np.int64), placed, legal)
        policy = self.player.policy(views)
        if not np.isfinite(policy).all():
            raise StratkitError(NO_ACTION)
        return np.asarray(policy, np.float32)

    def _views(self, games: Int64s, placed: Squares, legal: Legal) -> Views:
        n, k = placed.shape
        batch = Batch(self.game, n)
        for number in range(k):
            batch.apply(np.ascontiguousarray(placed[:, number]))
        allowed = np.zeros((n, self.game.actions), np.uint8)
        allowed[:, : legal.shape[1]] = legal
        seen = batch.actors(), allowed, batch.observe()
        return Views.of_batch(batch, np.arange(n), games, np.full(n, k, np.int32), seen)
