"""What stands in the inputs, game by game, before anybody has looked into it.

A *raw* item is what one worker can turn into a game without asking for more; its class says of
which form it is.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stratkit.compressed import Rejoined, plain_name
from stratkit.errors import InputError, error_context

if TYPE_CHECKING:
    from stratkit.notation.fenfs import Fenfs
    from stratkit.notation.setups import NamedSetup, Setup
    from stratkit.notation.sources import NamedStream
    from stratkit.storage.episodes import Episode, Header
    from stratkit.storage.records import GameRecord, RecordHeader

LOG_SUFFIXES = (".gsn", ".xml")
SUFFIXES = (*LOG_SUFFIXES, ".fenfs", ".setups", ".jsonl", ".eps", ".json")

# A worker gets so many games, or lines, or so many bytes of them, at a time.
MAX_GAMES, MAX_LINES, MAX_BYTES = 64, 4096, 1 << 20

MAX_JSON = 64 << 20  # bytes of a game of Diplomacy
MAX_PLIES = 65535  # of a game that is put together from positions

_NAMED_SETUP = re.compile(rb"[A-M]+\s")  # a FENfS has blue's letters, or a's
_RECORD_HEADER = re.compile(rb'"stratkit"\s*:\s*"games"')
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, kw_only=True)
class Raw:
    """What all items have.

    file     where it stands
    where    its place in the file; None: it is alone there
    size     about how many bytes it has
    number   of a game among those of the inputs, from 1; 0: not counted
    """

    file: str
    where: str | None = None
    size: int = 0
    number: int = 0

    @property
    def name(self) -> str:
        """Its name in messages, which count games as `--game` does."""
        where = f"game {self.number}" if self.number and self.where else self.where
        return f"{self.file}: {where}" if where else self.file


@dataclass(frozen=True, kw_only=True)
class RawLog(Raw):
    """A log of Gravon's."""

    data: bytes


@dataclass(frozen=True, kw_only=True)
class RawJson(Raw):
    """A game of Diplomacy as JSON."""

    data: bytes


@dataclass(frozen=True, kw_only=True)
class RawRecord(Raw):
    """A game record."""

    header: RecordHeader
    record: GameRecord


@dataclass(frozen=True, kw_only=True)
class RawEpisode(Raw):
    """An episode."""

    header: Header
    episode: Episode


@dataclass(frozen=True, kw_only=True)
class RawPosition(Raw):
    """A position."""

    fenfs: Fenfs


@dataclass(frozen=True, kw_only=True)
class RawPositions(Raw):
    """Positions of one game, each with its line in the file."""

    lines: Sequence[tuple[int, Fenfs]]


@dataclass(frozen=True, kw_only=True)
class RawSetup(Raw):
    """A setup, perhaps with a name."""

    line: NamedSetup

    @property
    def setup(self) -> Setup:
        """uint8 [zone]."""
        return self.line.setup


NUMBERED = (RawLog, RawRecord, RawEpisode, RawJson)
NO_GAMES = (RawPosition, RawSetup)


def is_of_orders(item: Raw | InputError) -> bool:
    """Whether the item is a game whose moves are orders: one of Diplomacy."""
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class

    if isinstance(item, RawRecord | RawEpisode):
        return kit_class(item.header.game).notation is Notation.ORDERS
    return isinstance(item, RawJson)


def chunks(
    inputs: Sequence[str], together: bool = False, numbers: tuple[int, int] | None = None
) -> Iterator[list[Raw | InputError]]:
    """All items of the inputs, in order, some at a time. What cannot be read gives its error.
    `together`: positions of consecutive plies are one item. `numbers`: as in `numbered`."""
    chunk: list[Raw | InputError] = []
    size = 0
    items = numbered(_items(inputs), itertools.count(1), numbers)
    for item in _together(items) if together else items:
        more = item.size if isinstance(item, Raw) else 0
        most = MAX_LINES if isinstance(item, NO_GAMES) else MAX_GAMES
        if chunk and (len(chunk) >= most or size + more > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += more
    if chunk:
        yield chunk


def numbered(
    items: Iterable[Raw | InputError],
    counter: Iterator[int],
    numbers: tuple[int, int] | None = None,
) -> Iterator[Raw | InputError]:
    """The items with the games numbered. `numbers`: only the games from one number to another, both
    included, and errors; nothing after them is read."""
    for item in items:
        number = 0
        if isinstance(item, NUMBERED):
            item = dataclasses.replace(item, number=next(counter))
            number = item.number
        if numbers and number > numbers[1]:
            return
        if not numbers or isinstance(item, InputError) or number >= max(1, numbers[0]):
            yield item


def _items(inputs: Sequence[str]) -> Iterator[Raw | InputError]:
    from stratkit.notation.sources import sources

    for source in sources(inputs, SUFFIXES):
        if isinstance(source, InputError):
            yield source
            continue
        try:
            with error_context(source.name):
                yield from within(source)
        except InputError as error:
            yield error


def _together(items: Iterator[Raw | InputError]) -> Iterator[Raw | InputError]:
    """The items, with positions that may follow from one another in one."""
    run: list[RawPosition] = []
    for item in items:
        if run and not (isinstance(item, RawPosition) and _follows(run[-1], item)):
            yield _joined(run)
            run = []
        if isinstance(item, RawPosition):
            run.append(item)
        else:
            yield item
    if run:
        yield _joined(run)


def _follows(last: RawPosition, item: RawPosition) -> bool:
    before, after = last.fenfs, item.fenfs
    same = (last.file, len(before.board)) == (item.file, len(after.board))
    return same and after.ply == before.ply + 1 <= MAX_PLIES and after.side != before.side


def _joined(run: Sequence[RawPosition]) -> RawPositions:
    lines = [(int((raw.where or "").removeprefix("line ")), raw.fenfs) for raw in run]
    return RawPositions(file=run[0].file, size=sum(raw.size for raw in run), lines=lines)


def is_text(head: bytes) -> bool:
    """Whether the beginning of a file has no control characters: each line would be reported."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in head)


def form_of(source: NamedStream) -> type[Raw]:
    """The class of what is in a source, by its first bytes and its name; raises `InputError`."""
    head, name = source.head.removeprefix(b"\xef\xbb\xbf"), plain_name(source.name).lower()
    if head.startswith(_ZSTD):
        return RawEpisode
    if head.lstrip().startswith(b'{"stratkit":"games"'):
        return RawRecord
    if head.startswith(b"#") or head.lstrip().startswith(b"<") or name.endswith(LOG_SUFFIXES):
        return RawLog
    if not head.strip():
        raise InputError("nothing in it", file=source.name)
    if not is_text(head):
        raise InputError("not a text file", file=source.name)
    if name.endswith(".jsonl") and b'"phases"' not in head:
        return RawRecord
    if head.lstrip().startswith(b"{"):
        return RawJson
    first = head.split(b"\n")[0].strip()
    is_setup = (first.isalpha() and first.isupper()) or _NAMED_SETUP.match(first)
    if name.endswith(".setups") or is_setup:
        return RawSetup
    return RawPosition


def within(source: NamedStream) -> Iterator[Raw | InputError]:
    """The items of a source. Raises `InputError` when it breaks off or is nothing of the kind."""
    return _READERS[form_of(source)](source)


def _log(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.gravon import MAX_LOG

    data = source.stream.read(MAX_LOG + 1)
    yield RawLog(file=source.name, size=len(data), data=data)


def _json(source: NamedStream) -> Iterator[Raw | InputError]:
    """A game, or one in each line, as the `diplomacy` package keeps many; or game records whose
    header another program wrote, with blanks or its keys in another order."""
    first = source.stream.readline(MAX_JSON + 1)
    if _RECORD_HEADER.search(first):
        whole = Rejoined(first, source.stream, not first.endswith(b"\n"))
        source.stream = io.BufferedReader(whole)
        yield from _records(source)
        return
    more = source.stream.readline(MAX_JSON + 1) if _is_whole(first) else b""
    if not more.strip():
        data = first + more + source.stream.read(MAX_JSON + 1 - len(first))
        yield RawJson(file=source.name, size=len(data), data=data)
        return
    for number, data in enumerate(itertools.chain([first, more], _long_lines(source)), 1):
        if data.strip():
            place = f"line {number}"
            yield RawJson(file=source.name, where=place, size=len(data), data=data)


def _long_lines(source: NamedStream) -> Iterator[bytes]:
    """The other lines. Of one that is far too long the rest counts as one more."""
    return iter(lambda: source.stream.readline(MAX_JSON + 1), b"")


def _is_whole(line: bytes) -> bool:
    """Whether a line is JSON by itself."""
    from stratkit.storage.schema import parse_json

    try:
        parse_json(line)
    except InputError:
        return False
    return True


def _records(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.storage.records import read_records

    torn: list[InputError] = []
    for header, record in read_records(source.stream, source.name, torn.append):
        place = f"game {record.number}"
        size = len(record.moves)
        yield RawRecord(file=source.name, where=place, size=size, header=header, record=record)
    yield from torn


def _episodes(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.storage.episodes import EpisodeReader

    reader = EpisodeReader(source.stream, source.name)
    for episode in reader:
        yield RawEpisode(
            file=source.name,
            where=f"game {episode.number}",
            size=4 * len(episode.actions),
            header=reader.header,
            episode=episode,
        )
    if reader.truncated:
        yield InputError(reader.truncated, file=source.name)


def _positions(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.fenfs import read_fenfs

    for number, fenfs in read_fenfs(source.stream, source.name):
        if isinstance(fenfs, InputError):
            yield fenfs
        else:
            place, size = f"line {number}", len(fenfs.board)
            yield RawPosition(file=source.name, where=place, size=size, fenfs=fenfs)


def _setups(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.setups import read_setups

    for number, line in read_setups(source.stream, source.name):
        if isinstance(line, InputError):
            yield line
        else:
            place = f"line {number}"
            yield RawSetup(file=source.name, where=place, size=len(line.setup), line=line)


_READERS: Mapping[type[Raw], Callable[[NamedStream], Iterator[Raw | InputError]]] = {
    RawLog: _log,
    RawRecord: _records,
    RawEpisode: _episodes,
    RawPosition: _positions,
    RawSetup: _setups,
    RawJson: _json,
}
