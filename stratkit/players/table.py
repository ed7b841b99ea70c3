"""A policy from a table as a player: `table:FILE` (formats/table.md)."""

from __future__ import annotations

import os

import numpy as np

from stratkit.arrays import Float64s
from stratkit.engine import Game, sample
from stratkit.errors import StratkitError
from stratkit.players.player import Decision, Games, Player, Sides, Views
from stratkit.players.spec import TABLE, Contestant, OpenContext, PlayerSpec
from stratkit.storage.checkpoints import checkpoint_hash
from stratkit.storage.sets import NO_SET, InformationSets, information_sets
from stratkit.storage.tables import PolicyTable, read_table


class TablePlayer(Player):
    """Draws by the probabilities of a policy, float64 [E] of `sets`."""

    def __init__(self, sets: InformationSets, policy: Float64s, seed: int) -> None:
        self.policy, self._sets, self._seed = policy, sets, seed
        self._first = sets.first
        self._last: dict[tuple[int, int], int] = {}  # choice, by game and side

    def begin(self, games: Games, sides: Sides) -> None:
        self._last.update(dict.fromkeys(zip(games.tolist(), sides.tolist(), strict=True), -1))

    def end(self, games: Games, sides: Sides) -> None:
        for key in zip(games.tolist(), sides.tolist(), strict=True):
            self._last.pop(key, None)

    def act(self, views: Views) -> Decision:
        keys = list(zip(views.games.tolist(), views.sides.tolist(), strict=True))
        before = np.array([self._last.get(key, -1) for key in keys], np.int64)
        found = self._sets.find(views.sides.astype(np.int64), before, views.observations)
        if (found == NO_SET).any():
            raise StratkitError(
                "a table knows games from their beginning, and this one began later"
            )
        row, action = np.nonzero(views.legal)
        place = np.arange(len(row)) - np.searchsorted(row, row)  # of a choice in its set
        policy = np.zeros(views.legal.shape, np.float32)
        policy[row, action] = self.policy[self._first[found][row] + place]
        actions, mu = sample(policy, views.legal, self._seed, views.games, views.numbers)
        chosen = (np.arange(self._sets.game.actions) < actions[:, None]) & (views.legal > 0)
        self._last.update(zip(keys, (self._first[found] + chosen.sum(1)).tolist(), strict=True))
        return Decision(actions, mu)


def open_table(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player of a file. `InputError`: it is no table of this game, or no policy."""
    path = spec.spec.removeprefix(TABLE)
    table = PolicyTable(path)
    table.check_game(game.name)
    rules = {"open": game.rules["open"]} if game.rules.get("open") else {}
    sets = information_sets(game)
    player = TablePlayer(sets, read_table(table, sets, rules), context.seed)
    return Contestant(spec.name or os.path.basename(path), player, spec.spec, checkpoint_hash(path))
