"""Files that gzip or zstd compressed, read as if they were not.

What is compressed is told by its first bytes, not by its name. Several compressed files in a row
are one, as for gunzip and unzstd. Memory is bounded: data go to the decompressor in small pieces.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from stratkit.errors import InputError

SUFFIXES = (".gz", ".zst")
MAX_WINDOW = 1 << 27  # bytes that zstd may look back: as much as unzstd accepts unasked
_PIECE = 1 << 10  # compressed bytes at a time: of zstd they become 32 MiB at most
_HEAD = 4  # bytes that tell
_MAX_BEGIN = 1 << 18  # compressed bytes within which a zstd frame gives its first content
_OWN = b'{"frame":'  # which streams of episodes and examples begin with


@dataclass(frozen=True)
class _Kind:
    """A way to compress: what may pad its end, and how it is undone."""

    name: str
    padding: bytes
    worker: Callable[[], Any]
    damage: type[Exception]


def _gzip() -> _Kind:
    return _Kind("gzip", b"\0", lambda: zlib.decompressobj(31), zlib.error)


def _zstd() -> _Kind:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
    return _Kind("zstd", b"", decompressor.decompressobj, zstandard.ZstdError)


# The second one of zstd's begins a frame to be skipped, such as parallel compressors write first.
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}
_KINDS = {"gzip": _gzip, "zstd": _zstd}


def compression(head: bytes) -> str | None:
    """`gzip` or `zstd`, by which these bytes begin; None: neither."""
    return next((name for name, magic in _MAGIC.items() if magic.match(head)), None)


def plain_name(path: str) -> str:
    """A file's name without the suffix that says how it is compressed."""
    stem = path[: path.rfind(".")] if path.lower().endswith(SUFFIXES) else path
    return stem or path


def decompressed(stream: BinaryIO, name: str, own: bool = False) -> BinaryIO:
    """What `stream`, called `name` in messages, holds: itself if it is not compressed.

    Damaged and truncated data are an `InputError` when they are met. With `own`, a stream of
    episodes or examples, whose frames have readers of their own, is left as it is.
    """
    head = stream.read(_HEAD)
    rest = io.BufferedReader(Rejoined(head, stream, len(head) < _HEAD))
    kind = compression(head)
    if kind is None:
        return rest
    undone = _KINDS[kind]()
    if own and kind == "zstd":
        begin, content = _first_content(rest, undone)
        rest = io.BufferedReader(Rejoined(begin, rest, False))
        if content.startswith(_OWN):
            return rest
    return io.BufferedReader(Decompressed(rest, undone, name))


def _first_content(rest: BinaryIO, kind: _Kind) -> tuple[bytes, bytes]:
    """The first compressed bytes, and the content that they have."""
    worker, begin, content = kind.worker(), b"", b""
    while len(content) < len(_OWN) and len(begin) < _MAX_BEGIN and not worker.eof:
        data = rest.read(_PIECE)
        if not data:
            break
        begin += data
        try:
            content += worker.decompress(data)
        except kind.damage:
            break
    return begin, content


class Rejoined(io.RawIOBase):
    """A stream whose first bytes, `head`, were read already. A terminal's end is met once (it was,
    if `ended`): who asks again waits for more."""

    def __init__(self, head: bytes, rest: BinaryIO, ended: bool) -> None:
        self.head, self.rest, self.ended = head, rest, ended

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.head[: len(buffer)]
        if not data and not self.ended:
            data = self.rest.read(len(buffer))
            self.ended = len(data) < len(buffer)
        self.head = self.head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


class Decompressed(io.RawIOBase):
    """The content of all that is compressed in `rest`, one after the other."""

    def __init__(self, rest: BinaryIO, kind: _Kind, name: str) -> None:
        self.name = name
        self._rest, self._kind, self._worker = rest, kind, kind.worker()
        self._left = b""  # compressed bytes behind the end of what was compressed together
        self._content = b""
        self._at = 0  # in the content, how much of it was handed out
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while self._at == len(self._content) and not self._ended:
            self._content, self._at = self._more(), 0
        data = self._content[self._at : self._at + len(buffer)]
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)

    def _more(self) -> bytes:
        """The content of the next piece, if any."""
        kind = self._kind
        data = self._left or self._rest.read(_PIECE)
        self._left = b""
        if not data:
            if not self._worker.eof:
                raise InputError(f"truncated: it ends within its {kind.name} data", file=self.name)
            self._ended = True
            return b""
        if self._worker.eof:
            data = data.lstrip(kind.padding)
            if not data:
                return b""
            self._worker = kind.worker()
        try:
            content = self._worker.decompress(data)
        except kind.damage as error:
            raise InputError(f"damaged {kind.name} data: {error}", file=self.name) from None
        self._left = self._worker.unused_data
        return bytes(content)
