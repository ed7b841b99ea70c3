"""`fenfs list`: which games are there?"""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import jobs_option, pop_selection, selecting
from stratkit.cli.messages import warn
from stratkit.cli.options import options_from
from stratkit.cli.tool import Tool
from stratkit.convert.options import ListOptions
from stratkit.errors import error_context
from stratkit.storage.streams import STDOUT


@click.command("list", cls=Tool)
@options_from(ListOptions, selection=selecting, jobs=jobs_option)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def list_games(**given: Any) -> int:
    """List games, a line for each: its number, date, players, result, ending, plies and file.

    INPUT is a .gsn or .xml log, a file of game records or episodes, a zip or folder of such files,
    or - (stdin). Other commands take the number with --game.
    """
    from stratkit.convert.listing import run_list

    def write(line: str) -> None:
        with error_context(STDOUT, only=OSError):
            print(line)

    return run_list(ListOptions(selection=pop_selection(given), **given), warn, write)
