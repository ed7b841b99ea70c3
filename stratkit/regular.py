"""Files that others name: opened only if they are regular, and without waiting."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader

from stratkit.errors import InputError


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a file to read its bytes. `InputError`: it is a named pipe or a device, which may make
    the reader wait or never end; `OSError` as `open`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise InputError("not a regular file", file=os.fspath(path))
