"""A move is two actions, the piece and its destination; both are decided on when it begins."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Float64s
from stratkit.players.player import Floats, Moves


@dataclass
class MovePlan:
    """What was decided when a move began.

    plies         when that was
    destinations  by piece: squares, and the policy over them
    value         by the search, if there was one
    targets       by piece: squares, and the policy over them that is to be learned: the search's,
                  and of a piece without a share in it what is played
    """

    plies: int
    destinations: dict[int, tuple[list[int], Floats]]
    value: float = float("nan")
    targets: dict[int, tuple[list[int], Floats]] = field(default_factory=dict)


def split(
    moves: Moves, policy: Floats | Float64s, actions: int
) -> tuple[Floats, dict[int, tuple[list[int], Floats]]]:
    """A policy of moves as that of the pieces, float32 [actions], and of each the destinations."""
    first = np.zeros(actions, np.float32)
    ends: dict[int, tuple[list[int], list[float]]] = {}
    # What is 0 in float32 is never played: a sharp search has such moves.
    for (start, end), p in zip(moves, policy.astype(np.float32).tolist(), strict=False):
        if p > 0:
            first[start] += p
            squares, probs = ends.setdefault(start, ([], []))
            squares.append(end)
            probs.append(p)
    return first, {
        start: (squares, np.array(p, np.float32) / first[start])
        for start, (squares, p) in ends.items()
    }
