"""zstd frames one at a time, written in blocks that suit the data and read from pipes and files.

A frame is handed out as soon as its last byte is there: its end is found by walking over its blocks
(RFC 8878, section 3.1.1), so nothing behind it is waited for. Sizes are checked before memory is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from stratkit.errors import InputError

MAX_CONTENT = 1 << 20  # bytes of a frame, decompressed
MAX_STORED = MAX_CONTENT + (1 << 16)  # and as it is stored: incompressible blocks grow a little
LEVEL = 9

_MAGIC = zstandard.MAGIC_NUMBER.to_bytes(4, "little")
_CHECKSUM_BYTES = 4
_READ = 1 << 16


class Truncated(Exception):
    """The stream ended within a frame."""


@dataclass(frozen=True)
class Frame:
    """The content of a frame, and `where` it is in the stream, for messages."""

    content: bytes
    where: str


def compress(pieces: Sequence[bytes]) -> bytes:
    """One frame with the `pieces` one after the other, content size and checksum.

    Each piece begins a block, and so gets a code of its own: bytes of different kinds compress
    better apart.
    """
    size = sum(map(len, pieces))
    if size > MAX_CONTENT:
        raise ValueError(f"a frame of {size} bytes")
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj(size=size)
    out: list[bytes] = []
    for piece in pieces:
        if out:
            out.append(compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
        out.append(compressor.compress(piece))
    return b"".join([*out, compressor.flush()])


class FrameReader:
    """The frames of `stream`, which is called `name` in messages. Never reads ahead and waits."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self._number, self._offset = 0, 0  # of the frame that is being read, from 1; its first byte
        # A buffered stream's `read` waits until it has all bytes, `read1` and a raw `read` do not.
        self._read = getattr(stream, "read1", stream.read)
        self._buffer = bytearray()

    def next(self) -> Frame | None:
        """The next frame; None at the end of the stream.

        Raises `Truncated` when the stream ends within it, and `InputError` when it is damaged, too
        large, or no zstd frame.
        """
        self._number += 1
        if not self._has(1):
            return None
        content_size = self._header()
        end = self._end_of_blocks()
        content = self._decompress(bytes(self._buffer[:end]), content_size)
        frame = Frame(content, self.where)
        del self._buffer[:end]
        self._offset += end
        return frame

    def error(self, what: str) -> InputError:
        """An error in the current frame."""
        return InputError(what, file=self.name, where=self.where)

    @property
    def where(self) -> str:
        """The current frame as messages name it."""
        return f"frame {self._number} at byte {self._offset}"

    def _has(self, size: int) -> bool:
        """Whether the stream has `size` bytes from the frame's beginning; it buffers them."""
        while len(self._buffer) < size:
            more = self._read(_READ)
            if not more:
                return False
            self._buffer += more
        return True

    def _need(self, size: int) -> None:
        if not self._has(size):
            raise Truncated

    def _header(self) -> int:
        """Reads and checks the frame's header; returns the size of the content."""
        self._need_magic()
        self._need(5)
        descriptor = self._buffer[4]
        single = descriptor >> 5 & 1
        self._header_size = (
            5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
        )
        self._need(self._header_size)
        try:
            parameters = zstandard.get_frame_parameters(bytes(self._buffer[: self._header_size]))
        except zstandard.ZstdError as error:
            raise self.error(f"damaged ({error})") from None
        if not parameters.has_checksum or parameters.dict_id:
            raise self.error("damaged: a frame without a checksum, or with a dictionary")
        if parameters.content_size > MAX_CONTENT or parameters.window_size > MAX_CONTENT:
            raise self.error(f"a frame that states no size, or over {MAX_CONTENT} bytes")
        return int(parameters.content_size)

    def _need_magic(self) -> None:
        """Looks at the first bytes before it waits for more: what is no frame is told at once."""
        self._has(len(_MAGIC))
        if not _MAGIC.startswith(self._buffer[: len(_MAGIC)]):
            raise self.error("not a zstd frame")
        self._need(len(_MAGIC))

    def _end_of_blocks(self) -> int:
        """Reads up to the end of the frame; returns its size."""
        at, last = self._header_size, False
        while not last:
            self._need(at + 3)
            block = int.from_bytes(self._buffer[at : at + 3], "little")
            last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
            at += 3 + (1 if kind == 1 else size)  # kind 1: one byte, repeated `size` times
            if at > MAX_STORED:
                raise self.error("damaged: its blocks are larger than its content")
        self._need(at + _CHECKSUM_BYTES)
        return at + _CHECKSUM_BYTES

    def _decompress(self, stored: bytes, content_size: int) -> bytes:
        if content_size == 0:
            raise self.error("an empty frame")
        try:
            content = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise self.error(f"damaged ({error})") from None
        if len(content) != content_size:
            raise self.error("damaged: not of the size that it states")
        return content
