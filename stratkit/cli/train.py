"""train: learn from episodes."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from stratkit.cli.messages import command_to_go_on, is_talkative, say, warn
from stratkit.cli.options import (
    GAME_NAME,
    NET_NAME,
    Text,
    device_option,
    option,
    options,
    options_from,
    read_player,
)
from stratkit.cli.progress import ProgressLine
from stratkit.cli.signals import Terminated, ending_signals
from stratkit.cli.tool import Tool, run
from stratkit.declared import declared, number, one_of, option_name
from stratkit.errors import UsageError, counted, named
from stratkit.learn.algorithm_kinds import (
    ALGORITHMS,
    RNAD,
    algorithm_kind,
    name_algorithm,
    playing_keys,
)
from stratkit.learn.inputs import check_inputs
from stratkit.learn.request import (
    STDIN,
    Observer,
    Outcome,
    Request,
    accepted,
    algorithm_of,
    all_fields,
    fields_of,
    help_of,
    newest_metadata,
    of_command_line,
    read_file,
    words_of,
)
from stratkit.netnames import allow_net
from stratkit.python_class import PYTHON

if TYPE_CHECKING:
    from stratkit.learn.tensorboard import Scalars
    from stratkit.match.evaluation import Evaluation, Opponent

NOTHING: Mapping[str, Any] = {}
LOG_EVERY = 60.0  # seconds between two lines of a log
SIGNAL_WINDOW = 0.5  # seconds within which two signals are one
# Metrics that are shown, those that tell progress first.
SHOWN = {
    "entropy": "entropy {:.2f}",
    "value_loss": "value loss {:.3f}",
    "length": "length {:.1f}",
    "age_mean": "age {:.1f}",
    "states_per_second": "{:,.0f} states/s",
    "episodes": "{:,} episodes",
    "examples": "{:,} examples",
}

Function = TypeVar("Function", bound=Callable[..., Any])


def _setting(name: str, algorithms: Sequence[str]) -> Callable[[Function], Function]:
    """The option of a setting of these algorithms. Its text is read when the algorithm is known."""
    words = words_of(name, algorithms)
    field = next(fields_of(one)[name] for one in algorithms if name in fields_of(one))
    metavar = "WORD" if words else declared(field).kind.metavar
    type = Text(*words, files=False)
    return option(f"{option_name(name)} {metavar}", help_of(name, algorithms), type)


_NO_WAIT = option(
    "--no-wait",
    "Do not wait for more files in a folder.",
    name="wait",
    flag_value=False,
    default=True,
)
_OF_COMMAND = options(
    options_from(Request, wait=_NO_WAIT, device=device_option),
    option(
        "--tensorboard DIR",
        "Write the metrics for TensorBoard there, too.",
        click.Path(file_okay=False),
    ),
    option(
        "--eval SPEC:GAMES",
        "Let the newest checkpoint play so many games against a PLAYER, again and again.",
    ),
    option(
        "--log-every SECONDS",
        "Say how it goes, with the date (default: 60, or never at a terminal); 0: never.",
        number(0),
    ),
    option("--config FILE", "Settings as TOML: the options below.", name="file"),
)


def learning_options(*algorithms: str) -> Callable[[Function], Function]:
    """The options of `train` and `finetune`: those of the request, and one for every setting of
    these algorithms."""
    known = {name for algorithm in algorithms for name in fields_of(algorithm)}
    names = [name for name in all_fields() if name in known]
    return options(_OF_COMMAND, *(_setting(name, algorithms) for name in names))


_BUILT_IN = one_of(*ALGORITHMS)
ALGORITHM = _BUILT_IN._replace(
    accept=lambda name: name if name.startswith(PYTHON) else _BUILT_IN.accept(name)
)

_SETTINGS = f"{__name__}.settings"  # in a context: the options of the one algorithm


class _Train(Tool):
    """`train`, whose settings are those of one algorithm where `--help` is asked about it, and
    where it is one of the user's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        name = _algorithm_in(args)
        own = name.startswith(PYTHON)
        asked = name in ALGORITHMS and "--help" in itertools.takewhile("--".__ne__, args)
        if (own or asked) and not ctx.resilient_parsing:
            name_algorithm(name)
            ctx.meta[_SETTINGS] = _settings(name)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        if _SETTINGS not in ctx.meta:
            return params
        own = ctx.meta[_SETTINGS]
        every = {*all_fields(), *(param.name for param in own)}
        first = next(at for at, param in enumerate(params) if param.name in every)
        others = [param for param in params if param.name not in every]
        return [*others[:first], *own, *others[first:]]


def _settings(name: str) -> list[click.Parameter]:
    """The options that are settings of this algorithm."""
    holder = click.Command(None)
    for one in fields_of(name):
        _setting(one, (name,))(holder)
    return holder.params


def _algorithm_in(args: Sequence[str]) -> str:
    """What the last `--algorithm` of a command line names."""
    name = ""
    for word, following in zip(args, [*args[1:], ""], strict=False):
        if word == "--":
            break
        if word == "--algorithm":
            name = following
        elif word.startswith("--algorithm="):
            name = word.partition("=")[2]
    return name


@click.command(cls=_Train)
@click.argument("inputs", nargs=-1, metavar="[FILE|DIR|-]...")
@option(
    "--algorithm WORD",
    "rnad (the default); mmd, magnetic mirror descent; ppo; nashpg, ppo with a magnet; alphaze, "
    "from a search; belief, of hidden pieces; rebel, of values at public belief states; or "
    "py:MODULE:CLASS.",
    ALGORITHM,
)
@option("--net", "The network (default: tiny, or mlp:256x256).", NET_NAME)
@option("--game", "The game, if a folder is empty at first.", GAME_NAME)
@option("--weights CHECKPOINT", "Begin with the weights of a checkpoint, RUN or shipped player.")
@learning_options(*ALGORITHMS)
def command(**options: Any) -> int:
    """Learn from episodes: from stdin (-), files, and folders, which are watched for more.

    RUN gets the acting network for `selfplay --follow` (policy.safetensors), checkpoints, and
    metrics.jsonl with a line a step.
    """
    before = newest_metadata(options["run"]) if options["resume"] else NOTHING
    settings = read_file(options["file"], options["algorithm"] or before.get("algorithm"))
    if options["net"]:
        allow_net(options["net"])
    for word in ("net", "algorithm"):
        named = settings.pop(word, None)
        options[word] = options[word] or named
    if options["weights"] is not None and not options["resume"]:  # a resumed run has its own
        _begin_with(options, options.get("learn") or settings.get("learn"))
    return learn("train", request_of(options, settings, before), options)


def _begin_with(options: dict[str, Any], learned: str | None) -> None:
    """Finds the file of the first weights, and the network that they are for."""
    from stratkit.models.first_weights import net_of
    from stratkit.models.shipped import weights_file

    options["weights"] = os.fspath(weights_file(options["weights"]))
    options["net"] = options["net"] or net_of(options["weights"], learned == "deployment")


def request_of(
    options: Mapping[str, Any], settings: Mapping[str, Any], before: Mapping[str, Any] = NOTHING
) -> Request:
    """The request of a command line with these options, texts where they are settings, and the
    settings of its file; `before`: metadata of a run that is resumed.

    UsageError: a setting is out of its range, or some do not go together.
    """
    algorithm = options.get("algorithm") or before.get("algorithm", RNAD)
    names = {**all_fields(), **fields_of(algorithm)}
    texts = {name: options[name] for name in names if options.get(name) is not None}
    with of_command_line():
        given = accepted(texts, algorithm, texts=True)
    if algorithm_kind(algorithm).config.searches:
        _check_actors({**before.get("config", NOTHING), **settings, **given})
    requested = {field.name for field in fields(Request)}.intersection(options)
    inputs = options["inputs"] or ("-",)
    values = {**{name: options[name] for name in requested}, "inputs": inputs}
    return Request(**values, settings=settings, options=given)


def _check_actors(values: Mapping[str, Any]) -> None:
    """`UsageError`: self-play that learns would refuse these keys of a PLAYER."""
    if "actors" in values:
        from stratkit.play.acting import check_actors

        searched = values.get("targets") != "played"
        check_actors(values["actors"], values.get("true_sight", 0) > 0, searched)


def learn(tool: str, request: Request, options: Mapping[str, Any]) -> int:
    """Does what is asked for until its end, or a signal; returns the exit status. `options`: those
    of the command line that are no settings."""
    check_inputs(request.inputs)
    opponent = None if options["eval"] is None else _opponent(options["eval"], request)
    # Else torch shows, beside our one line, where in its own code it noticed that a rank had gone.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    signals = _Signals()
    with ProgressLine(request.steps, "step", tool, log_every=_seconds(options)) as progress:
        progress.doing("loading torch")
        from stratkit.learn.run import train
        from stratkit.nets.threads import one_thread

        one_thread()  # the learner has threads of its own
        signals.catch()
        with (
            _scalars(options["tensorboard"]) as scalars,
            closing(_Logger(progress, request, scalars, opponent)) as logger,
        ):
            outcome = train(request, signals.stop, logger, warn)
    return _conclude(outcome, signals, request)


def _opponent(text: str, request: Request) -> Opponent:
    """Whom checkpoints play. `UsageError`: nobody, a person, or a file that is missing and that the
    run will not write; or checkpoints do not play."""
    from stratkit.humans.kind import HUMAN
    from stratkit.match.evaluation import parse_opponent
    from stratkit.models.shipped import SHIPPED
    from stratkit.players.registry import NETWORK

    if algorithm_kind(algorithm_of(request)).batches.hidden:
        raise UsageError("--eval needs a network that plays, and a belief network does not")
    opponent = parse_opponent(text)
    player = read_player(opponent.player)
    if player.kind is HUMAN:
        raise UsageError("--eval plays while nobody looks: against no person", text=text)
    file = os.path.abspath(player.spec)
    exists = player.kind is not NETWORK or player.spec in SHIPPED or os.path.exists(file)
    if not exists and not file.startswith(os.path.join(os.path.abspath(request.run), "")):
        raise UsageError("--eval: no such player, file or folder", text=player.spec)
    return opponent


def _seconds(options: Mapping[str, Any]) -> float:
    """Between two dated lines. With -v there is a line a step."""
    if options["log_every"] is not None:
        return float(options["log_every"])
    return 0.0 if sys.stderr.isatty() or is_talkative() else LOG_EVERY


class _Signals:
    """From `catch` on the first signal lets the step be finished and saved. A second one does not,
    unless it comes at once: a terminal and a script that passes it on send both."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.since = 0.0

    def catch(self) -> None:
        for one in (signal.SIGINT, *ending_signals()):
            signal.signal(one, self._note)

    def _note(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if self.number is None:
            self.number, self.since = number, now
        elif now - self.since > SIGNAL_WINDOW:
            raise self.error()

    def stop(self) -> bool:
        return self.number is not None

    def error(self) -> BaseException:
        if self.number is None or self.number == signal.SIGINT:
            return KeyboardInterrupt()
        return Terminated(self.number)


def _scalars(folder: str | None) -> AbstractContextManager[Scalars | None]:
    if folder is None:
        return nullcontext()
    from stratkit.learn.tensorboard import Scalars

    return Scalars(folder)


class _Logger(Observer):
    """Shows a run's metrics as it goes on, with -v as lines, and writes them for TensorBoard."""

    def __init__(
        self,
        progress: ProgressLine,
        request: Request,
        scalars: Scalars | None,
        opponent: Opponent | None,
    ) -> None:
        self.progress, self.request, self.scalars = progress, request, scalars
        self.opponent, self.waited = opponent, False
        self.evaluation: Evaluation | None = None

    def waiting(self) -> None:
        if not self.waited:
            what = f"waiting for the first episodes from {' '.join(self.request.inputs)}"
            say(what, 1)
            self.progress.doing(what)
        self.waited = True

    def begin(self, metadata: Mapping[str, Any]) -> None:
        self.progress.begin(metadata["step"])
        self.progress.update(0)
        if self.scalars:
            self.scalars.begin(metadata)
        if self.opponent:
            from stratkit.engine import Game
            from stratkit.match.evaluation import Evaluation

            game, run = Game.stored(metadata["game"], metadata["rules"]), self.request.run
            keys = playing_keys(metadata["algorithm"], metadata["config"])
            self.evaluation = Evaluation(run, self.opponent, game, metadata["seed"], warn, keys)
            self.evaluation.offer(metadata["step"])

    def saved(self, step: int) -> None:
        if self.evaluation:
            self.evaluation.offer(step)

    def more(self) -> Mapping[str, Any]:
        result = self.evaluation.look() if self.evaluation else None
        if result is None:
            return {}
        from stratkit.match.evaluation import sentence

        say(sentence(result))
        return {"eval": result}

    def close(self) -> None:
        if self.evaluation:
            self.evaluation.stop()

    def step(self, metrics: Mapping[str, Any]) -> None:
        if self.scalars:
            self.scalars.write(metrics)
        values = [(metrics.get(name), words) for name, words in SHOWN.items()]
        fields = [words.format(value) for value, words in values if value is not None]
        self.progress.update(metrics["step"] - self.progress.done, fields)
        say(f"step {metrics['step']}: {', '.join(fields)}", 1)


def _conclude(outcome: Outcome, signals: _Signals, request: Request) -> int:
    for line in outcome.truncated:
        warn(line)
    if outcome.rank == 0:
        _say_end(outcome, request)
    if outcome.stopped and signals.number is not None:
        raise signals.error()
    if outcome.error:
        raise outcome.error
    return 3 if outcome.truncated else 0


def _say_end(outcome: Outcome, request: Request) -> None:
    saved = named(outcome.checkpoint)
    if outcome.checkpoint is None:
        say("stopped before the first episode: there is nothing to save")
    elif outcome.error:
        say(f"saved {saved}; --resume goes on from there")
    elif outcome.stopped:
        behind = "behind self-play again, " if STDIN in request.inputs else ""
        say(f"saved {saved}; to go on: {behind}{command_to_go_on()}")
    elif outcome.enough_before:
        say(f"nothing to do: {named(request.run)} has {counted(outcome.begun, 'step')}")
    else:
        if outcome.left_over:
            few = "is" if outcome.left_over == 1 else "are"
            say(f"{counted(outcome.left_over, 'episode')} at the end {few} too few for a step")
        given = {**(request.settings or {}), **(request.options or {})}
        if outcome.unfilled and "window" in given:
            lacking = counted(outcome.unfilled, "batch").replace("batchs", "batches")
            warn(f"--window {given['window']} is larger than the inputs, which are {lacking} short")
        learned = counted(outcome.episodes, outcome.learned)
        say(f"step {outcome.step}, {learned}: {saved}")


def main() -> NoReturn:
    """The command `train`."""
    run(command, "train")


if __name__ == "__main__":
    main()
