"""A training run: the loop around the learner, and its folder RUN (formats/run.md).

RUN/policy.safetensors is the acting network, for self-play; RUN/checkpoints/ has all that is needed
to go on; RUN/metrics.jsonl has one line a step; RUN/lock admits one learner at a time.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from stratkit.engine import Game
from stratkit.errors import InputError, in_file
from stratkit.learn.config import check_settings, resolve
from stratkit.learn.learner import Learner
from stratkit.learn.source import POLL, STDIN, Progress, Ready, Source
from stratkit.netnames import check_net, default_net
from stratkit.storage import fields as check
from stratkit.storage.atomic import lock
from stratkit.storage.checkpoints import (
    CHECKPOINT,
    checkpoint_path,
    load_checkpoint,
    publish_policy,
    save_checkpoint,
)
from stratkit.storage.checkpoints import (
    resolve as newest_checkpoint,
)

METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class Request:
    """What `train` is asked for. `net`, `settings` (of the configuration file) and `options` (of
    the command line) may be silent: what is not said comes from the checkpoint, then from the
    preset. `start`: a checkpoint or RUN whose learner goes on in a new run."""

    inputs: Sequence[str]
    run: str
    steps: int | None = None
    net: str | None = None
    start: str | None = None
    settings: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    game: str | None = None
    resume: bool = False
    strict: bool = False
    consume: bool = False
    wait: bool = True


@dataclass
class Outcome:
    """How a run ended: the last step, its checkpoint (None: stopped before there was a game), why
    (`error`: of the inputs, after which nothing was read), and what was lost of the input."""

    step: int
    episodes: int
    checkpoint: Path | None
    stopped: bool
    error: Exception | None = None
    truncated: Sequence[str] = ()
    left_over: int = 0


def train(
    request: Request,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[Mapping[str, Any]], None] = lambda metrics: None,
) -> Outcome:
    """Learns until the inputs end, `request.steps` are done or `stop()` says so; then saves.

    `tell` is given the metrics of every step, and once, before the first step, `{"waiting": ...}`.
    Raises `InputError` for a RUN or settings that cannot be used, and for inputs of which nothing
    can. What is wrong with them later on is the outcome's `error`: an `InputError`, an `OSError`,
    or `CheckFailed` for a truncated input if `strict`.
    """
    _check(request)
    with _open_run(request) as found:
        run = _Run(request, found, stop, tell)
        try:
            return run.learn()
        finally:
            run.close()


def _check(request: Request) -> None:
    """What can be known to be wrong before a folder is made."""
    if not request.run:
        raise InputError("the run needs a name that is not empty")
    if request.net:
        check_net(request.net)
    if not (request.resume or request.start):
        resolve(request.net or "", {}, request.settings or {}, request.options or {})
    for path in request.inputs:
        if path != STDIN:
            os.stat(path)


@dataclass(frozen=True)
class _Found:
    """The newest checkpoint of a RUN that is resumed, or (`fresh`) goes on in another folder."""

    path: Path
    tensors: Mapping[str, Any]
    metadata: Mapping[str, Any]
    game: Game
    fresh: bool = False


@contextlib.contextmanager
def _open_run(request: Request) -> Iterator[_Found | None]:
    """Makes the folder or finds what is in it; nobody else learns there meanwhile."""
    folder = Path(request.run)
    if request.resume and not folder.is_dir():
        raise InputError("there is no such run to resume", file=request.run)
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder / "lock"):
        if request.resume:
            yield _read(newest_checkpoint(folder))
            return
        if any(entry != "lock" for entry in os.listdir(folder)):
            what = "holds files already: --resume goes on with a run, another --out begins one"
            raise InputError(what, file=request.run)
        yield None if request.start is None else _begin_at(request.start)


def _begin_at(start: str) -> _Found:
    """Everything of a checkpoint, but for how far its run had read."""
    found = _read(newest_checkpoint(start))
    return replace(found, metadata={**found.metadata, "inputs": {}}, fresh=True)


_RESUMED = {"config": check.mapping(lambda value: True), "inputs": check.mapping(check.whole())}


def _read(path: Path) -> _Found:
    """The checkpoint, with all that is needed to go on from it; `InputError` names the file."""
    tensors, metadata = load_checkpoint(path, CHECKPOINT)
    with in_file(os.fspath(path)):
        wrong = check.wrong_field(metadata, _RESUMED)
        if wrong is not None:
            what = f"metadata {wrong!r} is missing or wrong"
            raise InputError(what, text=metadata.get(wrong))
        check_net(metadata["net"])
        check_settings(metadata["config"])
        return _Found(path, tensors, metadata, Game(metadata["game"], metadata["rules"]))


class _Run:
    def __init__(
        self,
        request: Request,
        found: _Found | None,
        stop: Callable[[], bool],
        tell: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self.request, self.stop, self.tell = request, stop, tell
        metadata = dict(found.metadata) if found else {}
        if found and request.net not in (None, metadata["net"]):
            what = f"the run has the network {metadata['net']}"
            raise InputError(what, file=request.run, text=request.net)
        self.metadata = metadata
        self.episodes = int(metadata.get("episodes", 0))
        self.parents = [metadata["sha256"]] if found else []
        self.progress = Progress(metadata.get("inputs", {}), frozenset(), 0)
        self.found = found
        self.saved = -1
        self.error: Exception | None = None  # that ended the inputs
        self.metrics: BinaryIO | None = None
        self.source = Source(
            request.inputs,
            self._plan,
            game=_game(request, found),
            taken=self.progress.taken,
            wait=request.wait,
            strict=request.strict,
        )

    def _plan(self, game: Game) -> tuple[int, int]:
        """Network and configuration, which may depend on the game; episodes and rows of a batch."""
        self.net = self.request.net or self.metadata.get("net") or default_net(game.shape)
        self.config = resolve(
            self.net,
            self.metadata.get("config", {}),
            self.request.settings or {},
            self.request.options or {},
        )
        return self.config.batch, self.config.rows

    def close(self) -> None:
        self.source.stop()
        if self.metrics:
            self.metrics.close()

    def learn(self) -> Outcome:
        game = self._wait_for_game()
        if game is None:
            return Outcome(0, 0, None, stopped=True)
        self.learner = Learner(self.net, game.shape, self.config, game.actions)
        self.game = game
        if self.found:
            with in_file(os.fspath(self.found.path)):
                self.learner.load(self.found.tensors, int(self.found.metadata["step"]))
            self.saved = -1 if self.found.fresh else self.learner.step
        self.metrics = _open_metrics(Path(self.request.run) / METRICS, self.learner.step)
        self._publish()
        self._save()
        for ready, waited in self._batches():
            self._step(ready, waited)
        self._save()
        self._publish()
        lost = self.source.lost
        return Outcome(
            self.learner.step,
            self.episodes,
            checkpoint_path(self.request.run, self.learner.step),
            self.stop(),
            self.error,
            tuple(lost.truncated),
            lost.left_over,
        )

    def _wait_for_game(self) -> Game | None:
        game = self.source.game(POLL)
        while game is None and not self.stop():
            self.tell({"waiting": "for the first episodes"})
            game = self.source.game(POLL)
        return game

    def _batches(self) -> Iterator[tuple[Ready, float]]:
        """Batches, and the seconds waited for each, as long as there is something to do."""
        since = time.perf_counter()
        steps = self.request.steps
        while not self.stop() and (steps is None or self.learner.step < steps):
            try:
                ready = self.source.next(POLL)
            except StopIteration:
                return
            except Exception as error:  # what was learned so far is saved first
                self.error = error
                return
            if ready is not None:
                yield ready, time.perf_counter() - since
                since = time.perf_counter()

    def _step(self, ready: Ready, waited: float) -> None:
        start = time.perf_counter()
        told = self.learner.update(ready.batch)
        if not all(map(math.isfinite, told.values())):
            last = checkpoint_path(self.request.run, self.saved)
            what = f"the loss is not finite; the last good checkpoint is {last}"
            raise InputError(what, where=f"step {self.learner.step}")
        self.episodes += len(ready.batch.returns)
        self.progress = ready.progress
        updated = time.perf_counter()
        if self.learner.step % self.config.publish_every == 0:
            self._publish()
        if self.learner.step % self.config.save_every == 0:
            self._save()
        seconds = {
            "wait": waited,
            "replay": ready.seconds,
            "update": updated - start,
            "save": time.perf_counter() - updated,
        }
        self._write_metrics(self._metrics(ready, told, seconds))

    def _metrics(
        self, ready: Ready, told: Mapping[str, float], seconds: Mapping[str, float]
    ) -> dict[str, Any]:
        batch, step = ready.batch, self.learner.step
        ages = step - 1 - batch.steps[batch.steps >= 0]
        busy = seconds["wait"] + seconds["update"] + seconds["save"]
        first = batch.returns[:, 0]
        return {
            "step": step,
            "episodes": self.episodes,
            "states": batch.states,
            **told,
            "iteration": self.learner.schedule.iteration(step - 1)[0],
            "length": float(batch.lengths.float().mean()),
            "first_wins": float((first > 0).float().mean()),
            "second_wins": float((first < 0).float().mean()),
            "draws": float((first == 0).float().mean()),
            "endings": dict(sorted(Counter(batch.endings).items())),
            "age_mean": float(ages.float().mean()) if len(ages) else None,
            "age_max": int(ages.max()) if len(ages) else None,
            "duplicates": ready.progress.duplicates,
            "seconds": dict(seconds),
            "states_per_second": batch.states / busy,
            "time": time.time(),
        }

    def _write_metrics(self, metrics: Mapping[str, Any]) -> None:
        assert self.metrics is not None
        self.metrics.write(json.dumps(_rounded(metrics), separators=(",", ":")).encode() + b"\n")
        self.tell(metrics)

    def _metadata(self) -> dict[str, Any]:
        return {
            "game": self.game.name,
            "rules": self.game.rules,
            "net": self.net,
            "step": self.learner.step,
            "episodes": self.episodes,
            "batch": self.config.batch,
            "post": self.config.post,
        }

    def _publish(self) -> None:
        publish_policy(self.request.run, self.learner.weights("online"), self._metadata())

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step; then what it has passed may go."""
        if self.learner.step == self.saved:
            return
        metadata = {
            **self._metadata(),
            "config": self.config.to_json(),
            "seed": self.config.seed,
            "parents": self.parents,
            "inputs": self._remaining(),
        }
        path = checkpoint_path(self.request.run, self.learner.step)
        path.parent.mkdir(exist_ok=True)
        save_checkpoint(path, self.learner.tensors(), metadata)
        self.saved = self.learner.step
        if self.request.consume:
            for file in self.progress.complete:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(file)

    def _remaining(self) -> dict[str, int]:
        """How much was taken of which input, as far as a resumed run can meet it again."""
        gone = self.progress.complete if self.request.consume else frozenset()
        return {file: n for file, n in self.progress.taken.items() if file not in gone}


def _game(request: Request, found: _Found | None) -> Game | None:
    """The game, where it is known before the first episode."""
    if found is None:
        return Game(request.game) if request.game else None
    if request.game not in (None, found.game.name):
        what = f"the run learns {found.game.name}"
        raise InputError(what, file=request.run, text=request.game)
    return found.game


def _open_metrics(path: Path, step: int) -> BinaryIO:
    """The metrics, without lines of steps that the checkpoint does not know of."""
    stream = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed by the run)
    stream.seek(0)
    keep = 0
    for number, line in enumerate(stream.read().splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        value = check.parse_object(line) or {}
        if not check.whole()(value.get("step")):
            stream.close()
            what = "no metrics of a step"
            raise InputError(what, file=os.fspath(path), where=f"line {number}")
        if value["step"] > step:
            break
        keep += len(line)
    stream.truncate(keep)
    return stream


def _rounded(value: Any) -> Any:
    """Numbers with six digits: the rest is noise in a log."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if value < 1e9 else round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    return value
