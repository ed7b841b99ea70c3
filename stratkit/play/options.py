"""What self-play is asked for, and whether it makes sense."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stratkit.declared import MAX_THREADS, REQUIRED, Kind, one_of, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen
from stratkit.models.shipped import SHIPPED
from stratkit.netnames import PRECISIONS
from stratkit.play import MAX_SLOTS
from stratkit.players.registry import HEURISTIC, NETWORK, kind_of, parse_keys
from stratkit.players.spec import PlayerKind, PlayerSpec, split_options

RANDOM = "random"
RULES = HEURISTIC.words  # with it, the policies that are no networks
ITSELF = "itself"  # among the opponents: the policy
MOST = 2**62  # games, and the number of the first one; numbers are below 2^63


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    one, several = whole(1, 10**9).read(part), whole(1, 10**9).read(parts)
    if one > several:
        raise ValueError
    return one, several


PART = Kind("I/N", "I/N with I from 1 to N", _part, lambda part: part)


@frozen(kw_only=True)
class SelfplayOptions:
    """The options of `selfplay`.

    opponents   who has the other sides, by turns or by score; None is the policy itself
    """

    game: str = usage("--game G", "The game to play.", default=REQUIRED)
    games: int | None = usage("-n GAMES", "How many games.", whole(0, MOST))
    follow: bool = usage(
        "--follow", "Play on as the learner publishes new weights in RUN (--policy)."
    )
    policy: str = usage(
        "--policy P",
        "random, heuristic, dumbbot, a player that comes with stratkit, a checkpoint or a RUN, "
        "whose online network plays (default: random).",
        default="random",
    )
    search: str | None = usage(
        "--search KEYS",
        "Write no episodes, but examples of values at public belief states, for train --algorithm "
        "rebel: cfr, cfr-avg, fp, linear-fp or flop, with iterations=, depth=, leaves= and warm=.",
    )
    actors: str | None = usage(
        "--actors KEYS",
        "Keys of a PLAYER by which the policy is played, such as search=pc-pimc,worlds=4,nodes=50 "
        "(default: those that a followed learner publishes, or none).",
    )
    opponents: tuple[PlayerSpec | None, ...] = usage(
        "--opponent PLAYER",
        "A frozen player of match on all sides but one, the next one in every game: only the "
        "policy's own decisions are learned from. Several take turns; itself is the policy.",
        default=(),
    )
    by_score: int | None = usage(
        "--by-score N",
        "Draw each --opponent by (1 - score)^2 of the policy against it, anew after every N games.",
        whole(1, 10**9),
    )
    setups: str | None = usage(
        "--setups FILE", "Begin from given setups, red's and blue's in turn; - is stdin."
    )
    max_no_attack: int | None = usage(
        "--max-no-attack N",
        "Draw after N plies without an attack (default: the game's limit).",
        whole(0, 65535),
    )
    open: int | None
    seed: int
    first_game: int = usage("--first-game K", "Number of the first game.", whole(0, MOST), 0)
    part: tuple[int, int] | None = usage(
        "--part",
        "Play part I of N of the games, for N processes; with --follow also of what may be ahead.",
        PART,
    )
    max_ahead: int | None = usage(
        "--max-ahead N",
        "With --follow: stay at most N episodes ahead of the learner (default: what it consumes "
        "between two publications; on boards 8 times that).",
        whole(1),
    )
    slots: int | None = usage(
        "--slots N",
        "Games played at a time (default: 128, with --follow a quarter of --max-ahead, or all of "
        "its default in small games).",
        whole(1, MAX_SLOTS),
    )
    threads: int = usage(
        "--threads N",
        "Threads of the engine and of networks (default: 1).",
        whole(1, MAX_THREADS),
        1,
    )
    device: str
    precision: str | None = usage(
        "--precision WORD",
        "Numbers of the network's layers: f32 or bf16 (default: f32; cuda: bf16).",
        one_of("f32", "bf16"),
    )
    max_actions: int | None = usage("--max-actions N", "Cut games after N actions.", whole(1))
    slice: int | None = usage(
        "--slice N",
        "Hand on games that go on, too, N actions at a time, to train --algorithm mmd.",
        whole(1),
    )
    shard: int = usage(
        "--shard N", "Episodes a file, if the output is a folder (default: 1024).", whole(1), 1024
    )
    output: str = usage(
        "-o, --output FILE|DIR", "Write to a file, or shards to a folder.", default="-"
    )
    force: bool = usage("-f, --force", "Overwrite FILE if it exists.")

    @property
    def rules(self) -> dict[str, int]:
        """The rules that differ from the game's own."""
        rules = {"open": self.open or None, "max_quiet": self.max_no_attack}
        return {name: value for name, value in rules.items() if value is not None}

    @property
    def by_network(self) -> bool:
        """Whether a network plays."""
        return self.policy not in (RANDOM, *RULES)

    @property
    def to_folder(self) -> bool:
        """Whether the output is a folder of shards."""
        return os.path.isdir(self.output) or self.output.endswith("/")

    @property
    def range(self) -> tuple[int, int | None]:
        """The first game, and how many; None: without end."""
        if self.part is None:
            return self.first_game, self.games
        part, parts = self.part
        if self.games is None:
            return self.first_game + (part - 1) * (MOST // parts), None
        first = self.games * (part - 1) // parts  # parts are runs of neighbours
        return self.first_game + first, self.games * part // parts - first

    @property
    def bf16(self) -> bool:
        """Whether layers compute in bfloat16."""
        return (self.precision or PRECISIONS[self.device]) == "bf16"

    def check(self, kinds: Sequence[PlayerKind]) -> None:
        """`UsageError`: these options do not go together, or the policy is a player of one of these
        kinds that does not play against itself."""
        if self.games is None and not self.follow:
            raise UsageError("how many games? give -n GAMES, or --follow")
        if self.by_network and not os.path.exists(self.policy):
            self._check_policy(kinds)
        if self.follow and not self.by_network:
            raise UsageError("--follow needs the learner's RUN as --policy")
        if self.actors:
            self._check_actors(self.actors)
        if self.slice is not None and self.to_folder:
            raise UsageError("--slice goes with a stream, not with a folder", text=self.output)
        if self.by_score is not None:
            if len({spec.text for spec in self.opponents if spec}) < 2:
                raise UsageError("--by-score needs two --opponent or more, beside itself")
            if self.part is not None:
                raise UsageError(
                    "--by-score does not go with --part: opponents follow from results"
                )
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
            f"--policy {self.policy}": self.policy not in RULES,
            "--actors": self.actors is None,
            "--opponent": not self.opponents,
            "--setups": self.setups is None,
            "--max-no-attack": self.max_no_attack is None,
            "--open": self.open is None,
            "--first-game": self.first_game == 0,
            "--part": self.part is None,
            "--slice": self.slice is None,
            "--max-actions": self.max_actions is None,
            "--threads": self.threads == 1,
        }
        for name, fine in at_default.items():
            if not fine:
                raise UsageError(f"{name} is not for --search, whose games are examples")
        if self.to_folder:
            raise UsageError("--search goes with a stream, not with a folder", text=self.output)
