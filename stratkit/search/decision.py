"""A decision that is searched, the result of a search, and what every search is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, hidden_types, uniform
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import NO_PIECE
from stratkit.errors import InputError
from stratkit.search.blueprint import Blueprint
from stratkit.search.side_state import SideState

CANDIDATES = 4  # drawn for each world that is kept

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Root:
    """A decision to be searched.

    state     what the side that acts may ask of its game
    moves     [m] tuples of equally many actions
    policy    float64 [m], the blueprint's
    excluded  by square in the side's frame: bits of types that memory rules out
    seen      the packed observation
    """

    state: SideState
    moves: Sequence[tuple[int, ...]]
    policy: Vector
    excluded: Sequence[int] = ()
    seen: bytes = b""

    @property
    def side(self) -> int:
        """Who acts."""
        return self.state.side

    def draw(self, n: int, seed: int) -> Batch:
        """`n` worlds of the side, which meet `excluded`. `InputError`: there is none."""
        with _no_search():
            drawn = self.state.worlds(CANDIDATES * n if self.excluded else n, seed)
        return worlds_without(drawn, n, self.excluded) if self.excluded else drawn

    def turn(self) -> Batch | None:
        """Where the simultaneous turn began; None where players move in turn. `InputError`: nobody
        can say."""
        with _no_search():
            return self.state.turn()

    def random(self, seed: int, stream: Stream) -> float:
        """A random number of this decision, from 0 to 1."""
        game, number = (
            np.array([self.state.game], np.int64),
            np.array([self.state.number], np.int32),
        )
        return float(uniform(seed, game, number, stream)[0])

    def key(self, seed: int, stream: Stream) -> int:
        """A number by which random numbers of this decision are told from others'; the lowest 20
        bits are 0."""
        return int(self.random(seed, stream) * 2**42) << 20


@contextlib.contextmanager
def _no_search() -> Iterator[None]:
    """What the engine has not got is the fault of the position."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"no search: {error}") from error


def worlds_without(worlds: Batch, n: int, excluded: Sequence[int]) -> Batch:
    """`n` of these worlds in which no hidden piece of the enemy has a type that is `excluded`
    (`Root.excluded`); any worlds, if there are none."""
    types = hidden_types(worlds)
    wrong = (types != NO_PIECE) & (np.array(excluded) >> np.minimum(types, 31) & 1 > 0)
    kept = np.flatnonzero(~wrong.any(1))
    return Batch.gathered([(worlds, np.resize(kept if len(kept) else np.arange(worlds.size), n))])


@dataclass(frozen=True)
class SearchResult:
    """What a search returns for one decision.

    policy      float64 [m], improved
    q           float64 [m], values of moves in units of the largest return; NaN of one that nobody
                valued, which is not played
    error       float64 [m], standard errors of q; NaN: not known
    worlds      number of worlds searched
    effective   effective sample size of the worlds from which these were drawn
    candidates  number of the worlds from which these were drawn
    visits      float64 [m], mean over the worlds; None: no trees were grown
    target      float64 [m], the policy that a network is to learn; None: `policy`
    returns     float64 [k, m], of rollouts, each in the same world with the same random numbers;
                NaN where there was none; None: there were no rollouts
    """

    policy: Vector
    q: Vector
    error: Vector
    worlds: int
    effective: float
    candidates: int
    visits: Vector | None = None
    target: Vector | None = None
    returns: Vector | None = None

    @property
    def search_target(self) -> tuple[Vector, float]:
        """What a network is to learn: the policy, and the value that it has by q."""
        target = self.policy if self.target is None else self.target
        return target, float(target[target > 0] @ self.q[target > 0])


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
        that decision to the blueprint. `InputError`: a decision has no world."""
        ...

    def forget(self) -> None:
        """The blueprint has got other weights. Most searches keep nothing of it."""
        return
