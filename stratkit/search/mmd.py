"""MMD search: one step of magnetic mirror descent at a decision (Sokota et al. 2024, arXiv
2304.13138, "update-equivalent search"; Ataraxos, arXiv 2511.07312), from top to bottom:

    step       from a policy and values of moves to a better policy
    MMDSearch  the values of the moves: worlds, the move, and a rollout by both sides' blueprint

No tree is grown, no range is kept and no subgame is solved. Every move is valued in the same worlds
with the same random numbers; by a clock, those that come to nothing in the first of them only. The
move is drawn from the policy that comes out.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch
from stratkit.engine.random_streams import Stream
from stratkit.search.beliefs import BeliefSampler, WorldSample, concat
from stratkit.search.blueprint import Blueprint, asking_threads, by_threads, remembered
from stratkit.search.decision import Root, Search, SearchResult, standard_error
from stratkit.search.rollouts import MOST_ROWS, play_out_by_threads
from stratkit.threads import search_threads

Vector = npt.NDArray[np.float64]

EPS = 1e-9  # stands for a probability of 0, whose logarithm there is not
MAX_WORLDS = 4096
FIRST_WORLDS = 2  # worlds of the first part of a search with a time limit
AHEAD = 4  # parts like this one for which worlds are drawn by who waits for it
BLOCK = 16  # worlds that a belief draws at a time: it weighs few badly, and each call has its cost
MIN_ROLLOUTS = 16  # rollouts of each move, before one is left out
PRUNE_RATIO = 1000  # a move is left out that is to get less than this part of the best one's


def explored(policy: Vector, explore: float) -> Vector:
    """The policy float64 [m], of which a part is uniform."""
    return np.asarray((1 - explore) * policy + explore / len(policy), np.float64)


def step(policy: Vector, q: Vector, eta: float, tau: float, explore: float = 0.0) -> Vector:
    """The policy pi', float64 [m], that maximises

        <pi', q> - alpha KL(pi' | uniform) - KL(pi' | policy) / eta,    tau = eta alpha

    which is [policy exp(eta q) uniform^tau]^(1 / (1 + tau)), normalised. `policy`, `q`: float64
    [m], of legal moves. `explore`: the part of the policy that is uniform before, so that q can
    bring back what a network never plays.
    """
    uniform = np.log(1 / len(q))
    logits = np.log(np.maximum(explored(policy, explore), EPS)) + eta * q + tau * uniform
    logits /= 1 + tau
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), np.float64)


class MoveReturns:
    """The returns of a root's moves so far.

    returns  float64 [k, m], of k rollouts; NaN where there was none
    active   int64, the moves that get more rollouts
    """

    def __init__(self, returns: Vector) -> None:
        self.returns, self.active = returns, np.arange(returns.shape[1])

    def add(self, more: Vector) -> None:
        """Adds more rollouts of the active moves, float64 [j, active]."""
        if len(self.active):
            rows = np.full((len(more), self.returns.shape[1]), np.nan)
            rows[:, self.active] = more
            self.returns = np.concatenate([self.returns, rows])

    def prune(self, policy: Vector, eta: float, tau: float) -> None:
        """Leaves out the moves that are to get less than 1 / `PRUNE_RATIO` of what the best one
        gets, by three standard errors of the difference; and the best one, where it is alone."""
        if not len(self.active):
            return
        returns, number = self.returns[:, self.active], len(self.returns)
        logits = np.log(np.maximum(policy[self.active], EPS)) + eta * returns.mean(0)
        best = int(logits.argmax())
        less = returns[:, [best]] - returns  # the worlds are the same
        error = np.sqrt((less.var(0) + 1 / number) / number)
        behind = (logits[best] - logits - 3 * eta * error) / (1 + tau)
        left = self.active[behind < np.log(PRUNE_RATIO)]
        self.active = left if len(left) > 1 else left[:0]


class SearchClock:
    """Shares `seconds` out to the parts of a search, of some worlds each, that so many `threads`
    play; None: no limit."""

    def __init__(self, seconds: float | None, threads: int) -> None:
        self.seconds, self.begun, self.threads = seconds, time.monotonic(), threads
        self.done, self.at = 0, self.begun  # before the last part

    def part(self, done: int, worlds: int, moves: int) -> int:
        """How many worlds come next, for so many moves, when some of `worlds` are done: a few at
        first, then what fills half of the time that is left, at the speed of the last part, but at
        most `MOST_ROWS` rollouts a thread, if one world does not take more. So a machine that slows
        down to half its speed still keeps the time. Without a limit all come at once. 0: all are
        done, no move is left, or another world does not fit.
        """
        if not moves:
            return 0
        if self.seconds is None:
            return worlds - done
        fits, now = FIRST_WORLDS, time.monotonic()
        if done:
            each = max(now - self.at, 1e-9) / (done - self.done)
            left = self.begun + self.seconds - now
            fits = max(int(left / each / 2), int(left > each))
        self.done, self.at = done, now
        return min(worlds - done, fits, MOST_ROWS * self.threads // moves or worlds)


class WorldPool:
    """Worlds of decisions, drawn by a belief when they are needed: by a clock, nobody knows how
    many will be.

        max_worlds  of each root, how many at most
        samples     [roots] the worlds so far
    """

    def __init__(
        self,
        roots: Sequence[Root],
        max_worlds: Sequence[int],
        belief: BeliefSampler,
        blueprint: Blueprint,
        seed: int,
    ) -> None:
        self.roots, self.max_worlds = roots, max_worlds
        self.belief, self.blueprint, self.seed = belief, blueprint, seed
        self.samples: list[WorldSample] = []

    def at_least(self, counts: Sequence[int]) -> list[Batch]:
        """So many worlds of each decision, or more. In the first call all counts are above 0."""
        sizes = [one.worlds.size for one in self.samples] or [0] * len(counts)
        short = [i for i, size in enumerate(sizes) if size < counts[i]]
        if short:
            roots = [self.roots[i] for i in short]
            ends = {i: -(-counts[i] // BLOCK) * BLOCK for i in short}
            parts = [range(sizes[i], min(ends[i], self.max_worlds[i])) for i in short]
            drawn = self.belief(roots, parts, self.blueprint, self.seed)
            more = dict(zip(short, drawn, strict=True))
            before: list[WorldSample | None] = [*self.samples] or [None] * len(counts)
            self.samples = [concat(one, more.get(i)) for i, one in enumerate(before)]
        return [one.worlds for one in self.samples]


@dataclass(frozen=True)
class MMDSearch(Search):
    """A budget and a step.

    rollouts        of all moves together
    depth           plies of a rollout behind the move
    eta, tau        as of `step`, in units of `unit`
    belief          draws the worlds
    worlds          of a decision; None: as many as there are rollouts for every move
    actions         of a ply
    unit            the largest return, by which values are divided
    explore         as of `step`
    largest_return  no value lies beyond it
    seconds         limit of a decision: then the result depends on the machine; None: no limit
    """

    rollouts: int
    depth: int
    eta: float
    tau: float
    belief: BeliefSampler
    worlds: int | None = None
    actions: int = 1
    unit: float = 1.0
    explore: float = 0.0
    largest_return: float = np.inf
    seconds: float | None = None

    def budget(self, moves: int) -> tuple[int, int]:
        """How many worlds there are, and how many rollouts of each move in each."""
        worlds = self.worlds or max(1, self.rollouts // moves)
        worlds = min(worlds, MAX_WORLDS)
        return worlds, max(1, self.rollouts // (worlds * moves))

    def __call__(
        self, roots: Sequence[Root], blueprint: Blueprint, seed: int
    ) -> list[SearchResult]:
        """A call of the blueprint serves all decisions; they share the time of all."""
        threads = asking_threads(blueprint)
        clock = SearchClock(self.seconds and self.seconds * len(roots), threads)
        budgets = [self.budget(len(root.moves)) for root in roots]
        pool = WorldPool(roots, [worlds for worlds, _ in budgets], self.belief, blueprint, seed)
        asked = remembered(blueprint)
        orders = [np.tile(np.arange(worlds), times) for worlds, times in budgets]
        tried = [MoveReturns(np.empty((0, len(root.moves)))) for root in roots]
        first = 0
        while size := clock.part(first, *_left(orders, tried, first)):
            parts = [np.arange(first, min(first + size, len(order))) for order in orders]
            active = [one.active for one in tried]
            now, later = (
                [
                    min(end, worlds) if len(moves) else 0
                    for (worlds, _), moves in zip(budgets, active, strict=True)
                ]
                for end in (first + size, first + AHEAD * size)
            )
            worlds, ahead = pool.at_least(now), functools.partial(pool.at_least, later)
            values = _values(roots, active, worlds, orders, parts, asked, self, seed, ahead)
            first += size
            for root, one, more in zip(roots, tried, values, strict=True):
                one.add(more)
                if first >= MIN_ROLLOUTS:
                    one.prune(explored(root.policy, self.explore), self.eta, self.tau)
        out = []
        for root, one, b in zip(roots, tried, pool.samples, strict=True):
            q = np.nanmean(one.returns, 0)
            policy = step(root.policy, q, self.eta, self.tau, self.explore)
            tried_in = min(len(one.returns), b.worlds.size)
            error = standard_error(one.returns)
            of_worlds = tried_in, b.effective, b.candidates
            out.append(SearchResult(policy, q, error, *of_worlds, returns=one.returns))
        return out


def _left(
    orders: Sequence[npt.NDArray[np.int64]], tried: Sequence[MoveReturns], done: int
) -> tuple[int, int]:
    """Of the roots that need more worlds than those `done`, and have them: the longest order of
    worlds, and how many moves get more."""
    left = [
        (len(order), len(one.active))
        for order, one in zip(orders, tried, strict=True)
        if len(order) > done and len(one.active)
    ]
    return max((worlds for worlds, _ in left), default=0), sum(moves for _, moves in left)


def _values(
    roots: Sequence[Root],
    active: Sequence[npt.NDArray[np.int64]],
    worlds: Sequence[Batch],
    orders: Sequence[npt.NDArray[np.int64]],
    parts: Sequence[npt.NDArray[np.int64]],
    blueprint: Blueprint,
    search: MMDSearch,
    seed: int,
    meanwhile: Callable[[], object],
) -> list[Vector]:
    """Of each root some rollouts of m of its moves, `active`, `parts` of its `orders` of worlds:
    float64 [k, m] in units of the largest return. `meanwhile`: what this thread does if others play
    them."""
    sizes = [len(moves) for moves in active]
    copies = [
        np.repeat(order[part], m) for order, part, m in zip(orders, parts, sizes, strict=True)
    ]
    threads = 1 if by_threads(blueprint) else search_threads()
    batch = Batch.gathered(list(zip(worlds, copies, strict=True)), threads)
    moves = np.concatenate(
        [
            np.tile(np.array(root.moves, np.int32)[at], (len(part), 1))
            for root, at, part in zip(roots, active, parts, strict=True)
        ]
    )
    for column in range(moves.shape[1]):
        batch.apply(np.ascontiguousarray(moves[:, column]))
    keys = np.concatenate(
        [
            root.key(seed, Stream.ROLLOUTS) + np.repeat(part, m)
            for root, part, m in zip(roots, parts, sizes, strict=True)
        ]
    )
    movers = np.concatenate(
        [np.full(len(c), root.side, np.int8) for root, c in zip(roots, copies, strict=True)]
    )
    depth = search.depth * search.actions
    ends = np.cumsum([len(c) for c in copies])
    by_moves = [
        np.arange(end - len(part) * m, end).reshape(len(part), m).T.ravel()
        for end, part, m in zip(ends, parts, sizes, strict=True)
    ]
    budget = depth, seed, keys, search.largest_return, meanwhile
    returns = play_out_by_threads(batch, np.concatenate(by_moves), movers, blueprint, *budget)
    returns /= search.unit
    split = zip(np.split(returns, ends[:-1]), parts, sizes, strict=True)
    return [values.reshape(len(part), m) for values, part, m in split]
