"""A training run: the loop around the learner, and its folder RUN (formats/run.md).

RUN/policy.safetensors is the acting network, for self-play; RUN/checkpoints/ has all that is needed
to go on; RUN/metrics.jsonl has one line a step; RUN/lock admits one learner at a time.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from stratkit.engine import Game
from stratkit.errors import InputError, StratkitError, in_file
from stratkit.learn.config import check_settings, resolve
from stratkit.learn.learner import Learner
from stratkit.learn.metrics import Note, as_line, metrics_of, note_of, open_metrics
from stratkit.learn.ranks import Ranks, device_of, open_ranks, several, share
from stratkit.learn.source import POLL, STDIN, Ready, Source, plain_path
from stratkit.learn.taken import Taken
from stratkit.netnames import check_net, default_net
from stratkit.storage import fields as check
from stratkit.storage.atomic import lock, sync_folder
from stratkit.storage.checkpoints import (
    CHECKPOINT,
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    publish_policy,
    save_checkpoint,
)
from stratkit.storage.checkpoints import (
    resolve as newest_checkpoint,
)

METRICS = "metrics.jsonl"
# A loss or a gradient of this size leads nowhere, where returns are 1: sound runs stay below 100.
EXPLODED = 1e4


@dataclass(frozen=True)
class Request:
    """What `train` is asked for. `net`, `settings` (of the configuration file) and `options` (of
    the command line) may be silent: what is not said comes from the checkpoint, then from the
    preset. `start`: a checkpoint or RUN whose learner goes on in a new run.
    `timeout`: the seconds that one of several ranks may wait for episodes. `device`: cpu or
    cuda."""

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
    timeout: float = 600.0
    device: str = "cpu"


@dataclass
class Outcome:
    """How a run ended: the last step, its checkpoint (None: stopped before there was a game), why
    (`error`: of the inputs, after which nothing was read), and what was lost of the input. `rank`:
    of several learners, which one tells this; number 0 has written the checkpoint."""

    step: int
    episodes: int
    checkpoint: Path | None
    stopped: bool
    error: Exception | None = None
    truncated: Sequence[str] = ()
    left_over: int = 0
    rank: int = 0


def train(
    request: Request,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[Mapping[str, Any]], None] = lambda metrics: None,
    warn: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Learns until the inputs end, `request.steps` are done or `stop()` says so; then saves.

    `tell` is given the metrics of every step, and once, before the first step, `{"waiting": ...}`.
    Raises `InputError` for a RUN or settings that cannot be used, and for inputs of which nothing
    can. What is wrong with them later on is the outcome's `error`: an `InputError`, an `OSError`,
    or `CheckFailed` for a truncated input if `strict`.
    """
    _check(request)
    ranks = open_ranks(request.timeout, device_of(request.device))
    try:
        if ranks.rank == 0:
            with _open_run(request, warn) as found:
                game = _game(request, found)
                with contextlib.closing(_Run(request, ranks, found, game, stop, tell)) as run:
                    return run.learn()
        begun = ranks.exchange(None)[0]  # what rank 0 says as soon as it knows
        if begun is None:
            return Outcome(0, 0, None, stopped=True, rank=ranks.rank)
        request = replace(request, net=begun["net"], options=begun["config"])
        found = _read(Path(begun["checkpoint"]), begun["inputs"]) if begun["checkpoint"] else None
        game = Game(begun["game"], begun["rules"])
        with contextlib.closing(_Run(request, ranks, found, game, stop, tell)) as run:
            return run.learn()
    finally:
        ranks.close()


def _check(request: Request) -> None:
    """What can be known to be wrong before a folder is made."""
    if not request.run:
        raise InputError("the run needs a name that is not empty")
    if request.net:
        check_net(request.net)
    device_of(request.device)
    if not (request.resume or request.start):
        resolve(request.net or "", {}, request.settings or {}, request.options or {})
    for path in request.inputs:
        if path != STDIN:
            os.stat(path)
        if several() and not os.path.isdir(path):
            raise InputError("several ranks need a folder, of which each takes its part", file=path)


@dataclass(frozen=True)
class _Found:
    """The newest checkpoint of a RUN that is resumed, or (`fresh`) goes on in another folder."""

    path: Path
    tensors: Mapping[str, Any]
    metadata: Mapping[str, Any]
    game: Game
    fresh: bool = False


@contextlib.contextmanager
def _open_run(request: Request, warn: Callable[[str], None]) -> Iterator[_Found | None]:
    """Makes the folder or finds what is in it; nobody else learns there meanwhile."""
    folder = Path(request.run)
    if request.resume and not folder.is_dir():
        raise InputError("there is no such run to resume", file=request.run)
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder / "lock"):
        if request.resume:
            yield _read_newest(folder, warn)
            return
        if any(entry != "lock" for entry in os.listdir(folder)):
            what = "holds files already: --resume goes on with a run, another --out begins one"
            raise InputError(what, file=request.run)
        yield None if request.start is None else _begin_at(request.start)


def _read_newest(folder: Path, warn: Callable[[str], None]) -> _Found:
    """The newest checkpoint that can be read; `warn` is told of those that cannot."""
    errors: list[InputError] = []
    for _, path in reversed(list_checkpoints(folder)):
        try:
            found = _read(path)
        except InputError as error:
            errors.append(error)
            continue
        for damage in errors:
            warn(f"{damage}; going on from {path}")
        return found
    raise errors[0] if errors else InputError("no checkpoint to go on from", file=str(folder))


def _begin_at(start: str) -> _Found:
    """Everything of a checkpoint, but for how far its run had read."""
    return replace(_read(newest_checkpoint(start), inputs={}), fresh=True)


_RESUMED = {"config": check.mapping(lambda value: True), "inputs": check.mapping(check.whole())}


def _read(path: Path, inputs: Mapping[str, int] | None = None) -> _Found:
    """The checkpoint, with all that is needed to go on from it, or with other `inputs` than its
    own; `InputError` names the file."""
    tensors, metadata = load_checkpoint(path, CHECKPOINT)
    with in_file(os.fspath(path)):
        wrong = check.wrong_field(metadata, _RESUMED)
        if wrong is not None:
            what = f"metadata {wrong!r} is missing or wrong"
            raise InputError(what, text=metadata.get(wrong))
        check_net(metadata["net"])
        check_settings(metadata["config"])
        inputs = metadata["inputs"] if inputs is None else inputs
        metadata = {**metadata, "inputs": {plain_path(file): n for file, n in inputs.items()}}
        return _Found(path, tensors, metadata, Game(metadata["game"], metadata["rules"]))


class _Run:
    def __init__(
        self,
        request: Request,
        ranks: Ranks,
        found: _Found | None,
        game: Game | None,
        stop: Callable[[], bool],
        tell: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self.request, self.ranks, self.stop, self.tell = request, ranks, stop, tell
        metadata = dict(found.metadata) if found else {}
        if found and request.net not in (None, metadata["net"]):
            what = f"the run has the network {metadata['net']}"
            raise InputError(what, file=request.run, text=request.net)
        self.metadata = metadata
        self.device = device_of(request.device)
        self.episodes = int(metadata.get("episodes", 0))
        self.began = [self.episodes, time.time_ns()]
        self.parents = [metadata["sha256"]] if found else []
        self.taken = Taken(metadata.get("inputs", {}), ranks.size)  # by all ranks
        self.duplicates = [0] * ranks.size
        self.found = found
        self.saved = -1
        self.saving = 0.0  # seconds of the checkpoint after the step before
        self.error: Exception | None = None  # that ended the inputs
        self.metrics: BinaryIO | None = None
        self.source = Source(
            request.inputs,
            self._plan,
            game=game,
            taken=self.taken.files,
            wait=request.wait,
            strict=request.strict,
            part=(ranks.rank, ranks.size),
            pin=self.device.type != "cpu",
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
        episodes = share(self.config.batch, self.ranks.rank, self.ranks.size)
        if not episodes:
            raise InputError(f"{self.ranks.size} ranks need a larger batch", text=self.config.batch)
        return episodes, self.config.rows

    def close(self) -> None:
        self.source.stop()
        if self.metrics:
            self.metrics.close()

    def learn(self) -> Outcome:
        rank = self.ranks.rank
        game = self._wait_for_game()
        if rank == 0:
            self._begin(game)
        if game is None:
            return Outcome(0, 0, None, stopped=True)
        self.learner = Learner(
            self.net, game.shape, self.config, game.actions, self.ranks, self.device
        )
        self.game = game
        if self.found:
            with in_file(os.fspath(self.found.path)):
                self.learner.load(self.found.tensors, int(self.found.metadata["step"]))
            self.saved = -1 if self.found.fresh else self.learner.step
        if rank == 0:
            self.metrics = open_metrics(Path(self.request.run) / METRICS, self.learner.step)
        self._publish()
        self._save()
        for ready, waited, notes in self._batches():
            self._step(ready, waited, notes)
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
            rank,
        )

    def _begin(self, game: Game | None) -> None:
        """Tells the other ranks what is to be done."""
        begun = game and {
            "game": game.name,
            "rules": game.rules,
            "net": self.net,
            "config": self.config.to_json(),
            "checkpoint": self.found and os.fspath(self.found.path),
            "inputs": self.found and self.found.metadata["inputs"],
        }
        self.ranks.exchange(begun)

    def _wait_for_game(self) -> Game | None:
        since = time.perf_counter()
        game = self.source.game(POLL)
        while game is None and not self.stop():
            self.tell({"waiting": "for the first episodes"})
            game = self.source.game(POLL)
            if game is None and (late := self._late(since)):
                raise late
        return game

    def _late(self, since: float) -> InputError | None:
        """What is wrong if others wait for this rank, and it for episodes, for too long."""
        waited = time.perf_counter() - since
        if self.ranks.size == 1 or waited <= self.request.timeout:
            return None
        what = f"rank {self.ranks.rank} has waited {waited:.0f} s for episodes of its part"
        return InputError(what, file=" ".join(self.request.inputs))

    def _batches(self) -> Iterator[tuple[Ready, float, list[Note]]]:
        """Batches, the seconds waited for each, and what all ranks have to tell of theirs, as long
        as there is something to do for all of them."""
        since = time.perf_counter()
        steps = self.request.steps
        while steps is None or self.learner.step < steps:
            ready = self._next(since)
            notes = self.ranks.exchange(note_of(ready) if ready else self._farewell())
            if ready is None or self._ended(notes):
                return
            yield ready, time.perf_counter() - since, notes
            since = time.perf_counter()

    def _next(self, since: float) -> Ready | None:
        """The next batch of this rank; None: there is none, and `error` may say why."""
        while not self.stop():
            try:
                ready = self.source.next(POLL)
            except StopIteration:
                return None
            except Exception as error:  # what was learned so far is saved first
                self.error = error
                return None
            if ready is not None:
                return ready
            self.error = self._late(since)
            if self.error:
                return None
        return None

    def _farewell(self) -> Note:
        return {"over": "failed" if self.error else "stopped" if self.stop() else "ended"}

    def _ended(self, notes: Sequence[Note]) -> bool:
        """Whether some rank has no batch; where that is a failure, the others fail too."""
        for rank, note in enumerate(notes):
            if note.get("over") == "failed":
                self.error = StratkitError(f"rank {rank} has failed: it says why")
        return any("over" in note for note in notes)

    def _step(self, ready: Ready, waited: float, notes: Sequence[Note]) -> None:
        start = time.perf_counter()
        told = self.learner.update(ready.batch)
        most = EXPLODED * max(1.0, max(note["largest"] for note in notes) ** 2)
        if not all(abs(x) < most for x in told.values()):
            last = checkpoint_path(self.request.run, self.saved)
            what = f"the loss has exploded; the last good checkpoint is {last}"
            if not all(map(math.isfinite, told.values())):
                what = f"the loss is not finite; the last good checkpoint is {last}"
            raise InputError(what, where=f"step {self.learner.step}")
        for rank, note in enumerate(notes):
            self.episodes += note["episodes"]
            self.taken.add(note["taken"], note["complete"])
            self.duplicates[rank] = note["duplicates"]
        updated = time.perf_counter()
        if self.learner.step % self.config.publish_every == 0:
            self._publish()
        done = time.perf_counter()
        seconds = {
            "wait": waited,
            "replay": ready.seconds,
            "update": updated - start,
            "save": done - updated + self.saving,
        }
        if self.ranks.rank == 0:
            so_far = {"episodes": self.episodes, "duplicates": sum(self.duplicates)}
            self._write_metrics(metrics_of(self.learner, notes, told, seconds, so_far))
        # The line first: who goes on from a checkpoint drops lines that are too new, but could not
        # make up one that is missing.
        if self.learner.step % self.config.save_every == 0:
            self._save()
        self.saving = time.perf_counter() - done

    def _write_metrics(self, metrics: Mapping[str, Any]) -> None:
        assert self.metrics is not None
        self.metrics.write(as_line(metrics))
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
        if self.ranks.rank:
            return
        metadata = {
            **self._metadata(),
            "publish_every": self.config.publish_every,
            "learned": self.taken.learned,
            "began": self.began,
        }
        publish_policy(self.request.run, self.learner.weights("online"), metadata)

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step; then what it has passed may go."""
        if self.learner.step == self.saved:
            return
        metadata = {
            **self._metadata(),
            "config": self.config.to_json(),
            "seed": self.config.seed,
            "parents": self.parents,
            "inputs": self.taken.files,
        }
        self.saved = self.learner.step
        if self.ranks.rank == 0:
            self._write_checkpoint(checkpoint_path(self.request.run, self.saved), metadata)
            self._forget()
        if self.request.consume:
            self._consume()

    def _write_checkpoint(self, path: Path, metadata: Mapping[str, Any]) -> None:
        if not path.parent.exists():
            path.parent.mkdir()
            sync_folder(path.parent.parent)
        # One that is there already could not be read, or the run would have gone on from it.
        save_checkpoint(path, self.learner.tensors(), metadata, overwrite=bool(self.found))

    def _forget(self) -> None:
        """Deletes old checkpoints, where not all are kept."""
        found = list_checkpoints(self.request.run)
        # Newer ones are damaged, or the run would have gone on from them: they do not count.
        good = [(step, path) for step, path in found if step <= self.saved]
        for step, path in good[: -self.config.keep] if self.config.keep else []:
            if step % self.config.milestone:
                path.unlink(missing_ok=True)

    def _consume(self) -> None:
        """Deletes what the checkpoint has passed. Whoever fills the folder is told first, or it
        would count these episodes as waiting less than none."""
        gone = self.taken.forget_complete()
        if self.ranks.rank or not gone:
            return
        self._publish()
        for file in gone:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file)


def _game(request: Request, found: _Found | None) -> Game | None:
    """The game, where it is known before the first episode."""
    if found is None:
        return Game(request.game) if request.game else None
    if request.game not in (None, found.game.name):
        what = f"the run learns {found.game.name}"
        raise InputError(what, file=request.run, text=request.game)
    return found.game
