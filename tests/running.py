"""Runs the commands as a user does: each in a process of its own."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pathlib
import resource
import subprocess
import sys
import tomllib
from dataclasses import dataclass

import click

from stratkit.cli import common

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMMANDS: list[str] = sorted(PROJECT["scripts"])


def click_command(name: str) -> click.Command:
    """What click knows of a command."""
    module = importlib.import_module(PROJECT["scripts"][name].removesuffix(":main"))
    command = module.command
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


def command_line(name: str, *arguments: object) -> list[str]:
    """What to execute for the command `name`, from this checkout, with the tests' own Python."""
    module = PROJECT["scripts"][name].removesuffix(":main")
    code = f"import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; main()"
    return [sys.executable, "-P", "-c", code, str(ROOT), *map(str, arguments)]


def run(
    name: str,
    *arguments: object,
    stdin: bytes = b"",
    cwd: pathlib.Path | None = None,
    stdout: int | None = None,
    largest_file: int | None = None,
    timeout: float = 120,
    **environment: str,
) -> Done:
    """Runs the command; `stdout` is a descriptor instead of a pipe, `largest_file` in bytes is the
    limit that the system sets (RLIMIT_FSIZE)."""

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    done = subprocess.run(
        command_line(name, *arguments),
        input=stdin,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=timeout,
        preexec_fn=limit,
        check=False,
    )
    return Done(done.returncode, done.stdout or b"", done.stderr.decode())


def here(name: str, *arguments: object) -> Done:
    """Runs the command in the tests' own process, which is much faster than one of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    common._Session.tool, common._Session.level = name, 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = common._invoke(click_command(name), name, [str(word) for word in arguments])
        except Exception as error:
            message, status = common._message_and_status(error)
            assert not message.startswith("internal error"), repr(error)
            common.warn(message)
    told = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        told.append(stream.buffer.getvalue())
    return Done(status, told[0], told[1].decode())
