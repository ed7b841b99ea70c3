"""`fenfs check`: is everything sound?"""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import jobs_option, pop_selection, selecting, strict_option
from stratkit.cli.messages import note, warn
from stratkit.cli.options import options_from
from stratkit.cli.tool import Tool
from stratkit.convert.options import CheckOptions


@click.command(cls=Tool)
@options_from(CheckOptions, selection=selecting, strict=strict_option, jobs=jobs_option)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
def check(**given: Any) -> int:
    """Check files: exit status 0 only if all are sound, 3 otherwise.

    INPUT is a .gsn or .xml log, a file of game records, episodes, FENfS or setups, a zip or folder
    of such files, or - (stdin). Moves that only a repetition rule forbids are told, and no fault.
    """
    from stratkit.convert.check import run_check

    return run_check(CheckOptions(selection=pop_selection(given), **given), warn, note)
