"""`fenfs replay`: a game as a page to step through."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import pop_selection, selecting
from stratkit.cli.messages import warn
from stratkit.cli.options import output_options
from stratkit.cli.tool import Tool


@click.command(cls=Tool)
@selecting
@output_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def replay(**given: Any) -> int:
    """Make one HTML file of a game, to step through it in a browser; it needs nothing else.

    INPUT is a .gsn or .xml log, a file of game records or episodes, a zip or folder of such files,
    or - (stdin).
    """
    from stratkit.convert.options import ReplayOptions
    from stratkit.convert.replay import run_replay

    return run_replay(ReplayOptions(selection=pop_selection(given), **given), warn)
