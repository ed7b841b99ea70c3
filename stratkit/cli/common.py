"""The manners that all commands share: exit status, one-line errors, standard options, files.

A command module defines `command`, a click command of class `Tool` or a group of class `ToolGroup`,
and

    def main() -> NoReturn:
        run(command, "rate")

A command's return value, if it is an integer, is its exit status. It prints data to stdout and says
everything else with `say` and `warn`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import math
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar, cast

import click

from stratkit import __version__
from stratkit.cli import signals
from stratkit.cli.signals import Terminated
from stratkit.errors import (
    InputError,
    StratkitError,
    UsageError,
    named,
    nearest,
    printable,
    shown,
)
from stratkit.netnames import NETS, check_net

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from tqdm import tqdm

STDIN, STDOUT = "standard input", "standard output"  # what `-` is called in messages
INTERRUPTED, TERMINATED = 130, 143

# The engine tells the names of games as well, but loading it would keep the shell waiting.
GAMES = ("classic", "barrage", "duel", "ultimate", "mini", "nano", "micro", "kuhn", "leduc")

Function = TypeVar("Function", bound=Callable[..., Any])


class _Session:
    """What the running command is called and how much it says: -1 for -q, 1 for -v, ..."""

    tool = "stratkit"
    level = 0


# --- messages -------------------------------------------------------------------------------------


def _to_stderr(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _discard(2)  # nobody can be told; the command goes on and keeps its exit status


def say(text: str, level: int = 0) -> None:
    """A remark on stderr: level 0 is hidden by -q, level 1 is shown by -v, level 2 by -v -v."""
    if level <= _Session.level:
        _to_stderr("\n".join(printable(line) for line in text.split("\n")))


def warn(text: str) -> None:
    """`TOOL: text` on stderr, in one line, also under -q."""
    _to_stderr(printable(f"{_Session.tool}: {text}"))


def is_live() -> bool:
    """Whether somebody watches: stderr is a terminal, and there is no -q."""
    return _Session.level >= 0 and sys.stderr.isatty()


def is_talkative() -> bool:
    """Whether there is -v."""
    return _Session.level >= 1


def progress(total: int | None, unit: str, description: str | None = None) -> tqdm[NoReturn]:
    """A progress bar (a context manager with `update` and `set_postfix_str`) on stderr; it shows
    only on a terminal and without -q."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no helper thread
    return tqdm(total=total, unit=unit, desc=description, disable=not is_live(), dynamic_ncols=True)


# --- commands and their options -------------------------------------------------------------------


def _quieter(ctx: click.Context, param: click.Parameter, times: int) -> None:
    _Session.level -= times


def _louder(ctx: click.Context, param: click.Parameter, times: int) -> None:
    _Session.level += times


def _version(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"{_Session.tool} (stratkit) {__version__}")
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

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with named(STDOUT):  # --help and --version write here
            return super().make_context(*args, **settings)


class Tool(_Standard):
    """A command with -q, -v, --version and --help."""


class ToolGroup(_Standard, click.Group):
    """A command with subcommands; all have -q, -v, --version and --help."""

    command_class = Tool

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **{"no_args_is_help": False, **settings})

    def get_command(self, ctx: click.Context, word: str) -> click.Command | None:
        found = super().get_command(ctx, word)
        if found is None and not ctx.resilient_parsing and not word.startswith("-"):
            raise UsageError(f"no such command: {word}{nearest(word, self.commands)}")
        return found


class OneOf(click.Choice[str]):
    """One of a few words; a misspelt one is answered with the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        words = [str(word) for word in self.choices]
        if value not in words:
            self.fail(f"{shown(value)} is none of {', '.join(words)}{nearest(value, words)}")
        return value


class Number(click.FloatRange):
    """A number in a range, in which NaN is not, though no comparison tells."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{shown(value)} is no number")
        return number


class Text(click.types.StringParamType):
    """Text of which some words are known; in a shell, Tab offers these, or else files."""

    files = True

    def __init__(self, *words: str) -> None:
        self.words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        words = [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")] * self.files + words


class GameName(Text):
    """The name of a game that the engine knows."""

    name = "game"
    files = False

    def __init__(self) -> None:
        super().__init__(*GAMES)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ctx is not None and ctx.resilient_parsing:
            return value  # a shell waits for its completions

        from stratkit.engine import Game

        try:
            Game(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


class NetName(Text):
    """The name of a network."""

    name = "network"
    files = False

    def __init__(self) -> None:
        super().__init__(*NETS)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            check_net(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


def output_options(function: Function) -> Function:
    """`-o/--output FILE` (parameter `output`, default `-`) and `-f/--force` (parameter `force`)."""
    function = click.option(
        "-o", "--output", metavar="FILE", default="-", help="Write to FILE (default: -, stdout)."
    )(function)
    return click.option("-f", "--force", is_flag=True, help="Overwrite an existing FILE.")(function)


def seed_option(function: Function) -> Function:
    """`--seed S` (parameter `seed`); the system chooses it by default."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**64 - 1),
        metavar="S",
        default=lambda: int.from_bytes(os.urandom(4)),
        help="Seed of all random numbers (default: from the system).",
    )(function)


def device_option(function: Function) -> Function:
    """`--device WORD` (parameter `device`)."""
    return click.option(
        "--device",
        type=OneOf(("cpu", "cuda")),
        metavar="WORD",
        default="cpu",
        help="Where networks compute: cpu or cuda (default: cpu).",
    )(function)


# --- files ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """The bytes of file `path`; `-` is stdin."""
    if path != "-":
        with open(path, "rb") as stream:
            yield stream
        return
    check_stdin()
    yield sys.stdin.buffer


def check_stdin() -> None:
    """Raises `OSError` when stdin was closed, or is there only to be written."""
    if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), STDIN)


def read_line() -> str | None:
    """A line of stdin with its end, or the first thousand characters of it; None: it is over."""
    with named(STDIN):
        check_stdin()
        return sys.stdin.readline(1000) or None


def input_name(path: str) -> str:
    """What the input `path` is called in messages."""
    return STDIN if path == "-" else path


@contextlib.contextmanager
def open_output(path: str, force: bool = False, binary: bool = False) -> Iterator[IO[Any]]:
    """A stream whose contents become file `path`, whole or not at all; `-` is stdout.

    Raises `InputError` when the file exists and `force` is false, or when binary data would go to a
    terminal. Devices and named pipes are written directly. Text is UTF-8.
    """
    if path == "-":
        if binary and sys.stdout.isatty():
            raise InputError("binary data goes to no terminal: redirect it, or name a file with -o")
        with named(STDOUT):
            yield sys.stdout.buffer if binary else sys.stdout
            sys.stdout.flush()
        return
    with named(path), _open_file(path, force) as stream:
        if binary:
            yield stream
            return
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
        try:
            yield text
        finally:
            text.detach()


@contextlib.contextmanager
def _open_file(path: str, force: bool) -> Iterator[BinaryIO]:
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    from stratkit.storage.atomic import atomic_file, is_special

    if not is_special(path):
        if os.path.isfile(path) and not force:
            raise InputError("exists already; -f overwrites it", file=path)
        with atomic_file(path, overwrite=force) as file:
            yield cast(BinaryIO, file)
        return
    with open(path, "wb") as device:
        yield device


# --- running a command ----------------------------------------------------------------------------


def check_reader() -> None:
    """Raises `BrokenPipeError` when stdout is a pipe that nobody will read any more: who waits, and
    writes nothing, would not notice."""
    poll = select.poll()
    poll.register(1, 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError


def discard_stdout() -> None:
    """Sends what is still to come on stdout to /dev/null: its reader went away."""
    _discard(1)


def _discard(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)


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
        _discard(2)
        sys.stderr = open(2, "w")  # noqa: SIM115


def _usage_message(error: click.UsageError) -> str:
    """click's message in one line, with the nearest right name where one was misspelt."""
    if isinstance(error, click.NoSuchOption):
        names = [name for param in _params(error.ctx) for name in param.opts + param.secondary_opts]
        long = [name for name in names if name.startswith("--")]
        hint = nearest(error.option_name, long) if error.option_name.startswith("--") else ""
        return f"no such option: {shown(error.option_name)[1:-1]}{hint}"
    message = " ".join(error.format_message().split())
    for said in ("a valid integer range", "a valid integer"):
        message = message.replace(said, "a whole number")
    return message[:1].lower() + message[1:].rstrip(".")


def _params(ctx: click.Context | None) -> list[click.Parameter]:
    return ctx.command.get_params(ctx) if ctx else []


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
            return "terminated", TERMINATED
        case OSError() if error.strerror:
            name = error.filename
            file = os.fsdecode(name) if isinstance(name, bytes) else name
            return error.strerror if file is None else f"{file or repr('')}: {error.strerror}", 1
        case MemoryError():
            return f"out of memory {error}".rstrip(), 1
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
    with named(STDOUT):
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
    _Session.tool, _Session.level = tool, 0
    _replace_closed_streams()
    for stream in (sys.stdin, sys.stdout):
        cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    signals.raise_on_sigterm()
    try:
        status = _invoke(command, tool, sys.argv[1:] if arguments is None else arguments)
        signals.ignore_signals()
    except BrokenPipeError:
        discard_stdout()
        signals.die_of_closed_pipe()
    except SystemExit:
        raise
    except BaseException as error:
        if _Session.level >= 2 or os.environ.get("STRATKIT_DEBUG"):
            import traceback

            _to_stderr(traceback.format_exc())
        message, status = _message_and_status(error)
        warn(message)
        signals.ignore_signals()
    _leave(status)
