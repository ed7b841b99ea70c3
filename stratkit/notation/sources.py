"""Finding input: files, folders, zips and stdin become one sequence of named streams.

What gzip or zstd compressed is read as what it holds. Zips are read member by member from the
archive; nothing is unpacked to disk.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

from stratkit.compressed import Decompressed, Rejoined, decompressed, plain_name
from stratkit.errors import InputError

STDIN, STDIN_NAME = "-", "standard input"
ZIP = ".zip"
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others need unbounded memory
# What zipfile raises over damaged archives.
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError, struct.error)
_ENCRYPTED = 1
_HEAD = 256  # bytes that tell what a stream holds
_MAX_LISTED = 32 << 20  # bytes of a zip's list of contents, which is read whole: 400,000 logs


class Unreadable(InputError):
    """A file that could not even be opened or read."""


class NamedStream:
    """One stream: its `name`, its first bytes `head`, and `stream`, which still gives all bytes.
    `compressed`: whether a compressed file holds them.

    Whatever goes wrong while it is read is an `InputError` with its name.
    """

    def __init__(self, name: str, raw: BinaryIO) -> None:
        self.name = name
        with errors_of(name):
            held = decompressed(raw, name, own=True)
            self.head = held.read(_HEAD)
        self.compressed = isinstance(getattr(held, "raw", None), Decompressed)
        self.stream: BinaryIO = io.BufferedReader(_Named(name, self.head, held))


class _Named(Rejoined):
    """Its errors have its name."""

    def __init__(self, name: str, head: bytes, rest: BinaryIO) -> None:
        super().__init__(head, rest, len(head) < _HEAD)
        self.name = name

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with errors_of(self.name):
            return super().readinto(buffer)


@contextlib.contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Turns whatever goes wrong while a stream is read into an `InputError` with its name."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGES as error:
        raise InputError(f"damaged zip: {error}", file=name) from None
    except RuntimeError as error:  # zipfile's word for versions and ciphers that it does not know
        raise InputError(f"zip that cannot be read: {error}", file=name) from None
    except OSError as error:
        what = error.strerror or str(error)
        raise Unreadable(f"cannot read: {what}", file=name) from None


def sources(paths: Sequence[str], suffixes: Sequence[str]) -> Iterator[NamedStream | InputError]:
    """Every input under `paths`, in order; what cannot be read gives its error instead.

    A path is a file of any name, a folder (searched to its depths, in order of the names, for files
    with one of the `suffixes`, compressed or not, and zips), or `-`. Only members of zips with such
    names count; a zip among them is an error. So is a folder or zip without any.
    """
    for path in paths:
        try:
            if path != STDIN and os.path.isdir(path):
                yield from _not_empty(_folder(path, suffixes), path, suffixes)
            else:
                yield from _file(path, suffixes)
        except InputError as error:
            yield error


def _not_empty(
    streams: Iterator[NamedStream | InputError], name: str, suffixes: Sequence[str]
) -> Iterator[NamedStream | InputError]:
    """`streams`; raises `InputError` when it gave nothing."""
    empty = True
    for source in streams:
        empty = False
        yield source
    if empty:
        raise InputError(f"holds no {' or '.join(suffixes)} file", file=name)


def _has_suffix(name: str, suffixes: Sequence[str]) -> bool:
    return os.path.splitext(plain_name(name))[1].lower() in suffixes


def _folder(path: str, suffixes: Sequence[str]) -> Iterator[NamedStream | InputError]:
    # A stack and no recursion: folders may be nested deeper than functions can be.
    stack: list[Iterator[os.DirEntry[str]]] = [_entries(path)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                stack.append(_entries(entry.path))
            elif _has_suffix(entry.name, [*suffixes, ZIP]):
                if os.path.exists(entry.path) and not os.path.isfile(entry.path):
                    raise InputError("not a regular file", file=entry.path)
                yield from _file(entry.path, suffixes)
        except InputError as error:
            yield error


def _entries(path: str) -> Iterator[os.DirEntry[str]]:
    with errors_of(path):
        return iter(sorted(os.scandir(path), key=lambda entry: entry.name))


def _file(path: str, suffixes: Sequence[str]) -> Iterator[NamedStream | InputError]:
    if path == STDIN:
        source = NamedStream(STDIN_NAME, sys.stdin.buffer)
        yield from _opened(source, sys.stdin.buffer, suffixes)
        return
    with contextlib.ExitStack() as stack:
        with errors_of(path):
            stream = stack.enter_context(open(path, "rb"))
        yield from _opened(NamedStream(path, stream), stream, suffixes)


def _opened(
    source: NamedStream, raw: BinaryIO, suffixes: Sequence[str]
) -> Iterator[NamedStream | InputError]:
    if not source.head.startswith(_ZIP_MARKS):
        yield source
    elif source.compressed:
        raise InputError("a zip that is compressed again, not read: unpack it", file=source.name)
    elif raw.seekable():
        yield from _not_empty(_zip(source.name, raw, suffixes), source.name, suffixes)
    else:  # a zip's contents are listed at its end, so a pipe must be kept until that has come
        with tempfile.TemporaryFile() as copy:
            with errors_of(source.name):
                shutil.copyfileobj(source.stream, copy)
            members = _zip(source.name, copy, suffixes)
            yield from _not_empty(members, source.name, suffixes)


def _check_member(member: zipfile.ZipInfo, name: str) -> None:
    """Raises `InputError` for a member that is compressed or locked in a way that is not read."""
    wrong = None
    if member.compress_type not in _METHODS:
        wrong = "compressed by an unusual method"
    elif member.flag_bits & _ENCRYPTED:
        wrong = "a password is needed"
    if wrong:
        raise InputError(f"zip that cannot be read: {wrong}", file=name)


def _check_directory(stream: BinaryIO, name: str) -> None:
    """Raises `InputError` when the list of contents at a zip's end is very long."""
    # Several records may say how long it is: what counts is which of them `ZipFile` goes by.
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
    if end and end[zipfile._ECD_SIZE] > _MAX_LISTED:  # type: ignore[attr-defined]
        what = f"zip whose list of contents has over {_MAX_LISTED >> 20} MiB"
        raise InputError(what, file=name)


def _check_overlaps(archive: zipfile.ZipFile, name: str) -> None:
    """Raises `InputError` when members share bytes, as in zips that are made to grow without end.

    Behind a member's offset come thirty bytes, its name, and its data.
    """
    end = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise InputError("damaged zip: its members overlap", file=name)
        end = member.header_offset + 30 + member.compress_size


def _zip(
    name: str, stream: BinaryIO, suffixes: Sequence[str]
) -> Iterator[NamedStream | InputError]:
    with errors_of(name):
        _check_directory(stream, name)
        archive = zipfile.ZipFile(stream)
    with archive:
        _check_overlaps(archive, name)
        searched = [*suffixes, ZIP]
        members = [
            member for member in archive.infolist() if _has_suffix(member.filename, searched)
        ]
        for member in sorted(members, key=lambda member: member.filename):
            inside = f"{name}/{member.filename}"
            try:
                with contextlib.ExitStack() as stack:
                    if _has_suffix(inside, [ZIP]):
                        raise InputError("a zip within a zip, not read: unpack it", file=inside)
                    with errors_of(inside):
                        _check_member(member, inside)
                        opened = cast(BinaryIO, stack.enter_context(archive.open(member)))
                    yield NamedStream(inside, opened)
            except InputError as error:
                yield error
