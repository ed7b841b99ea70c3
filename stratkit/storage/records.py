"""Game records: one line of JSON a game, append-only (formats/games.md)."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Annotated, Any, BinaryIO, Self

import msgspec
from msgspec import Meta

from stratkit.compressed import compression
from stratkit.errors import InputError, apart, error_context
from stratkit.storage import schema
from stratkit.storage.atomic import is_special, lock_descriptor
from stratkit.storage.numbers import NumberSet
from stratkit.storage.schema import Count, Letters, Seed, Sha256, Text
from stratkit.version import __version__

FORMAT = "games"
ROUND_ROBIN, GAUNTLET = "round-robin", "gauntlet"
VERSION = 1
SHOWN = 22  # characters of each value that differs
MAX_LINE = 1 << 22  # bytes of a line; a game of 10,000 plies has 50,000
MAX_PLAYERS = 1 << 20  # of a header

DATE = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"
RED, BLUE, DRAW = "red", "blue", "draw"  # results of games of two players

# Keys of a PLAYER that have another name since. Older records hold the first.
RENAMED_KEYS: Mapping[str, str] = {"shuttle": "repeat-threats"}
_OPTIONS = re.compile(r"(?:[\w-]+=[^,]*,)+")  # that precede the SPEC of a PLAYER
_OLD_KEY = re.compile(rf"(?<![^,])(?:{'|'.join(RENAMED_KEYS)})(?==)")


@dataclass(frozen=True)
class RecordPlayer:
    """Who plays.

    name          of the tables
    spec          the resolved PLAYER; a renamed key gets its present name
    sha256        of the file of weights; None: it has none
    reproducible  equal seeds give equal moves; only the contrary is written
    belief        SHA-256 of the belief network of its search; written if there is one
    bound         the repetition rules bind it; only the contrary is written
    backend       what computed its network when the match began: `engine`, `onnx`; or not written
                  for torch. Before 2026-11-28 the engine was called `onnx`, too, where it computed
                  a `fromto`. A match may go on by another
    setup         letters of the one that it was told; written if there is one
    """

    name: Text
    spec: Text
    sha256: Sha256 | None = None
    reproducible: bool = True
    belief: Sha256 | None = None
    bound: bool = True
    backend: Text | None = field(default=None, compare=False, repr=False)
    setup: Letters | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if options := _OPTIONS.match(self.spec):
            present = _OLD_KEY.sub(lambda key: RENAMED_KEYS[key[0]], options[0])
            object.__setattr__(self, "spec", present + self.spec[options.end() :])


# Fields of a player that are written where they are not these.
_USUAL = {"reproducible": True, "belief": None, "bound": True, "backend": None, "setup": None}


@dataclass(frozen=True, kw_only=True)
class RecordHeader:
    """What all games of a match share; a match is resumed only under an equal header.

        game, rules         as the engine has them
        seed                of the match
        games               a pairing
        players             in the order of their numbers
        setups              where they come from, e.g. {"file": ..., "sha256": ...}; None: the
                            game's own start
        pairing             `ROUND_ROBIN` or `GAUNTLET`
        resign, draw, sprt  options that end games or the match early, as they were given
        seats               of more than two players, such as `1v6`; only then written
        powers              names of these seats
        start               the FENfS that all games began at; only then written
        writer              the program

    The fields are in the order of the file, and their types are its schema.
    """

    game: Text
    rules: Mapping[Text, Count]
    seed: Seed
    games: Count
    players: Annotated[tuple[RecordPlayer, ...], Meta(min_length=1, max_length=MAX_PLAYERS)]
    setups: Mapping[Text, Text] | None = None
    pairing: Text = ROUND_ROBIN
    resign: Text | None = None
    draw: Text | None = None
    sprt: Text | None = None
    seats: Text | None = None
    powers: tuple[Text, ...] | None = None
    start: Text | None = None
    writer: Text = f"stratkit {__version__}"

    def __post_init__(self) -> None:
        schema.check_seed(self.seed)

    @property
    def begins(self) -> str:
        """The position or the players' setups that its games begin from, a blank before each, by
        which matches differ, too; older ones have none."""
        told = self.start, *(player.setup for player in self.players)
        return "".join(f" {one}" for one in told if one is not None)


class GameRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One game of P players. Millions of them are read, which a struct makes fast.

        number       of the game
        pair         games of one pair swap colours and share the setups
        players      [P] indices into the header's, in the order of seats (red first)
        setups       [P] each side's letters from its own view, or None
        moves        words such as `A4A5` with a blank between them
        result       `result_of` the returns
        returns      [P]
        reason       name of the ending
        adjudicator  who decided a game that was not played out, or None
        fault        what the loser's program did wrong, or None
        plies        number of them
        times        [P] seconds that each side used, or None
        drawn        [P] the name of the member that played for a mixture, None for another player;
                     None: no mixture plays, and it is not written
        date         when a game of a person ended, as 2026-11-27T20:15:00Z; None: not written, so
                     that equal seeds give equal files
        undone       how often a person took back a move; None: never, not written
        led          how many plies are those of another game, from which a person went on; None:
                     none, not written

    The fields are in the order of the file, and their types are its schema. Raises `InputError`
    when players, returns and result do not fit.
    """

    number: Count
    pair: Count
    players: Annotated[tuple[Count, ...], Meta(min_length=1)]
    setups: Annotated[tuple[str, ...], Meta(min_length=1)] | None
    moves: str
    result: str | None
    returns: tuple[float, ...]
    reason: str
    adjudicator: str | None = None
    fault: str | None = None
    plies: Count
    times: Annotated[tuple[float, ...], Meta(min_length=1)] | None = None
    drawn: Annotated[tuple[Text | None, ...], Meta(min_length=1)] | None = None
    date: Annotated[str, Meta(pattern=DATE)] | None = None
    undone: Count | None = None
    led: Count | None = None

    def __post_init__(self) -> None:
        returns = self.returns
        if len(self.players) != len(returns) or self.result != result_of(returns):
            raise InputError("result and returns do not fit", text=self.result)


def result_of(returns: Sequence[float]) -> str | None:
    """Of two players' returns: `RED` or `BLUE`, who got more, or `DRAW`. Of another number of
    players', None."""
    if len(returns) != 2:
        return None
    red, blue = returns
    return DRAW if red == blue else RED if red > blue else BLUE


_decode_game = msgspec.json.Decoder(GameRecord).decode


# --- writing --------------------------------------------------------------------------------------


def header_line(header: RecordHeader) -> bytes:
    """The line that begins a file of games."""
    line = {"stratkit": FORMAT, "version": VERSION, **_header_fields(header)}
    return schema.compact(line) + b"\n"


def _header_fields(header: RecordHeader) -> dict[str, Any]:
    """The header's fields as JSON has them: names of rules and setups sorted."""
    fields = asdict(header)
    for name in ("rules", "setups"):
        fields[name] = fields[name] and dict(sorted(fields[name].items()))
    for name in ("seats", "powers", "start"):
        if fields[name] is None:
            del fields[name]
    for player in fields["players"]:
        for name, usual in _USUAL.items():
            if player[name] is usual:
                del player[name]
    return fields


def record_line(record: GameRecord) -> bytes:
    """The line of one game."""
    returns = [int(r) if r == int(r) else r for r in record.returns]
    fields = {**msgspec.structs.asdict(record), "returns": returns}
    for name in ("drawn", "date", "undone", "led"):
        if fields[name] is None:
            del fields[name]
    return schema.compact(fields) + b"\n"


class RecordWriter:
    """Appends games to the file `path`, or to stdout if that is `-`. A game is there whole or not.

    A match of two players may be resumed with more games: a header that says so goes before them.
    A file is locked while it is open. With `resume` an existing file is continued: its torn last
    line is cut, a whole one gets the line feed that it lacks, `done` holds the numbers of its
    games, and `met` is called with each, which may raise `InputError` if it is none of the match.
    Raises `InputError` when another process writes the file, when it exists and neither `resume`
    nor `overwrite` is true, and when it is to be resumed but holds another match or something else;
    it is then left as it is. `OSError` with `path` as its file name for everything else.
    """

    def __init__(
        self,
        path: str,
        header: RecordHeader,
        resume: bool = False,
        overwrite: bool = False,
        met: Callable[[GameRecord], None] = lambda record: None,
    ) -> None:
        self.path, self.done, self._met = path, NumberSet(), met
        self._header, self._regular, self._made = header, False, False
        if path == "-":
            self._descriptor = os.dup(1)
        else:
            # Of a pipe only to write: it would not notice that its reader has gone, being one.
            access = os.O_WRONLY if is_special(path) else os.O_RDWR
            flags = access | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._made = not os.path.lexists(path)
            self._descriptor = os.open(path, flags, 0o666)
            self._regular = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        try:
            self._begin(resume, overwrite)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _begin(self, resume: bool, overwrite: bool) -> None:
        if self._regular:
            lock_descriptor(self._descriptor, self.path)
            if os.fstat(self._descriptor).st_size and not overwrite:
                if not resume:
                    what = "exists already; --resume continues it, -f overwrites it"
                    raise InputError(what, file=self.path)
                if self._resume():
                    return
            os.ftruncate(self._descriptor, 0)
        try:
            self._write(header_line(self._header))
        except OSError:
            if self._regular and self._made:
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
            raise

    def _resume(self) -> bool:
        """Checks that the file is of this match, notes its games, and cuts its torn last line.

        False when not even the header is whole.
        """
        end, line, games = 0, b"", self._header.games  # the end of the whole lines; the last one
        with open(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            for number, line in _lines(stream, self.path):
                with error_context(self.path, f"line {number}"):
                    parsed = _parse(line, self._header if end else None)
                    if isinstance(parsed, RecordHeader):
                        games = parsed.games
                        _compare(parsed, self._header)
                    elif self.done.add(parsed.number):
                        self._met(parsed)
                end += len(line)
            stream.seek(0)
            if not end and not header_line(self._header).startswith(stream.read(MAX_LINE)):
                raise InputError("not a game record", file=self.path, where="line 1")
        os.ftruncate(self._descriptor, end)
        if end and not line.endswith(b"\n"):
            self._write(b"\n")
        if end and games != self._header.games:
            self._write(header_line(self._header))
        return end > 0

    def write(self, record: GameRecord) -> None:
        """Appends a game in one write."""
        self._write(record_line(record))
        self.done.add(record.number)

    def _write(self, line: bytes) -> None:
        """Writes the whole line, or nothing of it if the disk is full."""
        size = os.fstat(self._descriptor).st_size
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            if self._regular:
                os.ftruncate(self._descriptor, size)
            if self.path != "-":
                error.filename = self.path
            raise

    def close(self) -> None:
        """Puts everything on the disk and lets the file go."""
        if self._descriptor < 0:
            return
        try:
            if self._regular:
                os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()


def _compare(stored: RecordHeader, header: RecordHeader) -> None:
    """`InputError` that names the first field in which the file's header is another one."""
    if len(header.players) == len(stored.players) == 2 and stored.games < header.games:
        stored = replace(stored, games=header.games)  # its games keep their numbers
    old, new = (_header_fields(_by_any_backend(one)) for one in (stored, header))
    for key in dict.fromkeys([*old, *new]):
        if key != "writer" and old.get(key) != new.get(key):
            what, was, now = _difference(key, old.get(key), new.get(key))
            text = f"{was} there, {now} now"
            raise InputError(f"cannot be resumed, {what} is another", text=text)


def _by_any_backend(header: RecordHeader) -> RecordHeader:
    """A header without what may be another one when a match goes on."""
    return replace(header, players=tuple(replace(p, backend=None) for p in header.players))


def _difference(what: str, old: Any, new: Any) -> tuple[str, str, str]:
    """What differs in two values of the field `what`, as deep inside as it can be said, and how."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        if len(old) != len(new):
            return f"the number of {what}", str(len(old)), str(len(new))
        old, new = dict(enumerate(old, 1)), dict(enumerate(new, 1))
    if isinstance(old, dict) and isinstance(new, dict):
        key = next(key for key in {**old, **new} if old.get(key) != new.get(key))
        return _difference(f"{what} {key}", old.get(key), new.get(key))
    was, now = apart(json.dumps(old), json.dumps(new), SHOWN)
    return what, was[:SHOWN], now[:SHOWN]


# --- reading --------------------------------------------------------------------------------------


def read_records(
    stream: BinaryIO,
    name: str,
    torn: Callable[[InputError], object] = lambda error: None,
    begun: Callable[[int], object] = lambda line: None,
) -> Iterator[tuple[RecordHeader, GameRecord]]:
    """The games of a binary stream, called `name` in messages, each with its header.

    Files one after the other are a stream. A torn last line is left out, which `torn` is told: it
    is being written, or its writer was killed. Raises `InputError` for everything that is not as
    formats/games.md says. Memory is bounded. `begun` is told the line of each header, from 1.
    """
    header: RecordHeader | None = None
    for number, line in _lines(stream, name, torn):
        try:
            parsed = _parse(line, header)
        except InputError as error:
            error.file, error.where = name, f"line {number}"
            raise
        if isinstance(parsed, GameRecord):
            assert header is not None  # or it would have been read as a header
            yield header, parsed
        else:
            header = parsed
            begun(number)
    if header is None:
        raise InputError("empty, or its first line is torn: no game record", file=name)


_HEADER = b'{"stratkit":'  # begins each header that a match has written


def read_header(path: str) -> RecordHeader | None:
    """The header that begins the file `path`, with as many games as the last one of its match says;
    None when there is no such file, or not even its first line is whole. Raises `InputError` when
    that is no header."""
    if not os.path.isfile(path):
        return None
    header = None
    with open(path, "rb") as stream:
        for number, line in _lines(stream, path):
            if header is not None and not line.startswith(_HEADER):
                continue
            with error_context(path, f"line {number}"):
                later = _parse_header(_object(line))
                header = replace(header or later, games=later.games)
    return header


def _lines(
    stream: BinaryIO, name: str, torn: Callable[[InputError], object] = lambda error: None
) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of each whole line; only the last one may lack its line feed. `torn`
    is told of a last line that is not whole, unless it is the first one."""
    for number in count(1):
        line = stream.readline(MAX_LINE)
        if number == 1 and (how := compression(line)):
            raise InputError(f"compressed by {how}: decompress it first", file=name)
        if line.endswith(b"\n"):
            yield number, line
            continue
        where = f"line {number}"
        if len(line) == MAX_LINE:
            raise InputError(f"a line of over {MAX_LINE} bytes", file=name, where=where)
        if schema.parse_object(line) is not None:  # no part of an object is one
            yield number, line
        elif line and number > 1:
            torn(InputError("torn, left out", file=name, where=where))
        return


def _parse(line: bytes, header: RecordHeader | None) -> RecordHeader | GameRecord:
    """The header or, behind a `header`, the game in a line; raises `InputError`."""
    if header is None:
        return _parse_header(_object(line))
    try:
        record = _decode_game(line)
    except schema.UNSOUND:
        # A header, or something wrong; or right all the same: a file's name that is not UTF-8.
        value = _object(line)
        if "stratkit" in value:
            return _parse_header(value)
        record = schema.convert(value, GameRecord)
    if max(record.players) >= len(header.players):
        what = "a player that the header does not name"
        raise InputError(what, text=max(record.players))
    return record


def _object(line: bytes) -> dict[str, Any]:
    value = schema.parse_object(line)
    if value is None and line.startswith((b"PK", b"#", b"<")):  # a zip, .gsn, .xml
        what = "a zip or a game log, no game record: `fenfs convert --to games` makes one of logs"
        raise InputError(what)
    if value is None:
        raise InputError("not a game record", text=line[:200].decode("utf-8", "replace").strip())
    return value


def _parse_header(value: Mapping[str, Any]) -> RecordHeader:
    schema.check_format(value, FORMAT, VERSION, "a game record")
    return schema.convert(value, RecordHeader)
