"""What self-play is asked for, and whether it makes sense."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from stratkit.errors import UsageError
from stratkit.models.shipped import SHIPPED
from stratkit.players.registry import NETWORK, kind_of, parse_keys
from stratkit.players.spec import PlayerKind, PlayerSpec, split_options

RANDOM, HEURISTIC = "random", "heuristic"  # the policies that are no networks
ITSELF = "itself"  # among the opponents: the policy


@dataclass(frozen=True, kw_only=True)
class SelfplayOptions:
    """The options of `selfplay`; the fields are called as they are, but for one.

    opponents   who has the other sides, by turns; None is the policy itself
    """

    game: str
    games: int | None
    follow: bool
    policy: str
    actors: str | None
    opponents: tuple[PlayerSpec | None, ...]
    search: str | None
    setups: str | None
    open: int | None
    seed: int
    first_game: int
    part: tuple[int, int] | None
    max_ahead: int | None
    slots: int | None
    threads: int
    device: str
    precision: str | None
    max_actions: int | None
    slice: int | None
    shard: int
    output: str
    force: bool

    @property
    def rules(self) -> dict[str, int]:
        """The rules that differ from the game's own."""
        return {"open": self.open} if self.open else {}

    @property
    def by_network(self) -> bool:
        """Whether a network plays."""
        return self.policy not in (RANDOM, HEURISTIC)

    @property
    def to_folder(self) -> bool:
        """Whether the output is a folder of shards."""
        return os.path.isdir(self.output) or self.output.endswith("/")

    @property
    def range(self) -> tuple[int, int | None]:
        """The first game, and how many; None: without end."""
        if self.part is None or self.games is None:
            return self.first_game, self.games
        part, parts = self.part
        first = self.games * (part - 1) // parts  # parts are runs of neighbours
        return self.first_game + first, self.games * part // parts - first

    def check(self, kinds: Sequence[PlayerKind]) -> None:
        """`UsageError`: these options do not go together, or the policy is a player of one of these
        kinds that does not play against itself."""
        if self.games is None and not self.follow:
            raise UsageError("how many games? give -n GAMES, or --follow")
        if self.games is None and self.part is not None:
            raise UsageError("--part divides -n GAMES: give -n too")
        if self.by_network and not os.path.exists(self.policy):
            self._check_policy(kinds)
        if self.follow and not self.by_network:
            raise UsageError("--follow needs the learner's RUN as --policy")
        if self.actors:
            self._check_actors(self.actors)
        if self.slice is not None and self.to_folder:
            raise UsageError("--slice goes with a stream, not with a folder", text=self.output)
        if self.max_ahead is not None and not self.follow:
            raise UsageError("--max-ahead goes with --follow")
        if self.search is not None:
            self._check_search()

    def _check_policy(self, kinds: Sequence[PlayerKind]) -> None:
        """`UsageError`: this is no network's SPEC, and nothing to follow."""
        if split_options(self.policy)[0]:
            raise UsageError(
                "keys of a PLAYER go to --actors, and not to --policy", text=self.policy
            )
        if (kind := kind_of(self.policy, kinds)) is not NETWORK:
            raise UsageError(f"{kind.name} are no policy for self-play", text=self.policy)
        if self.follow and self.policy in SHIPPED:
            what = f"--follow needs a RUN, and {self.policy} comes with stratkit"
            raise UsageError(f"{what} (a folder of that name: ./{self.policy})")

    def _check_actors(self, keys: str) -> None:
        """`UsageError`: they are no keys of a PLAYER of this policy."""
        if keys == "none":
            return
        options = parse_keys(keys, "policy" if self.by_network else self.policy).options
        if self.slice is not None and getattr(options, "searching", options):
            raise UsageError("--slice goes with no search", text=keys)

    def _check_search(self) -> None:
        """What else is asked for must mean something for examples."""
        at_default = {
            "--policy heuristic": self.policy != HEURISTIC,
            "--actors": self.actors is None,
            "--opponent": not self.opponents,
            "--setups": self.setups is None,
            "--open": self.open is None,
            "--first-game": self.first_game == 0,
            "--part": self.part is None,
            "--slice": self.slice is None,
            "--max-actions": self.max_actions is None,
            "--threads": self.threads == 1,
            "--device": self.device == "cpu",
            "--precision": self.precision in (None, "f32"),
        }
        for name, fine in at_default.items():
            if not fine:
                raise UsageError(f"{name} is not for --search, whose games are examples")
        if self.to_folder:
            raise UsageError("--search goes with a stream, not with a folder", text=self.output)
