"""The command `deploy-gen`: setups for one side, one a line."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import click

from stratkit.cli.messages import say, warn
from stratkit.cli.options import GAME_NAME, Text, option, output_options, seed_option
from stratkit.cli.tool import Tool, run
from stratkit.declared import whole
from stratkit.models.shipped import SHIPPED

# The matrices of a model are small: more threads would take longer, all the more on a busy machine.
# numpy reads this when it is loaded, by whichever option comes first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.command(cls=Tool, short_help="Make setups.")
@option("--game G", "The game to deploy for.", GAME_NAME, required=True)
@option(
    "-n N", "How many setups (number: and --once: all by default).", whole(0, 2**62), name="count"
)
@option(
    "--from SOURCE",
    "uniform, a file of setups to draw from (-: stdin), model:FILE (setups like those of"
    " FILE), a checkpoint or RUN, number:N, number:N..M, number:- or search,[key=value,]...RUN"
    " (default: uniform).",
    Text("uniform", "model:", "number:", "search,", *SHIPPED),
    name="source",
    default="uniform",
)
@option("--once", "Draw each line of a file at most once.")
@option("--mirror", "Exchange left and right in every second setup.")
@option(
    "--fix P=SQUARES",
    "Piece P stands on these squares, or on none but these if they are more (M=A1..K1).",
    name="fixed",
    multiple=True,
)
@option(
    "--forbid P=SQUARES",
    "Piece P stands on none of these squares (B=A4..K4).",
    name="forbidden",
    multiple=True,
)
@option("--unique", "No setup twice.")
@option("--number", "Print each setup's number beside it.", name="numbered")
@option(
    "--logprob",
    "Print the natural logarithm of each setup's probability, and estimate the entropy.",
)
@option("--json", "Print JSON Lines, with the numbers.", name="as_json")
@seed_option
@output_options
def command(**given: Any) -> None:
    """Make N setups for one side of game G, one a line: the letters of StraDoS2, seen from the
    side's own chair, back rank first, left to right."""
    from stratkit.cli.options import read_player
    from stratkit.setups.generate import DeployOptions, generate

    options = DeployOptions(**given)
    options.check()
    generate(options, read_player, warn, say)


def main() -> NoReturn:
    """The command `deploy-gen`."""
    run(command, "deploy-gen")


if __name__ == "__main__":
    main()
