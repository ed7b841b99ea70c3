"""The command `analyse`: what a network thinks of every ply of games."""

from __future__ import annotations

from typing import Any, NoReturn

import click

from stratkit.cli.fenfs.options import Range, pop_selection, selecting
from stratkit.cli.messages import note_terminal, warn
from stratkit.cli.options import options_from, output_options, read_player
from stratkit.cli.progress import ProgressLine
from stratkit.cli.tool import Tool, run
from stratkit.humans.analysis.options import AnalyseOptions


@click.command(cls=Tool, short_help="Judge every ply of games.")
@options_from(AnalyseOptions, selection=selecting, plies=Range(), output=output_options)
@click.argument("inputs", metavar="GAMES...", nargs=-1)
def command(**given: Any) -> int:
    """Judges every ply of games: what the mover could expect, the best moves, what the move played
    lost, with errors; the accuracy of both sides, and the largest mistakes.

    GAMES is a .gsn or .xml log, a file of game records or episodes, a zip or folder of such files,
    or - (stdin). With --serve other programs ask, line by line.
    """
    options = AnalyseOptions(selection=pop_selection(given), **given)
    options.check()
    if options.serve:
        return _serve(options)
    note_terminal(options.inputs, "games")
    with ProgressLine(None, "ply", "analyse") as progress:
        progress.doing("loading a network")
        from stratkit.humans.analysis.run import run_analysis

        return run_analysis(options, read_player, warn, progress.update)


def _serve(options: AnalyseOptions) -> int:
    """Answers requests."""
    from stratkit.humans.analysis.run import Analysts
    from stratkit.humans.analysis.serve import serve
    from stratkit.threads import use_threads

    use_threads(options.threads)
    return serve(Analysts(options.by, read_player))


def main() -> NoReturn:
    """The command `analyse`."""
    run(command, "analyse")


if __name__ == "__main__":
    main()
