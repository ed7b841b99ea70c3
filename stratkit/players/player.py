"""A player and the views it plays from.

A player never sees the true state: a view holds what the acting side may know and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Views:
    """What the acting sides of n games may know, one row a decision.

    `games` int64 and `numbers` int32: the game's number and the number of the action in it;
    together
    with a seed they key every random choice. `legal` uint8 [n, actions] and `observations` uint8
    [n, observation_bytes] are in the acting side's frame.
    """

    games: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    legal: npt.NDArray[np.uint8]
    observations: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.games)


@dataclass(frozen=True)
class Decision:
    """The chosen actions int32 [n] and `mu` float32 [n], the probability with which each was
    chosen; `values` float32 [n], what the player expects to get, if it was asked for that."""

    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32] | None = None


class Player(Protocol):
    """Whoever can choose an action for each of many views at once."""

    def act(self, views: Views) -> Decision:
        """One legal action for each view."""
        ...
