"""Play by equilibria of simultaneous turns (SearchBot, Gray et al. 2021, section 3.2).

Where a turn begins everything is public, so a turn has one solution, whoever asks and however far
the own choices have come: the mixed policies over candidates that regret matching finds. A choice
within the turn is drawn from the candidates that begin as was chosen so far.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from stratkit.arrays import Float64s, Int32s, Int64s
from stratkit.engine import Batch
from stratkit.search.blueprint import Blueprint, Sharpened
from stratkit.search.decision import Root, Search, SearchResult
from stratkit.search.equilibrium import (
    NOTHING,
    Candidates,
    Cells,
    candidates,
    joint_utilities,
    solve,
)
from stratkit.search.joint import JointCells, solve_joint
from stratkit.search.regret_matching import AVERAGE

KEPT = 1024  # solved turns, and games in one

Key = TypeVar("Key")
Value = TypeVar("Value")
Weights = dict[int, tuple[float, float]]  # by action: its probability, and that times its value
Solved = Mapping[tuple[int, bytes], Weights]  # by the side and the digest of what it is shown


@dataclass(frozen=True)
class TurnSearch(Search):
    """Regret matching over candidates of each player. A turn's random numbers depend on the seed
    and on what is public. Games share solved turns, and a game ends its turn as it has begun it,
    unless `KEPT` others have gone on since.

        max_candidates  of each player
        per_unit        of these for each of its units; 0: whatever its units
        samples         draws from which these are taken
        iterations      of regret matching
        games           rollouts of each joint action
        depth           plies of a rollout; in Diplomacy phases of moves
        play            the average policies, or the final ones
        largest_return  no value lies beyond it
        sharpness       temperature and top-p of the blueprint in rollouts
    """

    max_candidates: int
    per_unit: float
    samples: int
    iterations: int
    games: int
    depth: int
    play: str = AVERAGE
    largest_return: float = np.inf
    sharpness: tuple[float, float] = (1.0, 1.0)
    _solved: OrderedDict[bytes, Solved] = field(default_factory=OrderedDict)
    _begun: OrderedDict[int, tuple[bytes, Solved]] = field(default_factory=OrderedDict)  # by game
    _lock: threading.Lock = field(default_factory=threading.Lock)  # games with programs share it

    def __call__(
        self, roots: Sequence[Root], blueprint: Blueprint, seed: int
    ) -> list[SearchResult | None]:
        """Where players move in turn, and behind choices that no candidate makes, there is no
        result."""
        return [self._result(root, blueprint, seed) for root in roots]

    def forget(self) -> None:
        """`Search.forget`. Turns that have begun stay: behind their first choices there may be no
        candidate of another solution."""
        with self._lock:
            self._solved.clear()

    def go_on_from(self, other: TurnSearch) -> None:
        """Turns that have begun with another search stay, too."""
        with self._lock:
            self._begun.update(other._begun)

    def _result(self, root: Root, blueprint: Blueprint, seed: int) -> SearchResult | None:
        m, begun = len(root.moves), root.turn()
        if begun is None:
            return None
        weights = self._turn(root, begun, blueprint, seed).get((root.side, _digest(root.seen)), {})
        chosen = np.array([weights.get(action, (0.0, 0.0)) for (action,) in root.moves])
        if not chosen[:, 0].any():
            return None
        policy = chosen[:, 0] / chosen[:, 0].sum()
        unknown = np.full(m, np.nan)
        q = np.divide(chosen[:, 1], chosen[:, 0], out=unknown.copy(), where=chosen[:, 0] > 0)
        return SearchResult(policy, q, unknown, worlds=1, effective=1.0, candidates=1)

    def _turn(self, root: Root, begun: Batch, blueprint: Blueprint, seed: int) -> Solved:
        game = root.state.game
        key = _digest(seed.to_bytes(8, "little") + begun.observe()[0].tobytes())
        with self._lock:
            turn, solved = self._begun.get(game, (b"", None))
            if turn != key:
                solved = self._solved.get(key)
        if solved is None:
            solved = self._solve(begun, blueprint, int.from_bytes(key[:8], "little"))
        with self._lock:
            if turn != key:
                _keep(self._solved, key, solved)
            _keep(self._begun, game, (key, solved))
        return solved

    def _solve(self, begun: Batch, blueprint: Blueprint, seed: int) -> Solved:
        limits = self.samples, self.max_candidates, seed, self.per_unit
        some = candidates(begun, blueprint, *limits)
        if self.sharpness != (1, 1):
            blueprint = Sharpened(blueprint, *self.sharpness)
        of = self._between_two if begun.game.players == 2 else self._among_all
        mixed, worth = of(begun, some, blueprint, seed)
        weights: dict[tuple[int, bytes], Weights] = {}
        now = Batch.gathered([(begun, [0])])
        for each, policy, values in zip(some, mixed, worth, strict=False):
            _add(weights, now, each, policy, values)
            for action in each.actions[0]:  # the next player is not shown which
                now.apply(np.array([action], np.int32))
        return weights

    def _between_two(
        self, begun: Batch, some: Sequence[Candidates], blueprint: Blueprint, seed: int
    ) -> tuple[Sequence[Float64s], Sequence[Float64s]]:
        """The policies of both players and what their candidates are worth, from a table."""
        first, second = some[0].actions, some[1].actions if len(some) > 1 else _nobody()
        cells = Cells(blueprint, self.games, self.depth, self.largest_return)
        table = cells.table(begun, first, second, seed)
        mixed = solve(table, self.iterations, seed, self.play)
        return mixed, (table @ mixed[1], -(mixed[0] @ table))

    def _among_all(
        self, begun: Batch, some: Sequence[Candidates], blueprint: Blueprint, seed: int
    ) -> tuple[Sequence[Float64s], Sequence[Float64s]]:
        """The same of any number of players, from the joint actions that are asked for."""
        cells = JointCells(blueprint, self.games, self.depth, self.largest_return)
        players = [each.player for each in some]

        def values(joint: Int64s) -> Float64s:
            return cells.values(begun, some, joint, seed)[:, players]

        utilities = joint_utilities(values, [len(each) for each in some])
        return solve_joint(utilities, some, self.iterations, seed, self.play)


def _nobody() -> Int32s:
    """The whole action of a player who has nothing to choose."""
    return np.empty((1, 0), np.int32)


def _add(
    weights_of: dict[tuple[int, bytes], Weights],
    now: Batch,
    some: Candidates,
    policy: Float64s,
    values: Float64s,
) -> None:
    """What a mixed policy, float64 [m], over the candidates of the player who acts in `now`, one
    row, comes to at each observation on their way."""
    batch, side = Batch.gathered([(now, np.zeros(len(some), np.int64))]), int(now.actors()[0])
    for column in some.actions.T:
        seen = batch.observe()
        for row in np.flatnonzero((column != NOTHING) & (policy > 0)).tolist():
            weights = weights_of.setdefault((side, _digest(seen[row].tobytes())), {})
            p, total = weights.get(int(column[row]), (0.0, 0.0))
            share = float(policy[row])
            weights[int(column[row])] = p + share, total + share * float(values[row])
        batch.apply(np.ascontiguousarray(column))


def _keep(kept: OrderedDict[Key, Value], key: Key, value: Value) -> None:
    """Who was not asked for longest is dropped."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > KEPT:
        kept.popitem(last=False)


def _digest(seen: bytes) -> bytes:
    return hashlib.blake2b(seen, digest_size=16).digest()
