"""What stands in the inputs, game by game, before anybody has looked into it.

A *raw* item is what one worker can turn into a game without asking for more: a log file, a game
record with its header, an episode with its header, a position, a setup.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from stratkit.compressed import plain_name
from stratkit.errors import InputError, error_context

if TYPE_CHECKING:
    from stratkit.notation.sources import NamedStream

LOG_SUFFIXES = (".gsn", ".xml")
SUFFIXES = (*LOG_SUFFIXES, ".fenfs", ".setups", ".jsonl", ".eps", ".json")

LOG, RECORD, EPISODE, POSITION, SETUP = "log", "record", "episode", "position", "setup"
JSON = "json"  # a game of Diplomacy
GAME_FORMS = (LOG, RECORD, EPISODE, JSON)
POSITIONS = "positions"  # of one game

# A worker gets so many games, or lines, or so many bytes of them, at a time.
GAMES, LINES, BYTES = 64, 4096, 1 << 20

MAX_JSON = 64 << 20  # bytes of a game of Diplomacy
MOST_PLIES = 65535  # of a game that is put together from positions

_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class Raw:
    """`data` of one `form`: bytes of a log or of JSON, (header, record), (header, episode),
    `Fenfs`, [(line, `Fenfs`)], or (setup uint8 [zone], text); `where` is its place in the
    `file`, None if it is alone there, `size` about how many bytes it has; `number`: of a game among
    those of the inputs, from 1 (0: not counted)."""

    form: str
    file: str
    where: str | None
    data: Any
    size: int
    number: int = 0

    @property
    def name(self) -> str:
        """Its name in messages, which count games as `--game` does."""
        where = f"game {self.number}" if self.number and self.where else self.where
        return f"{self.file}: {where}" if where else self.file


def is_of_orders(item: Raw | InputError) -> bool:
    """Whether the item is a game whose moves are orders: one of Diplomacy."""
    from stratkit.games.kit import Notation
    from stratkit.games.table import kit_class

    if isinstance(item, Raw) and item.form in (RECORD, EPISODE):
        return kit_class(item.data[0].game).notation is Notation.ORDERS
    return isinstance(item, Raw) and item.form == JSON


def chunks(
    inputs: Sequence[str], together: bool = False, wanted: tuple[int, int] | None = None
) -> Iterator[list[Raw | InputError]]:
    """All items of the inputs, in order, some at a time. What cannot be read gives its error.
    `together`: positions of consecutive plies are one item. `wanted`: as in `numbered`."""
    chunk: list[Raw | InputError] = []
    size = 0
    items = numbered(_items(inputs), itertools.count(1), wanted)
    for item in _together(items) if together else items:
        more = item.size if isinstance(item, Raw) else 0
        most = LINES if isinstance(item, Raw) and item.form in (POSITION, SETUP) else GAMES
        if chunk and (len(chunk) >= most or size + more > BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += more
    if chunk:
        yield chunk


def numbered(
    items: Iterable[Raw | InputError],
    numbers: Iterator[int],
    wanted: tuple[int, int] | None = None,
) -> Iterator[Raw | InputError]:
    """The items with the games numbered. `wanted`: only the games from one number to another, both
    included, and errors; nothing after them is read."""
    for item in items:
        number = 0
        if isinstance(item, Raw) and item.form in GAME_FORMS:
            item = dataclasses.replace(item, number=next(numbers))
            number = item.number
        if wanted and number > wanted[1]:
            return
        if not wanted or isinstance(item, InputError) or number >= max(1, wanted[0]):
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
    run: list[Raw] = []
    for item in items:
        more = isinstance(item, Raw) and item.form == POSITION
        if run and not (more and _follows(run[-1], cast(Raw, item))):
            yield _joined(run)
            run = []
        if more:
            run.append(cast(Raw, item))
        else:
            yield item
    if run:
        yield _joined(run)


def _follows(last: Raw, item: Raw) -> bool:
    before, after = last.data, item.data
    same = (last.file, len(before.board)) == (item.file, len(after.board))
    return same and after.ply == before.ply + 1 <= MOST_PLIES and after.side != before.side


def _joined(run: Sequence[Raw]) -> Raw:
    numbered = [(int((raw.where or "").removeprefix("line ")), raw.data) for raw in run]
    return Raw(POSITIONS, run[0].file, None, numbered, sum(raw.size for raw in run))


def form_of(source: NamedStream) -> str:
    """The form of what is in a source, by its first bytes and its name; raises `InputError`."""
    head, name = source.head.removeprefix(b"\xef\xbb\xbf"), plain_name(source.name).lower()
    if head.startswith(_ZSTD):
        return EPISODE
    if head.lstrip().startswith(b'{"stratkit":"games"'):
        return RECORD
    if head.startswith(b"#") or head.lstrip().startswith(b"<") or name.endswith(LOG_SUFFIXES):
        return LOG
    if not head.strip():
        raise InputError("nothing in it", file=source.name)
    if any(byte < 32 and byte not in b"\t\n\r\f" for byte in head):
        raise InputError("not a text file", file=source.name)
    if name.endswith(".jsonl"):
        return RECORD
    if head.lstrip().startswith(b"{"):
        return JSON
    first = head.split(b"\n")[0].strip()
    if name.endswith(".setups") or (first.isalpha() and first.isupper()):
        return SETUP
    return POSITION


def within(source: NamedStream) -> Iterator[Raw | InputError]:
    """The items of a source. Raises `InputError` when it breaks off or is nothing of the kind."""
    return {
        LOG: _log,
        RECORD: _records,
        EPISODE: _episodes,
        POSITION: _positions,
        SETUP: _setups,
        JSON: _json,
    }[form_of(source)](source)


def _log(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.gravon import MAX_LOG

    data = source.stream.read(MAX_LOG + 1)
    yield Raw(LOG, source.name, None, data, len(data))


def _json(source: NamedStream) -> Iterator[Raw | InputError]:
    data = source.stream.read(MAX_JSON + 1)
    yield Raw(JSON, source.name, None, data, len(data))


def _records(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.storage.records import read_records

    torn: list[InputError] = []
    for header, record in read_records(source.stream, source.name, torn.append):
        size = len(record.moves)
        yield Raw(RECORD, source.name, f"game {record.number}", (header, record), size)
    yield from torn


def _episodes(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.storage.episodes import EpisodeReader

    reader = EpisodeReader(source.stream, source.name)
    for episode in reader:
        data = reader.header, episode
        yield Raw(EPISODE, source.name, f"game {episode.number}", data, 4 * len(episode.actions))
    if reader.truncated:
        yield InputError(reader.truncated, file=source.name)


def _positions(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.fenfs import read_fenfs

    for number, fenfs in read_fenfs(source.stream, source.name):
        yield _of_line(POSITION, source, number, fenfs)


def _setups(source: NamedStream) -> Iterator[Raw | InputError]:
    from stratkit.notation.setups import read_setups

    for number, setup in read_setups(source.stream, source.name):
        yield _of_line(SETUP, source, number, setup)


def _of_line(form: str, source: NamedStream, number: int, item: Any) -> Raw | InputError:
    if isinstance(item, InputError):
        return item
    size = len(item.board if form == POSITION else item)
    return Raw(form, source.name, f"line {number}", item, size)
