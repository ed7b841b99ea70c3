"""What reads files and texts of strangers, as functions of any bytes.

Each returns when the bytes are right or are told to be wrong. Where there is an inverse, what was
read is written and read again. `FRAME` stands for the zstd frames of episodes, `CUT` cuts records.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterator

from running import ROOT
from stratkit import match
from stratkit.convert.check import check_chunk
from stratkit.convert.conversion import convert_chunk
from stratkit.convert.options import ConvertOptions
from stratkit.convert.raw import chunks
from stratkit.engine import Game
from stratkit.errors import InputError, StratkitError
from stratkit.notation.fenfs import legal_moves, parse_fenfs, position, seen_by
from stratkit.notation.gravon import parse_log
from stratkit.notation.gravon_text import gsn_text, xml_text
from stratkit.notation.select import Selection
from stratkit.notation.setups import read_setups, setup_text
from stratkit.players.registry import parse_player
from stratkit.rating.reading import PoolReader
from stratkit.storage.checkpoints import load_checkpoint
from stratkit.storage.episodes import EpisodeReader
from stratkit.storage.examples import ExampleReader, ExampleWriter
from stratkit.storage.frames import FrameReader, compress
from stratkit.storage.records import header_line, read_records, record_line

SAMPLES = ROOT / "formats" / "samples"
FRAME = b"\0FRAME\0"


def salvaging(form: str) -> ConvertOptions:
    return ConvertOptions(to=form, selection=Selection(), salvage=True)


@contextlib.contextmanager
def a_file(data: bytes, suffix: str = "") -> Iterator[str]:
    """A file with these bytes, in memory where the system has such a folder."""
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(dir=folder, suffix=suffix) as file:
        file.write(data)
        file.flush()
        yield file.name


def fenfs(data: bytes) -> None:
    parsed = parse_fenfs(data.decode("utf-8", "replace"))
    assert parse_fenfs(str(parsed)) == parsed
    with contextlib.suppress(InputError):
        position(parsed)
        seen_by(parsed, 0)
    legal_moves(parsed)


def log(data: bytes) -> None:
    """What is written of a log is written of what is read from that."""
    for text in (gsn_text, xml_text):
        once = text(parse_log(data, "log"))
        assert text(parse_log(once.encode(), "log")) == once


def setups(data: bytes) -> None:
    for _, setup in read_setups(io.BytesIO(data), "setups"):
        if not isinstance(setup, InputError):
            assert setup_text(setup.setup).encode() in data


def records(data: bytes) -> None:
    for header, record in read_records(io.BytesIO(data), "records"):
        ((again, same),) = read_records(
            io.BytesIO(header_line(header) + record_line(record)), "again"
        )
        assert (again, same) == (header, record)


def pool(data: bytes) -> None:
    reader = PoolReader()
    reader.read(io.BytesIO(data), "games")
    reader.finish()


def episodes(data: bytes) -> None:
    """The bytes are the contents of the frames."""
    stream = b"".join(compress([part]) for part in data.split(FRAME))
    for whole in (True, False):
        for _ in EpisodeReader(io.BytesIO(stream), "episodes", whole=whole):
            pass


def examples(data: bytes) -> None:
    """The bytes are the contents of the frames. What is read can be written and read again."""
    stream = io.BytesIO(b"".join(compress([part]) for part in data.split(FRAME)))
    reader, again = ExampleReader(stream, "examples"), io.BytesIO()
    writer = ExampleWriter(again, reader.open())
    read = [values for values in reader if reader.header == writer.header]
    for values in read:
        writer.write(values.rows, values.values)
    writer.close()
    same = list(ExampleReader(io.BytesIO(again.getvalue()), "again"))
    for name in ("rows", "values"):
        parts = [b"".join(getattr(x, name).tobytes() for x in some) for some in (read, same)]
        assert parts[0] == parts[1]


def frames(data: bytes) -> None:
    for _ in EpisodeReader(io.BytesIO(data), "episodes"):
        pass


def checkpoint(data: bytes) -> None:
    with a_file(data) as path:
        load_checkpoint(path)


def matrix(data: bytes) -> None:
    with a_file(data) as path:
        Game(f"matrix:{path}")


def player(data: bytes) -> None:
    spec = parse_player(data.decode("utf-8", "replace"), match.PLAYERS)
    assert parse_player(spec.text, match.PLAYERS) == spec


def anything(data: bytes, suffix: str = "") -> None:
    """What `fenfs` makes of a file, whatever it is."""
    with a_file(data, suffix) as path:
        for chunk in chunks([path]):
            for form in ("fenfs", "setups", "gsn"):
                convert_chunk(list(chunk), salvaging(form))
            check_chunk(list(chunk), Selection(), two_squares=5, keep=True)
        for chunk in chunks([path], together=True):
            for form in ("games", "xml"):
                convert_chunk(list(chunk), salvaging(form))


def _contents(stream: bytes) -> bytes:
    reader = FrameReader(io.BytesIO(stream), "sample")
    return FRAME.join(frame.content for frame in iter(reader.next, None))


def _lines(*names: str) -> list[bytes]:
    return [line for name in names for line in (SAMPLES / name).read_bytes().split(b"\n")[:3]]


def _files(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(SAMPLES.glob(pattern))]


EPISODES = (SAMPLES / "episodes.eps").read_bytes()
PLAYERS = [
    b"preset=deepnash,temperature=.5,threshold=.03,quanta=16,net=average,run/",
    b"name=v,time=2,startup=1.5,nodes=9,ucc:./vixen.sh 'a b'",
    b"setup=my.setups,human",
    b"eager=2,memory=renormalised,shuttle=off,bounds=.05,ties=random,deploy-quanta=32,./a=b",
]
PARSERS: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
    "fenfs": (fenfs, _lines("barrage.fenfs", "barrage.red.fenfs", "barrage.moved.fenfs")),
    "log": (log, _files("gravon/*")),
    "setups": (setups, _files("*.setups")),
    "records": (records, _files("g*.jsonl")),
    "pool": (pool, _files("games.jsonl", "results.*")),
    "episodes": (episodes, [_contents(EPISODES)]),
    "examples": (examples, [_contents((SAMPLES / "examples.pbs").read_bytes())]),
    "frames": (frames, [EPISODES]),
    "checkpoint": (checkpoint, _files("*.safetensors")),
    "matrix": (matrix, _files("*.matrix")),
    "player": (player, PLAYERS),
    "anything": (anything, _files("g*.jsonl", "*.eps", "*.fenfs", "*.setups", "gravon/*")),
}


def parse(name: str, data: bytes) -> None:
    """Fails if the parser `name` does anything but read these bytes or tell what is wrong."""
    with contextlib.suppress(StratkitError):
        PARSERS[name][0](data)


def write_seeds(folder: pathlib.Path) -> None:
    for name, (_, samples) in PARSERS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, sample in enumerate(samples):
            (folder / name / f"seed-{number}").write_bytes(sample)
