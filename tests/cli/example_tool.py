"""A command that has the manners of all and no work of its own."""

from __future__ import annotations

import errno
import importlib.machinery
import os
import sys
import time
import types

import click

from stratkit.cli import messages, options, progress, signals, tool
from stratkit.declared import one_of
from stratkit.errors import CheckFailed, InputError, UsageError
from stratkit.storage import streams


@click.group(cls=tool.ToolGroup)
def command() -> None:
    """An example."""


@command.command()
@click.argument("file", default="-")
@click.option("--game", type=options.GAME_NAME)
@options.option("--kind", "A colour.", one_of("red", "blue"))
@click.option("--binary", is_flag=True)
@options.seed_option
@options.output_options
def copy(
    file: str, game: str, kind: str, binary: bool, seed: int, output: str, force: bool
) -> None:
    """Copies a file."""
    with streams.open_input(file) as stream:
        data = stream.read()
    with streams.open_output(output, force, binary) as out:
        out.write(data if binary else data.decode())


@command.command()
@click.argument("kind")
def fail(kind: str) -> int:
    """Fails."""
    errors = {
        "input": InputError("bad", file="f", where="line 3", text="te\x1bxt"),
        "usage": UsageError("wrong"),
        "check": CheckFailed("no"),
        "os": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "dir\n/file"),
        "memory": MemoryError(),
        "gpu": type("OutOfMemoryError", (RuntimeError,), {})("tried to allocate"),
        "internal": KeyError("key"),
    }
    if kind in errors:
        raise errors[kind]
    return 4


@command.command()
def speak() -> None:
    """Says something at every level."""
    for level in range(3):
        messages.say(f"level {level}", level)
    messages.warn("warning")


@command.command()
def work() -> None:
    """Makes progress."""
    with progress.ProgressLine(3, "game", "example") as bar:
        for _ in range(3):
            bar.update()


@command.command()
@options.output_options
def wait(output: str, force: bool) -> None:
    """Waits in the midst of writing."""
    try:  # from before there is a file, by which a test sees that this has begun
        with streams.open_output(output, force) as out:
            out.write("half of it")
            time.sleep(60)
    finally:
        print("cleaned", file=sys.stderr)


@command.command()
def load() -> None:
    """Loads torch, or so it seems, which takes a second."""
    torch = types.ModuleType("torch")
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    torch.__spec__._initializing = True  # type: ignore[attr-defined]
    sys.modules["torch"] = torch
    print("begun", file=sys.stderr, flush=True)
    time.sleep(1)
    torch.__spec__._initializing = False  # type: ignore[attr-defined]
    print("loaded", file=sys.stderr, flush=True)
    time.sleep(60)


@command.command()
def lose() -> None:
    """Loses the first exception, and takes its time to clean up after the second."""
    try:
        print("begun", file=sys.stderr, flush=True)
        time.sleep(60)
    except BaseException as error:
        print(f"lost {type(error).__name__}", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    finally:
        time.sleep(4 * signals.RETRY_AFTER)
        print("cleaned", file=sys.stderr)


if __name__ == "__main__":
    tool.run(command, "example")
