"""Stratego by rules of thumb. A side attacks what it expects to beat and runs from pieces that it
knows are stronger. Otherwise it goes forward. It hides its flag behind bombs.

The rules know every variant of Stratego, see what other players see, and remember nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes, Float32s, Float64s, Int32s, Int64s
from stratkit.engine import Game, expand_planes, observation_dtype, uniform_rows
from stratkit.engine.observation import ENEMY_PUBLIC, LAKES, OWN_TYPES
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import (
    BOMB,
    BOTH_FALL,
    FLAG,
    LOSES,
    MINER,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    SPY,
    TYPE,
    TYPES,
    WINS,
    fight,
    variant,
)
from stratkit.games.heuristic import Heuristic

#                 flag spy scout miner sgt lt cpt major col gen marshal bomb
VALUES = np.array([50, 4, 1.5, 3, 1.5, 2, 3, 4.5, 7, 10, 14, 2.5])
WORTH = np.where(np.arange(len(VALUES)) == FLAG, 0.0, VALUES)  # of a piece in an army

ADVANCE = 0.12  # for a step towards the enemy's back rank
RETREAT = -0.10
CURIOSITY = 0.25  # for learning the rank of a hidden piece
NOISE = 0.2  # breaks ties, and so ends moves to and fro
TEMPERATURE = NOISE / 2  # of the policy: moves differ in worth by a noise of this size


def _gains() -> Float64s:
    """[attacker, defender]: what an attack is worth, in units of `VALUES`."""
    gains = np.zeros((len(TYPES), len(TYPES)))
    for attacker in range(len(TYPES)):
        for defender in range(len(TYPES)):
            ends = {WINS: VALUES[defender], LOSES: -VALUES[attacker], BOTH_FALL: 0.0}
            gains[attacker, defender] = ends[fight(attacker, defender)]
    return gains


GAINS = _gains()


class StrategoHeuristic(Heuristic):
    """The rules of the module. Their policy is the softmax of the scores, at the temperature of the
    noise that breaks ties. A position is worth the difference of both sides' pieces, as a share of
    an army, flags apart."""

    breaks_ties = True

    def __init__(self, game: Game) -> None:
        self.game = game
        _, self.height, self.width = game.shape
        self.dtype = observation_dtype(self.height * self.width)
        self.army = float(WORTH @ np.array(variant(game.name).counts))

    def values(self, observations: Bytes) -> Float32s:
        seen = observations.view(self.dtype)[:, 0]
        cells = seen["cells"]
        worth = np.append(WORTH, np.zeros(4))[cells & TYPE]
        own = np.where((cells & (PIECE | SIDE)) == PIECE, worth, 0).sum(1)
        shown = (cells & (PIECE | SIDE | REVEALED)) == PIECE | SIDE | REVEALED
        enemy = np.where(shown, worth, 0).sum(1) + seen["enemy_unrevealed"] @ WORTH
        values = np.where(seen["phase"] == 1, 0, (own - enemy) / self.army)
        return np.clip(values, -1, 1).astype(np.float32)

    def policy(self, observations: Bytes, legal: Bytes) -> Float32s:
        policy, rows, scores = self._judge(observations, legal)
        if len(rows):
            scores = np.where(legal[rows] > 0, scores, -np.inf)
            weights = np.exp((scores - scores.max(1, keepdims=True)) / TEMPERATURE)
            policy[rows] = weights / weights.sum(1, keepdims=True)
        return policy

    def choice(
        self, observations: Bytes, legal: Bytes, seed: int, games: Int64s, numbers: Int32s
    ) -> Float32s:
        """One-hot: the piece with the best move, or the best destination of the piece selected; in
        deployment as in `policy`."""
        policy, rows, scores = self._judge(observations, legal)
        if len(rows):
            key = seed, games[rows], numbers[rows]
            noise = uniform_rows(*key, scores.shape[1], Stream.HEURISTIC_NOISE)
            scores = np.where(legal[rows] > 0, scores + NOISE * noise, -np.inf)
            policy[rows, scores.argmax(1)] = 1
        return policy

    def _judge(self, observations: Bytes, legal: Bytes) -> tuple[Float32s, Int64s, Float64s]:
        """The policy of the rows in deployment, float32 [n, A], the other rows, and their scores,
        float64 [m, square]."""
        seen = observations.view(self.dtype)[:, 0]
        policy = np.zeros(legal.shape, np.float32)
        deploying = seen["phase"] == 1
        if deploying.any():
            policy[deploying] = self.placement(seen[deploying], legal[deploying])
        rows = np.flatnonzero(~deploying)
        if not len(rows):
            return policy, rows, np.zeros(legal[rows].shape)
        planes = expand_planes(self.game, np.ascontiguousarray(observations[rows]))
        return policy, rows, self.scores(seen[rows], planes)

    def placement(self, seen: npt.NDArray[np.void], legal: Bytes) -> Float32s:
        """Weights of the squares: flag at the back, bombs beside it, miners behind, scouts
        before."""
        n = len(seen)
        rank = np.arange(self.height * self.width) // self.width
        back = np.exp(-1.5 * rank)
        weights = np.ones((n, self.height * self.width))
        type_ = seen["to_place"][:, None]
        weights = np.where(type_ == FLAG, np.exp(-6.0 * rank), weights)
        weights = np.where((type_ == MINER) | (type_ == SPY), back, weights)
        weights = np.where(type_ == SCOUT, 1 + rank, weights)
        flag = (seen["cells"] & (PIECE | TYPE)) == PIECE | FLAG
        beside = sum(self._neighbour(flag.astype(float), d) for d in range(4))
        weights = np.where(type_ == BOMB, 0.3 + 10 * beside, weights)
        weights = weights * legal
        return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)

    def scores(self, seen: npt.NDArray[np.void], planes: Float32s) -> Float64s:
        """[n, square]: what the best move of each piece is worth, or each destination of the piece
        that is selected."""
        planes = planes.reshape(len(seen), planes.shape[1], -1)
        worth = self.attack_worth(planes)
        return np.where(
            seen["stage"][:, None] == 1,
            self._destination_scores(seen, planes, worth),
            self._piece_scores(planes, worth),
        )

    def attack_worth(self, planes: Float32s) -> Float64s:
        """[n, attacker, square]: expected gain of attacking the enemy on a square; 0 where none
        is."""
        enemy = planes[:, ENEMY_PUBLIC].astype(np.float64)
        worth = np.einsum("ad,nds->nas", GAINS, enemy)
        hidden = (enemy.max(1) < 1) & (enemy.sum(1) > 0.5)
        return np.asarray(worth + CURIOSITY * hidden[:, None, :])

    def danger(self, planes: Float32s) -> Float64s:
        """[n, own type, square]: what a piece of ours on a square stands to lose to its neighbours,
        counting only enemies whose rank is known."""
        enemy = planes[:, ENEMY_PUBLIC].astype(np.float64)
        known = enemy * (enemy.max(1, keepdims=True) == 1)
        known[:, [FLAG, BOMB]] = 0
        loss = np.einsum("ad,nas->nds", np.maximum(GAINS, 0), known)
        return np.asarray(np.max([self._neighbour(loss, d) for d in range(4)], axis=0))

    def _neighbour(self, field: Float64s, direction: int) -> Float64s:
        """[..., square]: the value on the next square in `direction` (0 off the board): right,
        left, forward, back."""
        board = field.reshape(*field.shape[:-1], self.height, self.width)
        out = np.zeros_like(board)
        if direction == 0:
            out[..., :, :-1] = board[..., :, 1:]
        elif direction == 1:
            out[..., :, 1:] = board[..., :, :-1]
        elif direction == 2:
            out[..., :-1, :] = board[..., 1:, :]
        else:
            out[..., 1:, :] = board[..., :-1, :]
        return np.asarray(out.reshape(field.shape))

    def _step_scores(
        self, planes: Float32s, worth: Float64s, own: Float64s
    ) -> tuple[Float64s, Float64s]:
        """Scores of arriving on a square, and of leaving one, for pieces of types `own`
        [n, type, square] (one-hot): both [n, type, square]."""
        enemy = planes[:, ENEMY_PUBLIC].sum(1, keepdims=True) > 0.5
        danger = self.danger(planes)
        arrive = np.where(enemy, worth, -0.8 * danger)
        leave = 0.5 * danger * own
        return arrive, leave

    def _piece_scores(self, planes: Float32s, worth: Float64s) -> Float64s:
        """[n, square]: the best single step of the piece on each square."""
        own = planes[:, OWN_TYPES].astype(np.float64)
        arrive, leave = self._step_scores(planes, worth, own)
        blocked = planes[:, LAKES, None] + planes[:, OWN_TYPES].sum(1, keepdims=True)
        options = []
        for direction in range(4):
            forward = {2: ADVANCE, 3: RETREAT}.get(direction, 0.0)
            step = self._neighbour(arrive, direction) + forward
            off = 1 - self._neighbour(np.ones_like(blocked, dtype=float), direction)
            wall = self._neighbour(blocked.astype(float), direction) + off
            options.append(np.where(wall > 0.5, -1e3, step))
        best = np.max(options, axis=0) + leave
        return np.asarray((best * own).sum(1))

    def _destination_scores(
        self, seen: npt.NDArray[np.void], planes: Float32s, worth: Float64s
    ) -> Float64s:
        """[n, square]: the score of each destination of the piece that is selected."""
        n = len(seen)
        own = planes[:, OWN_TYPES].astype(np.float64)
        selected = np.minimum(seen["selected"], self.height * self.width - 1).astype(int)
        type_ = own[np.arange(n), :, selected].argmax(1)
        arrive, _ = self._step_scores(planes, worth, own)
        ranks = np.arange(self.height * self.width) // self.width
        forward = np.sign(ranks[None, :] - ranks[selected][:, None])
        bonus = np.where(forward > 0, ADVANCE, np.where(forward < 0, RETREAT, 0.0))
        return np.asarray(arrive[np.arange(n), type_] + bonus)
