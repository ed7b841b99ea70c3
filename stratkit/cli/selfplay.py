"""The command `selfplay`: games of a policy against itself, as episodes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import click

from stratkit.cli.messages import is_live, is_pipe, say, warn
from stratkit.cli.options import (
    GAME_NAME,
    Text,
    device_option,
    open_option,
    options_from,
    read_player,
    seed_option,
)
from stratkit.cli.progress import ProgressLine
from stratkit.cli.tool import Tool, run
from stratkit.play.options import ITSELF, SelfplayOptions
from stratkit.players.registry import KINDS, words_of
from stratkit.storage.streams import (
    descriptor_of,
    discard_stdout,
    open_output,
)

if TYPE_CHECKING:
    from stratkit.play.actor import Actor
    from stratkit.storage.episodes import Episodes

# The matrices of rules of thumb are small: more threads would take longer, as in deploy-gen.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.command(cls=Tool, short_help="Play games of a policy against itself.")
@options_from(
    SelfplayOptions,
    game=GAME_NAME,
    policy=Text("random", "heuristic"),
    actors=Text(),
    opponents=Text(*words_of(KINDS), "itself"),
    open=open_option,
    seed=seed_option,
    device=device_option,
)
def command(**given: Any) -> None:
    """Play games of a policy against itself and write them as episodes, in the order of their
    numbers: to stdout, to a file, or as shards to a folder; or examples of values (--search)."""
    from stratkit.match import PLAYERS

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
    from stratkit.setups.given import read_openings

    actor = Actor(options, lambda text: say(text, level), warn, lambda text: say(text, 1))
    opening, _ = read_openings(options.setups, options.game)
    with _sink(actor) as sink:
        for episodes in actor.episodes(opening):
            sink(episodes)
            progress.update(0 if episodes is None else int((episodes.ending != 0).sum()))


def _play_values(options: SelfplayOptions, progress: ProgressLine, level: int) -> None:
    from stratkit.play.values import ValueSelfplay

    play = ValueSelfplay(options, lambda text: say(text, level), warn)
    with open_output(options.output, options.force, binary=True) as stream:
        play.output = descriptor_of(stream)
        play.run(cast(BinaryIO, stream), progress.update)


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
