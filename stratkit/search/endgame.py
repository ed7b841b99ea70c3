"""Re-solving of endgames of Stratego at public belief states (Brown et al. 2020, ReBeL), with a
blueprint that knows no beliefs.

Where both sides have few hands, a subgame of two plies is solved for some of either: own hands are
alike likely, the enemy's are drawn as is believed. What everybody knows is public; a battle reveals
its pieces and cuts the hands.

    hands           all that a side may have
    MoveTable       whole moves of many states, and the blueprint's policy of them
    InfosetActions  information sets and moves of one side
    Subgame         both plies: what may be chosen, and what that comes to
    solve           the equilibrium of policies near the blueprint (piKL, Jacob et al. 2022)

A leaf is worth what the blueprint expects with the own hand and public information: that is the
approximation. The blueprint holds both sides since an equilibrium of such values alone is one of
their errors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bytes, Float32s, Float64s, Int64s
from stratkit.engine import Batch, assign_types, distinct_views, hidden_types, uniform
from stratkit.engine.observation import observation_dtype
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import BOMB, FLAG, MOVED, NO_PIECE, PIECE, REVEALED, SIDE, TYPE
from stratkit.search.beliefs import BeliefSampler
from stratkit.search.blueprint import Blueprint
from stratkit.search.decision import Root, Search, SearchResult
from stratkit.search.mmd import step

FLOOR = 1e-4  # of a blueprint's policy: a move that it never makes may be the best


def count_hands(unmoved: int, moved: int, left: Sequence[int]) -> int:
    """In how many ways hidden pieces, so many `left` of each type, can stand on squares of which
    `unmoved` may hold a flag or a bomb."""
    still = left[FLAG] + left[BOMB]
    if still > unmoved:
        return 0
    flags_and_bombs = math.factorial(unmoved) // math.factorial(unmoved - still)
    flags_and_bombs //= math.factorial(left[FLAG]) * math.factorial(left[BOMB])
    others = math.factorial(unmoved - still + moved)
    for type_ in range(FLAG + 1, BOMB):
        others //= math.factorial(left[type_])
    return flags_and_bombs * others


def hands(cells: Bytes, left: Sequence[int], enemy: bool, most: int) -> Bytes | None:
    """All assignments of the types that a side has `left` to its hidden pieces, uint8 [n, squares],
    `NO_PIECE` elsewhere; None if they are more than `most`. `cells` uint8 [squares] as they are
    observed."""
    hidden = (cells & (PIECE | SIDE | REVEALED)) == (PIECE | SIDE * enemy)
    still = np.flatnonzero(hidden & (cells & MOVED == 0))
    n = count_hands(len(still), int(hidden.sum()) - len(still), left)
    if not 0 < n <= most:
        return None
    out = np.full((1, len(cells)), NO_PIECE, np.uint8)
    for type_ in (FLAG, BOMB, *range(FLAG + 1, BOMB)):
        if left[type_]:
            squares = still if type_ in (FLAG, BOMB) else np.flatnonzero(hidden)
            places = np.array(list(itertools.combinations(squares.tolist(), left[type_])), np.int64)
            rows, chosen = np.nonzero((out[:, places] == NO_PIECE).all(2))
            out = out[rows]
            out[np.arange(len(out))[:, None], places[chosen]] = type_
    return out


class MoveTable:
    """All whole moves of the rows of `batch`, in which the game goes on, or only those of
    `allowed_moves` int64 [k].

        row      int64 [n], where each is made
        move     int64 [n], start * squares + end in the frame of its side
        infoset  int64 [n], what the side has seen before
        views    uint8 [v, observation_bytes], in which they are chosen
        legal    uint8 [v, A], the legal actions there
    """

    def __init__(self, batch: Batch, allowed_moves: Int64s | None = None) -> None:
        squares, legal = batch.game.actions, batch.legal()
        rows, start = np.nonzero(legal)
        self._chosen = Batch.gathered([(batch, rows)])
        self._chosen.apply(start.astype(np.int32))
        ends = self._chosen.legal()
        allowed = np.full(squares**2, allowed_moves is None, np.uint8)
        if allowed_moves is not None:
            allowed[allowed_moves] = 1
        self._at, self._end = np.nonzero(ends & allowed.reshape(squares, squares)[start])
        self.row, start = rows[self._at], start[self._at]
        self.move = start * squares + self._end
        seen = np.concatenate([batch.observe(), self._chosen.observe()])
        may = np.concatenate([legal, ends])
        first, which = distinct_views(seen, may)
        self.views, self.legal = seen[first], may[first]
        self.infoset = which[self.row]
        self._actions = (self.infoset, start), (which[batch.size + self._at], self._end)

    def policy(self, probs: Float32s) -> Float64s:
        """The probability of each move, float64 [n], by those of actions in the views, `probs`
        float32 [v, A]."""
        start, end = self._actions
        return (probs[start] * probs[end]).astype(np.float64)

    def after(self, moves: Int64s) -> Batch:
        """The states behind these moves."""
        batch = Batch.gathered([(self._chosen, self._at[moves])])
        batch.apply(self._end[moves].astype(np.int32))
        return batch


class InfosetActions:
    """What a side may choose: the m distinct ones of n pairs of an information set and a move.

    sets    int64 [m], the information sets, ascending
    moves   int64 [m]
    which   int64 [n], of each given pair its place among the m
    priors  float64 [m], the blueprint's policy
    """

    def __init__(self, sets: Int64s, moves: Int64s, policy: Float64s) -> None:
        size = int(moves.max()) + 1
        pairs, at, self.which = np.unique(
            sets * size + moves, return_index=True, return_inverse=True
        )
        self.sets, self.moves = pairs // size, pairs % size
        self._first = np.flatnonzero(np.diff(self.sets, prepend=-1))
        self._sizes = np.diff(np.append(self._first, len(pairs)))
        self.priors = self._normalised(np.maximum(policy[at], FLOOR))

    def __len__(self) -> int:
        return len(self.sets)

    def response(self, values: Float64s, eta: float) -> Float64s:
        """The policies proportional to priors exp(eta values), float64 [m]."""
        logits = np.log(self.priors) + eta * values
        logits -= np.repeat(np.maximum.reduceat(logits, self._first), self._sizes)
        return self._normalised(np.exp(logits))

    def _normalised(self, weights: Float64s) -> Float64s:
        sums = np.add.reduceat(weights, self._first)
        return np.asarray(weights / np.repeat(sums, self._sizes), np.float64)


class Subgame:
    """Two plies from a decision of `root`, with `own` hands and the `other` side's, uint8 [n,
    squares] each. All hands make the same `moves`, if they can. The steps are

        views, legal  where the blueprint's policy is needed
        set_policy    keeps replies that are not rare; `leaves` are their views, to be valued
        solve         the own policy and values
    """

    def __init__(self, root: Root, own: Bytes, other: Bytes, seed: int, moves: Int64s) -> None:
        self.side, self.pairs, self._others = root.side, len(own) * len(other), len(other)
        begun = Batch.gathered([(root.draw(1, seed), np.zeros(self.pairs, np.int32))])
        assign_types(begun, np.tile(other, (len(own), 1)))
        assign_types(begun, np.repeat(own, len(other), axis=0), own=True)
        self._plies = [MoveTable(begun, moves)]
        after = self._plies[0].after(np.arange(len(self._plies[0].row)))
        live = after.actors() >= 0
        self._over, self._live = np.flatnonzero(~live), np.flatnonzero(live)
        self._returns = after.returns()[self._over, self.side].astype(np.float64)
        self.leaves = np.empty((0, begun.game.observation_bytes), np.uint8)
        if len(self._live):
            self._plies.append(MoveTable(Batch.gathered([(after, self._live)])))
        self.views = np.concatenate([plies.views for plies in self._plies])
        self.legal = np.concatenate([plies.legal for plies in self._plies])

    def set_policy(self, probs: Float32s, min_probability: float) -> None:
        """`probs` float32 [v, A]: the blueprint's policy in `views`. Replies less probable
        than `min_probability` are left out, unless they are the likeliest."""
        first, k = self._plies[0], len(self._plies[0].views)
        self.own = InfosetActions(first.row // self._others, first.move, first.policy(probs[:k]))
        if len(self._plies) == 1:
            return
        second = self._plies[1]
        policy = second.policy(probs[k:])
        best = np.zeros(second.infoset.max() + 1)
        np.maximum.at(best, second.infoset, policy)
        kept = np.flatnonzero(policy >= np.minimum(min_probability, best[second.infoset]))
        self.replies = InfosetActions(second.infoset[kept], second.move[kept], policy[kept])
        self._choice = self.own.which[self._live][second.row[kept]]
        later = second.after(kept)
        self._value = later.returns()[:, self.side].astype(np.float64)
        self._nonterminal = np.flatnonzero(later.actors() >= 0)
        if len(self._nonterminal):
            leaves = later.observe()[self._nonterminal]
            first_of, self._leaf = distinct_views(leaves, np.zeros((len(leaves), 1), np.uint8))
            self.leaves = leaves[first_of]

    def solve(
        self, values: Float32s, iterations: int, eta: float, reply_eta: float
    ) -> tuple[Float64s, Float64s]:
        """The own average policy and what its choices are worth, float64 [own choices], if leaves
        are worth `values` float32 [leaves], by smooth fictitious play: each side answers the
        average of the other by `InfosetActions.response`, and averages weigh linearly."""
        weight = 1 / self._others
        ended = self.own.which[self._over]
        alone = np.zeros(len(self.own))
        np.add.at(alone, ended, self._returns * weight)
        if len(self._plies) == 1:
            return self.own.response(alone, eta), alone
        if len(self._nonterminal):
            self._value[self._nonterminal] = values[self._leaf]
        table = np.zeros((len(self.own), len(self.replies)), np.float32)
        counterfactual_reach = np.zeros_like(table)
        np.add.at(table, (self._choice, self.replies.which), self._value * weight)
        np.add.at(counterfactual_reach, (self._choice, self.replies.which), weight)
        mine, theirs, q = self.own.priors.copy(), self.replies.priors.copy(), alone
        for n in range(iterations):
            now = mine.astype(np.float32)
            reach = now @ counterfactual_reach
            worth = np.divide(now @ table, reach, out=np.zeros_like(reach), where=reach > 0)
            part = 2 / (n + 2)
            theirs += part * (self.replies.response(-worth.astype(np.float64), reply_eta) - theirs)
            q = alone + table @ theirs.astype(np.float32)
            mine += part * (self.own.response(q, eta) - mine)
        return mine, q


@dataclass(frozen=True)
class EndgameSearch(Search):
    """Searches where neither side has more than `max_hands` hands.

    eta, tau               of the `step` from the blueprint's policy
    belief                 draws the other side's hands
    own, other             number of hands searched: own ones, all alike likely, and the enemy's
    iterations             of fictitious play
    reply_eta              step size of the other side
    min_probability        moves below it, by the blueprint, are not searched
    min_reply_probability  replies below it are not searched
    """

    max_hands: int
    eta: float
    tau: float
    belief: BeliefSampler
    own: int = 4
    other: int = 8
    iterations: int = 32
    reply_eta: float = 10.0
    min_probability: float = 0.003
    min_reply_probability: float = 0.03

    def __call__(
        self, roots: Sequence[Root], blueprint: Blueprint, seed: int
    ) -> list[SearchResult | None]:
        """Two calls of the blueprint serve all decisions. Elsewhere it finds nothing."""
        own = [self.hands(root, seed) for root in roots]
        few = [root for root, some in zip(roots, own, strict=True) if some is not None]
        first = [range(self.other)] * len(few)
        believed = iter(self.belief(few, first, blueprint, seed) if few else ())
        games = [
            None
            if some is None
            else self.subgame(root, some, hidden_types(next(believed).worlds), seed)
            for root, some in zip(roots, own, strict=True)
        ]
        some = [game for game in games if game is not None]
        if some:
            views, legal = zip(*((game.views, game.legal) for game in some), strict=True)
            probs = blueprint.evaluate_distinct(np.concatenate(views), np.concatenate(legal))[0]
            ends = np.cumsum([len(one) for one in views])
            for game, part in zip(some, np.split(probs, ends[:-1]), strict=True):
                game.set_policy(part, self.min_reply_probability)
        sizes = [0 if game is None else len(game.leaves) for game in games]
        values = np.empty(0, np.float32)
        if any(sizes):
            values = blueprint.values(np.concatenate([game.leaves for game in some]))
        parts = np.split(np.clip(values, -1, 1), np.cumsum(sizes[:-1]))
        return [
            None if game is None else self._result(root, game, part)
            for root, game, part in zip(roots, games, parts, strict=True)
        ]

    def hands(self, root: Root, seed: int) -> Bytes | None:
        """Own hands of a decision, uint8 [n, squares], the true one first; None: one of the sides
        has too many."""
        seen = np.frombuffer(root.seen, observation_dtype(_squares(root)))[0]
        own = hands(seen["cells"], seen["own_unrevealed"].tolist(), False, self.max_hands)
        other = hands(seen["cells"], seen["enemy_unrevealed"].tolist(), True, self.max_hands)
        if own is None or other is None:
            return None
        true = (own == np.where(own[0] != NO_PIECE, seen["cells"] & TYPE, NO_PIECE)).all(1)
        keys = root.key(seed, Stream.HANDS) + np.arange(self.max_hands)
        drawn = uniform(seed, keys, np.zeros(self.max_hands, np.int32), Stream.HANDS)
        return own[np.lexsort((drawn[: len(own)], ~true))[: self.own]]

    def subgame(self, root: Root, own: Bytes, other: Bytes, seed: int) -> Subgame:
        """That of a decision with these hands; one that is there twice is twice as likely."""
        moves = _moves(root)[root.policy >= min(self.min_probability, root.policy.max())]
        return Subgame(root, own, other, seed, moves)

    def _result(self, root: Root, game: Subgame, values: Float32s) -> SearchResult:
        """Moves that were not looked at keep their probability, and have the mean q."""
        worth = game.solve(values, self.iterations, self.eta, self.reply_eta)[1]
        mine = game.own.sets == 0
        places = np.searchsorted(game.own.moves[mine], moves := _moves(root))
        places = np.minimum(places, mine.sum() - 1)
        looked = game.own.moves[mine][places] == moves
        q, policy = worth[mine][places], root.policy.copy()
        improved = step(policy[looked], q[looked], self.eta, self.tau)
        q[~looked] = improved @ q[looked]
        policy[looked] = improved * policy[looked].sum()
        unknown = np.full(len(q), np.nan)
        return SearchResult(policy, q, unknown, game.pairs, float(game.pairs), game.pairs)


def _squares(root: Root) -> int:
    return len(root.seen) - observation_dtype(1).itemsize + 1


def _moves(root: Root) -> Int64s:
    """The moves of a decision, int64 [m], as `MoveTable.move` has them."""
    moves: Int64s = np.array(root.moves, np.int64) @ np.array([_squares(root), 1])
    return moves
