"""Simultaneous turns of any number of players (SearchBot, Gray et al. 2021, section 3.2).

    JointCells   what joint whole actions are worth to every player: the mean of some rollouts
    solve_joint  mixed policies over candidates, by regret matching

With two players whose returns sum to zero `equilibrium` has a table of all pairs. With more, the
joint actions are too many: only those are played that an iteration of regret matching asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Float64s, Int64s
from stratkit.engine import Batch
from stratkit.engine.diplomacy import shares_of
from stratkit.search.blueprint import Blueprint, with_shares
from stratkit.search.equilibrium import ROWS, Candidates
from stratkit.search.regret_matching import AVERAGE, RegretMatching, Utilities
from stratkit.search.rollouts import play_to_moves

# The paper's program: after so many iterations a player none of whose actions has been worth more
# than this plays the blueprint: all others are alike to it.
LOSERS_FROM, LOST = 64, 0.02


@dataclass(frozen=True)
class JointCells:
    """What joint whole actions are worth: the mean of some rollouts, in units of the game's
    returns. All joint actions have the same random numbers.

        rollouts        games of each joint action
        depth           phases of moves that the blueprint plays, and to the next one
        largest_return  no value lies beyond it
    """

    blueprint: Blueprint
    rollouts: int
    depth: int
    largest_return: float = np.inf

    def values(
        self, root: Batch, candidates: Sequence[Candidates], joint: Int64s, seed: int
    ) -> Float64s:
        """float64 [n, players of the game] of joint actions int64 [n, P], by their numbers among
        the `candidates` of the P players who act in the turn of `root`, a batch of one row."""
        n = len(joint) * self.rollouts
        parts = [np.arange(at, min(at + ROWS, n)) for at in range(0, n, ROWS)]
        returns = [self._returns(root, candidates, joint, part, seed) for part in parts]
        each = np.concatenate(returns).reshape(len(joint), self.rollouts, root.game.players)
        return np.asarray(each.mean(1) / root.game.unit, np.float64)

    def _returns(
        self,
        root: Batch,
        candidates: Sequence[Candidates],
        joint: Int64s,
        part: Int64s,
        seed: int,
    ) -> Float64s:
        batch = Batch.gathered([(root, np.zeros(len(part), np.int64))])
        for some, chosen in zip(candidates, joint[part // self.rollouts].T, strict=True):
            for column in some.actions[chosen].T:
                batch.apply(np.ascontiguousarray(column))
        keys = part % self.rollouts
        play_to_moves(batch, self.blueprint, self.depth, seed, keys)
        return values_of_all(batch, self.blueprint, self.largest_return)


def values_of_all(batch: Batch, blueprint: Blueprint, largest_return: float = np.inf) -> Float64s:
    """What each player may expect, float64 [n, P], where turns begin: the return, or what the
    blueprint says. In Diplomacy these are shares of the squares, which sum to 1."""
    out = batch.returns().astype(np.float64)
    actors = batch.actors()
    running = np.flatnonzero(actors >= 0)
    if not len(running):
        return out
    telling, players = with_shares(blueprint), batch.game.players
    if telling is not None:
        seat = (np.arange(players) - actors[running, None]) % players  # as who acts counts them
        shares = telling.shares(batch.observe()[running])
        out[running] = np.take_along_axis(shares, seat, 1)
        return out if players > 2 else out - out[:, ::-1] * (actors >= 0)[:, None]
    now = Batch.gathered([(batch, running)])
    out[running] = _asked(now, blueprint, largest_return)
    return out


def _asked(now: Batch, blueprint: Blueprint, largest_return: float) -> Float64s:
    """The blueprint's value of each player, float64 [n, P], as it sees it when its time comes to
    choose. Who chooses nothing in this turn has what it would get if the game ended now: in
    Diplomacy a share of the squares of centres, and nothing if it is out."""
    out = shares_of(now.game, now.observe())
    sums_to_one = now.game.players > 2 and out.any()
    turns, valued = now.turns(), np.zeros(out.shape, bool)
    while True:
        actors = now.actors()
        rows = np.flatnonzero((actors >= 0) & (now.turns() == turns))
        if not len(rows):
            break
        new = rows[~valued[rows, actors[rows]]]
        if len(new):
            values = blueprint.values(now.observe()[new])
            out[new, actors[new]] = np.clip(values, -largest_return, largest_return)
            valued[new, actors[new]] = True
        any_ = np.full(now.size, -1, np.int32)  # the others are not shown which
        any_[rows] = now.legal()[rows].argmax(1)
        now.apply(any_)
    if sums_to_one:
        out = np.maximum(out, 0)
        total = out.sum(1, keepdims=True)
        out = np.divide(out, total, out=np.full_like(out, 1 / out.shape[1]), where=total > 0)
    return out


def solve_joint(
    utilities: Utilities,
    candidates: Sequence[Candidates],
    iterations: int,
    seed: int,
    play: str = AVERAGE,
) -> tuple[list[Float64s], list[Float64s]]:
    """Each player's policy over its candidates, float64 [A_i], after so many iterations, and what
    these were worth to it on average, float64 [A_i]."""
    sizes = [len(some) for some in candidates]
    sums = [np.zeros(n) for n in sizes]

    def summed(joint: Int64s) -> Sequence[Float64s]:
        payoffs = utilities(joint)
        for total, worth in zip(sums, payoffs, strict=True):
            total += worth
        return payoffs

    matching = RegretMatching(summed, sizes, seed)
    matching.run(min(iterations, LOSERS_FROM))
    if iterations > LOSERS_FROM:
        for i, some in enumerate(candidates):
            if sums[i].max() / LOSERS_FROM < LOST:
                weights = np.exp(some.logprobs - some.logprobs.max())
                matching.hold(i, weights / weights.sum())
        matching.run(iterations - LOSERS_FROM)
    return matching.policies(play), [total / iterations for total in sums]
