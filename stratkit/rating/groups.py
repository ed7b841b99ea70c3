"""What games cannot tell: groups that never met, and groups that won everything or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stratkit.errors import CheckFailed
from stratkit.rating.pool import Mask, Pool


def check_linked(pool: Pool, anchored: Sequence[int] = ()) -> None:
    """Raises `CheckFailed` when there are groups of players who never met. Players whose ratings
    are given (`anchored`) need not have met."""
    groups = linked(pool, anchored)
    if len(groups) > 1:
        parts = "; ".join(_listed(pool, group) for group in groups)
        raise CheckFailed(
            f"groups that never met cannot be compared: {parts} (--prior 1 makes it up)"
        )


def linked(pool: Pool, anchored: Sequence[int] = ()) -> list[list[int]]:
    """The players in groups that are linked by games, or by ratings that are given; in the order
    of their first players."""
    points = pool.points()
    return _groups(((points + points.T) > 0) | _mutual(len(points), anchored))


def unbeaten(pool: Pool, anchored: Sequence[int] = ()) -> str | None:
    """`A won every game, B lost every game`, if there are such groups of linked players: the most
    likely difference from the others is infinite."""
    scored = (pool.points() > 0) | _mutual(len(pool.names), anchored)
    groups = _groups(scored)
    if len(groups) < 2:
        return None
    parts = []
    for table, verb in ((scored.T, "won"), (scored, "lost")):
        for group in groups:
            rest = [i for i in range(len(scored)) if i not in group]
            if not table[np.ix_(group, rest)].any():
                others = "" if len(group) == 1 else " against the others"
                parts.append(f"{_listed(pool, group)} {verb} every game{others}")
    return "; ".join(parts)


def _mutual(players: int, some: Sequence[int]) -> Mask:
    """[i, j]: both are among `some`."""
    among = np.isin(np.arange(players), some)
    return np.asarray(among[:, None] & among)


def _groups(links: Mask) -> list[list[int]]:
    """The players in groups within which links lead from each to each."""
    reach = links | np.eye(len(links), dtype=bool)
    for k in range(len(links)):
        reach |= reach[:, k, None] & reach[k]
    mutual = reach & reach.T
    return [np.flatnonzero(row).tolist() for i, row in enumerate(mutual) if i == row.argmax()]


def _listed(pool: Pool, players: Sequence[int]) -> str:
    """Names for a message; a few of them if there are many."""
    names = [pool.names[i] for i in players]
    few = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} more"]
    return ", ".join(few)
