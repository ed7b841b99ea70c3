"""A game's tree the slow and obvious way: nested Python objects, information states spelt out.

Chance's outcomes are taken as equally likely, as they are in Kuhn poker.
"""

from __future__ import annotations

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
    """A history: `actor` is a player, -1 for chance or -2 for nobody; `gains` are the players', and
    `turn` is the simultaneous turn, -1 for none."""

    actor: int
    key: Key | None = None
    gains: tuple[float, ...] = ()
    turn: int = -1
    children: dict[int, Node] = field(default_factory=dict)

    @property
    def gain(self) -> float:
        """Player 0's."""
        return self.gains[0]


def grow(game: Game, actions: tuple[int, ...] = (), memory: tuple[tuple, ...] = ()) -> Node:
    """The tree below the history of these actions."""
    memory = memory or ((),) * game.players
    batch = Batch(game, 1)
    for action in actions:
        batch.apply(np.array([action], np.int32))
    actor = int(batch.actors()[0])
    if actor == -2:
        return Node(actor, gains=tuple(map(float, batch.returns()[0])))
    seen = batch.observe()[0].tobytes()
    key = (actor, memory[actor], seen) if actor >= 0 else None
    node = Node(actor, key, turn=int(batch.turns()[0]))
    for action in map(int, np.flatnonzero(batch.legal()[0])):
        after = list(memory)
        if actor >= 0:
            after[actor] = (*memory[actor], (seen, action))
        node.children[action] = grow(game, (*actions, action), tuple(after))
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


def value(
    node: Node,
    policy: Policy,
    charge: Callable[[Node], float] = lambda node: 0.0,
    player: int = 0,
) -> float:
    """The expected gain of a player, with what `charge` gives it at each node."""
    if not node.children:
        return node.gains[player]
    below = (
        p * value(node.children[a], policy, charge, player)
        for a, p in odds(node, policy).items()
        if p
    )
    return charge(node) + sum(below)


def best_value(root: Node, policy: Policy, player: int) -> float:
    """The most that `player` can get: every pure policy of it is tried."""
    legal = {n.key: list(n.children) for n in nodes(root) if n.actor == player}
    return _best_of(root, policy, player, legal)


def _best_of(
    root: Node, policy: Policy, player: int, legal: Mapping[Key | None, list[int]]
) -> float:
    """The same, where it chooses anew in these states alone."""
    return max(value(root, {**policy, **pure}, player=player) for pure in _plans(legal, {}))


def _plans(
    legal: Mapping[Key | None, list[int]], plan: dict[Key | None, dict[int, float]]
) -> Iterator[Policy]:
    """Every pure policy in these states that begins so, whatever it would do where it never comes
    by its own choice."""

    def comes_to(key: Key) -> bool:
        who, memory, _ = key
        before = ((plan.get((who, memory[:i], seen)), a) for i, (seen, a) in enumerate(memory))
        return all(chosen is None or a in chosen for chosen, a in before)

    for key in legal:  # parents come before their children
        if key not in plan and comes_to(key):
            for action in legal[key]:
                yield from _plans(legal, {**plan, key: {action: 1.0}})
            return
    yield plan


def gain_of_a_turn(root: Node, policy: Policy, player: int) -> float:
    """What `player` gains by choosing one of its turns anew, in the mean of those it comes to."""
    turns: dict[Key, dict[Key | None, list[int]]] = defaultdict(dict)  # by where they begin
    _find_turns(root, player, None, turns)
    now = value(root, policy, player=player)
    gains = sum(_best_of(root, policy, player, legal) - now for legal in turns.values())
    there = (others * mine for n, others, mine in reaches(root, policy) if n.key in turns)
    return gains / sum(there)


def _find_turns(
    node: Node,
    player: int,
    begun: tuple[int, Key] | None,
    turns: dict[Key, dict[Key | None, list[int]]],
) -> None:
    if node.actor == player and node.key:
        if begun is None or node.turn < 0 or begun[0] != node.turn:
            begun = node.turn, node.key
        turns[begun[1]][node.key] = list(node.children)
    for child in node.children.values():
        _find_turns(child, player, begun, turns)


def reaches(
    node: Node, policy: Policy, others: tuple[float, ...] = (1.0,) * 7
) -> Iterator[tuple[Node, float, float]]:
    """Each node where a player acts, with the probability of getting there but for its own part,
    and its own part. `others`: the probability but for each player's part."""
    if node.actor >= 0:
        yield node, others[node.actor], own(node, policy)
    for action, p in odds(node, policy).items() if node.children else ():
        now = tuple(x if node.actor == i else x * p for i, x in enumerate(others))
        yield from reaches(node.children[action], policy, now)


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
