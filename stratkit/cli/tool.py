"""The manners that all commands share: exit status, one-line errors, -q, -v, --version.

A command module defines `command`, a click command of class `Tool` or a group of class `ToolGroup`,
and

    def main() -> NoReturn:
        run(command, "rate")

A command's return value, if it is an integer, is its exit status. It prints data to stdout and says
everything else with `say` and `warn`.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import click

from stratkit.cli import signals
from stratkit.cli.messages import RunningCommand, to_stderr, warn
from stratkit.cli.options import Text
from stratkit.cli.signals import Terminated
from stratkit.errors import (
    StratkitError,
    UsageError,
    error_context,
    named,
    nearest,
    nearest_or_all,
    shown,
)
from stratkit.storage.streams import STDOUT, discard, discard_stdout
from stratkit.version import __version__

INTERRUPTED = 130
INSTALL_TORCH = "pip install torch (README.md has a smaller one, for CPUs)"
ENDED = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def print_json(value: object, indent: int | None = 1) -> None:
    """A value on stdout. `--help` does without the module."""
    import json

    click.echo(json.dumps(value, indent=indent))


def _quieter(ctx: click.Context, param: click.Parameter, times: int) -> None:
    RunningCommand.level -= times


def _louder(ctx: click.Context, param: click.Parameter, times: int) -> None:
    RunningCommand.level += times


def _version(ctx: click.Context, param: click.Parameter, flag: bool) -> None:
    if flag and not ctx.resilient_parsing:
        click.echo(f"{RunningCommand.tool} (stratkit) {__version__}")
        ctx.exit()


class _Standard(click.Command):
    """Adds -q, -v and --version to what click gives a command."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for param in self.params:
            if param.type is click.STRING:
                param.type = Text()
        for names, callback, text in (
            (["-q", "--quiet"], _quieter, "Say less."),
            (["-v", "--verbose"], _louder, "Say more; twice, also how an error came about."),
        ):
            self.params.append(
                click.Option(names, count=True, callback=callback, expose_value=False, help=text)
            )
        self.params.append(
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                callback=_version,
                expose_value=False,
                help="Show the version and exit.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._check_values(ctx, args)
        return super().parse_args(ctx, args)

    def _check_values(self, ctx: click.Context, args: Sequence[str]) -> None:
        """`UsageError`: an option lacks its value, and click would take the next option for it."""
        known = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        options = {name: one for one in known for name in one.opts}
        words = iter(args)
        for word in words:
            if word == "--":
                break
            option = options.get(word)
            if option is None or option.is_flag or option.count:
                continue
            value = next(words, None)
            if value in options:
                needs = option.metavar or "a value"
                raise UsageError(f"{word} needs {needs}, and {value} is an option")

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with error_context(STDOUT, only=OSError):  # --help and --version write here
            return super().make_context(*args, **settings)


class Tool(_Standard):
    """A command with -q, -v, --version and --help."""


class ToolGroup(_Standard, click.Group):
    """A command with subcommands; all have -q, -v, --version and --help."""

    command_class = Tool

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **{"no_args_is_help": False, **settings})

    def get_command(self, ctx: click.Context, word: str) -> click.Command | None:
        command = super().get_command(ctx, word)
        if command is None and not ctx.resilient_parsing and not word.startswith("-"):
            raise UsageError(
                f"no such command: {word}{nearest_or_all(word, self.list_commands(ctx))}"
            )
        return command


def _replace_closed_streams() -> None:
    """A standard stream that the caller closed must not be the first file that we open. /dev/null
    takes its place: stdin and stdout the wrong way round, so that using them is an error."""
    if sys.stdin is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 0)
        sys.stdin = io.TextIOWrapper(open(0, "rb"))  # noqa: SIM115
    if sys.stdout is None:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
        sys.stdout = io.TextIOWrapper(open(1, "wb"))  # noqa: SIM115
    if sys.stderr is None:
        discard(2)
        sys.stderr = open(2, "w")  # noqa: SIM115


def _usage_message(error: click.UsageError) -> str:
    """click's message in one line, with the nearest right name where one was misspelt."""
    if isinstance(error, click.NoSuchOption):
        params = error.ctx.command.get_params(error.ctx) if error.ctx else []
        names = [name for param in params for name in param.opts + param.secondary_opts]
        hint = nearest(error.option_name, names) if error.option_name.startswith("--") else ""
        return f"no such option: {shown(error.option_name)[1:-1]}{hint}"
    message = " ".join(error.format_message().split())
    group = error.ctx.command if error.ctx else None
    if error.ctx and isinstance(group, click.Group) and message == "Missing command.":
        every = dict.fromkeys([*group.commands, *group.list_commands(error.ctx)])
        message = f"missing command: {', '.join(every)} (--help tells what they do)"
    for phrase in ("a valid integer range", "a valid integer"):
        message = message.replace(phrase, "a whole number")
    return message[:1].lower() + message[1:].rstrip(".")


def _message_and_status(error: BaseException) -> tuple[str, int]:
    """The line that tells `error`, and the exit status it means."""
    match error:
        case StratkitError():
            return str(error), error.status
        case click.UsageError():
            return _usage_message(error), 2
        case click.ClickException():
            return error.format_message(), 1
        case KeyboardInterrupt() | click.Abort():
            return "interrupted", INTERRUPTED
        case Terminated():
            return ENDED[signal.Signals(error.number)], 128 + error.number
        case OSError() if error.strerror:
            name = error.filename
            if name is None:
                return error.strerror, 1
            file = os.fsdecode(name) if isinstance(name, bytes) else name
            return f"{named(file) or repr('')}: {error.strerror}", 1
        case MemoryError():
            return f"out of memory {error}".rstrip(), 1
        case ModuleNotFoundError() if error.name == "torch":
            return f"this needs torch, which is missing: {INSTALL_TORCH}", 1
        case ModuleNotFoundError() if error.name == "onnxruntime":
            return str(error), 1
        case ModuleNotFoundError() if error.name:
            remedy = "run 'make dev' in a checkout; 'stratkit doctor' tells what else is missing"
            return f"{error.name} is missing: {remedy}", 1
        case RuntimeError() if type(error).__name__ == "OutOfMemoryError":  # torch's, not imported
            return "out of the GPU's memory (less would be a smaller --chunk or --slots)", 1
        case _:
            hint = "-v -v shows the traceback"
            return f"internal error: {type(error).__name__}: {error} ({hint})", 1


def _complete(command: click.Command, tool: str) -> None:
    """Answers the shell when it asks for completions, and exits."""
    variable = f"_{tool}_COMPLETE".replace("-", "_").upper()
    if instruction := os.environ.get(variable):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(command, {}, tool, variable, instruction))


def _invoke(command: click.Command, tool: str, arguments: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    # Not command.main(): that turns a closed pipe into status 1 and Ctrl-C into something else.
    _complete(command, tool)
    try:
        with command.make_context(tool, list(arguments)) as ctx:
            result = command.invoke(ctx)
    except click.exceptions.Exit as done:
        result = done.exit_code
    with error_context(STDOUT, only=OSError):
        sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _leave(status: int) -> NoReturn:
    """Exits; what an error left in stdout's buffer is written if that is possible."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_stdout()  # or the interpreter would try again and fail
    sys.exit(status)


def run(command: click.Command, tool: str, arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs `command`, called `tool`, and exits; all errors are told in one line."""
    RunningCommand.tool, RunningCommand.level = tool, 0
    gc.freeze()  # what is loaded stays: the collector does not walk through it at the end
    _replace_closed_streams()
    for stream in (sys.stdin, sys.stdout):
        cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    signals.raise_on_signals()
    try:
        status = _invoke(command, tool, sys.argv[1:] if arguments is None else arguments)
        signals.ignore_signals()
    except BrokenPipeError:
        discard_stdout()
        signals.die_of_closed_pipe()
    except SystemExit:
        raise
    except BaseException as error:
        if RunningCommand.level >= 2 or os.environ.get("STRATKIT_DEBUG"):
            import traceback

            to_stderr(traceback.format_exc())
        message, status = _message_and_status(error)
        warn(message)
        signals.ignore_signals()
    _leave(status)
