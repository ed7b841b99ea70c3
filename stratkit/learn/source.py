"""Where batches come from: streams, files and folders, read ahead in a background thread.

The thread also makes the batches, so that reading, replay and learning overlap. What it hands over
is a batch and how far it has read, which a checkpoint keeps.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from stratkit.engine import Game
from stratkit.errors import CheckFailed, InputError, error_context
from stratkit.learn.pipes import POLL, interleaved, is_pipe, keep_small
from stratkit.learn.request import STDIN
from stratkit.learn.streams import AnyHeader, Chunk, EpisodeStreams, Plan, Streams
from stratkit.learn.window import WindowState
from stratkit.storage.shards import list_shards, rank_of

STDIN_NAME = "standard input"
AHEAD = 1  # batches that wait for the learner, beside the one that is being made


@dataclass(frozen=True)
class Progress:
    """How far the inputs were read when a batch was complete, or at their end.

    `consumed`: by file (not stdin) with episodes (or examples) in this batch, how many of its
    episodes are in this batch or in earlier ones. `passed`: of stdin and pipes, by the origin of
    their streams, how many are in this batch. `complete`: the files of folders that turned out,
    since the batch before, to have nothing left to learn beside this batch.
    """

    consumed: Mapping[str, int]
    passed: Mapping[str, int]
    complete: frozenset[str]
    duplicates: int


@dataclass(frozen=True)
class PreparedBatch:
    """A batch, as its streams make it, and what belongs to it.

    progress  how far the inputs were read
    seconds   that making it took
    fresh     how many of its episodes are new
    window    what the window of old ones, if any, holds behind it
    """

    batch: Any
    progress: Progress
    seconds: float
    fresh: int
    window: WindowState | None = None


@dataclass
class _End:
    """The inputs have ended, or failed; how far they were read beside the batches before."""

    progress: Progress
    error: BaseException | None = None


@dataclass
class Dropped:
    """What of the input was not learned from: a line for each truncated stream, and how many
    episodes the last, incomplete batch has; and `unfilled`, how many batches more a window of old
    episodes would have held."""

    truncated: list[str] = field(default_factory=list)
    left_over: int = 0
    unfilled: int = 0


def plain_path(path: str) -> str:
    """One way to write a path, where there are several: a run that is resumed knows its files by
    theirs, and may be given `./games/` for `games`. After a link `..` may mean anything: it stays.
    """
    return path if ".." in path.split("/") else os.path.normpath(path)


class Source:
    """Batches of what `streams` read, episodes or examples, from `paths`: `-` (stdin), files,
    folders of such files.

    Folders are watched for new files when `wait`. Each pass reads the whole files in the order of
    their names; of several ranks each reads its own. Several pipes are read side by side. The
    thread makes batches once `begin` has said how.

    game      that the episodes must be of, if it is known
    consumed  from how many episodes of which file an earlier run has learned, in the order of
              reading; they are skipped, and their games count as met, but nothing in pipes
    wait      watch folders for new files
    strict    a truncated stream is an error (`CheckFailed`), instead of a line in `dropped`
    part      which of several ranks, and of how many
    """

    def __init__(
        self,
        paths: Sequence[str],
        streams: Streams | None = None,
        *,
        game: Game | None = None,
        consumed: Mapping[str, int] | None = None,
        wait: bool = True,
        strict: bool = False,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self.streams: Streams = streams or EpisodeStreams()
        self.paths = tuple(path if path == STDIN else plain_path(path) for path in paths)
        self.part = part
        self.plan = Plan(1)
        self.wait, self.strict = wait, strict
        self.dropped = Dropped()
        self._game = game
        self._first: tuple[AnyHeader, str] | None = None  # that has named the game, and where
        self.pipes = tuple(path for path in self.paths if is_pipe(path))
        # Episodes still to be passed over.
        self._skip = {k: n for k, n in (consumed or {}).items() if k not in self.pipes}
        self._opened: dict[str, Iterator[Chunk]] = {}  # files behind what was passed over
        self._consumed = dict(consumed or {})
        self.final: Progress | None = None  # at the end of the inputs, once `next` has told it
        self._sizes: dict[str, int] = {}  # of a folder's files that were read and are not complete
        self._duplicates = 0
        self._known = threading.Event()  # the game is known, or will never be
        self._begun = threading.Event()  # `plan` is known, or will never be
        self._stopped = threading.Event()
        self._meeting = threading.Lock()  # held by one of the threads of several pipes
        self._making = threading.Lock()  # held while torch is at work in the thread
        self._queue: queue.Queue[PreparedBatch | _End] = queue.Queue(AHEAD)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="episodes")
        self._thread.start()

    # ---- the learner's side ----

    def game(self, timeout: float) -> Game | None:
        """The game that the first header names; None when it did not come within `timeout` seconds.

        Raises what reading raised before that. At the end of inputs without any header:
        `InputError`.
        """
        if self._game is None:
            self._known.wait(timeout)
        if self._game is None and self._known.is_set():
            raise self._error or InputError(f"no {self.streams.unit}s", file=" ".join(self.paths))
        return self._game

    def begin(self, plan: Plan) -> None:
        """Says how batches are made; before, no episode is read. `InputError`: the input that has
        named the game does not fit."""
        self.plan = plan
        if self._first:
            self._check_plan(*self._first)
        self._begun.set()

    def next(self, timeout: float) -> PreparedBatch | None:
        """The next batch; None when none came in time. Raises what reading raised, and
        `StopIteration` at the end of the inputs."""
        try:
            ready = self._queue.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(ready, _End):
            self._queue.put(ready)  # for whoever asks again
            self.final = ready.progress
            raise ready.error or StopIteration
        return ready

    def stop(self) -> None:
        """Lets the thread end; what it has read is dropped. It may be left waiting for input, but
        not within torch or numpy, where the end of the interpreter would abort the program."""
        self._stopped.set()
        self._begun.set()
        with self._making:
            pass
        self._thread.join(2 * POLL)

    # ---- the thread ----

    def _run(self) -> None:
        try:
            self._batches()
        except BaseException as error:
            self._error = error
        self._known.set()
        self._put(_End(self._progress([]), self._error))

    def _put(self, ready: PreparedBatch | _End) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(ready, timeout=POLL)
                return

    def _batches(self) -> None:
        self._pass_over()
        chunks: list[Chunk] = []
        for chunk in self._chunks():
            rest, size = chunk, self.plan.size or len(chunk)
            while len(rest) >= (missing := size - sum(map(len, chunks))):
                self._hand_over([*chunks, rest[:missing]])
                if self._stopped.is_set():
                    return
                chunks, rest = [], rest[missing:]
            if len(rest):
                chunks.append(rest)
        self.dropped.left_over = sum(map(len, chunks))
        window = self.plan.window
        self.dropped.unfilled = window.missing if window else 0

    def _hand_over(self, chunks: Sequence[Chunk]) -> None:
        assert self._game is not None
        start = time.perf_counter()
        with self._making:
            if self._stopped.is_set():
                return
            batch = self.streams.batch(self._game, chunks, self.plan)
        seconds = time.perf_counter() - start
        fresh = sum(map(len, chunks))
        window = self.plan.window.state() if self.plan.window else None
        self._put(PreparedBatch(batch, self._progress(chunks), seconds, fresh, window))

    def _progress(self, chunks: Sequence[Chunk]) -> Progress:
        passing = (STDIN_NAME, *self.pipes)
        touched = dict.fromkeys(chunk.file for chunk in chunks if chunk.file not in passing)
        passed: Counter[str] = Counter()
        for chunk in chunks:
            if chunk.file in passing:
                passed[chunk.origin] += len(chunk)
            else:
                self._consumed[chunk.file] = self._consumed.get(chunk.file, 0) + len(chunk)
        done = {file for file, count in self._sizes.items() if self._consumed.get(file, 0) >= count}
        for file in done:
            del self._sizes[file]
        consumed = {file: self._consumed[file] for file in touched}
        return Progress(consumed, passed, frozenset(done), self._duplicates)

    def _chunks(self) -> Iterator[Chunk]:
        together = self.pipes if len(self.pipes) > 1 else ()
        for path in self.paths:
            if path not in together:
                yield from self._input(path)
            elif path == together[0]:
                inputs = {pipe: self._input(pipe) for pipe in together}
                yield from interleaved(inputs, self._stopped)

    def _input(self, path: str) -> Iterator[Chunk]:
        if path == STDIN:
            # Not sys.stdin: a thread that waits in it would keep the interpreter from ending.
            with (
                error_context(STDIN_NAME, only=OSError),
                open(os.dup(0), "rb", buffering=0) as stream,
            ):
                yield from self._read(stream, STDIN_NAME)
        elif os.path.isdir(path):
            yield from self._folder(path)
        else:
            yield from self._file(path)

    def _file(self, path: str) -> Iterator[Chunk]:
        return self._opened.pop(path, None) or self._open(path)

    def _open(self, path: str) -> Iterator[Chunk]:
        with error_context(path, only=OSError), open(path, "rb") as stream:
            yield from self._read(stream, path)

    def _pass_over(self) -> None:
        """Begins with what an earlier run has learned from, before anything else is read: a copy
        of it may be in a new file, which has its turn before."""
        for path in list(self._skip):
            if self._stopped.is_set():
                return
            if self._reads(path):
                chunks = self._open(path)
                with contextlib.suppress(FileNotFoundError):
                    fresh = [found] if (found := next(chunks, None)) else []
                    self._opened[path] = itertools.chain(fresh, chunks)

    def _reads(self, path: str) -> bool:
        """Whether a file is an input, or in a folder that is one and of this rank's part."""
        name, (rank, ranks) = os.path.basename(path), self.part
        inside = path in (_join(folder, name) for folder in self.paths)
        return path in self.paths or (inside and rank_of(name, ranks) == rank)

    def _folder(self, folder: str) -> Iterator[Chunk]:
        done: set[str] = set()
        ending, (rank, ranks) = self.streams.ending, self.part
        while not self._stopped.is_set():
            mine = [name for name in list_shards(folder, ending) if rank_of(name, ranks) == rank]
            fresh = [name for name in mine if name not in done]
            self._forget(folder, done.difference(mine))
            done.intersection_update(mine)
            for name in fresh:
                done.add(name)
                path = _join(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    yield from self._measured(path, self._file(path))
            if not self.wait:
                return
            if not fresh:
                self._stopped.wait(POLL)

    def _measured(self, path: str, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The same. How many episodes the file has is known before its last chunk is handed on:
        nothing may come behind the batch that it is in."""
        episodes = self._consumed.get(path, 0)
        last: Chunk | None = None
        try:
            for found in chunks:
                if last is not None:
                    yield last
                last = found
                episodes += len(found)
        except Exception:
            if last is not None:
                yield last
            raise
        if not self._stopped.is_set():  # else there may be more
            self._sizes[path] = episodes
        if last is not None:
            yield last

    def _forget(self, folder: str, gone: Iterable[str]) -> None:
        """Of files that were read and are no more, of which there is no end, nothing is kept, once
        everything in them was handed over."""
        for name in gone:
            path = _join(folder, name)
            if path not in self._sizes:
                self._consumed.pop(path, None)

    def _read(self, stream: BinaryIO, name: str) -> Iterator[Chunk]:
        """The episodes of a stream; the first ones are passed over if an earlier run had them."""
        if len(self.pipes) > 1:
            keep_small(stream)
        reader = self.streams.reader(stream, name)
        header = reader.open()
        with self._meeting:
            self._check(header, name)
        counted = read = 0
        for frame in reader.frames():
            with self._meeting:
                if reader.header is not header:
                    header = reader.header
                    self._check(header, name)
                self._duplicates += reader.duplicates - counted
                counted = reader.duplicates
            chunk = self.streams.chunk(frame, header, name, read)
            read += len(chunk)
            skipped = min(self._skip.get(name, 0), len(chunk))
            if skipped:
                self._skip[name] -= skipped
            if skipped < len(chunk):
                yield chunk[skipped:]
            if self._stopped.is_set():
                return
        with self._meeting:
            self._duplicates += reader.duplicates - counted
        if reader.truncated:
            self._drop(name, reader.truncated)

    def _check(self, header: AnyHeader, name: str) -> None:
        with error_context(name):
            game = Game.stored(header.game, header.rules)
        if self._game is None:
            self._first = header, name  # before the game, for which `begin` waits
            self._game = game
            self._known.set()
        self._begun.wait()
        if game.name != self._game.name:
            what = f"{self.streams.unit}s of {game.name}; this run learns {self._game.name}"
            raise InputError(what, file=name)
        if game.rules != self._game.rules:
            what = f"{self.streams.unit}s by other rules than this run's {self._game.rules}"
            raise InputError(what, file=name, text=game.rules)
        self._check_plan(header, name)

    def _check_plan(self, header: AnyHeader, name: str) -> None:
        assert self._game is not None
        with error_context(name):
            self.streams.check(header, self._game, self.plan)

    def _drop(self, name: str, truncated: str) -> None:
        if self.strict:
            raise CheckFailed(truncated, file=name)
        self.dropped.truncated.append(f"{name}: {truncated}")


def _join(folder: str, name: str) -> str:
    """The path of a file in a folder, as a checkpoint has it."""
    return plain_path(os.path.join(folder, name))
