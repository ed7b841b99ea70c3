"""Episode streams: what is written is read, and nothing else is ever returned."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.stored import HEADER, episode, plain, random_episodes, read, stream_of
from stratkit.errors import InputError
from stratkit.storage.episodes import (
    FULL,
    Episode,
    EpisodeReader,
    Episodes,
    EpisodeWriter,
    Header,
)
from stratkit.storage.frames import MAX_CONTENT, compress

TEN = [episode(i, length=5 + 3 * i) for i in range(10)]
STREAM = stream_of(TEN, flush_after=(3, 6))


def frames_of(stored: bytes) -> list[tuple[int, bytes]]:
    """(offset, content) of each frame, found by trying every length."""
    found, at = [], 0
    while at < len(stored):
        worker = zstandard.ZstdDecompressor().decompressobj()
        content = worker.decompress(stored[at:])
        assert worker.eof
        found.append((at, content))
        at = len(stored) - len(worker.unused_data)
    return found


def test_frames_are_as_the_contract_says() -> None:
    for offset, content in frames_of(STREAM):
        parameters = zstandard.get_frame_parameters(STREAM[offset:])
        assert parameters.has_checksum
        assert parameters.content_size == len(content) <= MAX_CONTENT
    assert len(frames_of(STREAM)) == 5


# --- identity -------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(random_episodes(), st.sets(st.integers(0, 7)))
def test_what_is_written_is_read(episodes: list[Episode], flush_after: set[int]) -> None:
    got, reader = read(stream_of(episodes, flush_after=sorted(flush_after)))
    assert [plain(e) for e in got] == [plain(e) for e in episodes]
    assert reader.truncated is None
    assert reader.duplicates == 0
    assert reader.header == HEADER


def test_every_field_of_the_header_comes_back() -> None:
    header = Header(
        game="kuhn",
        rules={},
        endings=("", "an ending\n"),
        seed=2**64 - 1,
        first_game=2**62,
        writer="x",
        network="ab" * 32,
        step=7,
        post="threshold",
    )
    reader = EpisodeReader(io.BytesIO(stream_of([], header)), "x")
    assert reader.open() == header
    assert list(reader) == []


def test_float16_mu_is_read_as_float32() -> None:
    columns = {
        "number": np.array([4]),
        "step": np.array([-1]),
        "ending": np.array([1], np.uint8),
        "returns": np.array([1, -1], np.float32),
        "length": np.array([2], np.uint32),
        "actions": np.array([1, 2], np.uint8),
        "mu": np.array([0.1, math.nan], np.float16),
    }
    (got,), _ = read(by_hand(columns))
    assert got.mu.dtype == np.float32
    assert got.mu[0] == np.float32(np.float16(0.1))
    assert np.isnan(got.mu[1])


def test_unknown_columns_and_header_fields_are_passed_over() -> None:
    columns = {**COLUMNS, "belief": np.array([0.5, 0.25]), "zz": np.array([], np.int64)}
    (got,), _ = read(by_hand(columns, header={"later": [1]}))
    assert got.actions.tolist() == [1, 2]


def test_a_header_without_the_network_has_none() -> None:
    head = {key: value for key, value in HEAD.items() if key != "network"}
    reader = EpisodeReader(io.BytesIO(compress([line(head)])), "x")
    assert reader.open().network is None


def test_same_episodes_give_the_same_bytes() -> None:
    assert stream_of(TEN) == stream_of(TEN)
    shuffled = dataclasses.replace(HEADER, rules=dict(reversed(HEADER.rules.items())))
    assert stream_of(TEN, shuffled) == stream_of(TEN)


def test_streams_one_after_the_other_are_a_stream() -> None:
    other = dataclasses.replace(HEADER, seed=6, game="barrage")
    reader = EpisodeReader(io.BytesIO(STREAM + stream_of(TEN[:2], other) + stream_of([])), "x")
    seen = [(e.number, reader.header.game) for e in reader]
    assert seen == [(i, "mini") for i in range(10)] + [(0, "barrage"), (1, "barrage")]
    assert reader.truncated is None


def test_reading_may_stop_and_go_on() -> None:
    reader = EpisodeReader(io.BytesIO(STREAM), "x")
    first = next(reader.frames())
    assert [plain(e) for e in (*first, *reader)] == [plain(e) for e in TEN]
    assert list(reader) == []
    assert reader.truncated is None


def test_large_streams_are_cut_into_frames_of_bounded_size() -> None:
    many = [episode(i, length=20_000) for i in range(30)]
    stored = stream_of(many)
    assert all(len(content) <= FULL + 1000 for _, content in frames_of(stored))
    assert len(read(stored)[0]) == 30
    at_once = io.BytesIO()
    with EpisodeWriter(at_once, HEADER) as writer:
        writer.write(Episodes.of(many))
    assert at_once.getvalue() == stored


def test_an_action_takes_less_than_four_bytes() -> None:
    rng = np.random.default_rng(1)
    mu = rng.dirichlet(np.full(20, 0.7), size=20_000)
    chosen = np.array([rng.choice(20, p=p) for p in mu], np.int32)
    picked = mu[np.arange(len(mu)), chosen].astype(np.float32)
    parts = zip(np.split(chosen, 100), np.split(picked, 100), strict=True)
    games = [
        Episode(i, 0, 1, np.array([1, -1], np.float32), a, m) for i, (a, m) in enumerate(parts)
    ]
    assert len(stream_of(games)) / 20_000 < 4


def test_values_outside_the_format_are_never_sent() -> None:
    good = TEN[1]
    for change in (
        {"number": -1},
        {"step": -2},
        {"ending": 3},
        {"returns": np.array([math.inf, 0], np.float32)},
        {"actions": -good.actions},
        {"actions": good.actions[1:]},
        {"mu": good.mu * 0},
        {"mu": good.mu + 1},
        {"actions": good.actions[:0], "mu": good.mu[:0]},
    ):
        writer = EpisodeWriter(io.BytesIO(), HEADER)
        with pytest.raises(ValueError):
            one = dataclasses.replace(good, **change)  # type: ignore[arg-type]
            writer.write(Episodes.of([one]))
            writer.flush()


def test_an_episode_that_no_frame_can_hold_is_an_error_of_the_input() -> None:
    with pytest.raises(InputError, match="game 3 is too long: 200000 actions"):
        EpisodeWriter(io.BytesIO(), HEADER).write(Episodes.of([episode(3, length=200_000)]))


def test_after_an_error_there_is_no_trailer() -> None:
    stream = io.BytesIO()
    with pytest.raises(KeyboardInterrupt), EpisodeWriter(stream, HEADER) as writer:
        writer.write(Episodes.of(TEN[:1]))
        writer.flush()
        raise KeyboardInterrupt
    got, reader = read(stream.getvalue())
    assert len(got) == 1
    assert reader.truncated


class Trickle(io.RawIOBase):
    """A raw stream that takes and gives at most three bytes at a time."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data[:3]
        return len(data[:3])

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self.data[: min(3, len(buffer))]
        del self.data[: len(part)]
        buffer[: len(part)] = part
        return len(part)


def test_raw_streams_that_take_and_give_a_few_bytes() -> None:
    sink = Trickle()
    with EpisodeWriter(sink, HEADER) as writer:  # type: ignore[arg-type]
        writer.write(Episodes.of(TEN))
    assert bytes(sink.data) == stream_of(TEN)
    reader = EpisodeReader(Trickle(STREAM), "x")  # type: ignore[arg-type]
    assert [plain(e) for e in reader] == [plain(e) for e in TEN]


# --- pipes ----------------------------------------------------------------------------------------


def test_a_pipe_delivers_what_was_flushed_and_waits_for_nothing_else() -> None:
    # Everything here is one thread: a reader that waited for more would hang for ever.
    source, sink = os.pipe()
    with open(source, "rb") as reading, open(sink, "wb") as writing:
        writer = EpisodeWriter(writing, HEADER)
        reader = EpisodeReader(reading, "pipe")
        assert reader.open() == HEADER
        episodes = iter(reader)
        for one in TEN:
            writer.write(Episodes.of([one]))
            writer.flush()
            assert plain(next(episodes)) == plain(one)
        writer.close()
        writing.close()
        assert list(episodes) == []
        assert reader.truncated is None


# --- truncation -----------------------------------------------------------------------------------


def test_a_stream_cut_anywhere_keeps_its_whole_frames_and_says_so() -> None:
    offsets = [offset for offset, _ in frames_of(STREAM)]
    for end in range(1, len(STREAM)):
        stored = STREAM[:end]
        if end < offsets[1]:
            with pytest.raises(InputError, match="frame 1 at byte 0: ends within the header"):
                read(stored)
            continue
        got, reader = read(stored)
        whole = sum(offset <= end for offset in offsets)  # frames, the header included
        assert [plain(e) for e in got] == [plain(e) for e in TEN[: (0, 0, 4, 7, 10)[whole - 1]]]
        assert reader.truncated
        assert f"frame {whole}" in reader.truncated or f"frame {whole + 1}" in reader.truncated


def test_an_empty_file_is_no_stream() -> None:
    with pytest.raises(InputError, match=r"x\.eps: empty: no header"):
        read(b"")


def test_a_stream_without_a_trailer_before_another_stream() -> None:
    without = STREAM[: frames_of(STREAM)[-1][0]]
    other = stream_of(TEN[:2], dataclasses.replace(HEADER, seed=6))
    got, reader = read(without + other)
    assert len(got) == 12
    assert reader.truncated == (
        f"truncated before frame 5 at byte {len(without)}; 10 whole episodes before it are kept"
    )


# --- damage ---------------------------------------------------------------------------------------


def outcome(stored: bytes) -> Sequence[tuple[object, ...]]:
    """The episodes that come out before the end or the error."""
    reader = EpisodeReader(io.BytesIO(stored), "x.eps")
    got = []
    try:
        for one in reader:
            got.append(plain(one))
    except InputError as error:
        assert str(error).startswith("x.eps: ")
        assert "\n" not in str(error)
    return got


def test_a_flipped_bit_anywhere_alters_no_episode() -> None:
    expected = [plain(e) for e in TEN]
    stored = bytearray(STREAM)
    for at in range(len(stored)):
        stored[at] ^= 1 << at % 8
        got = outcome(bytes(stored))
        assert got == expected[: len(got)]
        stored[at] ^= 1 << at % 8


@settings(max_examples=300)
@given(st.data())
def test_no_damage_alters_an_episode(data: st.DataObject) -> None:
    stored = bytearray(STREAM)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(stored)))
        old = data.draw(st.integers(0, 20))
        stored[at : at + old] = data.draw(st.binary(max_size=20))
    numbers = {e.number: plain(e) for e in TEN}
    for one in outcome(bytes(stored)):
        assert one == numbers[one[0]]  # type: ignore[index]


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_told_in_one_line(stored: bytes) -> None:
    assert outcome(stored) == []


@given(st.binary(max_size=300))
def test_arbitrary_contents_are_told_in_one_line(content: bytes) -> None:
    assert outcome(compress([content]) if content else b"") == []
    outcome(STREAM[: frames_of(STREAM)[-1][0]] + (compress([content]) if content else b""))


# --- frames made by hand --------------------------------------------------------------------------

COLUMNS = {
    "number": np.array([4]),
    "step": np.array([-1]),
    "ending": np.array([1], np.uint8),
    "returns": np.array([1, -1], np.float32),
    "length": np.array([2], np.uint32),
    "actions": np.array([1, 2], np.uint8),
    "mu": np.array([0.5, 1], np.float32),
}
HEAD = {
    "frame": "header",
    "stratkit": "episodes",
    "version": 1,
    "game": "mini",
    "rules": {},
    "endings": ["", "flag"],
    "seed": 1,
    "first_game": 0,
    "writer": "a test",
    "network": None,
    "step": -1,
    "post": "none",
}


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def by_hand(
    columns: dict[str, np.ndarray] = COLUMNS,
    count: object = 1,
    listed: object = None,
    header: dict[str, object] | None = None,
    extra: bytes = b"",
    total: object = 1,
) -> bytes:
    """A stream of one frame of episodes, which may be wrong in many ways."""
    body = b"".join(
        plane.tobytes()
        for c in columns.values()
        for plane in c.view(np.uint8).reshape(-1, c.itemsize).T
    )
    if listed is None:
        listed = [[n, f"{c.dtype.kind}{c.itemsize}", c.nbytes] for n, c in columns.items()]
    table = line({"frame": "episodes", "count": count, "columns": listed})
    frames = [line({**HEAD, **(header or {})}), table + body + extra]
    frames.append(line({"frame": "trailer", "episodes": total}))
    return b"".join(compress([content]) for content in frames)


def changed(name: str, column: object, kind: type = np.uint8) -> dict[str, np.ndarray]:
    return {**COLUMNS, name: np.array(column, kind)}


WRONG = [
    (by_hand(header={"stratkit": "games"}), "not an episode stream: 'games'"),
    (by_hand(header={"version": 4}), "a version that is not 1 or 2 or 3: '4'"),
    (by_hand(header={"version": 3}), "version 3 and sampled: True do not fit"),
    (by_hand(header={"sampled": False}), "version 1 and sampled: False do not fit"),
    (by_hand(header={"version": 3, "sampled": False}), "a mu other than 1"),
    (by_hand(header={"seed": -1}), "field 'seed': expected int >= 0: '-1'"),
    (by_hand(header={"seed": 1.5}), "field 'seed'"),
    (by_hand(header={"network": "\x1b[31m"}), "field 'network'"),
    (by_hand(header={"endings": []}), "field 'endings'"),
    (by_hand(header={"rules": {"a": "b"}}), "field 'rules'"),
    (by_hand(header={"frame": "episodes"}), "not the header of an episode stream"),
    (by_hand(total=2), "frame 3 at byte .*: the trailer counts otherwise than 1 episodes: '2'"),
    (by_hand(count=2), "column 'number' is not as long"),
    (by_hand(count=0), "frame 2 at byte .*: field 'count': expected int >= 1: '0'"),
    (by_hand(count=10**12), "field 'count': expected int <= 1048576: '1000000000000'"),
    (by_hand(count=True), "field 'count': expected int, got bool: 'True'"),
    (by_hand(listed={}), "field 'columns': expected array, got object: '{}'"),
    (by_hand(listed=[]), "the columns do not fill the frame"),
    (by_hand(listed=[["number", "i8"]]), r"field 'columns\[0\]': expected array of length 3"),
    (by_hand(listed=[["number", "i8", -8]]), r"field 'columns\[0\]\[2\]': expected int >= 0: '-8'"),
    (by_hand(listed=[["number", "i8", 10**9]]), r"field 'columns\[0\]\[2\]': expected int <= 104"),
    (by_hand(listed=[["number", "f8", 8]]), "column 'number' of a wrong type or size"),
    (by_hand(listed=[["number", "i8", 9]]), "column 'number' of a wrong type or size"),
    (by_hand(listed=[["number", "i8", 8]] * 2), "or twice"),
    (by_hand(listed=[["mu", "f4", 4000]], extra=b"x"), "the columns do not fill the frame"),
    (by_hand(extra=b"x"), "the columns do not fill the frame"),
    (by_hand({k: v for k, v in COLUMNS.items() if k != "mu"}), "no column 'mu'"),
    (by_hand(changed("number", [-4], np.int64)), "a negative game number"),
    (by_hand(changed("ending", [2])), "an ending that the header does not name"),
    (by_hand(changed("returns", [], np.float32)), "column 'returns' is not as long"),
    (by_hand(changed("returns", [math.nan, 0], np.float32)), "a return that is no number"),
    (by_hand(changed("length", [2**32 - 1], np.uint32)), "lengths do not fit their actions"),
    (by_hand(changed("length", [0], np.uint32)), "frame 2 at byte .*: game 4 has no actions"),
    (by_hand(changed("actions", [1, 2**31], np.uint32)), "an action of over 31 bits"),
    (by_hand(changed("mu", [0, 1], np.float32)), "a mu that is no probability"),
    (by_hand(changed("mu", [-0.5, 1], np.float32)), "a mu that is no probability"),
    (by_hand(changed("mu", [math.inf, 1], np.float32)), "a mu that is no probability"),
    (by_hand(changed("start", [1])), "the lengths of the episodes' starts do not fit"),
    (by_hand(changed("start_length", [1], np.uint32)), "the lengths of the episodes' starts"),
    (compress([b"[" * 60_000 + b"\n"]), "not a frame of an episode stream"),
    (compress([b"no line"]), "not a frame of an episode stream"),
    (compress([line(HEAD)]) + compress([line({"frame": "new\x07"})]), r"unknown kind: 'new\\x07'"),
    (b"not zstd at all", "x.eps: frame 1 at byte 0: not a zstd frame"),
    (b"no", "not a zstd frame"),
    (b"\x50\x2a\x4d\x18\0\0\0\0", "not a zstd frame"),
    (STREAM + b"more", f"frame 6 at byte {len(STREAM)}: not a zstd frame"),
    (STREAM + compress([line({"frame": "trailer"})]), "not the header of an episode stream"),
]


@pytest.mark.parametrize(("stored", "message"), WRONG)
def test_what_is_wrong_is_said(stored: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(stored)
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()


def test_the_hand_made_frame_is_right_but_for_its_faults() -> None:
    assert len(read(by_hand())[0]) == 1


# --- bombs ----------------------------------------------------------------------------------------


def little(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


MAGIC = little(zstandard.MAGIC_NUMBER, 4)
RLE_BLOCK = little((128 * 1024) << 3 | 1 << 1, 3) + b"x"  # 128 KiB in four bytes
LAST = b"\x01\0\0" + b"\0\0\0\0"  # an empty block that ends the frame, and a checksum
BOMBS = {
    "states gigabytes": MAGIC + b"\xe4" + little(2**33, 8),
    "states no size": MAGIC + b"\x04\x78" + RLE_BLOCK * 50_000,
    "a window of gigabytes": MAGIC + b"\x84\xa8" + little(1000, 4),
    "holds more than it states": MAGIC + b"\xa4" + little(1000, 4) + RLE_BLOCK * 50_000 + LAST,
    "a block of two megabytes": MAGIC + b"\xa4" + little(1000, 4) + little((1 << 21) - 1 << 3, 3),
    "blocks without end": MAGIC + b"\xa4" + little(1000, 4) + (b"\0\0\2" + b"\0" * 2**14) * 80,
    "no checksum": zstandard.ZstdCompressor(write_checksum=False).compress(b"{}\n"),
    "a dictionary": MAGIC + b"\x25\x10\x10" + RLE_BLOCK * 10,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.parametrize("before", [b"", STREAM], ids=["first", "later"])
def test_bombs_are_refused_before_memory_is_taken(bomb: bytes, before: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match=r"frame \d at byte"):
        read(before + bomb)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < len(before + bomb) + 4 * MAX_CONTENT
