"""Files that gzip or zstd compressed are read wherever records are."""

from __future__ import annotations

import gzip
import io
import json
import os
import pathlib
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from running import ROOT, here, run
from stratkit import read_games
from stratkit.compressed import compression, decompressed, plain_name
from stratkit.engine import Game
from stratkit.engine.stratego import variant
from stratkit.errors import InputError
from stratkit.humans.human import read_favourites
from stratkit.notation.setups import parse_setup, variant_of
from stratkit.setups.given import read_openings
from stratkit.setups.told import read_setup
from stratkit.storage.records import MAX_LINE

SAMPLES = ROOT / "formats/samples"
GAMES = (SAMPLES / "gravon.jsonl").read_bytes()
SKIPPED = b"\x50\x2a\x4d\x18\x04\0\0\0skip"  # a frame of zstd that says nothing


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


WAYS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".zst": zst,
}
KINDS = {".gz": "gzip", ".zst": "zstd"}


def content(data: bytes) -> bytes:
    return decompressed(io.BytesIO(data), "f").read()


# --- bytes ----------------------------------------------------------------------------------------


@given(st.data())
def test_whatever_was_compressed_comes_back(data: st.DataObject) -> None:
    """In one piece or several, by either way, and with what fills up their ends."""
    way = data.draw(st.sampled_from(list(WAYS)))
    parts = data.draw(st.lists(st.binary(max_size=40), min_size=1, max_size=4))
    between = b"\0" * data.draw(st.integers(0, 3)) if way == ".gz" else SKIPPED
    stored = between.join(WAYS[way](part * 99) for part in parts) + between
    step = data.draw(st.integers(1, 300))
    stream = decompressed(io.BytesIO(stored), "f")
    assert b"".join(iter(lambda: stream.read(step), b"")) == b"".join(part * 99 for part in parts)


@given(st.binary(max_size=60))
def test_what_is_not_compressed_stays(data: bytes) -> None:
    if compression(data) is None:
        assert content(data) == data


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_bytes_are_told(way: str, data: st.DataObject) -> None:
    whole = bytearray(WAYS[way](GAMES[:3000]))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        content(bytes(whole))
    except InputError as error:
        assert str(error).startswith("f: ")


@pytest.mark.parametrize("way", WAYS)
def test_cut_data_are_told(way: str) -> None:
    whole = WAYS[way](GAMES[:300])
    for size in range(4, len(whole)):
        with pytest.raises(InputError, match=f"^f: truncated: it ends within its {KINDS[way]} dat"):
            content(whole[:size])
    with pytest.raises(InputError, match=f"^f: damaged {KINDS[way]} data: "):
        content(whole + b"not compressed")


def test_a_window_that_is_too_large_is_told() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    worker = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(InputError, match="^f: damaged zstd data: "):
        content(worker.compress(b"a") + worker.flush())


@pytest.mark.parametrize("way", WAYS)
def test_memory_is_bounded(way: str, tmp_path: pathlib.Path) -> None:
    """Far more nothing than its bytes are worth is a line that is too long."""
    path = tmp_path / f"bomb.jsonl{way}"
    if way == ".gz":
        path.write_bytes(gzip.compress(bytes(1 << 25), 1))
        most = 1 << 24
    else:  # blocks of one byte, repeated
        blocks = (2 | 128 << 10 << 3).to_bytes(3, "little") + b"\0"
        path.write_bytes(b"\x28\xb5\x2f\xfd\0\x70" + blocks * (1 << 13))
        most = 1 << 27
    tracemalloc.start()
    assert len(decompressed(io.BytesIO(path.read_bytes()), "f").readline(MAX_LINE)) == MAX_LINE
    assert tracemalloc.get_traced_memory()[1] < most
    tracemalloc.stop()
    done = run("rate", path)
    assert (done.status, done.data) == (1, b"")
    assert done.error_line == f"rate: {path}: line 1: a line of over 4194304 bytes"


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture(params=list(WAYS))
def packed(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    """Three records in two pieces, compressed."""
    way = WAYS[request.param]
    path = tmp_path / f"games.jsonl{request.param}"
    lines = GAMES.splitlines(keepends=True)
    path.write_bytes(way(b"".join(lines[:2])) + way(b"".join(lines[2:])))
    return path


def same(command: str, *arguments: object, path: pathlib.Path, plain: pathlib.Path) -> None:
    one, other = (run(command, *arguments, p) for p in (path, plain))
    assert one.status == other.status == 0
    for packed, unpacked in ((one.out, other.out), (one.err, other.err)):
        assert packed.replace(str(path), "F").split() == unpacked.replace(str(plain), "F").split()


def test_commands_read_them(packed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(GAMES)
    for words in (["check"], ["stats"], ["convert", "--to", "games"]):
        same("fenfs", *words, path=packed, plain=plain)
    page = tmp_path / "page.html"
    assert run("fenfs", "replay", "--game", 1, packed, "-o", page).status == 0


def test_rate_reads_them(packed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = (SAMPLES / "games.jsonl").read_bytes()
    packed.write_bytes(WAYS[packed.suffix](data))
    plain = run("rate", "--prior", 1, "--json", SAMPLES / "games.jsonl").data
    assert run("rate", "--prior", 1, "--json", packed).data == plain
    assert run("rate", "--prior", 1, "--json", "-", stdin=packed.read_bytes()).data == plain
    page = tmp_path / "page.html"
    done = run("rate", "-q", "--prior", 1, "--html", page, "--games", 2, packed)
    assert (done.status, done.err) == (0, "") and 'id="games"' in page.read_text()


def test_rate_scores_them(packed: pathlib.Path) -> None:
    head = {
        "stratkit": "games", "version": 1, "game": "diplomacy:standard", "rules": {}, "seed": 1,
        "games": 7, "players": [{"name": n, "spec": n, "sha256": None} for n in "ab"],
    }  # fmt: skip
    game = {
        "number": 0, "pair": 0, "players": [0, *[1] * 6], "setups": None, "moves": "",
        "result": None, "returns": [1, 0, 0, 0, 0, 0, 0], "reason": "solo", "plies": 1,
    }  # fmt: skip
    lines = "".join(json.dumps(line) + "\n" for line in (head, game)).encode()
    packed.write_bytes(WAYS[packed.suffix](lines))
    assert run("rate", "--score", "squares", packed).status == 0


def test_python_reads_them(packed: pathlib.Path) -> None:
    plain = read_games(SAMPLES / "gravon.jsonl")
    for name, column in read_games(packed).items():
        assert name == "file" or str(column) == str(plain[name])


def test_folders_and_zips_have_them(packed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.write(packed, f"in{packed.name}")
        archive.writestr(f"other{packed.suffix}", b"?")
    games = len(GAMES.splitlines()) // 2
    assert len(json.loads(run("fenfs", "list", "--json", folder).out)["games"]) == games
    os.rename(packed, folder / packed.name)
    assert len(json.loads(run("fenfs", "list", "--json", folder).out)["games"]) == 2 * games


def test_logs_and_setups_are_read_too(packed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    way = WAYS[packed.suffix]
    for name in ("gravon/barrage.2003.9.2.7.gsn", "gravon.setups"):
        plain = tmp_path / os.path.basename(name)
        plain.write_bytes((SAMPLES / name).read_bytes()[: 164 if name.endswith("s") else None])
        path = tmp_path / (plain.name + packed.suffix)
        path.write_bytes(way(plain.read_bytes()))
        same("fenfs", "convert", "--to", "setups", path=path, plain=plain)


def test_setups_are_read_wherever_a_command_takes_them(
    packed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    lines = (SAMPLES / "gravon.setups").read_text().splitlines()
    kind = variant("barrage")
    own = [one for one in lines if variant_of(parse_setup(one)) is kind][:2]
    plain = tmp_path / "plain.setups"
    plain.write_text("".join(f"{one} {name}\n" for one, name in zip(own, "ab", strict=True)))
    packed.write_bytes(WAYS[packed.suffix](plain.read_bytes()))
    both, game = (str(packed), str(plain)), Game("barrage")
    assert len({read_setup(f"{file}#b", game).tobytes() for file in both}) == 1
    assert len({str(read_favourites(file, game)) for file in both}) == 1
    assert len({read_openings(file, "barrage")[1] for file in both}) == 1
    words = ("deploy-gen", "--game", "barrage", "-n", 3, "--seed", 1, "--from")
    (told,) = {here(*words, file) for file in both}  # model:FILE has it read likewise
    assert (told.status, told.err) == (0, "")


def test_episodes_stay_what_they_are(tmp_path: pathlib.Path) -> None:
    """They are zstd frames with a reader of their own; `rate` says what they are."""
    assert run("fenfs", "check", SAMPLES / "episodes.eps").status == 0
    done = run("rate", SAMPLES / "episodes.eps")
    what = f"{SAMPLES}/episodes.eps: line 1: not a game record: 'episodes'"
    assert (done.status, done.error_line) == (1, f"rate: {what}")
    path = tmp_path / "episodes.eps.gz"
    path.write_bytes(gzip.compress((SAMPLES / "episodes.eps").read_bytes()))
    assert run("fenfs", "check", path).status == 0


def test_a_damaged_file_is_one_line(packed: pathlib.Path) -> None:
    kind = KINDS[packed.suffix]
    data = WAYS[packed.suffix]((SAMPLES / "games.jsonl").read_bytes())
    packed.write_bytes(data[:-9])
    what = f"{packed}: truncated: it ends within its {kind} data"
    done = run("rate", packed)
    assert (done.status, done.error_line) == (1, f"rate: {what}")
    done = run("fenfs", "check", packed)
    assert done.status == 3 and f"fenfs: {what}\n" in done.err
    with pytest.raises(InputError, match=f"ends within its {kind} data$"):
        read_games(packed)
    packed.write_bytes(data[:20] + b"?" * 9 + data[29:])
    done = run("rate", packed)
    assert done.status == 1 and done.error_line.startswith(f"rate: {packed}: damaged {kind} data: ")


def test_a_zip_that_is_compressed_again(packed: pathlib.Path) -> None:
    packed.write_bytes(WAYS[packed.suffix](b"PK\x05\x06" + bytes(18)))
    done = run("fenfs", "check", packed)
    what = f"{packed}: a zip that is compressed again, not read: unpack it"
    assert done.status != 0 and done.err.splitlines()[0] == f"fenfs: {what}"


def test_a_match_goes_on_in_plain_files_alone(packed: pathlib.Path) -> None:
    """With players on the command line and without; the file stays as it is."""
    before = packed.read_bytes()
    for players in ([], ["random", "heuristic"]):
        done = run("match", *players, "-n", 2, "--game", "mini", "-o", packed, "--resume")
        what = f"match: {packed}: compressed by {KINDS[packed.suffix]}: decompress it first"
        assert (done.status, done.error_line) == (1, what)
    assert packed.read_bytes() == before


def test_names_without_the_suffix() -> None:
    assert [plain_name(n) for n in ("a.jsonl.gz", "A.GSN.ZST", "a.gsn", ".gz", "x/.zst")] == [
        "a.jsonl", "A.GSN", "a.gsn", ".gz", "x/"
    ]  # fmt: skip
