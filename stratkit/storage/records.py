"""Game records: one line of JSON a game, append-only (formats/games.md)."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, BinaryIO, NoReturn, Self

from stratkit import __version__
from stratkit.errors import InputError, in_file
from stratkit.storage import fields as check
from stratkit.storage.atomic import is_special, lock_descriptor
from stratkit.storage.numbers import Numbers

FORMAT = "games"
ROUND_ROBIN, GAUNTLET = "round-robin", "gauntlet"
VERSION = 1
MOST_LINE = 1 << 22  # bytes of a line; a game of 10,000 plies has 50,000


@dataclass(frozen=True)
class RecordPlayer:
    """Who plays: the `name` of the tables, the resolved `spec`, and the SHA-256 of the file of
    weights (None: it has none)."""

    name: str
    spec: str
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class RecordHeader:
    """What all games of a match share; a match is resumed only under an equal header.

    `games` a pairing; `setups`, where the setups come from, e.g. {"file": ..., "sha256": ...}, or
    None for the game's own start; `pairing`, `ROUND_ROBIN` or `GAUNTLET`; `resign`, `draw` and
    `sprt`, the options of `match` that end games or the match early, as they were given.
    """

    game: str
    rules: Mapping[str, int]
    seed: int
    games: int
    players: tuple[RecordPlayer, ...]
    setups: Mapping[str, str] | None = None
    pairing: str = ROUND_ROBIN
    resign: str | None = None
    draw: str | None = None
    sprt: str | None = None
    writer: str = f"stratkit {__version__}"


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game.

    `number`, and `pair`, of which games with swapped colours share the setups; `players`, indices
    into the header's, in the order of colours, red first; `setups`, each colour's letters from its
    own view, or None; `moves`, words such as `A4A5`; `returns`, one a colour; `reason`, the name of
    the ending; `adjudicator`, who decided a game that was not played out; `fault`, what the loser's
    program did wrong; `plies`; `times`, the seconds each colour used, or None.
    """

    number: int
    pair: int
    players: tuple[int, ...]
    setups: tuple[str, ...] | None
    moves: tuple[str, ...]
    returns: tuple[float, ...]
    reason: str
    plies: int
    adjudicator: str | None = None
    times: tuple[float, ...] | None = None
    fault: str | None = None

    @property
    def result(self) -> str:
        """`red` or `blue`, who got more, or `draw`."""
        red, blue = self.returns[0], self.returns[-1]
        return "draw" if red == blue else "red" if red > blue else "blue"


_PLAYER = {"name": check.text, "spec": check.text, "sha256": check.optional(check.sha256)}
_HEADER = {
    "game": check.text,
    "rules": check.mapping(check.whole()),
    "seed": check.whole(0, 2**64),
    "games": check.whole(),
    "players": check.list_of(check.record(_PLAYER)),
    "setups": check.optional(check.mapping(check.text)),
    "pairing": check.optional(check.text),
    "resign": check.optional(check.text),
    "draw": check.optional(check.text),
    "sprt": check.optional(check.text),
    "writer": check.text,
}
_RECORD = {
    "number": check.whole(),
    "pair": check.whole(),
    "players": check.list_of(check.whole()),
    "setups": check.optional(check.list_of(check.text)),
    "moves": check.text,
    "result": check.text,
    "returns": check.list_of(check.number),
    "reason": check.text,
    "adjudicator": check.optional(check.text),
    "fault": check.optional(check.text),
    "plies": check.whole(),
    "times": check.optional(check.list_of(check.number)),
}


# --- writing --------------------------------------------------------------------------------------


def header_line(header: RecordHeader) -> bytes:
    """The line that begins a file of games."""
    return check.compact({"stratkit": FORMAT, "version": VERSION, **_fields(header)}) + b"\n"


def _fields(header: RecordHeader) -> dict[str, Any]:
    """The header's fields as JSON has them."""
    return {
        "game": header.game,
        "rules": dict(sorted(header.rules.items())),
        "seed": header.seed,
        "games": header.games,
        "players": [asdict(player) for player in header.players],
        "setups": None if header.setups is None else dict(sorted(header.setups.items())),
        "pairing": header.pairing,
        "resign": header.resign,
        "draw": header.draw,
        "sprt": header.sprt,
        "writer": header.writer,
    }


def record_line(record: GameRecord) -> bytes:
    """The line of one game."""
    values = {
        **vars(record),
        "moves": " ".join(record.moves),
        "returns": [int(r) if r == int(r) else r for r in record.returns],
        "result": record.result,
    }
    return check.compact({key: values[key] for key in _RECORD}) + b"\n"


class RecordWriter:
    """Appends games to the file `path`, or to stdout if that is `-`. A game is there whole or not.

    A file is locked while it is open. With `resume` an existing file is continued: its torn last
    line is cut, `done` holds the numbers of its games, and `met` is called with each, which may
    raise `InputError` if it is none of the match. Raises `InputError` when another process writes
    the file, when it exists and neither `resume` nor `overwrite` is true, and when it is to be
    resumed but holds another match or something else; it is then left as it is. `OSError` with
    `path` as its file name for everything else.
    """

    def __init__(
        self,
        path: str,
        header: RecordHeader,
        resume: bool = False,
        overwrite: bool = False,
        met: Callable[[GameRecord], None] = lambda record: None,
    ) -> None:
        self.path, self.done, self._met = path, Numbers(), met
        self._header, self._regular = header, False
        if path == "-":
            self._descriptor = os.dup(1)
        else:
            # Of a pipe only to write: it would not notice that its reader has gone, being one.
            access = os.O_WRONLY if is_special(path) else os.O_RDWR
            flags = access | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
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
            if self._regular:
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
            raise

    def _resume(self) -> bool:
        """Checks that the file is of this match, notes its games, and cuts its torn last line.

        False when not even the header is whole.
        """
        end = 0  # of the whole lines
        with open(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            for number, line in _lines(stream, self.path):
                value = _parse(line, self.path, number)
                if number == 1 or "stratkit" in value:
                    there = _parse_header(value, self.path, number)
                    _compare(there, self._header, self.path, number)
                else:
                    record = _parse_record(value, self._header, self.path, number)
                    if self.done.add(record.number):
                        with in_file(self.path, f"line {number}"):
                            self._met(record)
                end += len(line)
            stream.seek(0)
            if not end and not header_line(self._header).startswith(stream.read(MOST_LINE)):
                raise InputError("not a game record", file=self.path, where="line 1")
        os.ftruncate(self._descriptor, end)
        return end > 0

    def write(self, record: GameRecord) -> None:
        """Appends a game in one write."""
        self._write(record_line(record))

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _compare(there: RecordHeader, header: RecordHeader, path: str, number: int) -> None:
    """`InputError` that names the first field in which the file's header is another one."""
    old, new = _fields(there), _fields(header)
    for key in old:
        if key != "writer" and old[key] != new[key]:
            what, was, now = _difference(key, old[key], new[key])
            text = f"{was} there, {now} now"
            _fail(f"cannot be resumed, {what} is another", path, number, text)


def _difference(what: str, old: Any, new: Any) -> tuple[str, str, str]:
    """What differs in two values of the field `what`, as deep inside as it can be said, and how."""
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"the number of {what}", str(len(old)), str(len(new))
        old, new = dict(enumerate(old, 1)), dict(enumerate(new, 1))
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        key = next(key for key in old if old[key] != new[key])
        return _difference(f"{what} {key}", old[key], new[key])
    return what, json.dumps(old)[:22], json.dumps(new)[:22]


# --- reading --------------------------------------------------------------------------------------


def read_records(stream: BinaryIO, name: str) -> Iterator[tuple[RecordHeader, GameRecord]]:
    """The games of a binary stream, called `name` in messages, each with its header.

    Files one after the other are a stream. An unterminated last line is left out: it is being
    written, or its writer was killed. Raises `InputError` for everything that is not as
    formats/games.md says. Memory is bounded.
    """
    header: RecordHeader | None = None
    for number, line in _lines(stream, name):
        value = _parse(line, name, number)
        if header is None or "stratkit" in value:
            header = _parse_header(value, name, number)
        else:
            yield header, _parse_record(value, header, name, number)
    if header is None:
        raise InputError("empty, or its first line is torn: no game record", file=name)


def read_header(path: str) -> RecordHeader | None:
    """The header that begins the file `path`; None when there is no such file, or not even its
    first line is whole. Raises `InputError` when that is no header."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        for number, line in _lines(stream, path):
            return _parse_header(_parse(line, path, number), path, number)
    return None


def _lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of each terminated line."""
    number = 0
    while (line := stream.readline(MOST_LINE)).endswith(b"\n"):
        number += 1
        yield number, line
    if len(line) == MOST_LINE:
        _fail(f"a line of over {MOST_LINE} bytes", name, number + 1)


def _fail(what: str, name: str, number: int, text: object = None) -> NoReturn:
    raise InputError(what, file=name, where=f"line {number}", text=text)


def _parse(line: bytes, name: str, number: int) -> dict[str, Any]:
    value = check.parse_object(line)
    if value is None:
        _fail("not a game record", name, number, line[:200].decode("utf-8", "replace").strip())
    return value


def _known(
    value: dict[str, Any], checks: Mapping[str, check.Check], name: str, number: int
) -> dict[str, Any]:
    """The known fields, checked; lists as tuples."""
    wrong = check.wrong_field(value, checks)
    if wrong is not None:
        _fail(f"field {wrong!r} is missing or wrong", name, number, value.get(wrong))
    fields = {key: value.get(key) for key in checks}
    return {key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()}


def _parse_header(value: dict[str, Any], name: str, number: int) -> RecordHeader:
    if value.get("stratkit") != FORMAT:
        _fail("not a game record", name, number, value.get("stratkit"))
    if value.get("version") != VERSION:
        _fail(f"a version that is not {VERSION}", name, number, value.get("version"))
    known = _known(value, _HEADER, name, number)
    players = (RecordPlayer(*(player.get(key) for key in _PLAYER)) for player in known["players"])
    known["pairing"] = known["pairing"] or ROUND_ROBIN  # older files do not say it
    return RecordHeader(**{**known, "players": tuple(players)})


def _parse_record(
    value: dict[str, Any], header: RecordHeader, name: str, number: int
) -> GameRecord:
    known = _known(value, _RECORD, name, number)
    result = known.pop("result")
    record = GameRecord(**{**known, "moves": tuple(known["moves"].split())})
    if max(record.players) >= len(header.players):
        _fail("a player that the header does not name", name, number, max(record.players))
    if len(record.players) != len(record.returns) or result != record.result:
        _fail("result and returns do not fit", name, number, result)
    return record
