"""`fenfs legal`: the legal moves of positions."""

from __future__ import annotations

import click

from stratkit.cli.fenfs.lines import each_position, put, texts
from stratkit.cli.fenfs.tally import Tally
from stratkit.cli.tool import Tool


@click.command(cls=Tool)
@click.argument("inputs", metavar="[FENFS|FILE]...", nargs=-1)
def legal(inputs: tuple[str, ...]) -> int:
    """List the legal moves of positions, one line each.

    Arguments are FENfS (quoted, as one word each) or files of FENfS lines; - is stdin, the default.
    The repetition rules are off: a FENfS has no history.
    """
    from stratkit.notation.fenfs import legal_moves

    tally = Tally()
    for source in texts(inputs or ["-"], (".fenfs",), tally):
        each_position(source, tally, lambda fenfs: put(" ".join(legal_moves(fenfs))))
    return tally.status
