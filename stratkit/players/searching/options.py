"""The keys of a PLAYER that searches. This module imports neither torch nor numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stratkit.players.options import number, one_of, option, seconds, whole

MOST_SECONDS = 3600.0


@dataclass(frozen=True)
class SearchOptions:
    """Whether and how a player searches; the defaults do nothing."""

    search: str | None = option(
        None, one_of("mmd"), "improve the policy of each move by a search from there"
    )
    rollouts: int = option(
        512, whole(1, 1_000_000), "games played on for all moves together", needs="search=mmd"
    )
    worlds: int | None = option(
        None,
        whole(1, 4096),
        "worlds, the same for all moves (default: rollouts divided by moves)",
        needs="search",
    )
    depth: int = option(2, whole(0, 2000), "plies of a rollout after the move", needs="search=mmd")
    eta: float = option(
        10.0,
        number(0.0, 1000.0),
        "step size: how far values change the policy",
        needs="search=mmd",
    )
    magnet: float = option(
        0.01, number(0.0, 100.0), "pull towards the uniform policy", needs="search=mmd"
    )
    belief: str = option(
        "uniform",
        one_of("uniform", "setups", "policy"),
        "which worlds are how likely",
        needs="search",
    )
    time: float | None = option(
        None,
        seconds(MOST_SECONDS),
        "stop a search after so long; games are then not reproducible",
        needs="search",
    )

    def __bool__(self) -> bool:
        return self.search is not None


ATARAXOS = {"search": "mmd", "rollouts": "1024", "depth": "10", "eta": "10", "magnet": ".01"}
SEARCH_PRESETS: Mapping[str, Mapping[str, str]] = {"ataraxos": ATARAXOS}
