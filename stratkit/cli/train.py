"""train: learn from episodes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from stratkit.cli.messages import progress, say, warn
from stratkit.cli.options import GAME_NAME, NET_NAME, Number, OneOf, device_option, option, options
from stratkit.cli.signals import Terminated
from stratkit.cli.tool import Tool, run
from stratkit.errors import InputError, UsageError
from stratkit.learn.config import ALGORITHMS, option_name
from stratkit.learn.request import (
    Outcome,
    Request,
    all_fields,
    check_settings,
    fields_of,
    help_of,
    read_file,
)
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


# What a setting of a type is called in `--help`, and how it is read.
_KINDS: dict[type, tuple[str, Any]] = {
    int: ("N", int), float: ("X", float), tuple: ("N,...", _Numbers()), str: ("WORD", str),
}  # fmt: skip


def _setting(
    name: str, field: Field[Any], algorithms: Sequence[str]
) -> Callable[[Function], Function]:
    """The option of a setting of these algorithms."""
    metavar, kind = _KINDS[type(field.default)]
    words = field.metadata["words"]
    help = help_of(name, algorithms)
    return option(f"{option_name(name)} {metavar}", help, OneOf(words) if words else kind)


# Under the names of the fields of `Request`, but for `file` and `tensorboard`.
_OF_REQUEST = (
    option("--out RUN", "The folder of the run.", name="run", required=True),
    option("--steps N", "Stop when the run has N steps.", click.IntRange(0)),
    option("--resume", "Go on from the newest checkpoint of RUN."),
    option("--strict", "Stop at a truncated input."),
    option(
        "--no-wait",
        "Do not wait for more files in a folder.",
        name="wait",
        flag_value=False,
        default=True,
    ),
    option("--consume", "Delete the files of a folder that a checkpoint has passed."),
    option(
        "--timeout SECONDS",
        "Under torchrun: end if a rank waits longer for its episodes (default: 600).",
        Number(0),
        default=600.0,
    ),
    device_option,
    option(
        "--tensorboard DIR",
        "Write the metrics for TensorBoard there, too.",
        click.Path(file_okay=False),
    ),
    option("--config FILE", "Settings as TOML: the options below.", name="file"),
)


def learning_options(*algorithms: str) -> Callable[[Function], Function]:
    """The options of `train` and `finetune`: those of the request, and one for every setting of
    these algorithms."""
    known = {name for algorithm in algorithms for name in fields_of(algorithm)}
    found = {name: field for name, field in all_fields().items() if name in known}
    return options(*_OF_REQUEST, *(_setting(*one, algorithms) for one in found.items()))


@click.command(cls=Tool)
@click.argument("inputs", nargs=-1, metavar="[FILE|DIR|-]...")
@option(
    "--algorithm WORD",
    "rnad (the default), or mmd, magnetic mirror descent.",
    OneOf(tuple(ALGORITHMS)),
)
@option("--net", "The network (default: tiny, or mlp:256x256).", NET_NAME)
@option("--game", "The game, if a folder is empty at first.", GAME_NAME)
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
