"""The command `deploy-gen`: setups for one side, one a line."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import click

from stratkit.cli.messages import say, warn
from stratkit.cli.options import (
    GAME_NAME,
    Text,
    options_from,
    output_options,
    read_player,
    seed_option,
)
from stratkit.cli.tool import Tool, run
from stratkit.models.shipped import PLACING
from stratkit.setups.options import MODEL, NUMBER, SEARCH, UNIFORM, DeployOptions

# The matrices of a model are small: more threads would take longer, all the more on a busy machine.
# numpy reads this when it is loaded, by whichever option comes first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.command(cls=Tool, short_help="Make setups.")
@options_from(
    DeployOptions,
    game=GAME_NAME,
    source=Text(UNIFORM, MODEL, NUMBER, SEARCH, *PLACING),
    seed=seed_option,
    force=output_options,
)
def command(**given: Any) -> None:
    """Make N setups for one side of game G, one a line: the letters of StraDoS2, seen from the
    side's own chair, back rank first, left to right."""
    from stratkit.setups.generate import generate

    options = DeployOptions(**given)
    options.check()
    generate(options, read_player, warn, say)


def main() -> NoReturn:
    """The command `deploy-gen`."""
    run(command, "deploy-gen")


if __name__ == "__main__":
    main()
