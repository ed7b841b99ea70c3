"""The options of `exploit`, and which go together. Imports no numpy: `--help` needs it."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import fields

from stratkit.declared import MAX_THREADS, Kind, number, one_of, option_name, usage, whole
from stratkit.errors import UsageError
from stratkit.frozen import frozen
from stratkit.pictures import form_of
from stratkit.storage.streams import check_free

AVERAGE, ITERATE = "average", "iterate"  # what is counted inside a subgame
OWN, NOTHING = "own", "none"  # words for first weights
MARKS = (300, 1_000, 3_000, 7_000, 18_000)  # steps at which exploiters are measured
BY_LEARNERS = "--learn STEPS --out FOLDER has learners exploit it"
# Options of exact values, by their fields, of which learners make nothing.
EXACT = ("repeats", "estimator", "table", "local", "pairs", "write_response")
GAMES = {True: 400, False: 4_000}  # of a match, on a board and elsewhere


def _seeds(text: str) -> tuple[int, ...]:
    one = whole(0, 2**31 - 1)
    first, comma, others = text.partition(",")
    if comma:  # "3," is the seed 3 alone, where "3" is three exploiters
        return tuple(map(one.read, [first, *(others.split(",") if others else ())]))
    return tuple(range(1, 1 + whole(1, 1000).read(text)))


def _different(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError
    return seeds


SEEDS = Kind(
    "N", "a number from 1 to 1000, or different seeds, as in 3,5 or 3,", _seeds, _different
)


@frozen(kw_only=True)
class ExploitOptions:
    """The arguments and options of `exploit`, but for those of exploiters."""

    game: str
    policies: tuple[str, ...]
    repeats: int = usage(
        "--repeats N",
        "Evaluate the mean policy of N searches (default: 8).",
        whole(2, 10_000),
        8,
    )
    estimator: str = usage(
        "--estimator WORD",
        "What a search of public belief states counts in a subgame: its average policy (the "
        "default), or the iterate that was drawn.",
        one_of(AVERAGE, ITERATE),
        AVERAGE,
    )
    threads: int = usage(
        "--threads N",
        "Threads of walks through large games (default: the cores).",
        whole(1, MAX_THREADS),
        lambda: len(os.sched_getaffinity(0)),
    )
    memory: float = usage(
        "--memory GIB",
        "The most that a tree or a walk may take (default: 3).",
        number(above=0, most=2**20),
        3.0,
    )
    open: int | None
    table: str | None = usage(
        "--table FILE", "Keep the network's policy in FILE, and take it from there."
    )
    local: bool = usage(
        "--local", "Tell what choosing one turn anew gains; among more than two players, always."
    )
    pairs: bool = usage("--pairs", "Let each two POLICYs play each other, too, in both seats.")
    write_response: str | None = usage(
        "--write-response FILE", "Write the best response, which plays as response:FILE."
    )
    as_json: bool = usage("--json", "Print JSON instead of a table.")
    plot: str | None = usage("--plot FILE", "Draw the exploitabilities into FILE.png or FILE.svg.")
    force: bool = usage("-f, --force", "Overwrite FILE if it exists.")

    @property
    def rules(self) -> dict[str, int]:
        """The rules that differ from the game's own."""
        return {"open": self.open} if self.open else {}

    def check(self) -> None:
        """`UsageError`, `InputError`: options that do not go together."""
        if self.plot == "-":
            raise UsageError("a picture cannot go where the table goes: name a file")
        if self.plot is not None:
            form_of(self.plot)
        if self.table is not None and len(self.policies) != 1:
            raise UsageError("--table keeps one policy", text=" ".join(self.policies))
        if self.write_response is not None and (self.pairs or len(self.policies) != 1):
            raise UsageError("--write-response responds to one policy, without --pairs")
        if self.write_response is not None:
            check_free(self.write_response, self.force)

    def check_players(self, players: int) -> None:
        """`UsageError`: an option that the game of so many players has no place for."""
        named = {"--pairs": self.pairs, "--write-response": self.write_response is not None}
        for name, given in named.items():
            if given and players != 2:
                raise UsageError(f"{name} is for two players, and {self.game} has {players}")


@frozen(kw_only=True)
class LearnOptions:
    """The options of `exploit` for a best response that is learned; None: not given."""

    learn: int | None = usage(
        "--learn STEPS",
        "Learn best responses to one PLAYER for so many steps, and measure them in games.",
        whole(1),
    )
    out: str | None = usage("--out FOLDER", "The folder of the exploiters; it is gone on with.")
    seeds: tuple[int, ...] | None = usage(
        "--seeds N", "Exploiters, or their seeds, as in 3,5 or 3, (default: 1).", SEEDS
    )
    weights: str | None = usage(
        "--weights WORD",
        "First weights: own, the PLAYER's (the default, where it has some); none; or a "
        "checkpoint, RUN or shipped player.",
    )
    only: str | None = usage(
        "--only WORD",
        "Learn to place pieces and nothing else: deployment.",
        one_of("deployment"),
    )
    config: str | None = usage(
        "--config FILE", "Settings of train as TOML, instead of those of exploiters."
    )
    games: int | None = usage(
        "-n, --games N",
        f"Games of each match (default: {GAMES[True]:,} on boards, or {GAMES[False]:,}).",
        whole(2, 10**7, even=True),
    )
    jobs: int | None = usage("--jobs N", "Exploiters that learn at a time (default: 1).", whole(1))

    def check(self, policies: Sequence[str], given: Container[str]) -> None:
        """`UsageError`: options that do not go together; of those of exact values, the fields
        `given`."""
        if self.learn is None:
            for field in fields(self):
                if getattr(self, field.name) is not None:
                    name = field.metadata["usage"][0].split()[-2]
                    raise UsageError(f"{name} goes with --learn STEPS")
        elif len(policies) > 1:
            raise UsageError("--learn takes one PLAYER", text=policies[1])
        elif not self.out:
            raise UsageError("--learn needs --out FOLDER, where exploiters are kept")
        elif self.only and self.weights == NOTHING:
            raise UsageError("--only deployment needs weights that play, not --weights none")
        elif exact := [name for name in EXACT if name in given]:
            raise UsageError(f"{option_name(exact[0])} is for exact values, not for --learn")

    @property
    def marks(self) -> tuple[int, ...]:
        """The steps at which exploiters are measured."""
        assert self.learn
        return (*(mark for mark in MARKS if mark < self.learn), self.learn)
