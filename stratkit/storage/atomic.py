"""Files that appear whole or not at all, and locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from io import BufferedWriter
from pathlib import Path

from stratkit.errors import InputError

TEMPORARY = ".tmp."  # names that begin so are never read


@contextlib.contextmanager
def atomic_file(
    path: str | os.PathLike[str], overwrite: bool = False, durable: bool = True
) -> Iterator[BufferedWriter]:
    """A binary stream whose content becomes the file `path` when the block ends without an error.

    Until then it has a temporary name in the same folder; after an error nothing is left.
    `durable`: file and folder are on the disk (fsync) before it returns. A link is followed. Raises
    `InputError` when `path` exists and `overwrite` is false, or is no regular file; `OSError` with
    `path` as its file name for everything else, a full disk included.
    """
    name = os.fspath(path)
    with _named(name):
        target = Path(os.path.realpath(name))
        _check_target(name, overwrite)
        temporary = target.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
        stream = open(temporary, "xb")  # noqa: SIM115 (a failed close must not hide the error)
        try:
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            stream.close()
            _appear(temporary, target, name, overwrite)
        except BaseException:
            with contextlib.suppress(OSError):
                stream.close()
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        if durable:
            sync_folder(target.parent)


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors of the operating system inside carry the file name that the user knows."""
    try:
        yield
    except OSError as error:
        if error.filename is None or TEMPORARY in str(error.filename):
            raise OSError(error.errno, error.strerror, name) from error
        raise


def _check_target(name: str, overwrite: bool) -> None:
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise InputError("not a regular file", file=name)
    if not overwrite:
        raise InputError("exists already", file=name)


def _appear(temporary: Path, target: Path, name: str, overwrite: bool) -> None:
    """Gives the finished file its name; another process may have been faster."""
    if not overwrite:
        try:
            os.link(temporary, target)  # unlike a rename, it never replaces
        except FileExistsError:
            raise InputError("exists already", file=name) from None
        except OSError:  # a file system without hard links
            _check_target(name, overwrite)
        else:
            temporary.unlink()
            return
    os.replace(temporary, target)


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether something is there that is no regular file: a pipe, a terminal."""
    with contextlib.suppress(OSError):
        return not stat.S_ISREG(os.stat(path).st_mode)
    return False


def sync_folder(folder: Path) -> None:
    """Puts the names in `folder` on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def lock(path: str | os.PathLike[str]) -> Iterator[None]:
    """Holds the lock file `path`, which it makes and never deletes.

    The system lets go of it when the process ends, however it ends. Raises `InputError`, naming the
    process, when another one holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        lock_descriptor(descriptor, os.fspath(path))
        yield
    finally:
        os.close(descriptor)


def lock_descriptor(descriptor: int, name: str) -> None:
    """Locks the open file until it is closed; `InputError` when another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"in use by {_holder(descriptor)}", file=name) from None


def _holder(descriptor: int) -> str:
    """Who holds the lock.

    Linux lists all locks, e.g. `1: FLOCK ADVISORY WRITE 7115 fe:00:2146358 0 EOF`: process, inode.
    """
    inode = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5].split(":")[2] == inode and int(words[4]) > 0:
                return f"process {words[4]}"
    return "another process"
