"""Inputs and outputs as commands name them: files, devices, `-` for the standard streams."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import select
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any, BinaryIO, cast

from stratkit.errors import InputError, UsageError, error_context

STDIN, STDOUT = "standard input", "standard output"  # what `-` is called in messages


@contextlib.contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """The bytes of file `path`; `-` is stdin."""
    if path != "-":
        with open(path, "rb") as stream:
            yield stream
        return
    check_stdin()
    yield sys.stdin.buffer


@contextlib.contextmanager
def open_plain(path: str) -> Iterator[BinaryIO]:
    """The bytes of file `path`, or those that it holds if gzip or zstd compressed it."""
    from stratkit.compressed import decompressed

    with open_input(path) as stream:
        yield decompressed(stream, input_name(path))


def check_stdin() -> None:
    """Raises `OSError` when stdin was closed, or is there only to be written."""
    if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), STDIN)


def read_line() -> str | None:
    """A line of stdin with its end, or the first thousand characters of it; None: it is over."""
    with error_context(STDIN, only=OSError):
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
        with error_context(STDOUT, only=OSError):
            yield sys.stdout.buffer if binary else sys.stdout
            sys.stdout.flush()
        return
    with error_context(path, only=OSError), _open_file(path, force) as stream:
        if binary:
            yield stream
            return
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
        try:
            yield text
        finally:
            text.detach()


def exists_already(path: str) -> InputError:
    """The error of an output that is there."""
    return InputError("exists already; -f overwrites it", file=path)


def check_free(path: str, force: bool) -> None:
    """`InputError`: there is such a file, and no `force`."""
    if os.path.isfile(path) and not force:
        raise exists_already(path)


def check_outputs(written: Sequence[str | None], read: Sequence[str], force: bool) -> None:
    """Before work whose fruits would be lost: whether these files can be written when it is done,
    None and `-` aside. None of them may be another one, or one that is `read`, which `force` would
    destroy. Raises `UsageError`, `InputError`, `OSError`; devices and pipes are not looked at."""
    from stratkit.storage.atomic import is_special

    taken = {os.path.realpath(path) for path in read if path != "-"}
    for path in written:
        if path is None or path == "-":
            continue
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if is_special(path):
            continue
        real = os.path.realpath(path)
        if real in taken:
            what = "a result cannot go where another file of this command is"
            raise UsageError(what, text=path)
        taken.add(real)
        check_free(path, force)
        if not path or not os.path.isdir(os.path.dirname(real)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


@contextlib.contextmanager
def _open_file(path: str, force: bool) -> Iterator[BinaryIO]:
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    from stratkit.storage.atomic import atomic_file, is_special

    if not is_special(path):
        check_free(path, force)
        with atomic_file(path, overwrite=force) as file:
            yield cast(BinaryIO, file)
        return
    with open(path, "wb") as device:
        yield device


def descriptor_of(stream: IO[Any]) -> int | None:
    """None: it is a stream in memory."""
    try:
        return stream.fileno()
    except io.UnsupportedOperation:
        return None


def check_reader(descriptor: int | None) -> None:
    """Raises `BrokenPipeError` when this is a pipe that nobody will read any more: who waits, and
    writes nothing, would not notice."""
    if descriptor is None:
        return
    poll = select.poll()
    poll.register(descriptor, 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError


def discard_stdout() -> None:
    """Sends what is still to come on stdout to /dev/null: its reader went away."""
    discard(1)


def discard(descriptor: int) -> None:
    """Sends what is still to come on a descriptor to /dev/null."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)


def show(text: str) -> bool:
    """Shows something on the terminal that stderr is. False: it has gone, and nothing will be said
    on stderr any more; work goes on."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        discard(2)
        return False
    return True
