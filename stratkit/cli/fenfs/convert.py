"""`fenfs convert`: games, positions and setups from one form to another."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import Range, jobs_option, pop_selection, selecting, strict_option
from stratkit.cli.messages import note, warn
from stratkit.cli.options import options_from, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.options import ConvertOptions


@click.command(cls=Tool)
@options_from(
    ConvertOptions,
    ply=Range(),
    strict=strict_option,
    selection=selecting,
    jobs=jobs_option,
    output=output_options,
)
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
