"""MMD search: one step of magnetic mirror descent at a decision (Sokota et al. 2024, arXiv
2304.13138, "update-equivalent search"; Ataraxos, arXiv 2511.07312), from top to bottom:

    step       from a policy and values of moves to a better policy
    MMDSearch  the values of the moves: worlds, the move, and a rollout by both sides' blueprint

No tree is grown, no range is kept and no subgame is solved. Every move is valued in the same worlds
with the same random numbers; by a clock, those that come to nothing in the first of them only. The
move is drawn from the policy that comes out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch
from stratkit.engine.random_streams import Stream
from stratkit.search.beliefs import Belief, Believed, joined
from stratkit.search.blueprint import Blueprint, Remembered
from stratkit.search.decision import Found, Root, Search, standard_error
from stratkit.search.rollouts import play_out
from stratkit.threads import search_threads

Vector = npt.NDArray[np.float64]

LEAST = 1e-9  # stands for a probability of 0, whose logarithm there is not
MOST_WORLDS = 4096
FIRST = 2  # worlds of the first part of a search with a time limit
BLOCK = 16  # worlds that a belief draws at a time: it weighs few badly, and each call has its cost
TOGETHER = 256  # rollouts of a part: as many positions as a network's evaluator remembers
ENOUGH = 16  # rollouts of each move, before one is left out
HOPELESS = np.log(1000)


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
    logits = np.log(np.maximum(explored(policy, explore), LEAST)) + eta * q + tau * uniform
    logits /= 1 + tau
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), np.float64)


class Tried:
    """What the moves of a root have brought: `each`, float64 [k, m], in k rollouts, NaN where there
    was none; and which of the moves get more, `going`, int64."""

    def __init__(self, each: Vector) -> None:
        self.each, self.going = each, np.arange(each.shape[1])

    def add(self, more: Vector) -> None:
        """What those that get more have brought in some more rollouts."""
        if len(self.going):
            rows = np.full((len(more), self.each.shape[1]), np.nan)
            rows[:, self.going] = more
            self.each = np.concatenate([self.each, rows])

    def leave_hopeless(self, policy: Vector, eta: float, tau: float) -> None:
        """Leaves out the moves that are to get less than a thousandth of what the best one gets,
        by three standard errors of the difference; and the best one, where it is alone."""
        if not len(self.going):
            return
        each, number = self.each[:, self.going], len(self.each)
        logits = np.log(np.maximum(policy[self.going], LEAST)) + eta * each.mean(0)
        best = int(logits.argmax())
        less = each[:, [best]] - each  # the worlds are the same
        error = np.sqrt((less.var(0) + 1 / number) / number)
        behind = (logits[best] - logits - 3 * eta * error) / (1 + tau)
        left = self.going[behind < HOPELESS]
        self.going = left if len(left) > 1 else left[:0]


class Clock:
    """Shares `seconds` out to the parts of a search, of some worlds each; None: no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.begun = seconds, time.monotonic()
        self.done, self.at = 0, self.begun  # before the last part

    def part(self, done: int, worlds: int, moves: int) -> int:
        """How many worlds come next, for so many moves, when some of `worlds` are done: a few at
        first, then what fills half of the time that is left, at the speed of the last part, but at
        most `TOGETHER` rollouts, if one world does not take more. So a machine that slows down to
        half its speed still keeps the time. Without a limit all come at once. 0: all are done, no
        move is left, or another world does not fit.
        """
        if not moves:
            return 0
        if self.seconds is None:
            return worlds - done
        fits, now = FIRST, time.monotonic()
        if done:
            each = max(now - self.at, 1e-9) / (done - self.done)
            left = self.begun + self.seconds - now
            fits = max(int(left / each / 2), int(left > each))
        self.done, self.at = done, now
        return min(worlds - done, fits, TOGETHER // moves or worlds)


class Drawn:
    """The worlds of decisions, at most so many of each, drawn by a belief when they are needed: by
    a clock, nobody knows how many will be. `believed`: those so far."""

    def __init__(
        self,
        roots: Sequence[Root],
        most: Sequence[int],
        belief: Belief,
        blueprint: Blueprint,
        seed: int,
    ) -> None:
        self.roots, self.most = roots, most
        self.belief, self.blueprint, self.seed = belief, blueprint, seed
        self.believed: list[Believed] = []

    def at_least(self, counts: Sequence[int]) -> list[Batch]:
        """So many worlds of each decision, or more. In the first call all counts are above 0."""
        sizes = [one.worlds.size for one in self.believed] or [0] * len(counts)
        short = [i for i, size in enumerate(sizes) if size < counts[i]]
        if short:
            roots = [self.roots[i] for i in short]
            ends = {i: -(-counts[i] // BLOCK) * BLOCK for i in short}
            parts = [range(sizes[i], min(ends[i], self.most[i])) for i in short]
            found = self.belief(roots, parts, self.blueprint, self.seed)
            more = dict(zip(short, found, strict=True))
            before: list[Believed | None] = [*self.believed] or [None] * len(counts)
            self.believed = [joined(one, more.get(i)) for i, one in enumerate(before)]
        return [one.worlds for one in self.believed]


@dataclass(frozen=True)
class MMDSearch(Search):
    """A budget and a step. `rollouts` of all moves together; `worlds` of a decision (None: as many
    as there are rollouts for every move); `depth` in plies of `actions` actions; step size `eta`
    and `tau`, in units of `unit`; `explore`, as of `step`; `largest_return`, beyond which none
    lies, where that is known; `seconds` of a decision, if there is a limit: then the result depends
    on the machine."""

    rollouts: int
    depth: int
    eta: float
    tau: float
    belief: Belief
    worlds: int | None = None
    actions: int = 1
    unit: float = 1.0
    explore: float = 0.0
    largest_return: float = np.inf
    seconds: float | None = None

    def budget(self, moves: int) -> tuple[int, int]:
        """How many worlds there are, and how many rollouts of each move in each."""
        worlds = self.worlds or max(1, self.rollouts // moves)
        worlds = min(worlds, MOST_WORLDS)
        return worlds, max(1, self.rollouts // (worlds * moves))

    def __call__(self, roots: Sequence[Root], blueprint: Blueprint, seed: int) -> list[Found]:
        """A call of the blueprint serves all decisions; they share the time of all."""
        clock = Clock(self.seconds and self.seconds * len(roots))
        budgets = [self.budget(len(root.moves)) for root in roots]
        drawn = Drawn(roots, [worlds for worlds, _ in budgets], self.belief, blueprint, seed)
        remembered = Remembered(blueprint)
        orders = [np.tile(np.arange(worlds), times) for worlds, times in budgets]
        tried = [Tried(np.empty((0, len(root.moves)))) for root in roots]
        first = 0
        while size := clock.part(first, *_left(orders, tried, first)):
            parts = [np.arange(first, min(first + size, len(order))) for order in orders]
            going = [one.going for one in tried]
            needed = [
                min(first + size, worlds) if len(moves) else 0
                for (worlds, _), moves in zip(budgets, going, strict=True)
            ]
            worlds = drawn.at_least(needed)
            found = _values(roots, going, worlds, orders, parts, remembered, self, seed)
            first += size
            for root, one, more in zip(roots, tried, found, strict=True):
                one.add(more)
                if first >= ENOUGH:
                    one.leave_hopeless(explored(root.policy, self.explore), self.eta, self.tau)
        out = []
        for root, one, b in zip(roots, tried, drawn.believed, strict=True):
            q = np.nanmean(one.each, 0)
            policy = step(root.policy, q, self.eta, self.tau, self.explore)
            tried_in = min(len(one.each), b.worlds.size)
            error = standard_error(one.each)
            out.append(Found(policy, q, error, tried_in, b.effective, b.candidates))
        return out


def _left(
    orders: Sequence[npt.NDArray[np.int64]], tried: Sequence[Tried], done: int
) -> tuple[int, int]:
    """Of the roots that need more worlds than those `done`, and have them: the longest order of
    worlds, and how many moves get more."""
    left = [
        (len(order), len(one.going))
        for order, one in zip(orders, tried, strict=True)
        if len(order) > done and len(one.going)
    ]
    return max((worlds for worlds, _ in left), default=0), sum(moves for _, moves in left)


def _values(
    roots: Sequence[Root],
    going: Sequence[npt.NDArray[np.int64]],
    worlds: Sequence[Batch],
    orders: Sequence[npt.NDArray[np.int64]],
    parts: Sequence[npt.NDArray[np.int64]],
    blueprint: Blueprint,
    asked: MMDSearch,
    seed: int,
) -> list[Vector]:
    """Of each root some rollouts of m of its moves, `going`, `parts` of its `orders` of worlds:
    float64 [k, m] in units of the largest return."""
    sizes = [len(moves) for moves in going]
    copies = [
        np.repeat(order[part], m) for order, part, m in zip(orders, parts, sizes, strict=True)
    ]
    batch = Batch.gathered(list(zip(worlds, copies, strict=True)), search_threads())
    moves = np.concatenate(
        [
            np.tile(np.array(root.moves, np.int32)[at], (len(part), 1))
            for root, at, part in zip(roots, going, parts, strict=True)
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
    depth = asked.depth * asked.actions
    found = play_out(batch, movers, blueprint, depth, seed, keys, asked.largest_return) / asked.unit
    ends = np.cumsum([len(c) for c in copies])
    split = zip(np.split(found, ends[:-1]), parts, sizes, strict=True)
    return [values.reshape(len(part), m) for values, part, m in split]
