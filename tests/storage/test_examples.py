"""Streams of examples: what is written is read, and everything else is told."""

from __future__ import annotations

import io
import json
import math
import pathlib
import struct
from dataclasses import replace

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stratkit.errors import InputError
from stratkit.storage.examples import ExampleHeader, ExampleReader, ExampleWriter
from stratkit.storage.frames import compress

SAMPLE = pathlib.Path(__file__).parents[2] / "formats/samples/examples.pbs"
HEADER = ExampleHeader(
    game="kuhn", rules={}, inputs=6, hands=2, search="search=cfr", seed=2**64 - 1
)
FINITE = st.floats(-8, 8, width=32)
Pairs = list[tuple[np.ndarray, np.ndarray]]


def row_of(numbers: np.ndarray) -> np.ndarray:
    """Rows [n, 6]: who acts, what is seen, and beliefs in two hands of either player."""
    return np.hstack([numbers, 1 - numbers[:, 2:]])[:, [0, 1, 2, 4, 3, 5]]


ROW = row_of(np.full((1, 4), 0.25, np.float32))


def written(pairs: Pairs, header: ExampleHeader = HEADER) -> bytes:
    out = io.BytesIO()
    with ExampleWriter(out, header) as writer:
        for rows, values in pairs:
            writer.write(rows, values)
    return out.getvalue()


def read(data: bytes) -> tuple[ExampleReader, Pairs]:
    reader = ExampleReader(io.BytesIO(data), "x")
    return reader, [(values.rows, values.values) for values in reader]


@given(
    st.lists(
        st.integers(1, 5).flatmap(
            lambda n: st.tuples(
                arrays(np.float32, (n, 4), elements=st.floats(0, 1, width=32)).map(row_of),
                arrays(np.float32, (n, 2), elements=FINITE | st.just(math.nan)),
            )
        ),
        max_size=3,
    )
)
def test_what_is_written_is_read(pairs: Pairs) -> None:
    reader, found = read(written(pairs) + written(pairs))  # two streams are a stream
    assert reader.header == HEADER and reader.truncated is None
    assert len(found) == 2 * len(pairs)
    for one, other in zip(found, pairs * 2, strict=True):
        assert [x.tobytes() for x in one] == [x.tobytes() for x in other]


def test_many_examples_are_several_frames() -> None:
    rows, values = np.repeat(ROW, 70_000, 0), np.ones((70_000, 2), np.float32)
    _, found = read(written([(rows, values)]))
    assert len(found) > 4 and sum(len(one[0]) for one in found) == 70_000


def test_the_sample_by_the_words_of_the_page() -> None:
    data, lines, numbers = SAMPLE.read_bytes(), [], []
    while data:
        worker = zstandard.ZstdDecompressor().decompressobj()
        first, _, rest = worker.decompress(data).partition(b"\n")
        lines.append(json.loads(first))
        numbers.append(struct.unpack(f"<{len(rest) // 4}f", rest))
        data = worker.unused_data
    assert [line["frame"] for line in lines] == ["header", "examples", "examples", "trailer"]
    assert (lines[0]["inputs"], lines[0]["hands"], lines[-1]["examples"]) == (9, 2, 2)
    assert [line["count"] for line in lines[1:3]] == [1, 1]
    assert numbers[1] == (1, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.25)
    assert numbers[2][:-1] == (0, 0, 1, 0, 0, 1, 0, 0.25, 0.75, 0.125)
    assert math.isnan(numbers[2][-1]) and numbers[0] == numbers[3] == ()


def test_every_cut_keeps_whole_frames_and_is_told() -> None:
    row = ROW, np.ones((1, 2), np.float32)
    data = written([row, row])
    for end in range(len(data) - 1, len(data) - 90, -7):
        reader, found = read(data[:end])
        kept = len(found)
        assert reader.truncated and f"{kept} examples before it are kept" in reader.truncated
    trailer = len(compress([b'{"frame":"trailer","examples":2}\n']))
    reader, found = read(data[:-trailer] + data)  # a killed writer's stream, and another one
    assert reader.truncated and len(found) == 4


def refused(*contents: bytes) -> str:
    with pytest.raises(InputError) as error:
        read(b"".join(compress([content]) for content in contents))
    return str(error.value)


def test_what_is_wrong_is_told() -> None:
    head = json.dumps(
        {"frame": "header", "stratkit": "examples", "version": 1, "game": "kuhn", "rules": {},
         "inputs": 3, "hands": 1, "search": "search=cfr", "seed": 1, "writer": "x"}
    ).encode() + b"\n"  # fmt: skip
    numbers = struct.pack("<4f", 1, 1, 1, 1)
    one = b'{"frame":"examples","count":1}\n'
    assert refused(b"episodes") == "x: frame 1 at byte 0: not a frame of a stream of examples"
    assert "not the header of a stream" in refused(one + numbers)
    assert "do not fill the frame" in refused(head, one + numbers[:12])
    assert "count" in refused(head, b'{"frame":"examples","count":0}\n')
    assert "a row that is not finite" in refused(head, one + struct.pack("<4f", math.inf, 1, 1, 1))
    assert "a value that is infinite" in refused(head, one + struct.pack("<4f", 1, 1, 1, math.inf))
    for first, second in ((1, 0.5), (1.5, 1)):
        wrong = one + struct.pack("<4f", 1, first, second, 1)
        assert "beliefs that are no probabilities" in refused(head, wrong)
    assert "before the beliefs" in refused(head.replace(b'"inputs": 3', b'"inputs": 2'))
    assert "unknown kind: 'more'" in refused(head, b'{"frame":"more"}\n')
    assert "the trailer counts otherwise" in refused(head, b'{"frame":"trailer","examples":3}\n')
    assert "examples of leduc after some of kuhn" in refused(
        head, head.replace(b"kuhn", b"leduc"), one + numbers
    )
    assert "hands" in refused(head.replace(b'"hands": 1', b'"hands": 5000'))
    assert "version" in refused(head.replace(b'"version": 1', b'"version": 3'))
    assert "actions" in refused(head.replace(b'"version": 1', b'"version": 2'))


def test_policies_stand_behind_the_values() -> None:
    header = replace(HEADER, version=2, actions=2)
    values = np.array([[1, 2, 0.25, 0.75, math.nan, math.nan], [math.nan] * 6], np.float32)
    data = written([(np.repeat(ROW, 2, 0), values)], header)
    reader, found = read(data)
    assert reader.header == header and np.array_equal(found[0][1], values, equal_nan=True)
    for wrong in ((0.5, 0.6), (-0.5, 1.5), (0.5, math.nan)):
        values[0, 2:4] = wrong
        with pytest.raises(ValueError, match="a policy that is no probabilities"):
            written([(np.repeat(ROW, 2, 0), values)], header)
    for version, actions in ((1, 2), (2, 0)):
        with pytest.raises(InputError, match="actions: those of version 2"):
            replace(HEADER, version=version, actions=actions)


def test_a_writer_refuses_what_no_reader_would_take() -> None:
    writer = ExampleWriter(io.BytesIO(), HEADER)
    row, value = ROW, np.ones((1, 2), np.float32)
    for rows, values in ((row[:, :4], value), (row * np.nan, value), (row, value * np.inf)):
        with pytest.raises(ValueError):
            writer.write(rows, values)
