"""The command `selfplay`: games of a policy against itself, as episodes."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

import click

from stratkit.cli.messages import progress, say, warn
from stratkit.cli.options import GameName, OneOf, Text, device_option, seed_option
from stratkit.cli.tool import Tool, run
from stratkit.errors import InputError, UsageError
from stratkit.storage.streams import (
    check_reader,
    discard_stdout,
    input_name,
    open_input,
    open_output,
)

if TYPE_CHECKING:
    from stratkit.play.backpressure import FolderPace, Follower, Pace
    from stratkit.play.groups import Groups
    from stratkit.play.selfplay import Opening
    from stratkit.play.table import Seating, Table
    from stratkit.players.player import Player
    from stratkit.storage.episodes import Episodes, Header

SLOTS = 128  # games at a time, where nobody waits for them
MOST_SLOTS = 1 << 16
POLL = 0.001  # seconds between looks at the learner, while there is nothing to play


class Part(click.ParamType[tuple[int, int]]):
    """I/N: part I of N."""

    name = "I/N"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", value)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is not I/N with I from 1 to N", param, ctx)
        return int(match[1]), int(match[2])


@click.command(cls=Tool, short_help="Play games of a policy against itself.")
@click.option("--game", type=GameName(), required=True, metavar="G", help="The game to play.")
@click.option("-n", "games", type=click.IntRange(0, 2**62), metavar="GAMES", help="How many games.")
@click.option(
    "--follow", is_flag=True, help="Play on as the learner publishes new weights in RUN (--policy)."
)
@click.option(
    "--policy",
    type=Text("random"),
    default="random",
    metavar="P",
    help="random, a checkpoint or a RUN, whose online network plays (default: random).",
)
@click.option(
    "--setups",
    metavar="FILE",
    help="Begin from given setups, red's and blue's in turn; - is stdin.",
)
@seed_option
@click.option(
    "--first-game",
    type=click.IntRange(0, 2**62),
    default=0,
    metavar="K",
    help="Number of the first game.",
)
@click.option("--part", type=Part(), help="Play part I of N of the games, for N processes.")
@click.option(
    "--lead",
    type=click.IntRange(1),
    metavar="N",
    help="With --follow: be at most N episodes ahead of the learner (default: eight times what it "
    "consumes between two publications).",
)
@click.option(
    "--slots",
    type=click.IntRange(1, MOST_SLOTS),
    metavar="N",
    help="Games played at a time (default: 128, with --follow a quarter of the lead).",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    default=1,
    metavar="N",
    help="Threads of the engine (default: 1).",
)
@click.option(
    "--groups",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Play one of N parts of the games while the network thinks about the others "
    "(default: 1, on a GPU 2).",
)
@device_option
@click.option(
    "--precision",
    type=OneOf(("f32", "bf16")),
    metavar="WORD",
    default="f32",
    help="Numbers of the network's layers: f32 or bf16 (default: f32).",
)
@click.option(
    "--half",
    is_flag=True,
    help="Draw from policies rounded to float16, and store mu so: smaller files.",
)
@click.option(
    "--max-actions", type=click.IntRange(1), metavar="N", help="Cut games after N actions."
)
@click.option(
    "--shard",
    type=click.IntRange(1),
    default=1024,
    metavar="N",
    help="Episodes a file, if the output is a folder (default: 1024).",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    default="-",
    help="Write to a file, or shards to a folder.",
)
@click.option("-f", "--force", is_flag=True, help="Overwrite FILE if it exists.")
def command(
    game: str,
    games: int | None,
    follow: bool,
    policy: str,
    setups: str | None,
    seed: int,
    first_game: int,
    part: tuple[int, int] | None,
    lead: int | None,
    slots: int | None,
    threads: int,
    groups: int | None,
    device: str,
    precision: str,
    half: bool,
    max_actions: int | None,
    shard: int,
    output: str,
    force: bool,
) -> None:
    """Play games of a policy against itself and write them as episodes, in the order of their
    numbers: to stdout, to a file, or as shards to a folder."""
    from stratkit.play.selfplay import numbers_of, part_of
    from stratkit.setups.openings import read_openings

    wanted = _Wanted(
        game=game,
        games=games,
        follow=follow,
        policy=policy,
        seed=seed,
        lead=lead,
        slots=slots,
        threads=threads,
        groups=groups or (1 if device == "cpu" or policy == "random" else 2),
        device=device,
        precision=precision,
        half=half,
        max_actions=max_actions,
        output=output,
    )
    _check_usage(wanted, part, groups)
    if part is not None and games is not None:
        first, games = part_of(games, *part)
        first_game += first
    actor = _Actor(wanted, first_game)
    opening = None
    if setups:
        with open_input(setups) as stream:
            opening = read_openings(stream, input_name(setups), game)[0]
    with _sink(actor, force, shard) as sink:
        try:
            actor.begin(opening, numbers_of(first_game, games))
            with progress(games, "game") as bar:
                for episodes in actor.rounds():
                    sink(episodes, follow)
                    bar.update(len(episodes or ()))
        except BrokenPipeError:
            if not follow:
                raise
            discard_stdout()  # the learner has what it wanted


@dataclass(frozen=True)
class _Wanted:
    """What the command line asks for."""

    game: str
    games: int | None
    follow: bool
    policy: str
    seed: int
    lead: int | None
    slots: int | None
    threads: int
    groups: int
    device: str
    precision: str
    half: bool
    max_actions: int | None
    output: str


def _check_usage(wanted: _Wanted, part: tuple[int, int] | None, groups: int | None) -> None:
    network = wanted.policy != "random"
    if groups is not None and not network:
        raise UsageError("--groups is for the policy of a network")
    if wanted.half and not network:
        raise UsageError("--half is for the policy of a network")
    if wanted.games is None and not wanted.follow:
        raise UsageError("how many games? give -n GAMES, or --follow")
    if wanted.games is None and part is not None:
        raise UsageError("--part divides -n GAMES: give -n too")
    if wanted.follow and not network:
        raise UsageError("--follow needs the learner's RUN as --policy")
    if wanted.lead is not None and not wanted.follow:
        raise UsageError("--lead goes with --follow")


class _Actor:
    """Self-play as the command line wants it."""

    table: Table | Groups

    def __init__(self, wanted: _Wanted, first_game: int) -> None:
        from stratkit.engine import Game

        self.wanted, self.first_game = wanted, first_game
        self.game = Game(wanted.game)
        self.follower: Follower | None = None
        self.pace: Pace | None = None
        self.player: Player | None = None
        self.network: str | None = None
        self.step = -1
        if wanted.policy != "random":
            from stratkit.nets import check_device

            check_device(wanted.device)
        if wanted.follow:
            from stratkit.play.backpressure import Follower

            self.follower = Follower(wanted.policy, self.game)
        else:
            self.slots = self._each_group(wanted.slots or SLOTS)
            self._open_policy()

    def _each_group(self, slots: int) -> int:
        """The slots of a group."""
        return -(-slots // self.wanted.groups)

    def _open_policy(self) -> None:
        """A policy that stays as it is."""
        wanted = self.wanted
        if wanted.policy == "random":
            from stratkit.players.random import RandomPlayer

            self.player = RandomPlayer(wanted.seed)
            return
        import torch

        from stratkit.play.backpressure import open_policy

        torch.set_num_threads(1)  # the same sums whatever --threads says
        entrant = open_policy(wanted.policy, self.game, wanted.seed, self.slots)
        self.player, self.network, self.step = entrant.player, entrant.sha256, entrant.step
        if entrant.caution:
            warn(entrant.caution)

    def header(self) -> Header:
        from stratkit.play.selfplay import ending_names
        from stratkit.storage.episodes import Header

        return Header(
            game=self.game.name,
            rules=self.game.rules,
            endings=ending_names(self.game),
            seed=self.wanted.seed,
            first_game=self.first_game,
            network=self.network,
            step=self.step,
            post="published" if self.follower else "none",
        )

    def begin(self, opening: Opening | None, numbers: Iterable[int]) -> None:
        """Sets the games up; with --follow it waits for the learner first."""
        from itertools import tee

        from stratkit.play.selfplay import seatings

        to_play, self.numbers = tee(numbers)
        games: Iterator[Seating] = seatings(self.game, to_play, opening)
        schedule: Iterator[Seating | None] = games
        if self.follower is not None:
            self._wait_for_learner(self.follower)
            self.pace = self._make_pace(self.follower)
            self.pace.check()
            self.player = self.follower.make_player(self.wanted.seed, self.slots)
            schedule = self.pace.bounded(games)
        self._place()
        self.table = self._tables(schedule)

    def _make_pace(self, follower: Follower) -> Pace:
        """Episodes are handed on in order, so a long game holds back those behind it: a lead of
        about four times the slots keeps them filled."""
        from stratkit.play.backpressure import LEAD, FolderPace, Pace

        wanted = self.wanted.lead
        lead = wanted or LEAD * follower.period
        slots = self.wanted.slots or min(MOST_SLOTS, max(1, lead // 4))
        if slots > lead:
            say(f"selfplay: plays {lead} games at a time, not {slots}: the lead allows no more")
        self.slots = self._each_group(min(slots, lead))
        if _is_folder(self.wanted.output):
            return FolderPace(follower, wanted, self.slots, self.wanted.output)
        return Pace(follower, wanted, self.slots)

    def _place(self) -> None:
        """A network to where it computes."""
        if self.wanted.policy != "random":
            import torch

            from stratkit.players.network import NetworkPlayer

            assert isinstance(self.player, NetworkPlayer)
            bf16 = self.wanted.precision == "bf16"
            self.player.evaluator.place(
                self.wanted.device, torch.bfloat16 if bf16 else torch.float32
            )

    def _tables(self, schedule: Iterator[Seating | None]) -> Table | Groups:
        from stratkit.play.table import Table

        wanted, tables = self.wanted, []
        assert self.player is not None
        for _ in range(wanted.groups):
            table = Table(
                self.game,
                [self.player],
                schedule,
                self.slots,
                wanted.threads,
                wanted.max_actions,
                wanted.seed,
            )
            table.policy_step = self.step
            if self.pace:
                table.worth_playing = self.pace.worth_playing
            tables.append(table)
        if wanted.groups == 1:
            return tables[0]
        from stratkit.play.groups import Groups  # which needs torch, random play does not

        return Groups(tables)

    def _wait_for_learner(self, follower: Follower) -> None:
        import torch

        torch.set_num_threads(1)  # the same sums whatever --threads says
        if not follower.refresh():
            say(f"selfplay: waiting for the learner to publish weights in {self.wanted.policy}")
            while not follower.refresh():
                self._pause(50 * POLL)
        self.step = follower.step

    def rounds(self) -> Iterator[Episodes | None]:
        from stratkit.play.selfplay import play_episodes

        for episodes in play_episodes(self.table, self.numbers, self.pace):
            if episodes is None and self.table.waiting:
                self._pause(POLL)
            yield episodes

    def _pause(self, seconds: float) -> None:
        if self.wanted.output == "-":
            check_reader()
        time.sleep(seconds)


Sink = Callable[["Episodes | None", bool], None]


@contextlib.contextmanager
def _sink(actor: _Actor, force: bool, shard: int) -> Iterator[Sink]:
    """Where episodes go: called with some episodes, and whether they are wanted at once."""
    from stratkit.storage.episodes import EpisodeWriter

    output, header = actor.wanted.output, actor.header()
    if _is_folder(output):
        shards = _Shards(output, shard, header, actor)
        yield shards.write
        shards.close()
        return
    with (
        open_output(output, force, binary=True) as stream,
        EpisodeWriter(cast(BinaryIO, stream), header, actor.wanted.half) as writer,
    ):

        def write(episodes: Episodes | None, at_once: bool) -> None:
            if episodes is not None:
                writer.write(episodes)
            if at_once:
                writer.flush()

        yield write


def _is_folder(output: str) -> bool:
    return os.path.isdir(output) or output.endswith("/")


class _Shards:
    """A folder of files of `size` episodes each, each of which appears whole. Where a learner is
    followed, which waits for them, they are shorter: two are in the lead of each of its ranks."""

    def __init__(self, folder: str, size: int, header: Header, actor: _Actor) -> None:
        if not os.path.isdir(folder):
            raise InputError("no such folder", file=folder)
        self.folder, self.most, self.header, self.actor = folder, size, header, actor
        self.waiting: list[Episodes] = []
        self.count = 0  # of the episodes that wait

    @property
    def pace(self) -> FolderPace | None:
        return cast("FolderPace | None", self.actor.pace)

    @property
    def size(self) -> int:
        if self.pace is None:
            return self.most
        return max(1, min(self.most, self.pace.lead // (2 * self.pace.parts)))

    def write(self, episodes: Episodes | None, at_once: bool) -> None:
        while episodes is not None and self.count + len(episodes) >= self.size:
            fit = max(1, self.size - self.count)
            self.waiting.append(episodes[:fit])
            self.close()
            episodes = episodes[fit:] if fit < len(episodes) else None
        if episodes is not None:
            self.waiting.append(episodes)
            self.count += len(episodes)
        if self.waiting and self.pace is not None and self.pace.starving:
            self.close()

    def close(self) -> None:
        """Puts what waits into a file."""
        if self.waiting:
            self._put(self.waiting)
            self.waiting, self.count = [], 0

    def _put(self, parts: list[Episodes]) -> None:
        from dataclasses import replace

        from stratkit.storage.atomic import atomic_file
        from stratkit.storage.episodes import EpisodeWriter
        from stratkit.storage.shards import shard_name

        first, last = int(parts[0].number[0]), int(parts[-1].number[-1])
        if self.pace is None:
            name = shard_name(self.header.seed, first, last)
        else:
            self.pace.look()
            place = (self.pace.poorest, self.pace.parts)
            name = shard_name(self.header.seed, first, last, *place)
        header = replace(self.header, first_game=first)
        path = os.path.join(self.folder, name)
        half = self.actor.wanted.half
        with atomic_file(path) as stream, EpisodeWriter(stream, header, half) as writer:
            for episodes in parts:
                writer.write(episodes)
        if self.pace is not None:
            self.pace.written += sum(map(len, parts))
            self.pace.look()


def main() -> NoReturn:
    run(command, "selfplay")


if __name__ == "__main__":
    main()
