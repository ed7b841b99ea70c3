"""Monte Carlo tree search the slow and obvious way: nested Python objects, one tree at a time,
every prior known as soon as a position is."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine import Batch
from stratkit.engine.batch import CHANCE, OVER
from stratkit.engine.observation import MOVES, ONLY_ATTACKS, SELECTED, STAGE

CLOSE = 1e-6


class HashedBlueprint:
    """A policy and a value that look random, and are a function of what is seen."""

    def __init__(self, sharpness: float = 1.0) -> None:
        self.sharpness, self.calls, self.rows = sharpness, 0, 0

    def evaluate_distinct(
        self, observations: np.ndarray, legal: np.ndarray, values: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        self.rows += len(legal)
        policy = np.zeros(legal.shape, np.float32)
        expected = np.zeros(len(legal), np.float32)
        for row, (seen, may) in enumerate(zip(observations, legal, strict=True)):
            random = np.random.default_rng(zlib.crc32(seen.tobytes() + may.tobytes()))
            weights = np.exp(self.sharpness * random.normal(size=len(may))) * may
            policy[row] = weights / weights.sum()
            expected[row] = random.uniform(-0.5, 0.5)
        return policy, expected

    def values(self, observations: np.ndarray) -> np.ndarray:
        raise AssertionError("values come with policies")


class HashedMoves(HashedBlueprint):
    """Tells whole moves at once, too: the destinations' policy depends on the position between
    plies and on the piece."""

    tells_moves = True

    def evaluate_distinct(
        self, observations: np.ndarray, legal: np.ndarray, values: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        self.rows += len(legal)
        found = [self._of(*row) for row in zip(observations, legal, strict=True)]
        policy, expected = zip(*found, strict=True)
        return np.stack(policy), np.array(expected, np.float32)

    def _of(self, seen: np.ndarray, may: np.ndarray) -> tuple[np.ndarray, float]:
        position = seen.copy()
        position[STAGE], position[SELECTED] = 0, 0
        position[ONLY_ATTACKS:MOVES] = 0
        selected = int(seen[SELECTED]) if seen[STAGE] else -1
        random = np.random.default_rng([zlib.crc32(position.tobytes()), selected + 1])
        weights = np.exp(self.sharpness * random.normal(size=len(may))) * may
        return (weights / weights.sum()).astype(np.float32), random.uniform(-0.5, 0.5)

    def evaluate_moves(
        self, observations: np.ndarray, legal: np.ndarray, moves: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        first, expected = HashedMoves.evaluate_distinct(self, observations, legal)
        priors = np.empty(len(moves), np.float32)
        for row, source in np.unique(moves[:, :2], axis=0):
            its = np.flatnonzero((moves[:, :2] == (row, source)).all(1))
            seen, may = observations[row].copy(), np.zeros_like(legal[row])
            seen[STAGE], seen[SELECTED] = 1, source
            may[moves[its, 2]] = 1
            priors[its] = first[row, source] * self._of(seen, may)[0][moves[its, 2]]
        return priors, expected


def outcomes(batch: Batch) -> np.ndarray:
    """The probabilities of chance's outcomes in each row, float64 [n, A], after the deal: in Leduc
    poker a card of the rank, of which there are two, is less likely if a player holds one."""
    legal = batch.legal().astype(np.float64)
    if batch.game.name == "leduc":
        histories = batch.histories()
        assert histories is not None
        for row, cards in enumerate(histories[:, :2]):
            for card in cards:
                legal[row, card] *= 0.5 if cards[0] != cards[1] else 0
    return legal / np.maximum(legal.sum(1, keepdims=True), 1e-9)


@dataclass
class Node:
    """A position between two moves; what it knows is player 0's."""

    state: Batch
    actor: int
    low: float = -1.0
    high: float = 1.0
    visits: int = 0
    sum: float = 0.0
    moves: list[tuple[int, ...]] = field(default_factory=list)
    priors: list[float] = field(default_factory=list)
    children: list[Node | None] = field(default_factory=list)

    def mean(self, actor: int) -> float:
        value = min(max(self.sum / self.visits, self.low), self.high) if self.visits else -1.0
        return value if actor != 1 else -value


class SlowTree:
    """Searches one state by `blueprint`."""

    def __init__(
        self, root: Batch, actions: int, blueprint: HashedBlueprint, cpuct: float, unit: float
    ) -> None:
        self.actions, self.blueprint, self.cpuct, self.unit = actions, blueprint, cpuct, unit
        self.root = self.node(root)
        self.expand(self.root)
        self.root.visits, self.root.sum = 1, 0.0

    def node(self, state: Batch) -> Node:
        node = Node(state, int(state.actors()[0]))
        if node.actor == OVER:
            node.low = node.high = float(np.float32(state.returns()[0, 0] / self.unit))
        if node.actor == CHANCE:
            node.moves = [(int(a),) for a in np.flatnonzero(state.legal()[0])]
            chances = outcomes(state)[0].astype(np.float32)
            node.priors = [float(chances[action]) for (action,) in node.moves]
            node.children = [None] * len(node.moves)
        return node

    def after(self, state: Batch, action: int) -> Batch:
        copy = Batch.gathered([(state, [0])])
        copy.apply(np.array([action], np.int32))
        return copy

    def ask(self, state: Batch) -> tuple[np.ndarray, float]:
        policy, values = self.blueprint.evaluate_distinct(state.observe(), state.legal(), True)
        return policy[0], float(values[0])

    def expand(self, node: Node) -> float:
        """Writes the moves and their priors; what the actor expects."""
        policy, value = self.ask(node.state)
        for action in np.flatnonzero(node.state.legal()[0]).tolist():
            if self.actions == 1:
                node.moves.append((action,))
                node.priors.append(float(policy[action]))
                continue
            selected = self.after(node.state, action)
            ends = np.flatnonzero(selected.legal()[0]).tolist()
            second = self.ask(selected)[0] if len(ends) > 1 else np.ones(selected.game.actions)
            for end in ends:
                node.moves.append((action, end))
                node.priors.append(float(policy[action]) * float(second[end]))
        node.children = [None] * len(node.moves)
        return value

    def child(self, node: Node, at: int) -> Node:
        if (found := node.children[at]) is None:
            state = node.state
            for action in node.moves[at]:
                state = self.after(state, action)
            found = node.children[at] = self.node(state)
        return found

    def bounds(self, node: Node, at: int) -> tuple[float, float]:
        """Of a move, as its player sees it."""
        child = node.children[at]
        if child is None:
            return -1.0, 1.0
        return (child.low, child.high) if node.actor != 1 else (-child.high, -child.low)

    def choose(self, node: Node) -> int | None:
        if node.actor == CHANCE:
            behind = [
                -math.inf
                if child and child.low == child.high
                else prior * (node.visits + 1) - (child.visits if child else 0)
                for prior, child in zip(node.priors, node.children, strict=True)
            ]
            return int(np.argmax(behind))
        least = node.low if node.actor == 0 else -node.high
        proven, best = node.low == node.high, (-math.inf, None)
        rate = math.log((node.visits + 19653) / 19652) + self.cpuct
        for at, (prior, child) in enumerate(zip(node.priors, node.children, strict=True)):
            low, high = self.bounds(node, at)
            if proven:
                may = high > low and high > least - CLOSE
            elif node is self.root:
                may = high > least - CLOSE
            else:
                may = high > least + CLOSE or low > least - CLOSE
            visits = child.visits if child else 0
            q = child.mean(node.actor) if child and visits else -1.0
            score = q + rate * prior * math.sqrt(node.visits) / (1 + visits)
            if may and score > best[0]:
                best = score, at
        return best[1]

    def simulate(self) -> bool:
        """One simulation; False: nothing is left to find out."""
        path = [self.root]
        while True:
            at = self.choose(path[-1])
            if at is None:
                return False
            path.append(self.child(path[-1], at))
            node = path[-1]
            if node.low == node.high:
                return self.add_up(path, node.low)
            if not node.moves:
                value = self.expand(node)
                return self.add_up(path, value / self.unit * (1 - 2 * node.actor))

    def add_up(self, path: list[Node], value: float) -> bool:
        for node in reversed(path):
            if node.moves:
                self.tighten(node)
            if node.actor == CHANCE:
                seen = [(p, c) for p, c in zip(node.priors, node.children, strict=True) if c]
                seen = [(p, c) for p, c in seen if c.visits]
                value = sum(p * c.mean(0) for p, c in seen) / sum(p for p, _ in seen)
            value = min(max(value, node.low), node.high)
            node.visits += 1
            node.sum = value * node.visits if node.actor == CHANCE else node.sum + value
        return True

    def tighten(self, node: Node) -> None:
        each = [self.bounds(node, at) for at in range(len(node.moves))]
        if node.actor == CHANCE:
            low = sum(p * b[0] for p, b in zip(node.priors, each, strict=True))
            high = sum(p * b[1] for p, b in zip(node.priors, each, strict=True))
            low, high = float(np.float32(low)), float(np.float32(high))
        else:
            low, high = max(b[0] for b in each), max(b[1] for b in each)
        if high - low < CLOSE:
            high = low
        node.low, node.high = (low, high) if node.actor != 1 else (-high, -low)
