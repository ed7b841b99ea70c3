"""`fenfs legal`: the legal moves of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stratkit.cli.messages import note_terminal, warn
from stratkit.cli.tool import Tool
from stratkit.errors import error_context
from stratkit.storage.streams import STDOUT

if TYPE_CHECKING:
    from stratkit.notation.fenfs import Fenfs


@click.command(cls=Tool)
@click.argument("inputs", metavar="[FENFS|FILE]...", nargs=-1)
def legal(inputs: tuple[str, ...]) -> int:
    """List the legal moves of positions, one line each.

    Arguments are FENfS (quoted, as one word each) or files of FENfS lines; - is stdin, the default.
    The repetition rules are off: a FENfS has no history.
    """
    from stratkit.convert.lines import each_position, texts
    from stratkit.convert.tally import FaultTally
    from stratkit.notation.fenfs import legal_moves

    def print_moves(fenfs: Fenfs) -> None:
        with error_context(STDOUT, only=OSError):
            click.echo(" ".join(legal_moves(fenfs)))

    tally = FaultTally(warn)
    note_terminal(inputs or ["-"], "lines of FENfS")
    for source in texts(inputs or ["-"], (".fenfs",), tally):
        each_position(source, tally, print_moves)
    return tally.status
