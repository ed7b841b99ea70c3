"""One simultaneous turn as a game of its own (SearchBot, Gray et al. 2021, section 3.2): everybody
picks one of some whole actions now, and the blueprint plays afterwards.

    candidates       whole actions of each player, the most probable under the blueprint
    Cells            what a pair of them is worth: the mean of some rollouts
    solve            mixed policies over candidates, by regret matching

A whole action is all that a player chooses in one turn: its setup in Stratego, a row of a matrix.
Games mark such turns (`Batch.turns`). Where players move in turn there is none, and search against
a blueprint that does not answer is a best response by rollouts, not an equilibrium.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine import Batch, sample, uniform
from stratkit.engine.diplomacy import own_units
from stratkit.engine.random_streams import Stream
from stratkit.search.blueprint import Blueprint
from stratkit.search.regret_matching import (
    AVERAGE,
    RegretMatching,
    Utilities,
    inverse_cdf,
    zero_sum,
)
from stratkit.search.rollouts import play_on, play_to_moves, worth

ROWS = 4096  # rollouts at a time
TO_THE_END = np.iinfo(np.int32).max  # more plies than a rollout has
NOTHING = -1  # behind the last action of a whole one


@dataclass(frozen=True)
class Candidates:
    """Whole actions of a player.

    actions   int32 [m, longest], `NOTHING` behind the end of each
    logprobs  float64 [m], log joint probabilities under the blueprint, falling
    player    whose they are
    """

    actions: Int32s
    logprobs: Float64s
    player: int

    def __len__(self) -> int:
        return len(self.actions)


def candidates(
    root: Batch,
    blueprint: Blueprint,
    samples: int,
    max_candidates: int,
    seed: int,
    per_unit: float = 0.0,
) -> list[Candidates]:
    """For each player who acts in the turn of `root`, a batch of one row, in their order: of
    `samples` whole actions that the blueprint draws, at most `max_candidates`, those of highest
    joint probability. Unless it is 0, they are no more than `per_unit` for each unit, either.

    `ValueError`: the row is in no simultaneous turn.
    """
    turn = int(root.turns()[0])
    if turn < 0:
        raise ValueError(f"{root.game.name}: no simultaneous turn")
    out: list[Candidates] = []
    now = Batch.gathered([(root, [0])])
    while now.turns()[0] == turn:
        drawn = _sampled(now, blueprint, samples, seed, len(out))
        most = max_candidates
        if per_unit:
            units = int(own_units(now.game, now.observe())[0])
            most = max(1, min(most, math.ceil(per_unit * units)))
        some = _most_probable(*drawn, most, int(now.actors()[0]))
        for action in some.actions[0]:  # the others are not shown which
            now.apply(np.array([action], np.int32))
        out.append(some)
    return out


def _sampled(
    now: Batch, blueprint: Blueprint, samples: int, seed: int, place: int
) -> tuple[Int32s, Float64s]:
    """Whole actions of the player to act, int32 [samples, longest], with their log-probabilities,
    float64 [samples]. `place`: among the players of the turn."""
    batch = Batch.gathered([(now, np.zeros(samples, np.int64))])
    actor, turn = now.actors()[0], now.turns()[0]
    games = (np.int64(place) << 32) + np.arange(samples)
    columns: list[Int32s] = []
    logprobs = np.zeros(samples)
    while True:
        rows = np.flatnonzero((batch.actors() == actor) & (batch.turns() == turn))
        if not len(rows):
            break
        legal = batch.legal()[rows]
        policy = blueprint.evaluate_distinct(batch.observe()[rows], legal)[0]
        numbers = np.full(len(rows), len(columns), np.int32)
        drawn, mu = sample(policy, legal, seed, games[rows], numbers, Stream.CANDIDATES)
        column = np.full(samples, NOTHING, np.int32)
        column[rows] = drawn
        logprobs[rows] += np.log(mu.astype(np.float64))
        batch.apply(column)
        columns.append(column)
    return np.stack(columns, axis=1), logprobs


def _most_probable(
    actions: Int32s, logprobs: Float64s, max_candidates: int, player: int
) -> Candidates:
    """The different ones, at most `max_candidates`, by falling probability."""
    different, first = np.unique(actions, axis=0, return_index=True)
    order = np.argsort(-logprobs[first], kind="stable")[:max_candidates]
    return Candidates(np.ascontiguousarray(different[order]), logprobs[first][order], player)


@dataclass(frozen=True)
class Cells:
    """What pairs of whole actions are worth to the first of two players: the mean return of some
    rollouts, in units of the game's returns.

        rollouts        games of each pair
        depth           plies that the blueprint plays on, as `play_to_moves` counts them; 0: its
                        value at once, as one player's says the other's
        largest_return  no value lies beyond it
    """

    blueprint: Blueprint
    rollouts: int
    depth: int = TO_THE_END
    largest_return: float = np.inf

    def table(
        self, root: Batch, first: Int32s, second: Int32s, seed: int, sample: int = 0
    ) -> Float64s:
        """float64 [A_0, A_1] of whole actions int32 [A_0, ...] and [A_1, ...] from `root`, a batch
        of one row. Another `sample` has other random numbers."""
        n = len(first) * len(second) * self.rollouts
        parts = [np.arange(at, min(at + ROWS, n)) for at in range(0, n, ROWS)]
        returns = [self._returns(root, first, second, part, seed, sample) for part in parts]
        each = np.concatenate(returns).reshape(len(first), len(second), self.rollouts)
        return np.asarray(each.mean(2) / root.game.unit, np.float64)

    def _returns(
        self, root: Batch, first: Int32s, second: Int32s, part: Int64s, seed: int, sample: int
    ) -> Float64s:
        """Of some of all rollouts, float64 [n]."""
        pair = part // self.rollouts
        mover = root.actors()[0]
        batch = Batch.gathered([(root, np.zeros(len(part), np.int64))])
        for actions in (first[pair // len(second)], second[pair % len(second)]):
            for column in actions.T:
                batch.apply(np.ascontiguousarray(column))
        keys = (np.int64(sample) << 40) + part
        movers = np.full(len(part), mover, np.int8)
        played = play_to_moves if self.depth else play_on
        seen = played(batch, self.blueprint, self.depth, seed, keys)
        return worth(batch, movers, self.blueprint, seen, self.largest_return)


def joint_utilities(values: Callable[[Int64s], Float64s], sizes: Sequence[int]) -> Utilities:
    """The utilities of any number of players from `values`, which gives float64 [n, P] for joint
    actions int64 [n, P]. It is asked once an iteration, and once for each joint action: they are
    sum |A_i| an iteration, not their product."""
    known: dict[tuple[int, ...], Float64s] = {}

    def utilities(joint: Int64s) -> list[Float64s]:
        deviations = [
            [(*joint[:i], a, *joint[i + 1 :]) for a in range(size)] for i, size in enumerate(sizes)
        ]
        new = list(dict.fromkeys(one for some in deviations for one in some if one not in known))
        if new:
            known.update(zip(new, values(np.array(new, np.int64)), strict=True))
        return [np.array([known[one][i] for one in some]) for i, some in enumerate(deviations)]

    return utilities


def solve(
    table: Float64s, iterations: int, seed: int, play: str = AVERAGE
) -> tuple[Float64s, Float64s]:
    """Both players' policies, float64 [A_0] and [A_1], after so many iterations of regret matching
    on what the first one gets, float64 [A_0, A_1]."""
    matching = RegretMatching(zero_sum(table), table.shape, seed)
    matching.run(iterations)
    first, second = matching.policies(play)
    return first, second


def drawn(policy: Float64s, games: Int64s, number: int, seed: int) -> Int64s:
    """Which of a mixed policy's actions each of the `games` plays, int64 [n]."""
    u = uniform(seed, games, np.full(len(games), number, np.int32), Stream.MIXTURE)
    return inverse_cdf(policy, u)
