"""The pages in formats/ against the code, and both against the golden samples."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import math
import pathlib
import re
import struct
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import zstandard
from safetensors import safe_open

from storage.stored import plain, stream_of
from stratkit.engine import Game, replay_many
from stratkit.storage import atomic, columns, episodes, frames, numbers, records
from stratkit.storage.checkpoints import checkpoint_hash, load_checkpoint, read_policy
from stratkit.storage.episodes import EpisodeReader
from stratkit.storage.records import RecordPlayer, read_records

FORMATS = pathlib.Path(__file__).parents[2] / "formats"
SAMPLES = FORMATS / "samples"
MADE = [
    "checkpoint.safetensors",
    "episodes.eps",
    "examples.pbs",
    "games.jsonl",
    "kuhn.response",
    "kuhn.table",
    "policy.safetensors",
    "searched.eps",
    "sliced.eps",
    "ucc.txt",
]


def page(name: str) -> str:
    return (FORMATS / name).read_text()


def table(name: str, heading: str, nth: int = 0) -> list[list[str]]:
    """The rows of the `nth` table after `## heading`."""
    section = page(name).split(f"## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section + "\n", re.M)
    rows = [[cell.strip() for cell in row[1:-1].split(" | ")] for row in tables[nth].splitlines()]
    return rows[2:]


def fields(name: str, heading: str, nth: int = 0) -> list[str]:
    return [row[0] for row in table(name, heading, nth)]


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", SAMPLES / "make.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the index ------------------------------------------------------------------------------------


def test_the_index_names_every_page_and_every_sample() -> None:
    index = page("README.md")
    linked = set(re.findall(r"\]\((\w+\.md)\)", index))
    assert linked == {p.name for p in FORMATS.glob("*.md")} - {"README.md"}
    named = {name.rstrip("/") for name in re.findall(r"`([\w.]+/?)`", index)}
    there = {p.name for p in SAMPLES.iterdir() if not p.name.startswith(("make", "__"))}
    assert there <= named


def test_links_and_samples_that_pages_name_are_there() -> None:
    for path in FORMATS.glob("*.md"):
        text = path.read_text()
        for name in re.findall(r"`(samples/[\w./-]+)`", text):
            assert (FORMATS / name).exists(), (path.name, name)
        for name in re.findall(r"\(?\b(?:formats/)?(\w+\.md)\b", text):
            assert (FORMATS / name).exists(), (path.name, name)


# --- the samples ----------------------------------------------------------------------------------


def test_the_code_still_writes_the_samples(make: ModuleType, tmp_path: pathlib.Path) -> None:
    make.make(tmp_path)
    for name in MADE:
        new, golden = (tmp_path / name).read_bytes(), (SAMPLES / name).read_bytes()
        # zstd promises that old frames can be read, not that new ones have the same bytes.
        if name.endswith((".eps", ".pbs")) and new != golden:
            new, golden = (b"".join(c for _, c in frames_of(stored)) for stored in (new, golden))
        assert new == golden, name


def frames_of(stored: bytes) -> list[tuple[int, bytes]]:
    """(stored size, content) of each frame."""
    found = []
    while stored:
        worker = zstandard.ZstdDecompressor().decompressobj()
        content = worker.decompress(stored)
        found.append((len(stored) - len(worker.unused_data), content))
        stored = worker.unused_data
    return found


def test_the_sample_episodes(make: ModuleType) -> None:
    header, expected = make.episodes()
    with open(SAMPLES / "episodes.eps", "rb") as stream:
        reader = EpisodeReader(stream, "episodes.eps")
        got = list(reader)
    assert [plain(e) for e in got] == [plain(e) for e in expected]
    assert reader.header == header
    assert reader.truncated is None
    assert reader.header.network == checkpoint_hash(SAMPLES / "policy.safetensors")


def test_the_sample_episodes_are_games_of_the_engine(make: ModuleType) -> None:
    header, played = make.episodes()
    again = replay_many(Game(header.game, header.rules), [(e.start, e.actions) for e in played])
    assert again.returns.tolist() == [e.returns.tolist() for e in played]
    assert again.endings.tolist() == [e.ending for e in played]
    assert tuple(header.endings[: len(Game(header.game).endings)]) == Game(header.game).endings


def by_the_page(content: bytes) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """A frame's line and columns, by nothing but the words of the page."""
    first, _, rest = content.partition(b"\n")
    line = json.loads(first)
    found = {}
    for name, kind, size in line.get("columns", []):
        stored, rest = rest[:size], rest[size:]
        count = size // int(kind[1])
        letter = {"u1": "B", "u2": "H", "u4": "I", "i8": "q", "f4": "f"}[kind]
        found[name] = [struct.unpack(f"<{letter}", stored[i::count])[0] for i in range(count)]
    assert rest == b""
    return line, found


def test_the_sample_episodes_by_the_words_of_the_page(make: ModuleType) -> None:
    _, expected = make.episodes()
    contents = [by_the_page(content) for _, content in frames_of(read_sample("episodes.eps"))]
    assert [line["frame"] for line, _ in contents] == ["header", "episodes", "episodes", "trailer"]
    assert contents[-1][0] == {"frame": "trailer", "episodes": 3}
    assert [line["count"] for line, _ in contents[1:3]] == [2, 1]
    joined = {
        name: [value for _, found in contents for value in found.get(name, [])]
        for name in contents[2][1]
    }
    assert joined["number"] == [e.number for e in expected]
    assert joined["step"] == [e.step for e in expected]
    assert joined["ending"] == [e.ending for e in expected]
    assert joined["returns"] == [r for e in expected for r in e.returns]
    assert joined["length"] == [len(e.actions) for e in expected]
    assert joined["start_length"] == [len(expected[2].start)]
    assert bytes(map(int, joined["start"])) == expected[2].start
    assert joined["actions"] == [a for e in expected for a in e.actions]
    mu = [m for e in expected for m in e.mu]
    assert np.array(joined["mu"], np.float32).tobytes() == np.array(mu, np.float32).tobytes()


def read_sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def test_the_sample_games(make: ModuleType) -> None:
    header, expected = make.games()
    with open(SAMPLES / "games.jsonl", "rb") as stream:
        got = list(read_records(stream, "games.jsonl"))
    assert got == [(header, one) for one in expected]
    assert [one.result for _, one in got] == ["red", "blue"]
    assert [one.reason for _, one in got] == ["flag_captured", "no_legal_move"]
    assert header.players[1] == RecordPlayer("B", "run/policy.safetensors", HASH)
    assert got[0][1].setups == got[1][1].setups
    assert [len(one.moves.split()) for _, one in got] == [one.plies for _, one in got]


HASH = hashlib.sha256(read_sample("policy.safetensors")).hexdigest()


def test_the_sample_checkpoint(make: ModuleType) -> None:
    tensors, metadata = load_checkpoint(SAMPLES / "checkpoint.safetensors", "checkpoint")
    expected = make.tensors()
    assert tensors.keys() == expected.keys()
    for name, tensor in expected.items():
        np.testing.assert_array_equal(tensors[name], tensor)
        assert tensors[name].dtype == tensor.dtype
    text = {key: value for key, value in metadata.items() if key != "metadata_sha256"}
    compact = json.dumps(text, separators=(",", ":"), sort_keys=True).encode()
    assert metadata.pop("metadata_sha256") == hashlib.sha256(compact).hexdigest()
    digest = metadata.pop("sha256")
    assert metadata == {**make.metadata(), "kind": "checkpoint", "version": 1}
    by_hand = hashlib.sha256()
    for name in sorted(tensors):
        shape = tensors[name].shape
        by_hand.update(f"{name} <f4 {shape}\n".encode() + tensors[name].tobytes())
    assert digest == by_hand.hexdigest()


def test_the_sample_policy(make: ModuleType) -> None:
    weights, metadata = read_policy(SAMPLES)
    assert weights.keys() == {"weight", "bias"}
    np.testing.assert_array_equal(weights["weight"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(weights["bias"], [-1, 1])
    assert metadata["kind"] == "policy"
    shared = metadata.keys() - {"kind", "version", "sha256", "metadata_sha256"}
    assert {key: metadata[key] for key in shared} == {key: make.metadata()[key] for key in shared}


# --- the tables -----------------------------------------------------------------------------------


def first_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(content.split(b"\n")[0]) for _, content in frames_of(read_sample(name))]


def test_the_tables_of_episodes() -> None:
    header, some, _, trailer = first_lines("episodes.eps")
    assert fields("episodes.md", "Header") == list(header)
    more = {one.name for one in dataclasses.fields(episodes.Header)} - header.keys()
    assert set(fields("episodes.md", "Header", 1)) == more
    assert fields("episodes.md", "Frames of episodes") == list(some)
    assert fields("episodes.md", "Trailer") == list(trailer)
    rows = table("episodes.md", "Frames of episodes", 1)
    of_search = table("episodes.md", "Frames of episodes", 2)
    of_slices = table("episodes.md", "Frames of episodes", 3)
    documented = {
        name: (tuple(re.findall(r"[uif]\d", types)), "absent" not in count)
        for name, types, count, _ in (*rows, *of_search, *of_slices)
    }
    assert documented == dict(columns.COLUMNS)
    for frame, expected in ((2, [*rows]), (1, [*rows[:5], *rows[7:], *of_search])):
        listed = first_lines("searched.eps")[frame]["columns"]
        assert [name for name, _, _ in listed] == [row[0] for row in expected]


def test_the_sample_of_a_search(make: ModuleType) -> None:
    expected = make.searched()
    with open(SAMPLES / "searched.eps", "rb") as stream:
        assert [plain(e) for e in EpisodeReader(stream, "")] == [plain(e) for e in expected]
    found = by_the_page(frames_of(read_sample("searched.eps"))[1][1])[1]
    first = expected[0]
    shares = iter(found["target_share"])
    policies = [[next(shares) for _ in range(int(count))] for count in found["target_count"]]
    assert all(sum(policy) in (0, 65535) for policy in policies)
    at = 4  # of the first game; it has a target
    before = int(sum(found["target_count"][:at]))
    assert first.actions[at] in found["target_actions"][before : before + len(policies[at])]
    assert found["root_value"][0] == -1 and math.isnan(found["root_value"][-1])


def test_the_sample_of_slices(make: ModuleType) -> None:
    """By the words of the page, and by both ways to read it."""
    _, expected = make.episodes()
    contents = [by_the_page(content) for _, content in frames_of(read_sample("sliced.eps"))]
    (header, _), (line, found), (trailer, _) = contents
    assert header["version"] == 2 and trailer["episodes"] == line["count"] > 3
    games: dict[float, list[float]] = {}
    at = 0
    for number, first, length in zip(found["number"], found["first"], found["length"], strict=True):
        assert len(games.setdefault(number, [])) == first
        games[number] += found["actions"][at : (at := at + int(length))]
    assert list(games.values()) == [one.actions.tolist() for one in expected]
    with open(SAMPLES / "sliced.eps", "rb") as stream:
        whole = {one.number: plain(one) for one in EpisodeReader(stream, "")}
        assert whole == {one.number: plain(one) for one in expected}
        stream.seek(0)
        parts = list(EpisodeReader(stream, "", whole=False))
    assert [plain(one) for one in parts] == [plain(one) for one in make.sliced()[1]]
    assert [one.first for one in parts] == found["first"]


def test_the_sample_with_float16_mu(make: ModuleType) -> None:
    """Writers offered it once; it is read."""
    with open(SAMPLES / "float16.eps", "rb") as stream:
        got = list(EpisodeReader(stream, ""))
    for one, whole in zip(got, make.episodes()[1], strict=True):
        rounded = whole.mu.astype(np.float16).astype(np.float32)
        assert plain(one) == plain(dataclasses.replace(whole, mu=rounded))
    assert np.nanmax(np.abs(got[0].mu - make.episodes()[1][0].mu)) > 0


def test_the_tables_of_games() -> None:
    lines = [json.loads(line) for line in read_sample("games.jsonl").splitlines()]
    assert fields("games.md", "Header") == list(lines[0])
    assert fields("games.md", "Header", 1) == list(lines[0]["players"][0])
    assert fields("games.md", "Games") == list(lines[1]) == list(lines[2])


def test_the_tables_of_checkpoints(make: ModuleType) -> None:
    with safe_open(SAMPLES / "checkpoint.safetensors", "np") as file:
        metadata = json.loads(file.metadata()["stratkit"])
        parts = {name.split("/")[0] for name in file.keys()}  # noqa: SIM118
    assert set(fields("checkpoint.md", "Tensors")) == parts
    shared, added = fields("checkpoint.md", "Metadata"), fields("checkpoint.md", "Metadata", 1)
    assert sorted(shared + added) == list(metadata)
    _, of_policy = read_policy(SAMPLES)
    assert sorted(shared) == list(of_policy)


def number(text: int) -> str:
    return f"{text:,}"


def test_the_numbers_on_the_pages() -> None:
    for name, values in {
        "episodes.md": [
            number(frames.MAX_CONTENT),
            number(episodes.MAX_JSON),
            f"{(frames.MAX_STORED - frames.MAX_CONTENT) // 1024} KiB longer",
            f"at {episodes.FULL // 1024} KiB",
            f"{number(episodes.MAX_STREAMS)} triples",
            f"{number(numbers.MAX_RUNS)} runs",
            f"a rounding of {columns.MU_ROUNDING}",
            f"version {episodes.VERSION}",
        ],
        "games.md": [number(records.MAX_LINE), f"version {records.VERSION}"],
        "README.md": [f"`{atomic.TEMPORARY}`"],
    }.items():
        text = " ".join(page(name).split())
        for value in values:
            assert value in text, (name, value)


def test_the_planes_of_the_page_are_those_of_the_writer(make: ModuleType) -> None:
    _, played = make.episodes()
    stored = stream_of(played, make.episodes()[0], flush_after=(1,))
    contents = [content for _, content in frames_of(stored)]
    assert contents == [content for _, content in frames_of(read_sample("episodes.eps"))]
