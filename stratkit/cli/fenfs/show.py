"""`fenfs show`: positions drawn, in the terminal and as pictures."""

from __future__ import annotations

from typing import Any

import click

from stratkit.cli.fenfs.options import pop_selection, selecting
from stratkit.cli.messages import note_terminal, say, warn
from stratkit.cli.options import option, output_options
from stratkit.cli.tool import Tool
from stratkit.convert.options import VIEWS, ShowOptions
from stratkit.declared import one_of, whole


@click.command(cls=Tool)
@option("--view", "Who looks (default: the FENfS's own view).", one_of(*VIEWS))
@option("--ply N", "Show a game after N plies (default: at its end).", whole(0))
@option("--last MOVE", "Mark this move, like A4A5 (a game's own is known).")
@option("--explain PLAYER", "Print what a network would play, and why; PLAYER as in match(1).")
@option("--style", "The characters (default: ascii).", one_of("ascii", "unicode"))
@option(
    "--colour",
    "Colours of the sides (default: auto, at a terminal).",
    one_of("auto", "always", "never"),
    default="auto",
)
@selecting
@output_options
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
        from stratkit.match.analysis import Analyst

        explain = Analyst(options.explain)
    return run_show(options, explain, warn, say)
