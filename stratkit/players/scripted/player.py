"""A habit at the board."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Float32s, Float64s, Int64s
from stratkit.engine import Game, sample, uniform
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import PIECE, TYPE
from stratkit.games.stratego.heuristic import NOISE
from stratkit.players.player import Decision, Player, Views
from stratkit.players.scripted.habits import Habit, Placing
from stratkit.players.scripted.sight import NOBODY, Ground, Sight, best


class ScriptedPlayer(Player):
    """Plays by a habit. Setups are drawn; of moves the best one is played, and `seed` decides
    between those that are about as good. A share of 1 - `skill` of its moves is any. Weights of
    placements have the power 1 - `spread`."""

    def __init__(
        self, game: Game, habit: Habit, seed: int, skill: float = 1.0, spread: float = 0.0
    ) -> None:
        self.ground, self.habit, self.seed = Ground(game), habit, seed
        self.skill, self.spread = skill, spread

    def act(self, views: Views) -> Decision:
        seen = views.observations.view(self.ground.dtype)[:, 0]
        policy = np.zeros(views.legal.shape, np.float32)
        placing = np.flatnonzero(seen["phase"] == 1)
        if len(placing):
            policy[placing] = self._places(views.take(placing), seen[placing])
        playing = np.flatnonzero(seen["phase"] == 0)
        if len(playing):
            policy[playing, self._actions(views.take(playing))] = 1
        key = self.seed, views.games, views.numbers
        return Decision(*sample(policy, views.legal, *key))

    def _places(self, views: Views, seen: npt.NDArray[np.void]) -> Float32s:
        """The policy of the next piece's square, float32 [n, A]."""
        usual = self.ground.heuristic.placement(seen, np.ones_like(views.legal))
        lot = uniform(self.seed, views.games, views.sides.astype(np.int32), Stream.SCRIPT_LOT)
        own = np.where(seen["cells"] & PIECE, seen["cells"] & TYPE, NOBODY).astype(np.int64)
        type_ = seen["to_place"].astype(np.int64)[:, None]
        wishes = Placing(self.ground, type_, own, usual.astype(np.float64), lot[:, None])
        weights = (self.habit.places(wishes) + 1e-12) ** (1 - self.spread)
        weights = np.where(views.legal > 0, weights, 0.0)
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)

    def _actions(self, views: Views) -> Int64s:
        """The piece with the best move, or the best destination of the piece selected, [n]."""
        sight = Sight(self.ground, views.observations)
        moves = sight.moves(views.legal)
        noise = self._noise(views, sight, moves.row, moves.start * self.ground.squares + moves.end)
        plies = sight.seen["plies"].astype(np.int32)
        slips = uniform(self.seed, views.games, plies, Stream.SCRIPT_SLIP) >= self.skill
        scores = np.where(slips[moves.row], 0.0, self.habit.judge(sight, moves)) + NOISE * noise
        chosen = best(moves, scores, len(views))
        selected = sight.seen["stage"] == 1
        return np.asarray(np.where(selected, moves.end[chosen], moves.start[chosen]))

    def _noise(self, views: Views, sight: Sight, row: Int64s, move: Int64s) -> Float64s:
        """Of each move of each ply another number: the same before and after the piece is
        selected."""
        plies = sight.seen["plies"].astype(np.int64)[row]
        number = (plies * self.ground.squares**2 + move).astype(np.int32)
        return uniform(self.seed, views.games[row], number, Stream.SCRIPT_NOISE)
