"""The command `selfplay`: games of a policy against itself, as episodes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import click

from stratkit.cli.messages import is_live, is_pipe, say, warn
from stratkit.cli.options import (
    GAME_NAME,
    Text,
    device_option,
    open_option,
    option,
    seed_option,
)
from stratkit.cli.progress import ProgressLine
from stratkit.cli.tool import Tool, run
from stratkit.declared import Kind, one_of, whole
from stratkit.play import MAX_SLOTS
from stratkit.players.registry import KINDS, words_of
from stratkit.storage.streams import (
    descriptor_of,
    discard_stdout,
    input_name,
    open_input,
    open_output,
)

if TYPE_CHECKING:
    from stratkit.play.actor import Actor
    from stratkit.play.options import SelfplayOptions
    from stratkit.play.seating import Opening
    from stratkit.storage.episodes import Episodes


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    one, several = whole(1, 10**9).read(part), whole(1, 10**9).read(parts)
    if one > several:
        raise ValueError
    return one, several


PART = Kind("I/N", "I/N with I from 1 to N", _part, lambda part: part)


@click.command(cls=Tool, short_help="Play games of a policy against itself.")
@option("--game G", "The game to play.", GAME_NAME, required=True)
@option("-n GAMES", "How many games.", whole(0, 2**62), name="games")
@option("--follow", "Play on as the learner publishes new weights in RUN (--policy).")
@option(
    "--policy P",
    "random, heuristic, a player that comes with stratkit, a checkpoint or a RUN, whose online "
    "network plays (default: random).",
    Text("random", "heuristic"),
    default="random",
)
@option(
    "--search KEYS",
    "Write no episodes, but examples of values at public belief states, for train --algorithm "
    "rebel: cfr, cfr-avg or flop, with iterations= and depth=.",
)
@option(
    "--actors KEYS",
    "Keys of a PLAYER by which the policy is played, such as search=pc-pimc,worlds=4,nodes=50 "
    "(default: those that a followed learner publishes, or none).",
    Text(),
)
@option(
    "--opponent PLAYER",
    "A frozen player of match on all sides but one, the next one in every game: only the policy's "
    "own decisions are learned from. Several take turns; itself is the policy.",
    Text(*words_of(KINDS), "itself"),
    name="opponents",
    multiple=True,
)
@option("--setups FILE", "Begin from given setups, red's and blue's in turn; - is stdin.")
@open_option
@seed_option
@option("--first-game K", "Number of the first game.", whole(0, 2**62), default=0)
@option("--part", "Play part I of N of the games, for N processes.", PART)
@option(
    "--max-ahead N",
    "With --follow: stay at most N episodes ahead of the learner (default: 8 times what it "
    "consumes between two publications).",
    whole(1),
)
@option(
    "--slots N",
    "Games played at a time (default: 128, with --follow a quarter of --max-ahead).",
    whole(1, MAX_SLOTS),
)
@option(
    "--threads N",
    "Threads of the engine and of networks (default: 1).",
    whole(1, 1024),
    default=1,
)
@device_option
@option(
    "--precision WORD",
    "Numbers of the network's layers: f32 or bf16 (default: f32; cuda: bf16).",
    one_of("f32", "bf16"),
)
@option("--max-actions N", "Cut games after N actions.", whole(1))
@option(
    "--slice N",
    "Hand on games that go on, too, N actions at a time, to train --algorithm mmd.",
    whole(1),
)
@option(
    "--shard N",
    "Episodes a file, if the output is a folder (default: 1024).",
    whole(1),
    default=1024,
)
@option("-o, --output FILE|DIR", "Write to a file, or shards to a folder.", default="-")
@option("-f, --force", "Overwrite FILE if it exists.")
def command(**given: Any) -> None:
    """Play games of a policy against itself and write them as episodes, in the order of their
    numbers: to stdout, to a file, or as shards to a folder; or examples of values (--search)."""
    from stratkit.cli.player import read_player
    from stratkit.match import PLAYERS
    from stratkit.play.options import ITSELF, SelfplayOptions

    given["opponents"] = tuple(
        None if text == ITSELF else read_player(text) for text in given["opponents"]
    )
    options = SelfplayOptions(**given)
    options.check(PLAYERS)
    # Who reads the pipe shows how it goes, on the same terminal; a learner also says what is wrong.
    piped = options.output == "-" and is_pipe(1)
    with ProgressLine(options.range[1], "game", "selfplay", is_live() and not piped) as progress:
        if options.by_network:
            progress.doing("loading the network")
            if options.device != "cpu":
                from stratkit.nets import check_device

                check_device(options.device)
        level = int(piped and options.follow)
        try:
            (_play_values if options.search else _play)(options, progress, level)
        except BrokenPipeError:
            if not options.follow:
                raise
            discard_stdout()  # the learner has what it wanted


def _play(options: SelfplayOptions, progress: ProgressLine, level: int) -> None:
    """Remarks are said at this level."""
    from stratkit.play.actor import Actor

    actor = Actor(options, lambda text: say(text, level), warn)
    opening = _opening(options.setups, options.game)
    with _sink(actor) as sink:
        for episodes in actor.episodes(opening):
            sink(episodes)
            progress.update(0 if episodes is None else int((episodes.ending != 0).sum()))


def _play_values(options: SelfplayOptions, progress: ProgressLine, level: int) -> None:
    from stratkit.play.values import ValueSelfplay

    play = ValueSelfplay(options, lambda text: say(text, level))
    with open_output(options.output, options.force, binary=True) as stream:
        play.output = descriptor_of(stream)
        play.run(cast(BinaryIO, stream), progress.update)


def _opening(path: str | None, game: str) -> Opening | None:
    if path is None:
        return None
    from stratkit.setups.openings import read_openings

    with open_input(path) as stream:
        return read_openings(stream, input_name(path), game)[0]


@contextlib.contextmanager
def _sink(actor: Actor) -> Iterator[Callable[[Episodes | None], None]]:
    """Where episodes go. A learner that is followed gets them at once."""
    from stratkit.storage.episodes import EpisodeWriter
    from stratkit.storage.shards import ShardWriter

    options, header = actor.options, actor.header()
    if options.to_folder:
        shards = ShardWriter(options.output, options.shard, header, lambda: actor.placement)
        try:
            yield shards.write
        finally:  # games that have ended are kept, whatever stops the others
            shards.close()
        return
    with (
        open_output(options.output, options.force, binary=True) as stream,
        EpisodeWriter(cast(BinaryIO, stream), header) as writer,
    ):
        actor.output = descriptor_of(stream)

        def write(episodes: Episodes | None) -> None:
            if episodes is not None:
                writer.write(episodes)
            if options.follow:
                writer.flush()

        yield write


def main() -> NoReturn:
    """The command `selfplay`."""
    run(command, "selfplay")


if __name__ == "__main__":
    main()
