"""Best responses as players: the decisions to which they come (formats/response.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stratkit.arrays import Bytes, Int64s
from stratkit.engine import Tree
from stratkit.engine.dice import DiceSets
from stratkit.engine.phantom import NO_CELL, PhantomViews
from stratkit.storage.responses import Response

Found = tuple[int, int, int, int]  # player, the decision before, number of the view, action


def response_of_tree(tree: Tree, choices: Bytes) -> Response:
    """By the number of the choice in each information set, uint8 [I]."""
    chosen = 1 + tree.first[:-1] + choices  # sequences
    before = tree.before.astype(np.int64)
    parent = np.where(before > 0, tree.owner[before - 1], -1)
    comes, more = before == 0, True
    while more:  # a set is reached from the one before
        reached = comes | (parent >= 0) & comes[parent] & (chosen[parent] == before)
        comes, more = reached, bool((reached != comes).any())
    some = np.flatnonzero(comes)
    number = np.full(len(tree) + 1, -1, np.int32)  # the last one is for those without a parent
    number[some] = np.arange(len(some))
    return Response(
        tree.players[some],
        number[parent[some]],
        tree.observations()[some],
        tree.actions[chosen[some] - 1],
    )


def best_choices(tree: Tree, policy: Callable[[int], np.ndarray]) -> Bytes:
    """uint8 [I]: the first choice in each set that a best response of its player, `policy` of 0 and
    1, plays."""
    place = np.arange(len(tree.owner)) - tree.first[tree.owner]
    played = np.where(tree.mine == 0, policy(0), policy(1)) > 0
    first = np.minimum.reduceat(np.where(played, place, 255), tree.first[:-1])
    return np.asarray(first, np.uint8)


def response_of_dice(sets: DiceSets, choices: Bytes) -> Response:
    """By the number of the choice in each information set, uint8 [sets]."""
    hands, bids = sets.game.hands, sets.bids
    parts: list[tuple[int, Int64s, Int64s, Int64s]] = []
    total = 0
    for player in (0, 1):
        made = np.array([0] if player == 0 else [1 << bid for bid in range(bids)])
        numbers = (made[:, None] * hands + np.arange(hands)).ravel()
        before = np.full(len(numbers), -1)
        while len(numbers):
            made, hand = np.divmod(numbers, hands)
            action = np.frexp(made)[1] + choices[numbers]
            parts.append((player, before, numbers, action))
            own = total + np.arange(len(numbers))
            total += len(numbers)
            after, which = _after_both(made, action, bids)
            numbers, before = after * hands + hand[which], own[which]
    every = np.concatenate([numbers for _, _, numbers, _ in parts])
    return Response(
        np.concatenate([np.full(len(some), player, np.int8) for player, _, some, _ in parts]),
        np.concatenate([before for _, before, _, _ in parts]).astype(np.int32),
        sets.views_of(every)[0],
        np.concatenate([action for *_, action in parts]).astype(np.int32),
    )


def _after_both(made: Int64s, action: Int64s, bids: int) -> tuple[Int64s, Int64s]:
    """What may be made after an own bid and one of the opponent's, and in which row it began."""
    higher = np.arange(bids) > action[:, None]  # none after a call
    which, bid = np.nonzero(higher)
    return made[which] | 1 << action[which] | 1 << bid, which


def response_of_phantom(views: PhantomViews, plans: tuple[Bytes, Bytes]) -> Response:
    """By the plans of `PhantomResponses`."""
    found: list[Found] = []
    for player, plan in enumerate(plans):
        _follow(plan.tolist(), views.game.actions, 0, -1, player, found)
    players, before, numbers, actions = np.array(found).T
    seen = np.stack([views.observations(player) for player in (0, 1)])
    return Response(
        players.astype(np.int8),
        before.astype(np.int32),
        seen[players, numbers],
        actions.astype(np.int32),
    )


def _follow(
    plan: list[int], cells: int, number: int, before: int, player: int, found: list[Found]
) -> None:
    """Adds the decisions of a plan for so many cells that are left, from the view of a number."""
    if not cells or plan[0] == NO_CELL:
        return
    cell, here, half = plan[0], len(found), 2 ** (cells - 1)
    found.append((player, before, number, cell))
    _follow(plan[1:half], cells - 1, number + 3**cell, here, player, found)
    _follow(plan[half:], cells - 1, number + 2 * 3**cell, here, player, found)
