"""A run of ReBeL's learner: like `learn.run`, but from examples of values instead of episodes.

Examples are learned from as they come. Whoever reads a pipe slowly holds its writer back, and a
`selfplay` that follows waits for `episodes`, the examples consumed, of what is published. All that
is needed to go on is in a checkpoint, the buffer too: N + M steps are a run of N, resumed for M.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from stratkit.engine import Game, PublicTree
from stratkit.errors import CheckFailed, InputError, UsageError, error_context
from stratkit.learn.config import REBEL, ReBeLConfig
from stratkit.learn.exploded import Exploded, check_update
from stratkit.learn.folder import ResumePoint, RunFolder, open_run
from stratkit.learn.observer import Observer
from stratkit.learn.pipes import POLL, is_pipe
from stratkit.learn.rebel import Buffer, ValueLearner
from stratkit.learn.request import STDIN, Outcome, Request, several_ranks
from stratkit.learn.source import STDIN_NAME, plain_path
from stratkit.models.first_weights import begin_with_values
from stratkit.netnames import DEFAULT_PBS
from stratkit.nets.pbs import build_pbs
from stratkit.search.leaves import NetworkLeaves
from stratkit.search.rows import RowCheck
from stratkit.search.safe import PBSSearch
from stratkit.search.value_error import states_of_selfplay, value_errors
from stratkit.storage.checkpoints import checkpoint_path, publish_policy, tensors_of
from stratkit.storage.examples import ExampleHeader, ExampleReader, Values

MOST_CHECKED = 1_000_000  # nodes of a public tree that is opened to check examples: 2 s, .5 GB
EXACT, PLAY = 1024, PBSSearch(updates=32)  # how states of --exact are solved, and how come upon


def train_values(
    request: Request, stop: Callable[[], bool], observer: Observer, warn: Callable[[str], None]
) -> Outcome:
    """Learns until the inputs end, `request.steps` are done or `stop()` is true; then saves. Raises
    as `learn.run.train` does."""
    request.check()
    _check(request)
    with open_run(request, warn) as point:
        game = point.game if point else Game(request.game) if request.game else None
        with contextlib.closing(_ValueRun(request, point, stop, observer)) as run:
            if game:
                run.open(game)
            return run.learn()


def _check(request: Request) -> None:
    """`UsageError`, `InputError`: what other learners do, and this one does not."""
    if several_ranks() or request.device != "cpu":
        raise UsageError("--algorithm rebel learns in one process, on the CPU")
    if request.consume:
        raise UsageError("--consume is for folders, and --algorithm rebel reads streams")
    for path in request.inputs:
        if os.path.isdir(path):
            what = "a folder: --algorithm rebel reads streams of examples"
            raise InputError(what, file=path)


class _ValueRun:
    """A run: its inputs, its learner and buffer, once the game is known, and what is written."""

    def __init__(
        self,
        request: Request,
        point: ResumePoint | None,
        stop: Callable[[], bool],
        observer: Observer,
    ) -> None:
        self.request, self.point, self.stop, self.observer = request, point, stop, observer
        metadata = dict(point.metadata) if point else {}
        self.net = request.net or metadata.get("net") or DEFAULT_PBS
        self.settings = request.resolve(self.net, metadata.get("config", {}), REBEL)
        self.config, self.hyper = self.settings.run, cast(ReBeLConfig, self.settings.hyper)
        self.examples = int(metadata.get("episodes", 0))
        self.consumed = dict(metadata.get("inputs", {}))  # examples by file
        # There is no second reading of these: nothing is skipped in them.
        self.once = {_name(path) for path in request.inputs if path == STDIN or is_pipe(path)}
        self.closing = contextlib.ExitStack()
        self.truncated: list[str] = []
        self.game: Game | None = None

    def close(self) -> None:
        self.closing.close()

    def learn(self) -> Outcome:
        error: Exception | None = None
        begun = self.learner.step if self.game else 0
        try:
            if self.game:
                self._learn(0.0)
            for name, values, waited in self._examples():
                self.buffer.add(values.rows, values.values)
                self.examples += len(values.rows)
                self.consumed[name] = self.consumed.get(name, 0) + len(values.rows)
                self._learn(waited)
                self._publish()
        except Exploded:
            raise
        except (InputError, OSError, CheckFailed) as wrong:  # what was learned is saved first
            if self.game is None:
                raise
            error = wrong
        if self.game is None:
            if not self.stop():
                raise InputError("no examples", file=" ".join(self.request.inputs))
            return Outcome(0, 0, None, stopped=True)
        self._save()
        self._publish()
        path = checkpoint_path(self.request.run, self.learner.step)
        end = self.learner.step, self.examples, path, self.stop(), error
        return Outcome(*end, tuple(self.truncated), begun=begun, learned="example")

    def _done(self) -> bool:
        steps, step = self.request.steps, self.learner.step if self.game else 0
        return self.stop() or (steps is not None and step >= steps)

    def open(self, game: Game) -> None:
        """Begins, or goes on, with this game."""
        self.tree = PublicTree(game) if self.hyper.exact else None
        run, settings = self.request.run, self.settings
        self.folder = RunFolder(run, self.point, game, self.net, settings, self.observer)
        self.closing.callback(self.folder.close)
        network = build_pbs(self.net, game, self.config.seed)
        if self.request.weights and not self.point:
            begin_with_values(network, self.net, game, self.request.weights)
        if self.tree:  # a game that leads to no such state is refused at once
            states_of_selfplay(self.tree, PLAY, NetworkLeaves(network), 1, self.config.seed)
        self.learner = ValueLearner(network, self.hyper, self.config.batch)
        self.buffer = Buffer(self.hyper.buffer, game.pbs_inputs, game.hands, self.config.seed)
        if self.point:
            with error_context(os.fspath(self.point.path)):
                self.learner.load(self.point.tensors, int(self.point.metadata["step"]))
                self.buffer.load(self.point.tensors, self.examples)
            self.folder.saved = self.learner.step
        self.row_check = _row_check(game, self.tree)
        self.game = game
        self.began = [self.examples, time.time_ns()]
        self.folder.begin(self.learner.step, self._checkpoint_metadata())
        self._publish()
        self._save()

    # ---- steps ----

    def _learn(self, waited: float) -> None:
        """All steps for which there are examples enough."""
        while not self._done() and (
            (self.learner.step + 1) * self.config.batch <= self.hyper.uses * self.buffer.added
        ):
            start, lr = time.perf_counter(), self.learner.learning_rate()
            metrics = self.learner.update(self.buffer)
            last = checkpoint_path(self.request.run, self.folder.saved)
            weights = list(self.learner.network.parameters())
            check_update(self.learner.step, metrics.values(), weights, last)
            seconds = {"wait": waited, "update": time.perf_counter() - start}
            line = {"step": self.learner.step, "examples": self.examples, **metrics, "lr": lr}
            at_checkpoint = self.learner.step % self.config.save_every == 0
            if at_checkpoint:
                line |= self._value_error()
            self.folder.log({**line, "seconds": seconds, "time": time.time()})
            waited = 0.0
            if at_checkpoint:
                self._save()

    def _value_error(self) -> dict[str, Any]:
        """Of the average network, in states to which it leads self-play: by the decisions that are
        left. Nothing, unless it is asked for."""
        if not self.tree:
            return {}
        network = NetworkLeaves(self.learner.average)
        states = states_of_selfplay(self.tree, PLAY, network, self.hyper.exact, self.config.seed)
        found = value_errors(self.tree, network, states, EXACT)
        return {"value_error": {str(at.left): at.rms for at in found}}

    # ---- examples ----

    def _examples(self) -> Iterator[tuple[str, Values, float]]:
        """What is new in all inputs, a frame at a time: whose, and the seconds waited for it."""
        for path in self.request.inputs:
            if self.game and self._done():
                return
            name = _name(path)
            with (
                error_context(name, only=OSError),
                open(os.dup(0) if path == STDIN else path, "rb", buffering=0) as stream,
            ):
                yield from self._stream(cast(BinaryIO, stream), name)

    def _stream(self, stream: BinaryIO, name: str) -> Iterator[tuple[str, Values, float]]:
        reader = ExampleReader(cast(BinaryIO, _Patient(stream, self._wait)), name)
        skip = 0 if name in self.once else self.consumed.get(name, 0)
        read = 0
        since = time.perf_counter()
        with contextlib.suppress(_Stopped):
            self._check_header(reader.open(), name)
            for values in () if self._done() else reader:
                self._check_rows(values, read, name)
                read += len(values.rows)
                passed = min(skip, len(values.rows))
                skip -= passed
                if passed < len(values.rows):
                    rest = Values(values.rows[passed:], values.values[passed:])
                    yield name, rest, time.perf_counter() - since
                if self._done():
                    return
                since = time.perf_counter()
            if reader.truncated and self.request.strict:
                raise CheckFailed(reader.truncated, file=name)
            if reader.truncated:
                self.truncated.append(f"{name}: {reader.truncated}")

    def _wait(self) -> None:
        """Called before and while something is waited for."""
        if self.stop():
            raise _Stopped
        if self.game is None:
            self.observer.waiting()

    def _check_header(self, header: ExampleHeader, name: str) -> None:
        with error_context(name):
            game = Game.stored(header.game, header.rules)
            if self.game is None:
                self.open(game)
            assert self.game is not None
            if (game.name, game.rules) != (self.game.name, self.game.rules):
                what = f"examples of {game.name}, or by other rules; the run learns"
                raise InputError(f"{what} {self.game.name}")
            if (header.inputs, header.hands) != (game.pbs_inputs, game.hands):
                raise InputError(f"examples of other widths than {game.name} has")

    def _check_rows(self, values: Values, read: int, name: str) -> None:
        """`InputError`: one of the examples, behind `read` others, is of no state of the game."""
        fault = self.row_check.fault(*values) if self.row_check else None
        if fault:
            raise InputError(fault[1], file=name, where=f"example {read + fault[0] + 1}")

    # ---- what is written ----

    def _metadata(self) -> dict[str, Any]:
        return self.folder.metadata(self.learner.step, self.examples)

    def _checkpoint_metadata(self) -> dict[str, Any]:
        inputs = {name: n for name, n in self.consumed.items() if name not in self.once}
        return self.folder.checkpoint_metadata(self._metadata(), ["online", "average"], inputs)

    def _publish(self) -> None:
        weights = tensors_of(self.learner.tensors(), "online")
        publish_policy(self.request.run, weights, {**self._metadata(), "began": self.began})

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step."""
        if self.learner.step == self.folder.saved:
            return
        self.folder.saved = self.learner.step
        tensors = {**self.learner.tensors(), **self.buffer.tensors()}
        self.folder.save(tensors, self._checkpoint_metadata())


def _name(path: str) -> str:
    """What an input is called in messages, and in the count of what was consumed."""
    return STDIN_NAME if path == STDIN else plain_path(path)


def _row_check(game: Game, tree: PublicTree | None) -> RowCheck | None:
    """None: the game's public states are too many to be enumerated beside learning."""
    try:
        return RowCheck(tree or PublicTree(game, MOST_CHECKED))
    except InputError:
        return None


class _Stopped(Exception):
    """The user has stopped the run while it waited for input."""


class _Patient:
    """A stream whose `read` calls `waiting` as long as there is nothing."""

    def __init__(self, stream: BinaryIO, waiting: Callable[[], None]) -> None:
        self.stream, self.waiting = stream, waiting

    def read(self, size: int) -> bytes:
        self.waiting()
        while not select.select([self.stream], [], [], POLL)[0]:
            self.waiting()
        return self.stream.read(size)
