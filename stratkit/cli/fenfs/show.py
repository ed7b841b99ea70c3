"""`fenfs show`: positions drawn, in the terminal and as pictures."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import pop_selection, selecting
from stratkit.cli.messages import note_terminal, say, warn
from stratkit.cli.options import options_from, output_options, read_player
from stratkit.cli.tool import Tool
from stratkit.convert.options import ShowOptions


@click.command(cls=Tool)
@options_from(ShowOptions, selection=selecting, output=output_options)
@click.argument("input", metavar="[FENFS|INPUT]", default="-")
def show(**given: Any) -> int:
    """Draw positions: in the terminal, or as a picture with -o FILE.svg or FILE.png.

    The argument is a FENfS (quoted, as one word), or a file, folder, zip or - (stdin) of FENfS
    lines, Gravon's logs, game records or episodes.
    """
    from stratkit.convert.show import run_show

    options = ShowOptions(selection=pop_selection(given), **given)
    options.check()
    note_terminal([options.input], "lines of FENfS, or a game,")
    explain = None
    if options.explain is not None:
        from stratkit.humans.analysis.turns import Turns

        explain = Turns.by(read_player(options.explain))
    return run_show(options, explain, warn, say)
