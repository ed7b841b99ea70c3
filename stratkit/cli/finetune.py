"""finetune: go on learning, with the policy that will play in v-trace."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import click

from stratkit.cli.tool import Tool, run
from stratkit.cli.train import learn, learning_options, request_of
from stratkit.errors import InputError, UsageError
from stratkit.learn.algorithm_kinds import RNAD
from stratkit.learn.request import read_file

# Perolat et al. 2022, supplement: the table of hyper-parameters.
PROCESSING = {"threshold": 0.03, "quanta": 32}


@click.command(cls=Tool)
@click.argument("start", metavar="CHECKPOINT|RUN")
@click.argument("inputs", nargs=-1, metavar="[FILE|DIR|-]...")
@learning_options(RNAD)
def command(**options: Any) -> int:
    """Go on learning in a new RUN from everything that a checkpoint has, by the values of the
    policy without its rare actions (--threshold, by default .03 here, and --quanta, 32).

    Episodes come from stdin (-), files, and folders, as for `train`. Steps are counted on from
    the checkpoint's; settings that are not given are the checkpoint's. Only R-NaD's checkpoints can
    be fine-tuned, none of train --algorithm mmd.
    """
    settings = read_file(options["file"], RNAD)
    for word, what in (("net", "network"), ("algorithm", "algorithm")):
        if settings.pop(word, None):
            raise UsageError(f"the {what} is the checkpoint's", text=options["file"])
    options["algorithm"] = RNAD
    if not options["resume"]:
        from stratkit.learn.folder import ONLY_A_POLICY
        from stratkit.models.shipped import SHIPPED, weights_file

        if options["start"] in SHIPPED:
            raise InputError(ONLY_A_POLICY, file=options["start"])
        options["start"] = os.fspath(weights_file(options["start"]))
        settings = {**PROCESSING, **settings}
    return learn("finetune", request_of(options, settings), options)


def main() -> NoReturn:
    """The command `finetune`."""
    run(command, "finetune")


if __name__ == "__main__":
    main()
