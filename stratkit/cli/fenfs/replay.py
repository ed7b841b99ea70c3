"""`fenfs replay`: a game as a page to step through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from stratkit.cli.fenfs.options import selecting
from stratkit.cli.messages import warn
from stratkit.cli.options import option, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.games import Game
from stratkit.convert.lines import sound_games
from stratkit.convert.raw import POSITION, SETUP, Raw, chunks
from stratkit.convert.tally import Tally
from stratkit.errors import InputError
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from stratkit.notation.select import Selection


@click.command(cls=Tool)
@selecting
@option("--game N", "The Nth of the games, counted from 1.", click.IntRange(1))
@output_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def replay(
    game: int | None, output: str, force: bool, inputs: tuple[str, ...], **chosen: Any
) -> int:
    """Make one HTML file of a game, to step through it in a browser; it needs nothing else.

    INPUT is a .gsn or .xml log, a file of game records or episodes, a zip or folder of such files,
    or - (stdin).
    """
    from stratkit.notation.replay_page import Shown, replay_page
    from stratkit.notation.select import Selection

    tally = Tally(warn)
    found = _chosen(inputs, Selection(**chosen), game, tally)
    if found is None:
        if not tally.faults:
            raise InputError("no such game in the input")
        return tally.status
    log = found.log
    result = f"{log.kind or log.variant.name}: {log.ending}"
    with open_output(output, force) as out:
        out.write(replay_page(Shown(found.played, result, result)))
    return tally.status


def _chosen(
    inputs: tuple[str, ...], selection: Selection, number: int | None, tally: Tally
) -> Game | None:
    """The game that is asked for, or the only one."""
    found: Game | None = None
    for count, game in enumerate(_sound(inputs, selection, tally), 1):
        if number is None and found:
            raise InputError("there are more games than one: choose one with --game N")
        if number in (None, count):
            found = game
        if number == count:
            break
    return found


def _sound(inputs: tuple[str, ...], selection: Selection, tally: Tally) -> Iterator[Game]:
    """The games with boards that can be played to their end."""
    items = map(_game_only, itertools.chain.from_iterable(chunks(inputs)))
    for game in sound_games(items, selection, tally):
        if game.played.boards:
            tally.passed()
            yield game


def _game_only(item: Raw | InputError) -> Raw | InputError:
    if isinstance(item, Raw) and item.form in (POSITION, SETUP):
        return InputError("a game is needed", file=item.name)
    return item
