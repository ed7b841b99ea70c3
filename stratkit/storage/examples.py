"""Examples of values at public belief states, in a stream (formats/examples.md): from self-play by
search to the learner.

A stream is a sequence of zstd frames: a header, examples, a trailer. The content of each begins
with a line of JSON that says what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, BinaryIO, NamedTuple

import numpy as np
from msgspec import Meta

from stratkit.arrays import Float32s
from stratkit.errors import InputError
from stratkit.storage import schema
from stratkit.storage.frames import MAX_CONTENT
from stratkit.storage.parts import PartReader, PartWriter
from stratkit.storage.schema import Count, Positive, Seed, Text
from stratkit.version import __version__

FORMAT = "examples"
VERSION, WITH_POLICIES = 1, 2
FULL = 1 << 18  # bytes of numbers at which a frame is closed
ROUNDING = 1e-3  # by which beliefs may miss 1
_FLOAT = np.dtype("<f4")

Width = Annotated[int, Meta(ge=1, le=4096)]


class Values(NamedTuple):
    """Examples of a value network.

    rows    float32 [n, inputs], its inputs
    values  float32 [n, hands * (1 + actions)], its targets: values of hands, NaN of those that are
            not there; then how likely each hand takes each action, NaN where that is not known
    """

    rows: Float32s
    values: Float32s


@dataclass(frozen=True, kw_only=True)
class ExampleHeader:
    """What all examples of a stream share.

        version      of the format: `WITH_POLICIES` if there are actions, else `VERSION`
        game, rules  as the engine has them
        inputs       width of rows
        hands        of a player
        actions      whose probabilities are there, of each hand; 0: values alone
        search       as a PLAYER's keys
        seed         of the writer
        writer       the program

    The fields are in the order of the file, and their types are its schema.
    """

    version: Annotated[int, Meta(ge=VERSION, le=WITH_POLICIES)] = VERSION
    game: Text
    rules: Mapping[Text, Count]
    inputs: Width
    hands: Width
    search: Text
    seed: Seed
    writer: Text = f"stratkit {__version__}"
    actions: Annotated[int, Meta(ge=0, le=4096)] = 0

    def __post_init__(self) -> None:
        if (self.version == WITH_POLICIES) != (self.actions > 0):
            raise InputError("actions: those of version 2, one or more", text=self.actions)
        schema.check_seed(self.seed)
        if self.inputs <= 2 * self.hands:
            what = "inputs: a row begins before the beliefs of both players' hands"
            raise InputError(what, text=self.inputs)

    @property
    def origin(self) -> str:
        """By which a learner tells writers apart."""
        return str(self.seed)

    @property
    def width(self) -> int:
        """Of an example's targets."""
        return self.hands * (1 + self.actions)


@dataclass(frozen=True)
class _ExampleFrame:
    """The line of a frame of examples."""

    count: Positive


class ExampleWriter(PartWriter):
    """Writes examples to a binary stream, which stays open; the header goes out at once, and so do
    examples. As a context manager it ends the stream with a trailer, but not after an error."""

    def __init__(self, stream: BinaryIO, header: ExampleHeader) -> None:
        self._stream, self.header, self._count = stream, header, 0
        line = {"frame": "header", "stratkit": FORMAT, **asdict(header)}
        if not header.actions:
            del line["actions"]
        self._put([schema.compact({**line, "rules": dict(sorted(header.rules.items()))}) + b"\n"])

    def write(self, rows: Float32s, values: Float32s) -> None:
        """Adds examples. `ValueError`: they are of other widths, or not finite."""
        header, n = self.header, len(rows)
        if rows.shape != (n, header.inputs) or values.shape != (n, header.width):
            raise ValueError(f"examples of widths {rows.shape[1:]} and {values.shape[1:]}")
        if wrong := _fault(rows, values, header.hands):
            raise ValueError(wrong)
        each = FULL // (4 * (header.inputs + header.width)) or 1
        for at in range(0, n, each):
            some = rows[at : at + each], values[at : at + each]
            line = schema.compact({"frame": "examples", "count": len(some[0])}) + b"\n"
            self._put([line, *(np.ascontiguousarray(x, _FLOAT).tobytes() for x in some)])
        self._count += n

    def close(self) -> None:
        """Ends the stream with a trailer. The stream itself stays open."""
        self._put([schema.compact({"frame": "trailer", "examples": self._count}) + b"\n"])


class ExampleReader(PartReader[Values]):
    """The examples of a binary stream, called `name` in messages, a frame at a time.

    A stream may be several one after the other, which must be of one game and search the same
    belief states. One that ends too early is no error: `truncated` says what happened. `InputError`
    for everything that is not as formats/examples.md says.
    """

    stream_name, kind, unit = "a stream of examples", "examples", "examples"
    duplicates = 0  # nothing tells an example from another

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        self.header: ExampleHeader | None = None

    def __iter__(self) -> Iterator[Values]:
        return self.frames()

    def frames(self) -> Iterator[Values]:
        """The examples of each frame that has any, in the order of the stream."""
        while (frame := self._next_frame()) is not None:
            values = self._take(frame)
            if values is not None:
                yield values

    def open(self) -> ExampleHeader:
        """Reads the header, and nothing behind it."""
        if self.header is None:
            frame = self._next_frame()
            if frame is None:
                what = self.truncated or "empty: no header of a stream of examples"
                raise InputError(what, file=self.name)
            self._take(frame)
        assert self.header is not None
        return self.header

    def _read_header(self, line: dict[str, Any]) -> None:
        schema.check_format(line, FORMAT, VERSION, self.stream_name, WITH_POLICIES)
        header = schema.convert(line, ExampleHeader)
        if self.header and _shape(header) != _shape(self.header):
            raise InputError(f"examples of {header.game} after some of {self.header.game}")
        self.header = header

    def _read(self, line: dict[str, Any], body: memoryview) -> Values:
        assert self.header is not None
        n, inputs, width = (
            schema.convert(line, _ExampleFrame).count,
            self.header.inputs,
            self.header.width,
        )
        if n > MAX_CONTENT or len(body) != 4 * n * (inputs + width):
            raise InputError("the examples do not fill the frame", text=n)
        numbers = np.frombuffer(body, _FLOAT)
        rows = numbers[: n * inputs].reshape(n, inputs)
        values = numbers[n * inputs :].reshape(n, width)
        if wrong := _fault(rows, values, self.header.hands):
            raise InputError(wrong)
        self._count += n
        return Values(rows.astype(np.float32), values.astype(np.float32))


def _fault(rows: Float32s, values: Float32s, hands: int) -> str | None:
    if not np.isfinite(rows).all():
        return "a row that is not finite"
    beliefs = rows[:, -2 * hands :].reshape(len(rows), 2, -1)
    if (beliefs < 0).any() or (abs(beliefs.sum(2) - 1) > ROUNDING).any():
        return "beliefs that are no probabilities, or do not sum to 1"
    if np.isinf(values).any():
        return "a value that is infinite"
    plays = values[:, hands:].reshape(len(rows), hands, -1)
    sums, known = np.nansum(plays, 2), ~np.isnan(plays).all(2)
    if (plays < 0).any() or (abs(sums[known] - 1) > ROUNDING).any():
        return "a policy that is no probabilities, or does not sum to 1"
    return None


def _shape(header: ExampleHeader) -> tuple[object, ...]:
    return header.game, dict(header.rules), header.inputs, header.hands, header.actions
