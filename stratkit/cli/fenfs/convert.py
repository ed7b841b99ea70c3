"""`fenfs convert`: games, positions and setups from one form to another."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import Range, jobs_option, pop_selection, selecting, strict_option
from stratkit.cli.messages import note, warn
from stratkit.cli.options import option, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.options import EPISODES, FILES, VIEWS, ConvertOptions
from stratkit.declared import one_of


@click.command(cls=Tool)
@option(
    "--to",
    "fenfs: a line for each position; setups: a line for each side; games: game records;"
    " csv: a line for each action; episodes: for `train`; gsn, xml: Gravon's logs;"
    " json: games of Diplomacy.",
    one_of("fenfs", "setups", "games", "csv", EPISODES, *FILES),
    required=True,
)
@option("--view", "Who sees the positions (default: observer).", one_of(*VIEWS))
@option("--moved", "Say in a fourth word which pieces have moved.")
@option("--ply RANGE", "Only these positions of each game.", Range())
@option("--salvage", "Of faulty games keep the moves before the fault.")
@strict_option
@selecting
@jobs_option
@output_options
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def convert(**given: Any) -> int:
    """Convert games, positions and setups.

    INPUT is a .gsn or .xml log, a file of game records, episodes, FENfS or setups, a zip or folder
    of such files, or - (stdin).
    """
    from stratkit.convert.conversion import run_conversion

    options = ConvertOptions(selection=pop_selection(given), **given)
    options.check()
    return run_conversion(options, warn, note)
