"""PIMC and PC-PIMC: worlds, each searched as if it were known (Blüml, Czech, Kersting 2023,
"AlphaZe**").

    pimc      plays the moves of the best mean value over the worlds (equation 3)
    pc-pimc   takes the mean of the worlds' policies, move by move (equation 4), and plays its best
              moves, or draws from it

A world's policy is the share of visits of each move; where the search has proven the result, the
moves that are best for certain, alike. Equally good moves share. Each world is given a strategy of
its own, as if its player could see it ("strategy fusion", Frank and Basin 1998): more worlds and
nodes approach no equilibrium.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bytes
from stratkit.engine import Batch
from stratkit.engine.mcts import RootMoves, SearchTrees
from stratkit.engine.sampling import dirichlet
from stratkit.nets.threads import side_by_side
from stratkit.search.beliefs import BeliefSampler
from stratkit.search.blueprint import Blueprint, asking_threads, by_threads, with_moves
from stratkit.search.decision import Root, Search, SearchResult, standard_error
from stratkit.threads import search_threads

Vector = npt.NDArray[np.float64]

TIE = 1e-6
MIN_TREES = 3  # that are worth another thread
NOISE_SHAPE = 10.0  # divided by the number of moves, as in AlphaZero


class _Begin(NamedTuple):
    """Where a tree begins: a row of `worlds`, its moves and their priors, float32 [m]."""

    worlds: Batch
    world: int
    moves: Sequence[tuple[int, ...]]
    priors: npt.NDArray[np.float32]


@dataclass(frozen=True)
class PIMC(Search):
    """Determinized search: a tree in each of some worlds.

    worlds   of a decision
    nodes    simulations of each tree
    belief   draws the worlds
    combine  policies, not values (PC-PIMC)
    draw     from the mean policy, instead of its best move
    noise    part of each root's priors drawn from a Dirichlet distribution
    face_up  the blueprint sees each world as it is, hidden pieces and all
    seconds  limit of a decision: then the result depends on the machine; None: no limit
    cpuct, actions, unit, largest_return   as in `SearchTrees`
    """

    worlds: int
    nodes: int
    belief: BeliefSampler
    combine: bool = True
    draw: bool = False
    cpuct: float = 2.5
    noise: float = 0.0
    actions: int = 1
    unit: float = 1.0
    largest_return: float = np.inf
    face_up: bool = False
    seconds: float | None = None

    def __call__(
        self, roots: Sequence[Root], blueprint: Blueprint, seed: int
    ) -> list[SearchResult]:
        """The trees of all worlds of all decisions grow side by side."""
        until = None if self.seconds is None else time.monotonic() + self.seconds * len(roots)
        believed = self.belief(roots, [range(self.worlds)] * len(roots), blueprint, seed)
        begins = []
        for root, one in zip(roots, believed, strict=True):
            known = world_priors(one.worlds, root, blueprint) if self.face_up else root.policy
            for world, priors in enumerate(self._priors(root, known, seed)):
                begins.append(_Begin(one.worlds, world, root.moves, priors))
        parts = side_by_side(
            lambda part: self._grow(begins[part], blueprint, until), _parts(len(begins), blueprint)
        )
        found = list(itertools.chain(*parts))
        out = []
        for i, one in enumerate(believed):
            root_moves = found[i * self.worlds : (i + 1) * self.worlds]
            q = np.array([each.q for each in root_moves])
            mean = np.mean([world_policy(each) for each in root_moves], axis=0)
            out.append(
                SearchResult(
                    policy=self._policy(mean, q.mean(0)),
                    q=q.mean(0),
                    error=standard_error(q),
                    worlds=self.worlds,
                    effective=one.effective,
                    candidates=one.candidates,
                    visits=np.mean([each.visits for each in root_moves], axis=0),
                    target=mean,
                )
            )
        return out

    def _grow(
        self, begins: Sequence[_Begin], blueprint: Blueprint, until: float | None
    ) -> list[RootMoves]:
        """What trees of these worlds come to."""
        trees = SearchTrees(
            Batch.gathered([(one.worlds, [one.world]) for one in begins]),
            self.actions,
            self.nodes,
            self.cpuct,
            self.unit,
            self.largest_return,
            1 if by_threads(blueprint) else search_threads(),
            self.face_up,
            with_moves(blueprint, self.actions) is not None,
        )
        for tree, one in enumerate(begins):
            trees.begin(tree, one.moves, one.priors[None])
        grow(trees, blueprint, until)
        return [trees.root(tree) for tree in range(len(begins))]

    def _priors(self, root: Root, policy: Vector, seed: int) -> npt.NDArray[np.float32]:
        """float32 [worlds, m]: the blueprint's policy at the root, in all worlds [m] or in each
        [worlds, m], with noise."""
        m = len(root.moves)
        priors = np.array(np.broadcast_to(policy, (self.worlds, m)))
        if self.noise:
            shape = NOISE_SHAPE / m
            drawn = dirichlet(seed, root.state.game, root.state.number, shape, self.worlds, m)
            priors = (1 - self.noise) * priors + self.noise * drawn
        return priors.astype(np.float32)

    def _policy(self, mean: Vector, q: Vector) -> Vector:
        """What is played, by the worlds' mean policy, or by their mean values."""
        if not self.combine:
            return best(q)
        return mean if self.draw else best(mean)


def _parts(trees: int, blueprint: Blueprint) -> list[slice]:
    """Which trees a thread grows, if the blueprint lets several ask: of fewer than `MIN_TREES` a
    call of the network costs nearly the same."""
    number = max(1, min(asking_threads(blueprint), trees // MIN_TREES))
    ends = [trees * k // number for k in range(number + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def world_priors(worlds: Batch, root: Root, blueprint: Blueprint) -> Vector:
    """float64 [worlds, m]: the probability of each of the root's moves, as the blueprint plays in
    each world that it sees face up."""
    first, n = [move[0] for move in root.moves], worlds.size
    whole = with_moves(blueprint, len(root.moves[0]))
    if whole:
        rows = np.repeat(np.arange(n, dtype=np.int32), len(first))
        moves = np.column_stack([rows, np.tile(np.array(root.moves, np.int32), (n, 1))])
        return _per_world(whole.evaluate_moves(*_face_up(worlds), moves)[0].reshape(n, -1), root)
    policy = _policy_face_up(worlds, blueprint)[:, first]
    if len(root.moves[0]) == 2:
        pieces = list(dict.fromkeys(first))
        selected = Batch.gathered([(worlds, np.repeat(np.arange(n), len(pieces)))])
        selected.apply(np.tile(np.array(pieces, np.int32), n))
        second = _policy_face_up(selected, blueprint).reshape(n, len(pieces), -1)
        policy *= second[:, [pieces.index(one) for one in first], [move[1] for move in root.moves]]
    return _per_world(policy, root)


def _per_world(policy: npt.NDArray[np.floating[Any]], root: Root) -> Vector:
    """Of the root's moves [worlds, m], summing to 1; where nothing is left, the root's policy."""
    total = policy.sum(1, keepdims=True, dtype=np.float64)
    return np.where(total > 0, policy / np.where(total > 0, total, 1), root.policy)


def _face_up(worlds: Batch) -> tuple[Bytes, Bytes]:
    """Observations and legal actions."""
    return worlds.observe_face_up(), worlds.legal()


def _policy_face_up(worlds: Batch, blueprint: Blueprint) -> Vector:
    """float64 [worlds, A]."""
    return blueprint.evaluate_distinct(*_face_up(worlds))[0].astype(np.float64)


def best(scores: Vector) -> Vector:
    """The policy, float64 [m], of the largest scores alike."""
    top = scores > scores.max() - TIE
    return np.asarray(top / top.sum(), np.float64)


def world_policy(root: RootMoves) -> Vector:
    """What the search of one world would play, float64 [m]: the share of visits of the moves that
    are not proven to be worse than another; where the best result is proven, its moves alike."""
    least = root.low.max()
    if least > root.high.max() - TIE:
        return best(root.low.astype(np.float64))
    visits = np.where(root.high > least - TIE, root.visits, 0).astype(np.float64)
    if not visits.sum():  # its time was over before a second move was tried
        return best(root.q)
    return np.asarray(visits / visits.sum(), np.float64)


def grow(trees: SearchTrees, blueprint: Blueprint, until: float | None = None) -> None:
    """Monte Carlo tree search (Silver et al. 2018): grows all trees to their ends, or until that
    time (of `time.monotonic`) has passed. Each gets at least one evaluation, if it needs any.

    In every round each tree that is not done asks for one evaluation. One call of the blueprint
    answers all of them, so no tree needs a virtual loss. Of `whole` trees one evaluation tells the
    policy of a node's moves; else each piece that is worth a look takes another one.

    `ValueError`: the blueprint's policy or value is no such.
    """
    whole = with_moves(blueprint, trees.actions) if trees.whole else None
    while True:
        packed, legal = trees.ask()
        if not len(packed):
            return
        if whole:
            trees.tell(*whole.evaluate_moves(packed, legal, trees.moves()))
        else:
            policy, values = blueprint.evaluate_distinct(packed, legal, values=True)
            assert values is not None
            trees.tell(policy, values)
        if until is not None and time.monotonic() >= until:
            return
