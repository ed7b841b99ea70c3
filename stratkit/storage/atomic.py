"""Files that appear whole or not at all, and locks."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import shutil
import stat
import time
import zlib
from collections.abc import Iterator
from io import BufferedWriter
from pathlib import Path

from stratkit.errors import InputError, error_context

TEMPORARY = ".tmp."  # names that begin so are never read
# Files of exactly this form are ours, and may be removed: machine, process, chance.
_OURS = re.compile(r"\.tmp\.stratkit-([0-9a-f]{8})-[0-9]{1,10}-[0-9a-f]{16}")
_MACHINE = f"{zlib.crc32(os.uname().nodename.encode()):08x}"
_DAY = 86400.0  # seconds
_LOOK = 0.05  # seconds in which a look at the holder is over (`holder` has the lock meanwhile)


@contextlib.contextmanager
def atomic_file(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    durable: bool = True,
    follow: bool = True,
) -> Iterator[BufferedWriter]:
    """A binary stream whose content becomes the file `path` when the block ends without an error.

    Until then it has a temporary name in the same folder; after an error nothing is left, and what
    a killed process left there is deleted. `durable`: file and folder are on the disk (fsync)
    before it returns. A file that is overwritten keeps its mode; its other names (hard links) keep
    the old content. `follow`: of a symbolic link, the file that it leads to is meant; else the link
    itself is replaced. Raises `InputError` when `path` exists and `overwrite` is false, or is no
    regular file; `OSError` with `path` as its file name for everything else, a full disk included.
    """
    name = os.fspath(path)
    with error_context(name, only=OSError):
        target = Path(os.path.realpath(name) if follow else os.path.abspath(name))
        replaced = _check_target(target, name, overwrite)
        remove_abandoned(target.parent)
        temporary, stream, guard = _open_temporary(target.parent, name, replaced)
        try:
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            stream.close()
            _appear(temporary, target, name, overwrite)
        except BaseException as error:
            with contextlib.suppress(OSError):
                stream.close()
            with contextlib.suppress(OSError):
                temporary.unlink()
            if isinstance(error, OSError) and TEMPORARY in str(error.filename):
                raise OSError(error.errno, error.strerror, name) from error
            raise
        finally:
            os.close(guard)
        if durable:
            sync_folder(target.parent)


def _open_temporary(
    folder: Path, name: str, replaced: os.stat_result | None
) -> tuple[Path, BufferedWriter, int]:
    """A new file in `folder`, its stream, and a descriptor that holds its lock until it is closed.
    It gets owner and mode of the file that it is to replace, if there is one.

    The lock says that the writer is alive. The stream alone would let it go before the file has
    its final name.
    """

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600 if replaced else 0o666)

    while True:
        chance = os.urandom(8).hex()
        temporary = folder / f"{TEMPORARY}stratkit-{_MACHINE}-{os.getpid()}-{chance}"
        try:
            stream = open(temporary, "xb", opener=opener)  # noqa: SIM115 (closed by the caller)
            guard = os.dup(stream.fileno())
            if replaced:
                _take_over(guard, replaced)
            if _is_locked_by_us(guard):
                return temporary, stream, guard
        except BaseException as error:  # a signal, perhaps as the file was made: nobody knows of it
            with contextlib.suppress(OSError):
                temporary.unlink()
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, name) from error
            raise
        stream.close()  # somebody took it for abandoned in the moment before it was locked
        os.close(guard)


def _take_over(descriptor: int, replaced: os.stat_result) -> None:
    """Gives the open file the mode of the one that it will replace, and the owner and group as far
    as this user may. A group that is another one now may do no more than everybody."""
    mode = stat.S_IMODE(replaced.st_mode) & 0o777
    with contextlib.suppress(OSError):
        os.fchown(descriptor, replaced.st_uid, -1)
    try:
        os.fchown(descriptor, -1, replaced.st_gid)
    except OSError:
        mode &= ~0o070 | (mode & 0o007) << 3
    with contextlib.suppress(OSError):  # a file system without modes
        os.fchmod(descriptor, mode)


def _is_locked_by_us(descriptor: int) -> bool:
    """Locks an open file without waiting; false when another process has it, or deleted it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: its files are nowhere taken for abandoned
    return os.fstat(descriptor).st_nlink > 0


@functools.cache  # once in a process: what was killed since then is for the next run
def remove_abandoned(folder: Path) -> None:
    """Deletes the temporary files in `folder` whose writers are gone: regular files of this user's
    whose names are exactly of the form that `atomic_file` makes.

    A living writer of this machine holds a lock on its file. Locks of other machines may be
    invisible here, so their files must also be a day old. What cannot be deleted is left alone.
    """
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if match := _OURS.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(entry.path, 0 if match[1] == _MACHINE else _DAY)


def _remove_if_abandoned(path: str, age: float) -> None:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    descriptor = os.open(path, flags)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if is_ours and time.time() - status.st_mtime >= age:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _check_target(target: Path, name: str, overwrite: bool) -> os.stat_result | None:
    """The file that is to be replaced; None: there is none, or a link that is not followed."""
    try:
        status = os.lstat(target)
    except FileNotFoundError:
        return None
    except OSError as error:  # under the name that was given
        raise OSError(error.errno, error.strerror, name) from None
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        raise InputError("not a regular file", file=name)
    if not overwrite:
        raise InputError("exists already", file=name)
    return status if stat.S_ISREG(status.st_mode) else None


def _appear(temporary: Path, target: Path, name: str, overwrite: bool) -> None:
    """Gives the finished file its name; another process may have been faster."""
    if not overwrite:
        try:
            os.link(temporary, target)  # unlike a rename, it never replaces
        except FileExistsError:
            raise InputError("exists already", file=name) from None
        except OSError:  # a file system without hard links
            _check_target(target, name, overwrite)
        else:
            temporary.unlink()
            return
    os.replace(temporary, target)


def unshare(path: Path) -> None:
    """Before the file `path` is written in place: what its other names (hard links) lead to, and a
    symbolic link, stays as it is. A copy takes the place of the former; the latter goes."""
    with contextlib.suppress(FileNotFoundError):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            path.unlink()
        elif stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            with open(path, "rb") as old, atomic_file(path, overwrite=True, follow=False) as new:
                shutil.copyfileobj(old, new)


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
    """Holds the lock file `path`, which it makes; only its holder may delete it.

    The system lets go of it when the process ends, however it ends. Raises `InputError`, naming the
    process, when another one holds it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        lock_descriptor(descriptor, os.fspath(path))
        if not os.fstat(descriptor).st_nlink:
            raise InputError("deleted by its last holder just now: try again", file=os.fspath(path))
        yield
    finally:
        os.close(descriptor)


def lock_descriptor(descriptor: int, name: str) -> None:
    """Locks the open file until it is closed; `InputError` when another process has it."""
    for again in (True, False):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not again:
                raise InputError(f"in use by {_holder(descriptor)}", file=name) from None
        time.sleep(_LOOK)


def holder(path: str | os.PathLike[str]) -> str | None:
    """Who holds the lock file `path`, such as `process 7115`; None where nobody does. The answer
    may be old at once: whoever wants the lock must take it, and waits for the end of this look."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None


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
