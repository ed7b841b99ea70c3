"""From raw items to games that the engine has played out."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from stratkit.convert.raw import Raw, RawEpisode, RawJson, RawLog, RawPositions, RawRecord
from stratkit.convert.tally import FileFault
from stratkit.errors import InputError, StratkitError, error_context, nearest

if TYPE_CHECKING:
    from stratkit.notation.log import Log
    from stratkit.notation.play import Played
    from stratkit.notation.select import Selection
    from stratkit.storage.episodes import Episode, Header
    from stratkit.storage.records import GameRecord, RecordHeader

Answer = TypeVar("Answer")
Chunk = list[Raw | InputError]
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that end a command


class NotFromTheStart(InputError):
    """An episode, perhaps a sound one, that begins within a game."""


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played out.

    raw      what it was read from
    played   its log, as far as its moves are legal
    """

    raw: Raw
    played: Played

    @property
    def log(self) -> Log:
        """The game as a log."""
        return self.played.log


def games(
    raws: Sequence[Raw], selection: Selection, boards: bool = False
) -> list[PlayedGame | InputError | None]:
    """What became of each raw item, which must be a log, a record or an episode: the game, the
    fault for which it could not be read, or None: nobody wants it."""
    from stratkit.notation.play import play_out

    outcomes: list[PlayedGame | InputError | None] = []
    selected: list[tuple[int, Log]] = []
    for raw in raws:
        try:
            log = log_of(raw)
        except InputError as error:
            outcomes.append(error)
            continue
        if selection.takes(log, raw.file):
            selected.append((len(outcomes), log))
        outcomes.append(None)
    played = play_out([(raws[i].name, log) for i, log in selected], boards)
    for (i, _), game in zip(selected, played, strict=True):
        outcomes[i] = PlayedGame(raws[i], game)
    return outcomes


def log_of(raw: Raw) -> Log:
    """The log that the raw item is; raises `InputError`."""
    from stratkit.notation.gravon import parse_log

    if isinstance(raw, RawLog):
        return parse_log(raw.data, raw.name)
    with error_context(raw.name):
        if isinstance(raw, RawJson):
            raise InputError("a game of Diplomacy: check, convert and show read it")
        if isinstance(raw, RawPositions):
            from stratkit.notation.rejoin import game_of

            return game_of(raw.lines)
        assert isinstance(raw, RawRecord | RawEpisode)
        _check_game(raw)
        if isinstance(raw, RawRecord):
            return _log_of_record(raw.header, raw.record)
        return _log_of_episode(raw.header, raw.episode)


def _check_game(raw: RawRecord | RawEpisode) -> None:
    """`FileFault`: the header of its file is another game's."""
    from stratkit.engine.stratego import VARIANTS, variant

    game = raw.header.game
    try:
        variant(game)
    except InputError:
        what = f"no games of Stratego{nearest(game, VARIANTS)}"
        raise FileFault(what, file=raw.file, text=game) from None


def _log_of_record(header: RecordHeader, record: GameRecord) -> Log:
    from stratkit.engine.stratego import Position, open_types, variant
    from stratkit.notation.fenfs import parse_fenfs, start_position
    from stratkit.notation.log import FREE, Log
    from stratkit.notation.setups import has_counts, parse_setup
    from stratkit.notation.squares import move_bytes

    board = variant(header.game)
    kind = (header.setups or {}).get("type", "")
    kind = FREE if kind == FREE else _kind(board.name)
    if len(record.players) != 2 or (record.setups and len(record.setups) != 2):
        raise InputError("two players and their setups are needed")
    start = None if header.start is None else start_position(parse_fenfs(header.start), board)
    if start is None and record.setups is None and record.moves:
        raise InputError("moves without setups", text=record.moves[:20])
    if start is not None and record.setups is not None:
        raise InputError("setups, though its match began at a position")
    setups = [parse_setup(text) for text in record.setups or ()]
    for text, setup in zip(record.setups or (), setups, strict=True):
        free = kind == FREE and len(setup) in (board.zone, board.squares)
        if not free and not has_counts(board, setup):
            raise InputError(f"a setup that {board.name} does not have", text=text)
    if kind == FREE and setups:
        Position.of_setups(board, setups[0], setups[1])  # raises where they overlap
    known = move_bytes(board.width, board.height)
    words = record.moves.split()
    moves = [known.get(word) for word in words]
    if None in moves:
        at = moves.index(None)
        raise InputError("not a move", where=f"move {at + 1}", text=words[at])
    return Log(
        board,
        kind,
        (setups[0], setups[1]) if setups else None,
        b"".join(move for move in moves if move),
        tuple(header.players[index].name for index in record.players),  # type: ignore[arg-type]
        record.reason,
        _winner(record.returns),
        open_types=open_types(header.rules),
        rules=_known_rules(header),
        start=start,
        date=_date_of(record),
    )


def _date_of(record: GameRecord) -> tuple[int, int, int] | None:
    if record.date is None:
        return None
    year, month, day = map(int, record.date.partition("T")[0].split("-"))
    return year, month, day


def _log_of_episode(header: Header, episode: Episode) -> Log:
    from stratkit.engine.stratego import open_types, variant
    from stratkit.notation.actions import transcript
    from stratkit.notation.log import Log
    from stratkit.notation.setups import parse_setup
    from stratkit.notation.squares import move_bytes

    board = variant(header.game)
    if len(episode.returns) != 2:
        raise InputError(f"two returns are needed, not {len(episode.returns)}")
    if episode.start:
        raise NotFromTheStart("begins within a game: only whole games are looked at")
    actions, placed = episode.actions, 2 * board.pieces
    inside = ((actions >= 0) & (actions < board.squares)).all()
    if len(actions) < placed or not inside or (actions[:placed] >= board.zone).any():
        raise InputError(f"not the actions of a game of {board.name}")
    setups, words = transcript(board, actions)
    known = move_bytes(board.width, board.height)
    red, blue = (parse_setup(text, board) for text in setups)
    return Log(
        board,
        _kind(board.name),
        (red, blue),
        b"".join(known[word] for word in words),
        ("red", "blue"),
        header.endings[episode.ending] or "cut",
        _winner(episode.returns.tolist()),
        open_types=open_types(header.rules),
        rules=_known_rules(header),
    )


def _known_rules(header: RecordHeader | Header) -> Mapping[str, int] | None:
    """The rules of the header; None if it does not say them all, or the engine has other ones."""
    from stratkit.engine import Game as Rules

    try:
        names = Rules.stored(header.game, header.rules).rules.keys()
    except InputError:  # a fault of the header
        return None
    return header.rules if names <= header.rules.keys() else None


def _kind(variant: str) -> str:
    """Gravon's word for the type of games with regular setups, "" if it has none."""
    from stratkit.notation.gravon_words import KINDS

    return next((kind for kind, name in KINDS.items() if name == variant), "")


def _winner(returns: Sequence[float]) -> int | None:
    red, blue = returns
    return None if red == blue else 0 if red > blue else 1


# ---- many at a time ----


@contextlib.contextmanager
def in_order(
    task: Callable[[Chunk], Answer], chunks: Iterable[Chunk], jobs: int
) -> Iterator[Iterator[Answer]]:
    """The task's answers to the chunks, in their order, from so many processes, which have ended
    when the block ends, however that may be."""
    with contextlib.closing(_answers(task, chunks, jobs)) as answers:
        yield answers


def _answers(
    task: Callable[[Chunk], Answer], chunks: Iterable[Chunk], jobs: int
) -> Generator[Answer, None, None]:
    if jobs == 1:
        yield from map(task, chunks)
        return
    import multiprocessing
    from collections import deque
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _be_quiet)
    try:
        with _signals_held():  # a pool that is half started cannot be ended
            pool.submit(_do_nothing)
        waiting: deque[Future[Answer]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(task, chunk))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise StratkitError("one of the processes was killed: out of memory, perhaps") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Signals that end the command wait until the block ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do_nothing() -> None:
    """Nothing to do: processes start with the first task."""


def _be_quiet() -> None:
    """A worker leaves signals to its parent, and ends when that is no more."""
    import threading

    for number in (signal.SIGINT, signal.SIGHUP):  # they go to all processes at a terminal
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
