"""finetune: go on learning, with the policy that will play in v-trace."""

from __future__ import annotations

from typing import Any, NoReturn

import click

from stratkit.cli.common import Tool, device_option, run
from stratkit.cli.train import check_inputs, given_settings, learn, with_settings
from stratkit.errors import UsageError
from stratkit.learn.config import read_file

# Perolat et al. 2022, supplement: the table of hyper-parameters.
PROCESSING = {"threshold": 0.03, "quanta": 32}


@click.command(cls=Tool)
@click.argument("start", metavar="CHECKPOINT|RUN")
@click.argument("inputs", nargs=-1, metavar="[FILE|DIR|-]...")
@click.option("--out", metavar="RUN", required=True, help="The folder of the new run.")
@click.option("--steps", type=click.IntRange(0), metavar="N", help="Stop when the run has N steps.")
@click.option("--config", "file", metavar="FILE", help="Settings as TOML: the options below.")
@click.option("--resume", is_flag=True, help="Go on from the newest checkpoint of RUN.")
@click.option("--strict", is_flag=True, help="Stop at a truncated input.")
@click.option("--no-wait", is_flag=True, help="Do not wait for more files in a folder.")
@click.option(
    "--consume", is_flag=True, help="Delete the files of a folder that a checkpoint has passed."
)
@device_option
@with_settings
def command(
    start: str,
    inputs: tuple[str, ...],
    out: str,
    steps: int | None,
    file: str | None,
    resume: bool,
    strict: bool,
    no_wait: bool,
    consume: bool,
    device: str,
    **options: Any,
) -> int:
    """Go on learning in a new RUN from everything that a checkpoint has, by the values of the
    policy without its rare actions (--threshold, by default .03 here, and --quanta, 32).

    Episodes come from stdin (-), files, and folders, as for `train`. Steps are counted on from
    the checkpoint's; settings that are not given are the checkpoint's.
    """
    settings = read_file(file) if file else {}
    if settings.pop("net", None):
        raise UsageError("the network is the checkpoint's", text=file)
    if not resume:
        settings = {**PROCESSING, **settings}
    given = given_settings(options)
    check_inputs(inputs)

    from stratkit.learn.run import Request

    request = Request(
        inputs=inputs or ("-",),
        run=out,
        steps=steps,
        start=start,
        settings=settings,
        options=given,
        resume=resume,
        strict=strict,
        consume=consume,
        wait=not no_wait,
        device=device,
    )
    return learn(request, "finetune")


def main() -> NoReturn:
    run(command, "finetune")
