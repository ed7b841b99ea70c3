"""Game records: append-only, whole lines, resumed only for the same match."""

from __future__ import annotations

import dataclasses
import io
import os
import pathlib
import resource
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratkit.errors import InputError
from stratkit.storage.identities import KnownPlayers, match_key, plays_as
from stratkit.storage.records import (
    MAX_LINE,
    GameRecord,
    RecordHeader,
    RecordPlayer,
    RecordWriter,
    header_line,
    read_header,
    read_records,
    record_line,
    result_of,
)

A = RecordPlayer("A", "random")
B = RecordPlayer("B", "run/", "12" * 32)
HEADER = RecordHeader(
    game="mini",
    rules={"two_squares": 3, "max_plies": 200},
    seed=7,
    games=4,
    players=(A, B),
    setups={"file": "x.setups", "sha256": "0" * 64},
)


def record(number: int, returns: tuple[float, float] = (1, -1)) -> GameRecord:
    return GameRecord(
        number=number,
        pair=number // 2,
        players=(number % 2, 1 - number % 2),
        setups=("ABC", "CBA"),
        moves="A1A2 F6F5",
        result=result_of(returns),
        returns=returns,
        reason="flag_captured",
        plies=2,
    )


def write(path: pathlib.Path, *records: GameRecord, **options: bool) -> list[int]:
    """Appends to a file; the numbers that it held before."""
    with RecordWriter(str(path), HEADER, **options) as writer:
        before = list(writer.done)
        for one in records:
            writer.write(one)
        return before


def read(stored: bytes) -> list[tuple[RecordHeader, GameRecord]]:
    return list(read_records(io.BytesIO(stored), "g.jsonl"))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "g.jsonl"


@pytest.fixture
def four(path: pathlib.Path) -> bytes:
    write(path, *map(record, range(4)))
    return path.read_bytes()


# --- identity -------------------------------------------------------------------------------------

_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
_counts = st.integers(0, 2**63 - 1)
_words = st.text(st.characters(codec="ascii", exclude_characters=" ", categories=["L", "N", "P"]))
_moves = st.lists(_words.filter(bool), max_size=5).map(" ".join)


@st.composite
def _records(draw: st.DrawFn) -> GameRecord:
    """Of two to seven players."""
    players = draw(st.integers(2, 7))

    def each(values: st.SearchStrategy[Any]) -> tuple[Any, ...]:
        return draw(st.tuples(*[values] * players))

    returns = each(st.one_of(st.integers(-1, 1), st.floats(-2, 2)))
    return GameRecord(
        number=draw(_counts),
        pair=draw(_counts),
        players=each(st.integers(0, 1)),
        setups=each(_texts) if draw(st.booleans()) else None,
        moves=draw(_moves),
        result=result_of(returns),
        returns=returns,
        reason=draw(_texts),
        plies=draw(_counts),
        adjudicator=draw(st.one_of(st.none(), _texts)),
        times=each(st.floats(0, 1e6)) if draw(st.booleans()) else None,
    )


_headers = st.builds(
    RecordHeader,
    game=_texts,
    rules=st.dictionaries(_texts, _counts, max_size=3),
    seed=st.integers(0, 2**64 - 1),
    games=_counts,
    players=st.lists(st.builds(RecordPlayer, _texts, _texts), min_size=2, max_size=4).map(tuple),
    setups=st.one_of(st.none(), st.dictionaries(_texts, _texts, max_size=2)),
    start=st.one_of(st.none(), _texts),
)


@settings(max_examples=50)
@given(_headers, st.lists(_records(), max_size=4))
def test_what_is_written_is_read(header: RecordHeader, records: list[GameRecord]) -> None:
    source, sink = os.pipe()
    with RecordWriter(f"/dev/fd/{sink}", header) as writer:
        for one in records:
            writer.write(one)
    os.close(sink)
    with open(source, "rb") as stream:
        assert list(read_records(stream, "pipe")) == [(header, one) for one in records]


def test_a_match_may_go_on_by_another_backend(tmp_path: pathlib.Path) -> None:
    """What is written tells how it began; the match is the same."""
    header = dataclasses.replace(HEADER, players=(A, dataclasses.replace(B, backend="onnx")))
    line = header_line(header)
    assert line.count(b'"backend":"onnx"') == 1 and b"backend" not in header_line(HEADER)
    found = read(line + record_line(record(0)))[0][0]
    assert found.players[1].backend == "onnx" and found == HEADER
    assert match_key(found) == match_key(HEADER)
    engine = dataclasses.replace(HEADER, players=(A, dataclasses.replace(B, backend="engine")))
    for began, goes_on in ((header, HEADER), (HEADER, header), (header, engine)):
        path = tmp_path / "games.jsonl"
        path.write_bytes(header_line(began) + record_line(record(0)))
        with RecordWriter(str(path), goes_on, resume=True) as writer:
            assert 0 in writer.done


def test_a_belief_network_is_told_by_its_hash() -> None:
    def of(path: str, belief: str, first: str = "") -> RecordPlayer:
        return RecordPlayer("B", f"belief={first}{path},eta=2,random", belief=belief * 32)

    header = dataclasses.replace(HEADER, players=(A, of("a/b", "12")))
    line = header_line(header)
    assert line.count(b'"belief":"1212') == 1
    assert read(line + record_line(record(0)))[0][0] == header
    same = plays_as(header.players[1])
    assert same == plays_as(of("c.d", "12"))
    assert same != plays_as(of("a/b", "13")) and same != plays_as(of("a/b", "12", "setups+"))


def test_a_setup_belongs_to_a_player_unless_a_person_has_it() -> None:
    """Where its file lies does not matter. Matches from other positions are others."""
    one, same, other, none = (
        plays_as(RecordPlayer("n", f"{setup}heuristic"))
        for setup in ("setup=a/s.setups#x,", "setup=s.setups#x,", "setup=s.setups,", "")
    )
    assert one == same and len({one, other, none}) == 3
    mine = plays_as(RecordPlayer("n", "setup=a/s.setups,favourites=f,human"))
    assert mine == plays_as(RecordPlayer("n", "human"))
    named = RecordPlayer("n", "setup=a/b/s.setups#x/y,heuristic")  # of an older record
    assert plays_as(named)[0] == "setup=s.setups#x/y,"
    told = dataclasses.replace(named, setup="AMB")
    assert plays_as(told) == plays_as(RecordPlayer("n", "setup=other,heuristic", setup="AMB"))
    changed = dataclasses.replace(told, setup="BMA")
    assert plays_as(told) != plays_as(changed)
    with pytest.raises(InputError, match="^b: player 'n' has another setup than in a$"):
        known = KnownPlayers()
        known.add([told], "a")
        known.add([changed], "b")
    begun, another = (dataclasses.replace(HEADER, players=(A, who)) for who in (told, changed))
    line = header_line(begun)
    assert match_key(begun) != match_key(another) and b'"setup":"AMB"' in line
    assert read(line + record_line(record(0)))[0][0] == begun
    assert b'"setup"' not in header_line(HEADER)
    with pytest.raises(InputError, match="letters from A to M"):
        read(line.replace(b'"AMB"', b'"\\\\1"') + record_line(record(0)))
    started = dataclasses.replace(HEADER, start="x")
    assert match_key(started) != match_key(HEADER) == match_key(dataclasses.replace(HEADER))


def test_the_result_follows_from_the_returns() -> None:
    results = [result_of(returns) for returns in ((1, -1), (-1, 1), (0, 0), (2, -1, -1), (1,))]
    assert results == ["red", "blue", "draw", None, None]
    for wrong in ("blue", "draw", None, "x"):
        with pytest.raises(InputError, match="result and returns do not fit"):
            GameRecord(**{**msgspec.structs.asdict(record(0)), "result": wrong})


def test_a_header_whose_names_are_not_utf_8_is_read(path: pathlib.Path) -> None:
    """A player's spec is a file's name, and that may have any bytes."""
    player = RecordPlayer("A", os.fsdecode(b"run/\xff"))
    header = dataclasses.replace(HEADER, players=(player, B), setups={"file": os.fsdecode(b"\xfe")})
    stored = header_line(header) + record_line(record(0))
    assert read(stored) == [(header, record(0))]
    path.write_bytes(stored)
    with RecordWriter(str(path), header, resume=True) as writer:
        assert list(writer.done) == [0]


def test_files_one_after_the_other_are_a_stream(four: bytes) -> None:
    other = dataclasses.replace(HEADER, seed=8)
    stored = four + four.replace(b'"seed":7', b'"seed":8')
    assert read(stored) == [(h, record(i)) for h in (HEADER, other) for i in range(4)]


# --- resuming -------------------------------------------------------------------------------------


def test_a_file_torn_at_any_byte_is_read_and_resumed(
    path: pathlib.Path, four: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a thousand of them take long
    header_end = four.index(b"\n") + 1
    for end in range(len(four)):
        torn = four[:end]
        lacks_line_feed = four[end : end + 1] == b"\n"
        whole = torn[header_end:].count(b"\n") + (lacks_line_feed and end > header_end)
        if end >= header_end:
            told: list[InputError] = []
            games = read_records(io.BytesIO(torn), "g.jsonl", told.append)
            assert [one for _, one in games] == [record(i) for i in range(whole)]
            is_torn = not torn.endswith(b"\n") and not lacks_line_feed
            said = [f"g.jsonl: line {whole + 2}: torn, left out"] if is_torn else []
            assert list(map(str, told)) == said
        near_line_end = b"\n" in four[max(end - 2, 0) : end + 2]
        if not near_line_end and end % 7:
            continue  # files cost more time than bytes
        path.write_bytes(torn)
        assert write(path, *map(record, range(whole, 4)), resume=True) == list(range(whole))
        assert path.read_bytes() == four


def test_resuming_a_file_that_is_not_there_begins_it(path: pathlib.Path, four: bytes) -> None:
    path.unlink()
    assert write(path, *map(record, range(4)), resume=True) == []
    assert path.read_bytes() == four


def test_a_line_that_is_being_written_is_read_once(four: bytes) -> None:
    """Its end comes between two reads."""

    class Growing(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:
            return super().readline(size) or b"\n"

    games = read_records(Growing(four[:-1]), "g.jsonl")
    assert [one for _, one in games] == list(map(record, range(4)))


def test_a_newer_writer_may_resume(path: pathlib.Path, four: bytes) -> None:
    path.write_bytes(four.replace(b'"writer":"stratkit', b'"writer":"older'))
    assert write(path, resume=True) == [0, 1, 2, 3]


OTHERS = {
    "game": dataclasses.replace(HEADER, game="barrage"),
    "rules two_squares": dataclasses.replace(HEADER, rules={**HEADER.rules, "two_squares": 5}),
    "rules max_plies": dataclasses.replace(HEADER, rules={"two_squares": 5}),
    "seed": dataclasses.replace(HEADER, seed=8),
    "games": dataclasses.replace(HEADER, games=2),
    "setups sha256": dataclasses.replace(HEADER, setups={"file": "x.setups", "sha256": "1" * 64}),
    "setups": dataclasses.replace(HEADER, setups=None),
    "the number of players": dataclasses.replace(HEADER, players=(A, B, A)),
    "players 1 name": dataclasses.replace(HEADER, players=(RecordPlayer("C", "random"), B)),
    "players 2 spec": dataclasses.replace(
        HEADER, players=(A, RecordPlayer("B", "other/", "12" * 32))
    ),
    "players 2 sha256": dataclasses.replace(
        HEADER, players=(A, RecordPlayer("B", "run/", "13" * 32))
    ),
    "players 2 belief": dataclasses.replace(
        HEADER, players=(A, RecordPlayer("B", "run/", "12" * 32, belief="14" * 32))
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_match_is_not_resumed(path: pathlib.Path, four: bytes, what: str) -> None:
    with pytest.raises(InputError, match=f"line 1: cannot be resumed, {what} is another: ") as e:
        RecordWriter(str(path), OTHERS[what], resume=True)
    assert "there" in str(e.value)
    assert "now" in str(e.value)
    assert path.read_bytes() == four


def test_a_match_of_two_goes_on_with_more_games(path: pathlib.Path, four: bytes) -> None:
    """Behind a header that says so; the first one stays as it was."""
    more = dataclasses.replace(HEADER, games=6)
    with RecordWriter(str(path), more, resume=True) as writer:
        assert sorted(writer.done) == [0, 1, 2, 3]
    assert path.read_bytes() == four + header_line(more)
    assert read_header(str(path)) == more
    with RecordWriter(str(path), more, resume=True):
        pass
    assert path.read_bytes() == four + header_line(more)
    with pytest.raises(InputError, match="cannot be resumed, games is another"):
        RecordWriter(str(path), HEADER, resume=True)


def test_a_date_is_one(path: pathlib.Path, four: bytes) -> None:
    line = four.splitlines()[1]
    for date, wrong in (("2026-11-27T20:15:00Z", False), ("yesterday", True)):
        dated = line[:-1] + f',"date":"{date}"}}'.encode()
        stream = io.BytesIO(four.splitlines()[0] + b"\n" + dated + b"\n")
        if wrong:
            with pytest.raises(InputError):
                list(read_records(stream, "g"))
        else:
            [(_, record)] = read_records(stream, "g")
            assert record.date == date and record_line(record) == dated + b"\n"


def test_a_player_with_other_keys_is_told_apart(path: pathlib.Path) -> None:
    """By the key that differs, however many stand before it."""
    keys = "net=online,search=mmd,rollouts=4096,depth=3,"
    for spec, text in ((f"{keys}time=.5,run/", '...time=.5,run/"'), (f"{keys}run/", '...run/"')):
        head = dataclasses.replace(HEADER, players=(A, RecordPlayer("B", spec, "12" * 32)))
        RecordWriter(str(path), head, overwrite=True).close()
        now = dataclasses.replace(
            HEADER, players=(A, RecordPlayer("B", f"{keys}time=1,run/", "12" * 32))
        )
        with pytest.raises(InputError, match="players 2 spec is another") as error:
            RecordWriter(str(path), now, resume=True)
        assert f'{text} there, ...time=1,run/" now' in str(error.value)


@pytest.mark.parametrize(
    "foreign", [b"my diary", b"my diary\nwithout an end", b"{}\n", b'{"stratkit":"episodes"}\n']
)
def test_other_files_are_left_alone(path: pathlib.Path, foreign: bytes) -> None:
    path.write_bytes(foreign)
    with pytest.raises(InputError, match="line 1: not a game record"):
        RecordWriter(str(path), HEADER, resume=True)
    with pytest.raises(InputError, match="exists already; --resume continues it"):
        RecordWriter(str(path), HEADER)
    assert path.read_bytes() == foreign


def test_overwriting_begins_anew(path: pathlib.Path, four: bytes) -> None:
    assert write(path, record(0), overwrite=True) == []
    assert path.read_bytes() == four[: four.index(b"\n", four.index(b"\n") + 1) + 1]


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [b"PK\3\4", b"#1\n", b"<stratego>"])
def test_logs_are_no_records(start: bytes) -> None:
    with pytest.raises(InputError, match="x: line 1: a zip or a game log.*fenfs convert"):
        list(read_records(io.BytesIO(start + b"\n"), "x"))


WRONG = [
    (b'"stratkit":"games"', b'"stratkit":"x"', "line 1: not a game record: 'x'"),
    (b'"version":1', b'"version":2', "line 1: a version that is not 1: '2'"),
    (b'"seed":7', b'"seed":-7', "line 1: field 'seed': expected int >= 0: '-7'"),
    (b'"seed":7', b'"seed":18446744073709551616', "line 1: expected a seed below 2"),
    (
        b'"players":[{"name"',
        b'"players":[{"nome"',
        r"line 1: field 'players\[0\].name' is missing$",
    ),
    (b'"12121212', b'"g2121212', r"line 1: field 'players\[1\].sha256': expected 64 hexadecimal"),
    (b'"spec":"random"', b'"spec":"a\\u0000"', r"line 1: .* expected text without NUL: 'a\\x00'"),
    (b'"two_squares":3', b'"two_squares":-3', "line 1: field 'rules': expected int >= 0: "),
    (b'"number":0', b'"number":0.5', "line 2: field 'number': expected int, got float: '0.5'"),
    (b'"plies":2', b'"flies":2', "line 2: field 'plies' is missing$"),
    (b'"number":0', b'"number":' + b"9" * 5000, "line 2: not a game record"),
    (b'"returns":[1,-1]', b'"returns":[NaN,1]', "line 2: not a game record"),
    (b'"returns":[1,-1]', b'"returns":[1e999,1]', "line 2: not a game record"),
    (b'"returns":[1,-1]', b'"returns":[1]', "line 2: result and returns do not fit"),
    (b'"players":[0,1]', b'"players":[0,2]', "line 2: a player that the header does not name"),
    (b'"players":[0,1]', b'"players":[]', "line 2: field 'players'"),
    (b'"result":"red"', b'"result":"\\u001b[1m"', r"line 2: .* do not fit: '\\x1b\[1m'"),
    (b'"moves":"A1A2 F6F5"', b'"moves":null', "line 2: field 'moves'"),
    (b'{"number":1', b"[" * 100_000, "line 3: not a game record"),
    (b'{"number":1', b"\xff\xfe{", "line 3: not a game record"),
    (b'{"number":1', b"\n", "line 3: not a game record"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_what_is_wrong_is_said(four: bytes, old: bytes, new: bytes, message: str) -> None:
    assert old in four
    with pytest.raises(InputError, match=rf"^g\.jsonl: {message}") as caught:
        read(four.replace(old, new, 1))
    assert str(caught.value).isprintable()


def test_unknown_fields_are_passed_over(four: bytes) -> None:
    later = four.replace(b'{"number"', b'{"new":[1],"number"').replace(b'"seed"', b'"new":1,"seed"')
    assert read(later) == read(four)


def test_a_field_that_may_be_null_may_be_missing(four: bytes) -> None:
    for field in (b',"sha256":null', b',"adjudicator":null', b',"times":null'):
        assert field in four
        assert read(four.replace(field, b"")) == read(four)


def test_an_endless_line_is_refused() -> None:
    with pytest.raises(InputError, match="line 1: a line of over"):
        read(b" " * (MAX_LINE + 10))


def test_an_empty_file_is_no_record() -> None:
    with pytest.raises(InputError, match=r"g\.jsonl: empty"):
        read(b"")


@given(st.binary(max_size=100), st.integers(0, 1000), st.integers(0, 30))
def test_damage_is_told_in_one_line(junk: bytes, at: int, cut: int) -> None:
    stored = b"".join(STORED[:at] + junk + STORED[at + cut :] for _ in range(1))
    try:
        read(stored)
    except InputError as error:
        assert str(error).isprintable()


def _stored() -> bytes:
    source, sink = os.pipe()
    with RecordWriter(f"/dev/fd/{sink}", HEADER) as writer:
        for number in range(3):
            writer.write(record(number))
    os.close(sink)
    with open(source, "rb") as stream:
        return stream.read()


STORED = _stored()


# --- the file -------------------------------------------------------------------------------------


def in_another_process(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs `code` after the imports of this module."""
    start = (
        "import resource, sys\nfrom storage.test_records import *\nimport pathlib\n"
        "path = pathlib.Path(sys.argv[1])\n"
    )
    command = [sys.executable, "-c", start + code, *map(str, arguments)]
    here = pathlib.Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_one_process_at_a_time(path: pathlib.Path, four: bytes) -> None:
    code = "RecordWriter(str(path), HEADER, resume=True)"
    with RecordWriter(str(path), HEADER, resume=True):
        second = in_another_process(code, path)
    assert f"InputError: {path}: in use by process {os.getpid()}\n" in second.stderr
    assert in_another_process(code, path).returncode == 0
    assert path.read_bytes() == four


def test_every_game_is_one_write(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    real = os.write

    def spy(descriptor: int, data: bytes) -> int:
        writes.append(bytes(data))
        return real(descriptor, data)

    with RecordWriter(str(path), HEADER) as writer:
        monkeypatch.setattr(os, "write", spy)
        writer.write(record(0))
        writer.write(record(1))
        monkeypatch.undo()
    assert [data.count(b"\n") for data in writes] == [1, 1]


def test_a_full_disk_leaves_whole_lines(path: pathlib.Path) -> None:
    code = (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write(path, *map(record, range(100)))\n"
    )
    full = in_another_process(code, path)
    assert "OSError: [Errno 27] File too large" in full.stderr
    assert str(path) in full.stderr
    stored = path.read_bytes()
    assert stored.endswith(b"\n")
    assert 0 < len(stored) <= 1000
    assert len(read(stored)) >= 2


def test_a_disk_too_full_for_the_header_leaves_no_file(path: pathlib.Path) -> None:
    code = "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\nwrite(path)\n"
    assert "File too large" in in_another_process(code, path).stderr
    assert not path.exists()


def test_a_disk_too_full_for_the_header_leaves_a_link_that_was_there(path: pathlib.Path) -> None:
    path.symlink_to("elsewhere")
    code = "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\nwrite(path)\n"
    assert "File too large" in in_another_process(code, path).stderr
    assert path.is_symlink()


def test_stdout_and_devices() -> None:
    out = in_another_process("write('-', record(0))", "-").stdout
    assert read(out.encode()) == [(HEADER, record(0))]
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        RecordWriter("/dev/full", HEADER)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("spec", "now"),
    [
        ("net=online,shuttle=off,bounds=0.05,x", "net=online,repeat-threats=off,bounds=0.05,x"),
        ("shuttle=off,x", "repeat-threats=off,x"),
        ("memory=on,./shuttle=off,x", "memory=on,./shuttle=off,x"),  # a path
        ("py:own:Own,shuttle=off", "py:own:Own,shuttle=off"),  # its own option
        ("setup=a=shuttle=off,human", "setup=a=shuttle=off,human"),  # a file
        ("x-shuttle=off,shuttle", "x-shuttle=off,shuttle"),
    ],
)
def test_an_old_key_of_a_player_gets_its_present_name(spec: str, now: str) -> None:
    """So that players and matches are the same as in records of today."""
    old = dataclasses.replace(HEADER, players=(A, RecordPlayer("B", now)))
    line = header_line(old).replace(now.encode(), spec.encode())
    [(header, _)] = read(line + record_line(record(0)))
    assert header.players[1].spec == now
    assert (plays_as(header.players[1]), match_key(header)) == (
        plays_as(old.players[1]),
        match_key(old),
    )
