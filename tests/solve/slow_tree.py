"""A game's tree the slow and obvious way: nested Python objects, information states spelt out.

Chance's outcomes are taken as equally likely, as they are in Kuhn poker.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine import Batch, Game, Tree

# A player, its earlier observations and actions, and what it sees now.
Key = tuple[int, tuple[tuple[bytes, int], ...], bytes]
Policy = Mapping[Key, Mapping[int, float]]


@dataclass
class Node:
    """A history: `actor` is a player, -1 for chance or -2 for nobody; `gain` is player 0's."""

    actor: int
    key: Key | None = None
    gain: float = 0.0
    children: dict[int, Node] = field(default_factory=dict)


def grow(game: Game, actions: tuple[int, ...] = (), memory: tuple[tuple, tuple] = ((), ())) -> Node:
    """The tree below the history of these actions."""
    batch = Batch(game, 1)
    for action in actions:
        batch.apply(np.array([action], np.int32))
    actor = int(batch.actors()[0])
    if actor == -2:
        return Node(actor, gain=float(batch.returns()[0, 0]))
    seen = batch.observe()[0].tobytes()
    node = Node(actor, (actor, memory[actor], seen) if actor >= 0 else None)
    for action in map(int, np.flatnonzero(batch.legal()[0])):
        after = list(memory)
        if actor >= 0:
            after[actor] = (*memory[actor], (seen, action))
        node.children[action] = grow(game, (*actions, action), (after[0], after[1]))
    return node


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in node.children.values():
        yield from nodes(child)


def keys(tree: Tree) -> list[Key]:
    """What the information sets of a Tree are, spelt out."""
    found: list[Key] = []
    for player, before, seen in zip(tree.players, tree.before, tree.observations(), strict=True):
        memory: tuple[tuple[bytes, int], ...] = ()
        if before:
            _, earlier, then = found[tree.owner[before - 1]]
            memory = (*earlier, (then, int(tree.actions[before - 1])))
        found.append((int(player), memory, seen.tobytes()))
    return found


def spelt_out(tree: Tree, flat: np.ndarray) -> dict[Key, dict[int, float]]:
    """A policy, or other numbers, [E] of a Tree by information states and actions."""
    out: dict[Key, dict[int, float]] = defaultdict(dict)
    names = keys(tree)
    for owner, action, number in zip(tree.owner, tree.actions, flat, strict=True):
        out[names[owner]][int(action)] = float(number)
    return dict(out)


def odds(node: Node, policy: Policy) -> dict[int, float]:
    """The probability of each child."""
    if node.key is None:
        return dict.fromkeys(node.children, 1 / len(node.children))
    return dict(policy[node.key])


def value(node: Node, policy: Policy, charge: Callable[[Node], float] = lambda node: 0.0) -> float:
    """The expected gain of player 0, with what `charge` gives it at each node."""
    if not node.children:
        return node.gain
    below = (p * value(node.children[a], policy, charge) for a, p in odds(node, policy).items())
    return charge(node) + sum(below)


def best_value(root: Node, policy: Policy, player: int) -> float:
    """The most that `player` can get: every pure policy of it is tried."""
    legal = {n.key: list(n.children) for n in nodes(root) if n.actor == player}
    sign = -1 if player else 1
    results = []
    for choices in itertools.product(*legal.values()):
        pure = {key: {choice: 1.0} for key, choice in zip(legal, choices, strict=True)}
        results.append(sign * value(root, {**policy, **pure}))
    return max(results)


def reaches(
    node: Node, policy: Policy, others: tuple[float, float] = (1.0, 1.0)
) -> Iterator[tuple[Node, float, float]]:
    """Each node where a player acts, with the probability of getting there but for its own part,
    and its own part. `others`: the probability but for player 0's part, and for player 1's."""
    if node.actor >= 0:
        yield node, others[node.actor], own(node, policy)
    for action, p in odds(node, policy).items() if node.children else ():
        now = tuple(x if node.actor == i else x * p for i, x in enumerate(others))
        yield from reaches(node.children[action], policy, (now[0], now[1]))


def own(node: Node, policy: Policy) -> float:
    """The probability that the player who acts did what it did so far."""
    assert node.key
    player, memory, _ = node.key
    result = 1.0
    for i, (seen, action) in enumerate(memory):
        result *= policy[player, memory[:i], seen][action]
    return result


class SlowCFR:
    """CFR by the letter, with alternating updates; weights as in Discounted CFR."""

    def __init__(self, root: Node) -> None:
        self.root, self.t = root, 0
        self.legal = {n.key: list(n.children) for n in nodes(root) if n.key}
        self.regret = {key: dict.fromkeys(legal, 0.0) for key, legal in self.legal.items()}
        self.sums = {key: dict.fromkeys(legal, 0.0) for key, legal in self.legal.items()}

    def policy(self) -> dict[Key, dict[int, float]]:
        """Regret matching."""
        return {key: _proportional(regret) for key, regret in self.regret.items()}

    def average(self) -> dict[Key, dict[int, float]]:
        """The average policy."""
        return {key: _proportional(sums) for key, sums in self.sums.items()}

    def step(self, weight: float, forget: Callable[[float, int], float]) -> None:
        """An iteration that counts `weight` in the average; `forget` changes each regret."""
        self.t += 1
        for player in (0, 1):
            policy = self.policy()
            sign = -1 if player else 1
            first = set()
            for node, others, mine in reaches(self.root, policy):
                if node.actor != player or node.key is None:
                    continue
                here = value(node, policy)
                for action, child in node.children.items():
                    gain = sign * (value(child, policy) - here)
                    self.regret[node.key][action] += others * gain
                    if node.key not in first:
                        self.sums[node.key][action] += weight * mine * policy[node.key][action]
                first.add(node.key)
            for key in first:
                self.regret[key] = {a: forget(r, self.t) for a, r in self.regret[key].items()}


def _proportional(numbers: Mapping[int, float]) -> dict[int, float]:
    total = sum(max(x, 0.0) for x in numbers.values())
    if total <= 0:
        return dict.fromkeys(numbers, 1 / len(numbers))
    return {action: max(x, 0.0) / total for action, x in numbers.items()}
