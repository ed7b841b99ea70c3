"""What games cannot tell: groups that never met, and groups that won everything or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stratkit.errors import CheckFailed
from stratkit.rating.pool import LOST, WON, Ints, Pool


def check_linked(
    pool: Pool, anchored: Sequence[int] = (), remedy: str = "--prior 1 makes it up"
) -> None:
    """Raises `CheckFailed` when there are groups of players who never met, and tells the `remedy`.
    Players whose ratings are given (`anchored`) need not have met."""
    groups = linked(pool, anchored)
    if len(groups) > 1:
        parts = "; ".join(_listed(pool, group) for group in groups)
        raise CheckFailed(f"groups that never met cannot be compared: {parts} ({remedy})")


def linked(pool: Pool, anchored: Sequence[int] = ()) -> list[list[int]]:
    """The players in groups that are linked by games, or by ratings that are given; in the order
    of their first players."""
    one, other = pool.red, pool.blue
    return _groups(
        _links(pool, np.concatenate([one, other]), np.concatenate([other, one]), anchored)
    )


def unbeaten(pool: Pool, anchored: Sequence[int] = ()) -> str | None:
    """`A won every game, B lost every game`, if there are such groups of linked players: the most
    likely difference from the others is infinite."""
    red, blue = pool.result != LOST, pool.result != WON  # who scored
    scorers = np.concatenate([pool.red[red], pool.blue[blue]])
    links = _links(pool, scorers, np.concatenate([pool.blue[red], pool.red[blue]]), anchored)
    groups = _groups(links)
    if len(groups) < 2:
        return None
    group = {i: number for number, some in enumerate(groups) for i in some}
    between = [(group[i], group[j]) for i, some in enumerate(links) for j in some]
    scored = {i for i, j in between if i != j}
    conceded = {j for i, j in between if i != j}
    parts = []
    for some, verb in ((conceded, "won"), (scored, "lost")):
        for number in sorted(set(range(len(groups))) - some):
            others = "" if len(groups[number]) == 1 else " against the others"
            parts.append(f"{_listed(pool, groups[number])} {verb} every game{others}")
    return "; ".join(parts)


def _links(pool: Pool, froms: Ints, tos: Ints, anchored: Sequence[int]) -> list[list[int]]:
    """Of each player to whom links lead, each once; those who are `anchored` are in a circle."""
    froms = np.concatenate([froms, np.asarray(anchored, np.int64)])
    tos = np.concatenate([tos, np.roll(np.asarray(anchored, np.int64), 1)])
    players = len(pool.names)
    each = np.unique(froms * players + tos)
    cuts = np.searchsorted(each, np.arange(1, players) * players)
    return [some.tolist() for some in np.split(each % players, cuts)]


def _groups(links: Sequence[Sequence[int]]) -> list[list[int]]:
    """The players in groups within which links lead from each to each: the strongly connected
    components, by Tarjan's algorithm, without recursion."""
    order: list[int] = []  # of those whose group is not known yet, as they were visited
    index: dict[int, int] = {}  # of each player, when it was visited
    low: dict[int, int] = {}  # index of the first one whom links lead back to
    group: dict[int, list[int]] = {}

    def leave(player: int) -> None:
        if low[player] == index[player]:
            some: list[int] = []
            while not some or some[-1] != player:
                some.append(order.pop())
            some.sort()
            group.update(dict.fromkeys(some, some))

    for start in range(len(links)):
        way: list[tuple[int, Iterator[int]]] = []
        following: int | None = start if start not in index else None
        while following is not None or way:
            if following is not None:
                index[following] = low[following] = len(index)
                order.append(following)
                way.append((following, iter(links[following])))
                following = None
            player, rest = way[-1]
            for other in rest:
                if other not in index:
                    following = other
                    break
                if other not in group:
                    low[player] = min(low[player], index[other])
            if following is None:
                way.pop()
                leave(player)
                if way:
                    before = way[-1][0]
                    low[before] = min(low[before], low[player])
    return [some for i, some in sorted(group.items()) if i == some[0]]


def _listed(pool: Pool, players: Sequence[int]) -> str:
    """Names for a message; a few of them if there are many."""
    names = [pool.names[i] for i in players]
    few = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} more"]
    return ", ".join(few)
