"""A decision that is searched, the result of a search, and what every search is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, uniform
from stratkit.engine.random_streams import Stream
from stratkit.search.blueprint import Blueprint

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Root:
    """A decision to be searched.

    game, number  keys of every random draw: the game, and the action in it
    side          who acts
    moves         [m] tuples of equally many actions
    policy        float64 [m], the blueprint's
    draw          (n, seed) -> batch of n worlds of the side, which meet `excluded`
    history       () -> the game's actions as the side knows them (`Views.history`)
    excluded      by square in the side's frame: bits of types that memory rules out
    turn          () -> where the simultaneous turn began (`Views.turn`)
    seen          the packed observation
    """

    game: int
    number: int
    side: int
    moves: Sequence[tuple[int, ...]]
    policy: Vector
    draw: Callable[[int, int], Batch]
    history: Callable[[], npt.NDArray[np.int32] | None] = lambda: None
    excluded: Sequence[int] = ()
    turn: Callable[[], Batch | None] = lambda: None
    seen: bytes = b""

    def random(self, seed: int, stream: Stream) -> float:
        """A random number of this decision, from 0 to 1."""
        game, number = np.array([self.game], np.int64), np.array([self.number], np.int32)
        return float(uniform(seed, game, number, stream)[0])

    def key(self, seed: int, stream: Stream) -> int:
        """A number by which random numbers of this decision are told from others'; the lowest 20
        bits are 0."""
        return int(self.random(seed, stream) * 2**42) << 20


@dataclass(frozen=True)
class SearchResult:
    """What a search returns for one decision.

    policy      float64 [m], improved
    q           float64 [m], values of moves in units of the largest return
    error       float64 [m], standard errors of q
    worlds      number of worlds searched
    effective   effective sample size of the worlds from which these were drawn
    candidates  number of the worlds from which these were drawn
    visits      float64 [m], mean over the worlds; None: no trees were grown
    target      float64 [m], the policy that a network is to learn; None: `policy`
    """

    policy: Vector
    q: Vector
    error: Vector
    worlds: int
    effective: float
    candidates: int
    visits: Vector | None = None
    target: Vector | None = None

    @property
    def search_target(self) -> tuple[Vector, float]:
        """What a network is to learn: the policy, and the value that it has by q."""
        target = self.policy if self.target is None else self.target
        return target, float(target @ self.q)


def standard_error(each: Vector) -> Vector:
    """Of the means over float64 [k, m], of k worlds or rollouts, float64 [m]; NaN of one. A NaN
    among these is none."""
    if len(each) == 1:
        return np.full(each.shape[1], np.nan)
    number = np.count_nonzero(~np.isnan(each), axis=0)
    return np.asarray(np.nanstd(each, 0, ddof=1) / np.sqrt(number), np.float64)


class Search(Protocol):
    """A way to search, with its budget."""

    def __call__(
        self, roots: Sequence[Root], blueprint: Blueprint, seed: int
    ) -> Sequence[SearchResult | None]:
        """The results of these decisions, which share the calls of the blueprint; None: it leaves
        that decision to the blueprint. `ValueError`: a decision has no world."""
        ...
