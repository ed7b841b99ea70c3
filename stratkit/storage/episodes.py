"""Episodes: whole games as a learner sees them, in a stream (formats/episodes.md).

A stream is a sequence of zstd frames: a header, episodes, a trailer. The content of each begins
with a line of JSON that says what it is; in a frame of episodes it lists the columns that follow.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, BinaryIO

import numpy as np
from msgspec import Meta

from stratkit.arrays import Bools
from stratkit.errors import InputError
from stratkit.storage import schema
from stratkit.storage.columns import (
    COLUMNS,
    Columns,
    Episode,
    Episodes,
    PolicyTargets,
    from_planes,
    planes,
    to_columns,
    to_episodes,
    type_name,
)
from stratkit.storage.faults import fault
from stratkit.storage.frames import MAX_CONTENT, Truncated
from stratkit.storage.numbers import NumberSet
from stratkit.storage.parts import MAX_JSON, PartReader, PartWriter
from stratkit.storage.schema import Count, Seed, Sha256, Text
from stratkit.storage.slices import OpenGames
from stratkit.version import __version__

FORMAT = "episodes"
VERSION = 1
SLICES = 2  # the version of streams of slices, which older readers would misread
PLAYED = 3  # ... and of games of which it is known what was played, and not how probable it was
FULL = 1 << 18  # bytes of content at which a frame is closed: what a killed writer may lose
MAX_STREAMS = 1 << 16  # (game, seed, network or step) of which the games are remembered
_BLOCK = 256  # bytes from which on a plane is worth a block of its own

__all__ = [
    "Episode",
    "EpisodeReader",
    "EpisodeWriter",
    "Episodes",
    "Header",
    "PolicyTargets",
    "SeenGames",
]


@dataclass(frozen=True, kw_only=True)
class Header:
    """What all episodes of a stream share.

        version           of the format; `SLICES`: games are handed on in slices; `PLAYED`: actions
                          were not `sampled`
        game, rules       as the engine has them
        endings           by code, names of the ways in which an episode ends; code 0: it does not
                          say
        seed              of the writer
        first_game        its lowest number of a game
        writer            the program
        network           SHA-256 of the policy's file, or None
        step              of the policy, or -1
        post              what was done to the network's policy before an action was drawn
        opponent          PLAYER of the sides that the policy did not play; of several, who took
                          turns or were drawn
        opponent_network  SHA-256 of its file; of several
        by_score          after so many games opponents were drawn anew, by scores; None: turns
        sampled           actions were drawn from a known policy; else mu is 1

    The fields are in the order of the file, and their types are its schema. `opponent`,
    `opponent_network` and `by_score` are written only where there is one.
    """

    version: Annotated[int, Meta(ge=VERSION, le=PLAYED)] = VERSION
    game: Text
    rules: Mapping[Text, Count]
    endings: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=256)]
    seed: Seed
    first_game: Count = 0
    writer: Text = f"stratkit {__version__}"
    network: Sha256 | None = None
    step: Annotated[int, Meta(ge=-1, le=2**63 - 1)] = -1
    post: Text = "none"
    opponent: Text | tuple[Text, ...] | None = None
    opponent_network: Sha256 | tuple[Sha256 | None, ...] | None = None
    by_score: Count | None = None
    sampled: bool = True

    def __post_init__(self) -> None:
        schema.check_seed(self.seed)

    @property
    def origin(self) -> str:
        """By which a learner tells writers apart."""
        return f"{self.seed}:{self.first_game}"


@dataclass(frozen=True)
class _EpisodeFrame:
    """The line of a frame of episodes: `columns` as [name, type, bytes]."""

    count: Annotated[int, Meta(ge=1, le=MAX_CONTENT)]
    columns: tuple[tuple[Text, Text, Annotated[int, Meta(ge=0, le=MAX_CONTENT)]], ...]


# --- writing --------------------------------------------------------------------------------------


class EpisodeWriter(PartWriter):
    """Writes episodes to a binary stream, which stays open; the header goes out at once.

    As a context manager it closes itself, but after an error writes no trailer: the stream is then
    recognised as incomplete. A writer's errors are `OSError`.
    """

    def __init__(self, stream: BinaryIO, header: Header) -> None:
        self._stream, self._header = stream, header
        self._pending: list[Episodes] = []
        self._size = 0
        self._count = 0
        self._closed = False
        self._put([_json_line({"frame": "header", "stratkit": FORMAT, **_header_fields(header)})])

    def write(self, episodes: Episodes) -> None:
        """Adds episodes; they may wait in memory for others.

        Raises `InputError` when one is too long for a frame. When their values are not what the
        format allows, sending the frame they are in raises `ValueError`.
        """
        sizes = episodes.sizes
        if (sizes > MAX_CONTENT - MAX_JSON).any():
            long = int(sizes.argmax())
            number, actions = episodes.number[long], episodes.length[long]
            raise InputError(f"game {number} is too long: {actions} actions")
        # A frame ends before the first episode that it has no room for, however they are handed
        # over: the same episodes are the same bytes.
        ends = np.cumsum(sizes)
        first = 0
        while first < len(episodes):
            before = int(ends[first] - sizes[first])
            last = int(np.searchsorted(ends, before + FULL - self._size, side="right"))
            if last == first and self._pending:
                self.flush()
                continue
            last = max(last, first + 1)  # alone in its frame
            self._pending.append(episodes[first:last])
            self._size += int(ends[last - 1]) - before
            first = last

    def flush(self) -> None:
        """Sends everything written so far on its way, in a frame of its own."""
        if self._pending:
            episodes = Episodes.concat(self._pending)
            columns, count = to_columns(episodes), len(episodes)
            wrong = fault(columns, count, len(self._header.endings), self._header.version == SLICES)
            if wrong:
                raise ValueError(wrong)
            self._put(_pack(columns, count))
            self._count += count
            self._pending, self._size = [], 0

    def close(self) -> None:
        """Ends the stream with a trailer. The stream itself stays open."""
        if not self._closed:
            self.flush()
            self._put([_json_line({"frame": "trailer", "episodes": self._count})])
            self._closed = True


def _header_fields(header: Header) -> dict[str, Any]:
    """The header's fields as JSON has them: rules sorted."""
    fields = {**asdict(header), "rules": dict(sorted(header.rules.items()))}
    for name in ("opponent", "opponent_network", "by_score"):
        if fields[name] is None:
            del fields[name]
    if header.sampled:
        del fields["sampled"]
    return fields


def _json_line(value: Mapping[str, object]) -> bytes:
    return schema.compact(value) + b"\n"


def _pack(columns: Columns, count: int) -> list[bytes]:
    """The pieces of a frame of episodes: each large plane by itself, small ones together."""
    listed = [[name, type_name(column), column.nbytes] for name, column in columns.items()]
    pieces = [_json_line({"frame": "episodes", "count": count, "columns": listed})]
    fresh = False
    for column in columns.values():
        for plane in planes(column):
            if fresh or len(plane) >= _BLOCK:
                pieces.append(plane)
            else:
                pieces[-1] += plane
            fresh = len(plane) >= _BLOCK
    return pieces


# --- reading --------------------------------------------------------------------------------------


class SeenGames:
    """Which games were met already: seed, number, opponent, network and post-processing of each, or
    the step that it began at, where self-play followed a learner. Memory is bounded.

    Readers that share one notice when two files hold the same game. They may be in threads.
    """

    def __init__(self) -> None:
        self._adding = threading.Lock()
        self._streams: dict[tuple[object, ...], NumberSet] = {}

    def add(self, header: Header, episodes: Episodes) -> Bools:
        """Adds n games; bool [n], False where one was there already."""
        with self._adding:
            return self._add(header, episodes)

    def _add(self, header: Header, episodes: Episodes) -> Bools:
        if header.network is not None:
            return self._stream(header, header.network).add_many(episodes.number)
        fresh = np.empty(len(episodes), np.bool_)
        for step in np.unique(episodes.step).tolist():
            those = episodes.step == step
            fresh[those] = self._stream(header, step).add_many(episodes.number[those])
        return fresh

    def _stream(self, header: Header, policy: str | int) -> NumberSet:
        opponent = header.opponent, header.opponent_network, header.by_score
        key = (header.game, header.seed, policy, header.post, opponent)
        if key not in self._streams:
            if len(self._streams) >= MAX_STREAMS:
                del self._streams[next(iter(self._streams))]  # the oldest
            self._streams[key] = NumberSet()
        return self._streams[key]


class EpisodeReader(PartReader[Episodes]):
    """The episodes of a binary stream, called `name` in messages: `frames` iterates over them.

    Episodes come as soon as their frame is there, those of a frame at a time. A stream may be
    several one after the other: `header` is that of the episodes that came last. Slices come as
    whole games, or if not `whole` one by one, each as its game up to there. A stream that ends
    too early is no error: whole frames are kept and `truncated` says what happened. Episodes that
    `seen` has already are left out and counted in `duplicates`. Memory is bounded by the size of a
    frame. Raises `InputError` for everything that is not as formats/episodes.md says. Actions are
    not checked here: the engine does that when it replays them.
    """

    stream_name, kind, unit = "an episode stream", "episodes", "whole episodes"

    def __init__(
        self, stream: BinaryIO, name: str, seen: SeenGames | None = None, whole: bool = True
    ) -> None:
        super().__init__(stream, name)
        self.whole, self.duplicates = whole, 0
        self._seen = SeenGames() if seen is None else seen
        self._header: Header | None = None
        self._slices: OpenGames | None = None  # of this header, if it has slices

    @property
    def header(self) -> Header:
        """The current header; `open` reads the first one."""
        if self._header is None:
            raise ValueError("the stream is not open yet")
        return self._header

    def open(self) -> Header:
        """Reads the header, and nothing behind it. Raises `InputError` when there is none."""
        if self._header is not None:
            return self._header
        try:
            frame = self._frames.next()
        except Truncated:
            raise self._frames.error("ends within the header") from None
        if frame is None:
            raise InputError("empty: no header of an episode stream", file=self.name)
        self._take(frame)
        return self.header

    def frames(self) -> Iterator[Episodes]:
        """The episodes of each frame that has any, in the order of the stream."""
        self.open()
        while (frame := self._next_frame()) is not None:
            episodes = self._take(frame)
            if episodes is not None and len(episodes):
                yield episodes

    def __iter__(self) -> Iterator[Episode]:
        """One by one."""
        for episodes in self.frames():
            yield from episodes

    def _read_header(self, line: dict[str, Any]) -> None:
        schema.check_format(line, FORMAT, VERSION, self.stream_name, SLICES, PLAYED)
        header = self._header = schema.convert(line, Header)
        if header.sampled == (header.version == PLAYED):
            raise InputError(f"version {header.version} and sampled: {header.sampled} do not fit")
        self._slices = None
        if header.version == SLICES:
            self._slices = OpenGames(self.whole, lambda first: self._seen.add(header, first))

    def _read(self, line: dict[str, Any], body: memoryview) -> Episodes | None:
        listed = schema.convert(line, _EpisodeFrame)
        columns = _unpack(listed, body)
        sliced = self._slices is not None
        wrong = fault(columns, listed.count, len(self.header.endings), sliced)
        if wrong:
            raise InputError(wrong)
        episodes = to_episodes(columns, listed.count)
        if not self.header.sampled and ((episodes.mu != 1) & ~np.isnan(episodes.mu)).any():
            raise InputError("a mu other than 1 in games that nobody sampled")
        self._count += listed.count
        if self._slices is not None:
            before = self._slices.duplicates
            whole = self._slices.take(episodes)
            self.duplicates += self._slices.duplicates - before
            return whole
        fresh = self._seen.add(self.header, episodes)
        if fresh.all():
            return episodes
        self.duplicates += int((~fresh).sum())
        return episodes.take(np.flatnonzero(fresh))


def _unpack(listed: _EpisodeFrame, body: memoryview) -> Columns:
    """The known columns among those `listed`, which must fill `body`."""
    columns: Columns = {}
    at = 0
    for name, kind, size in listed.columns:
        stored = body[at : at + size]
        at += size
        if at > len(body):
            break
        if name not in COLUMNS:
            continue
        if name in columns or kind not in COLUMNS[name][0] or size % int(kind[1]):
            what = f"column {name!r} of a wrong type or size, or twice"
            raise InputError(what, text=[name, kind, size])
        columns[name] = from_planes(stored, kind)
    if at != len(body):
        raise InputError("the columns do not fill the frame")
    return columns
