"""Streams in parts: a header, frames of what the stream holds, a trailer with their number; then
perhaps another part. The content of each frame begins with a line of JSON that says what it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, BinaryIO, Generic, Self, TypeVar

from stratkit.errors import InputError, error_context
from stratkit.storage import schema
from stratkit.storage.frames import Frame, FrameReader, Truncated, compress

MAX_JSON = 1 << 16  # bytes of a frame's first line

T = TypeVar("T")


class PartWriter(ABC):
    """Writes such a stream. As a context manager it ends it with a trailer, but not after an error:
    the stream is then recognised as incomplete."""

    _stream: BinaryIO

    @abstractmethod
    def close(self) -> None:
        """Ends the stream with a trailer. The stream itself stays open."""

    def _put(self, pieces: list[bytes]) -> None:
        frame = memoryview(compress(pieces))
        while frame:  # a raw stream may take less than it is given
            frame = frame[self._stream.write(frame) :]
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()


class PartReader(ABC, Generic[T]):
    """Reads such a stream, called `name` in messages. One that ends too early is no error: whole
    frames are kept, and `truncated` says what happened. `InputError` for all that is wrong."""

    stream_name: str  # in messages: "an episode stream"
    kind: str  # of the frames, and in the trailer's line how many there were: "episodes"
    unit: str  # what is kept of a truncated stream, in messages

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.truncated: str | None = None
        self._frames = FrameReader(stream, name)
        self._in_part = False  # between a header and its trailer
        self._count = 0  # since the header

    @abstractmethod
    def _read_header(self, line: dict[str, Any]) -> None:
        """Takes over a header; nothing was counted behind it yet."""

    @abstractmethod
    def _read(self, line: dict[str, Any], body: memoryview) -> T | None:
        """What is in a frame, behind its line; counts it."""

    def _next_frame(self) -> Frame | None:
        """The next frame, or None at the end, which is noted if it comes too early."""
        try:
            frame = self._frames.next()
        except Truncated:
            self._note_truncated(f"within {self._frames.where}")
            return None
        if frame is None and self._in_part:
            self._note_truncated(f"before {self._frames.where}")
        return frame

    def _note_truncated(self, where: str) -> None:
        note = f"truncated {where}; {self._count} {self.unit} before it are kept"
        self.truncated = self.truncated or note

    def _take(self, frame: Frame) -> T | None:
        """What is in a frame; None of a header and a trailer."""
        with error_context(self.name, frame.where):
            end = frame.content.find(b"\n", 0, MAX_JSON)
            line = schema.parse_object(frame.content[: max(end, 0)])
            if line is None:
                raise InputError(f"not a frame of {self.stream_name}")
            kind = line.get("frame")
            if kind == "header":
                self._begin(frame, line)
            elif not self._in_part:
                raise InputError(f"not the header of {self.stream_name}")
            elif kind == self.kind:
                return self._read(line, memoryview(frame.content)[end + 1 :])
            elif kind == "trailer":
                self._end(line)
            else:
                raise InputError("a frame of an unknown kind", text=kind)
        return None

    def _begin(self, frame: Frame, line: dict[str, Any]) -> None:
        self._read_header(line)
        if self._in_part:  # a killed writer's stream, and another one after it
            self._note_truncated(f"before {frame.where}")
        self._in_part, self._count = True, 0

    def _end(self, line: dict[str, Any]) -> None:
        if line.get(self.kind) != self._count:
            what = f"the trailer counts otherwise than {self._count} {self.kind}"
            raise InputError(what, text=line.get(self.kind))
        self._in_part = False
