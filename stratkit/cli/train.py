"""train: learn from episodes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from stratkit.cli.messages import progress, say, warn
from stratkit.cli.options import GameName, NetName, Number, OneOf, device_option
from stratkit.cli.signals import Terminated
from stratkit.cli.tool import Tool, run
from stratkit.errors import InputError, UsageError
from stratkit.learn.config import ALGORITHMS
from stratkit.learn.options import option_name
from stratkit.learn.request import Outcome, Request
from stratkit.learn.settings import all_fields, check_settings, fields_of, help_of, read_file
from stratkit.netnames import allow_net
from stratkit.storage.streams import check_stdin

if TYPE_CHECKING:
    from tqdm import tqdm

    from stratkit.learn.tensorboard import Scalars

Function = TypeVar("Function", bound=Callable[..., Any])


class _Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between them."""

    name = "numbers"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        try:
            return tuple(int(word) for word in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of whole numbers such as 100,200")


_METAVARS = {int: "N", float: "X", tuple: "N,...", str: "WORD"}


# Under the names of the fields of `Request`, but for `file` and `tensorboard`.
_OF_REQUEST = (
    click.option("--out", "run", metavar="RUN", required=True, help="The folder of the run."),
    click.option(
        "--steps", type=click.IntRange(0), metavar="N", help="Stop when the run has N steps."
    ),
    click.option("--resume", is_flag=True, help="Go on from the newest checkpoint of RUN."),
    click.option("--strict", is_flag=True, help="Stop at a truncated input."),
    click.option(
        "--no-wait",
        "wait",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Do not wait for more files in a folder.",
    ),
    click.option(
        "--consume", is_flag=True, help="Delete the files of a folder that a checkpoint has passed."
    ),
    click.option(
        "--timeout",
        type=Number(0),
        default=600.0,
        metavar="SECONDS",
        help="Under torchrun: end if a rank waits longer for its episodes (default: 600).",
    ),
    device_option,
    click.option(
        "--tensorboard",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Write the metrics for TensorBoard there, too.",
    ),
    click.option("--config", "file", metavar="FILE", help="Settings as TOML: the options below."),
)


def learning_options(*algorithms: str) -> Callable[[Function], Function]:
    """The options that `train` and `finetune` share: those of the request, and one for every
    setting of these algorithms."""
    kinds: dict[type, Any] = {int: int, float: float, tuple: _Numbers()}
    known = {name for algorithm in algorithms for name in fields_of(algorithm)}

    def decorate(function: Function) -> Function:
        for name, found in reversed(all_fields().items()):
            if name not in known:
                continue
            words, kind = found.metadata["words"], type(found.default)
            function = click.option(
                option_name(name),
                name,
                type=OneOf(words) if words else kinds[kind],
                metavar=_METAVARS[kind],
                help=help_of(name, algorithms),
            )(function)
        for option in reversed(_OF_REQUEST):
            function = option(function)
        return function

    return decorate


@click.command(cls=Tool)
@click.argument("inputs", nargs=-1, metavar="[FILE|DIR|-]...")
@click.option(
    "--algorithm",
    type=OneOf(tuple(ALGORITHMS)),
    metavar="WORD",
    help="rnad (the default), or mmd, magnetic mirror descent.",
)
@click.option("--net", type=NetName(), help="The network (default: tiny, or mlp:256x256).")
@click.option("--game", type=GameName(), help="The game, if a folder is empty at first.")
@learning_options(*ALGORITHMS)
def command(**options: Any) -> int:
    """Learn from episodes: from stdin (-), files, and folders, which are watched for more.

    RUN gets the acting network for `selfplay --follow` (policy.safetensors), checkpoints, and
    metrics.jsonl with a line a step.
    """
    settings = read_file(options["file"], options["algorithm"]) if options["file"] else {}
    if options["net"]:
        allow_net(options["net"])
    for word in ("net", "algorithm"):
        options[word] = options[word] or settings.pop(word, None)
    return learn("train", request_of(options, settings), options["tensorboard"])


def request_of(options: Mapping[str, Any], settings: Mapping[str, Any]) -> Request:
    """The request of a command line with these options, and the settings of its file.

    UsageError: a setting is out of its range.
    """
    given = {name: options[name] for name in all_fields() if options.get(name) is not None}
    try:
        check_settings(given, options.get("algorithm"))
    except InputError as error:
        raise UsageError(error.what, text=error.text) from None
    asked = {field.name for field in fields(Request)}.intersection(options)
    inputs = options["inputs"] or ("-",)
    values = {**{name: options[name] for name in asked}, "inputs": inputs}
    return Request(**values, settings=settings, options=given)


def learn(tool: str, request: Request, tensorboard: str | None) -> int:
    """Does what is asked for until its end, or a signal; returns the exit status."""
    _check_inputs(request.inputs)
    request.check()
    import os

    # Else torch shows, beside our one line, where in its own code it noticed that a rank had gone.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    import torch

    from stratkit.learn.run import train

    # The learner has threads of its own. Torch's, which wait for each other at every operation,
    # made an update ten times slower with a busy second core.
    torch.set_num_threads(1)
    signals = _Signals()
    with progress(request.steps, "step", tool) as bar, _scalars(tensorboard) as scalars:
        logger = _Logger(bar, request.inputs, scalars)
        outcome = train(request, signals.stop, logger.log, warn)
    return _conclude(outcome, signals)


def _check_inputs(inputs: Sequence[str]) -> None:
    import sys

    if list(inputs).count("-") > 1:
        raise UsageError("standard input can be read only once")
    if "-" in inputs:
        check_stdin()
        if sys.stdin.isatty():
            raise UsageError("episodes come through a pipe or from files, not from a terminal")


class _Signals:
    """SIGINT and SIGTERM let the step be finished and saved. The second one does not."""

    def __init__(self) -> None:
        self.number: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: object) -> None:
        if self.number is not None:
            raise self.error()
        self.number = number

    def stop(self) -> bool:
        return self.number is not None

    def error(self) -> BaseException:
        return Terminated() if self.number == signal.SIGTERM else KeyboardInterrupt()


def _scalars(folder: str | None) -> AbstractContextManager[Scalars | None]:
    if folder is None:
        return nullcontext()
    from stratkit.learn.tensorboard import Scalars

    return Scalars(folder)


class _Logger:
    """Logs a run's metrics: as a bar at a terminal, with -v as lines, and for TensorBoard."""

    def __init__(self, bar: tqdm[NoReturn], inputs: Sequence[str], scalars: Scalars | None) -> None:
        self.bar, self.inputs, self.scalars, self.waited = bar, inputs, scalars, False

    def log(self, metrics: Mapping[str, Any]) -> None:
        if "waiting" in metrics:
            if not self.waited:
                say(f"waiting {metrics['waiting']} from {' '.join(self.inputs)}", 1)
            self.waited = True
            return
        if self.scalars:
            self.scalars.write(metrics)
        self.bar.n = metrics["step"]
        text = (
            f"{metrics['episodes']} games, {metrics['states_per_second']:.0f} states/s, "
            f"loss {metrics['policy_loss']:+.3f} {metrics['value_loss']:.3f}, "
            f"entropy {metrics['entropy']:.2f}"
        )
        self.bar.set_postfix_str(text)
        say(f"step {metrics['step']}: {text}", 1)


def _conclude(outcome: Outcome, signals: _Signals) -> int:
    for line in outcome.truncated:
        warn(line)
    if outcome.rank == 0:
        _say_end(outcome)
    if outcome.stopped and signals.number is not None:
        raise signals.error()
    if outcome.error:
        raise outcome.error
    return 3 if outcome.truncated else 0


def _say_end(outcome: Outcome) -> None:
    if outcome.checkpoint is None:
        say("stopped before the first episode: there is nothing to save")
    elif outcome.stopped or outcome.error:
        say(f"saved {outcome.checkpoint}; --resume goes on from there")
    else:
        if outcome.left_over:
            say(f"{outcome.left_over} episodes at the end are too few for a step")
        say(f"step {outcome.step}, {outcome.episodes} episodes: {outcome.checkpoint}")


def main() -> NoReturn:
    run(command, "train")


if __name__ == "__main__":
    main()
