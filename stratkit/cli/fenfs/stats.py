"""`fenfs stats`: figures about games and setups."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import jobs_option, pop_selection, selecting
from stratkit.cli.messages import warn
from stratkit.cli.options import options_from
from stratkit.cli.tool import Tool
from stratkit.convert.options import StatsOptions
from stratkit.errors import error_context
from stratkit.storage.streams import STDOUT


@click.command(cls=Tool)
@options_from(StatsOptions, selection=selecting, jobs=jobs_option)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def stats(**given: Any) -> int:
    """Count games and setups.

    INPUT is a .gsn or .xml log, a file of game records, episodes, setups or FENfS, a zip or folder
    of such files, or - (stdin). Of FENfS only starts of games count, for their setups.
    """
    from stratkit.convert.stats import run_stats

    options = StatsOptions(selection=pop_selection(given), **given)
    options.check()
    return run_stats(options, warn, _print)


def _print(text: str) -> None:
    with error_context(STDOUT, only=OSError):
        click.echo(text)
