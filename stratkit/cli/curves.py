"""The command `curves`: the metrics of training runs as pictures."""

from __future__ import annotations

from collections import Counter
from typing import NoReturn

import click

from stratkit.cli.options import Text, option
from stratkit.cli.tool import Tool, run
from stratkit.declared import one_of, whole
from stratkit.errors import InputError, UsageError, error_context
from stratkit.storage.streams import open_output

# What tells progress in every game, and what --eval measures.
FIELDS = ("entropy", "value_loss", "length")
ELO = "eval/elo"


@click.command(cls=Tool, short_help="Draw the metrics of runs.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@option(
    "--field NAME",
    "Draw this metric; several make several pictures in one (default: entropy, value_loss, length, "
    "and eval/elo if there is one).",
    Text(*FIELDS, ELO, "policy_loss", "kl", "draws", "age_mean", "seconds/wait"),
    name="fields",
    multiple=True,
)
@option("--over", "The axis across (default: step).", one_of("step", "episodes", "hours"))
@option(
    "--smooth N",
    "Draw means of N neighbouring lines; 1: every line (default: a 25th of the shortest).",
    whole(1, 10**6),
)
@option("--band", "Draw the mean and the range of the RUNs, instead of a line for each.")
@option("--log", "Let the axis up be logarithmic.")
@option("--robust", "Let the axis up leave out the lowest and highest hundredth of the values.")
@option("-o, --output FILE", "Draw into FILE.png or FILE.svg; - is stdout.", required=True)
@option("-f, --force", "Overwrite FILE if it exists.")
def command(
    runs: tuple[str, ...],
    fields: tuple[str, ...],
    over: str | None,
    smooth: int | None,
    band: bool,
    log: bool,
    robust: bool,
    output: str,
    force: bool,
) -> None:
    """Draws the metrics of one or several RUNs, smoothed, as curves in one picture.

    RUN is the folder of a run, also while it learns, or a file of metrics (metrics.jsonl).
    """
    twice = [path for path, number in Counter(runs).items() if number > 1]
    if twice:
        raise UsageError("a RUN is given twice", text=twice[0])
    from stratkit.learn import curves
    from stratkit.pictures import form_of

    form, histories = form_of(output), []
    for path in runs:
        with error_context(path, only=OSError):
            histories.append(curves.read_run(path))
    if not fields:
        known = {name for run in histories for name in run.numbers}
        fields = tuple(name for name in (*FIELDS, ELO) if name in known)
        if not fields:
            raise InputError("no usual metric to draw: choose with --field", file=runs[0])
    curves.check_fields(histories, fields)
    with open_output(output, force, binary=True) as stream:
        curves.plot(
            histories, fields, stream, form, over or "step", smooth, curves.Look(band, log, robust)
        )


def main() -> NoReturn:
    """The command `curves`."""
    run(command, "curves")


if __name__ == "__main__":
    main()
