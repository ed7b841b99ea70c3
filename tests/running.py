"""Runs the commands as a user does: each in a process of its own.

`run` starts them by tests/forked.py, which saves the seconds that importing torch takes; `fresh`
asks for a Python of its own, as `command_line` always means it.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import functools
import importlib
import io
import os
import pathlib
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from forked import connect
from stratkit.cli import messages, tool

ROOT = pathlib.Path(__file__).parents[1]
FORKED = pathlib.Path(__file__).with_name("forked.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMMANDS: list[str] = sorted(PROJECT["scripts"])
PATIENCE = 600  # seconds until a process counts as stuck: a machine may have much else to do


def click_command(name: str) -> click.Command:
    """What click knows of a command."""
    command = importlib.import_module(module(name)).command
    assert isinstance(command, click.Command)
    return command


@dataclass(frozen=True)
class Done:
    """How a command ended (a signal's number negative), and what it wrote."""

    status: int
    data: bytes
    err: str

    @property
    def out(self) -> str:
        return self.data.decode()

    @property
    def error_line(self) -> str:
        """The one line on stderr; fails when there are more or none."""
        (line,) = self.err.splitlines()
        return line


def module(name: str) -> str:
    """The module whose main() is the command `name`."""
    return str(PROJECT["scripts"][name]).removesuffix(":main")


def command_line(name: str, *arguments: object) -> list[str]:
    """What to execute for the command `name`, from this checkout, with the tests' own Python."""
    start = f"from {module(name)} import main; main()"
    code = f"import sys; sys.path.insert(0, sys.argv.pop(1)); {start}"
    return [sys.executable, "-P", "-c", code, str(ROOT), *map(str, arguments)]


def forked_line(name: str | pathlib.Path, *arguments: object) -> list[str]:
    """The same by way of the server of tests/forked.py; its process has another number. `name` may
    be a script's path."""
    what = module(name) if isinstance(name, str) else str(name)
    start = [sys.executable, "-I", "-S", str(FORKED), server(), what]
    return [*start, *map(str, arguments)]


def learn(selfplay: Sequence[object], train: Sequence[object]) -> None:
    """Both commands with these arguments, in a real pipe, to the learner's end; silent ones."""
    with subprocess.Popen(forked_line("selfplay", *selfplay), stdout=subprocess.PIPE) as actor:
        learner = subprocess.run(
            forked_line("train", "-", *train),
            stdin=actor.stdout,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert actor.stdout
        actor.stdout.close()
        assert (learner.returncode, learner.stdout, learner.stderr) == (0, b"", b"")
        assert actor.wait(PATIENCE) == 0


@functools.cache
def server() -> str:
    """The socket of a server that lives as long as this process."""
    process = subprocess.Popen(
        [sys.executable, "-P", FORKED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},  # fewer pages to copy
    )
    assert process.stdin and process.stdout
    path = os.fsdecode(process.stdout.readline().rstrip(b"\n"))
    assert path, "the server has not started"
    atexit.register(process.wait)
    atexit.register(process.stdin.close)  # the first to be called
    return path


def forked_commands(folder: pathlib.Path) -> str:
    """All commands by way of the server, in a folder that is made; for the PATH. A `python` there
    has scripts forked too."""
    folder.mkdir()
    for name in COMMANDS:
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(forked_line(name))} "$@"\n')
        script.chmod(0o755)
    (folder / "python").symlink_to(forked_python())
    return str(folder)


def forked_python() -> str:
    """What stands for Python where commands and scripts shall come by way of the server."""
    return str(pathlib.Path(server()).with_name("python"))


def run(
    name: str,
    *arguments: object,
    stdin: bytes = b"",
    cwd: pathlib.Path | None = None,
    stdout: int | None = None,
    largest_file: int | None = None,
    timeout: float = PATIENCE,
    fresh: bool = False,
    **environment: str,
) -> Done:
    """Runs the command; `stdout` is a descriptor instead of a pipe, `largest_file` in bytes is the
    limit that the system sets (RLIMIT_FSIZE)."""

    more: dict[str, Any] = {"environment": {**os.environ, **environment}}
    if cwd is not None:
        more["folder"] = os.fspath(cwd)
    if largest_file is not None:
        more["largest file"] = (largest_file, largest_file)
    if not fresh:
        return _forked(name, arguments, stdin, stdout, timeout, more)
    assert largest_file is None
    done = subprocess.run(
        command_line(name, *arguments),
        input=stdin,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=more["environment"],
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout or b"", done.stderr.decode())


def _forked(
    name: str,
    arguments: Sequence[object],
    stdin: bytes,
    stdout: int | None,
    timeout: float,
    more: dict[str, Any],
) -> Done:
    """As `forked_line`, but without a process that waits for it."""
    pipes = [os.pipe() for _ in range(3)]
    theirs = [pipes[0][0], pipes[1][1] if stdout is None else stdout, pipes[2][1]]
    words = [*map(str, arguments)]
    with connect(server(), module(name), words, descriptors=theirs, **more) as process:
        for descriptor in (pipes[0][0], pipes[1][1], pipes[2][1]):
            os.close(descriptor)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            pool.submit(_write, pipes[0][1], stdin)
            data, err = (pool.submit(_read, end) for end, _ in pipes[1:])
            process.settimeout(timeout)
            try:
                process.recv(16)
                status = int(process.recv(16))
            finally:
                process.close()  # which kills it, should it still be there
    return Done(status, data.result(), err.result().decode())


def _write(pipe: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(data)


def _read(pipe: int) -> bytes:
    with open(pipe, "rb") as stream:
        return stream.read()


def here(name: str, *arguments: object) -> Done:
    """Runs the command in the tests' own process, which is much faster than one of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    messages.RunningCommand.tool, messages.RunningCommand.level = name, 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = tool._invoke(click_command(name), name, [str(word) for word in arguments])
        except Exception as error:
            message, status = tool._message_and_status(error)
            assert not message.startswith("internal error"), repr(error)
            messages.warn(message)
    told = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        told.append(stream.buffer.getvalue())
    return Done(status, told[0], told[1].decode())
