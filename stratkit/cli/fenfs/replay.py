"""`fenfs replay`: a game as a page to step through."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import pop_selection, selecting
from stratkit.cli.messages import warn
from stratkit.cli.options import options_from, output_options, read_player
from stratkit.cli.progress import ProgressLine
from stratkit.cli.tool import Tool
from stratkit.convert.options import ReplayOptions


@click.command(cls=Tool)
@options_from(ReplayOptions, selection=selecting, output=output_options)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def replay(**given: Any) -> int:
    """Make one HTML file of a game, to step through it in a browser; it needs nothing else.

    INPUT is a .gsn or .xml log, a file of game records or episodes, a zip or folder of such files,
    or - (stdin).
    """
    from stratkit.convert.replay import run_replay
    from stratkit.humans.lead import go_on_command

    options = ReplayOptions(selection=pop_selection(given), **given)
    options.check()
    if options.explain is None:
        return run_replay(options, None, warn, go_on=go_on_command)
    with ProgressLine(None, "ply", "fenfs") as progress:
        progress.doing("loading a network")
        from stratkit.humans.analysis.run import Analysts

        return run_replay(
            options, Analysts(options.explain, read_player), warn, progress.update, go_on_command
        )
