"""A training run: the loop around a learner, and what it writes into its folder RUN
(formats/run.md).

RUN/policy.safetensors is the acting network, for self-play; RUN/checkpoints/ has all that is needed
to go on; RUN/metrics.jsonl has one line a step; RUN/lock admits one learner at a time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratkit.engine import Game
from stratkit.errors import InputError, StratkitError, error_context
from stratkit.learn.algorithm_kinds import RNAD, algorithm_kind, open_algorithm
from stratkit.learn.buffer import BufferedOptimizer
from stratkit.learn.consumed import Consumed
from stratkit.learn.exploded import are_finite, check_update
from stratkit.learn.folder import ResumePoint, RunFolder, open_run, read_checkpoint
from stratkit.learn.metrics import Stats, batch_stats, metrics_of
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.pipes import POLL
from stratkit.learn.publisher import Publisher
from stratkit.learn.ranks import Ranks, collected, device_of, open_ranks, parts_of, share
from stratkit.learn.request import Observer, Outcome, Request, accepted
from stratkit.learn.source import PreparedBatch, Source
from stratkit.learn.streams import EpisodeStreams, ExampleStreams, Plan
from stratkit.learn.window import WindowState, open_window, to_tensors
from stratkit.netnames import default_net, has_deployment
from stratkit.storage.checkpoints import checkpoint_path
from stratkit.storage.progress import METRICS

__all__ = ["METRICS", "Outcome", "Request", "train"]

SILENT = Observer()


def train(
    request: Request,
    stop: Callable[[], bool] = lambda: False,
    observer: Observer = SILENT,
    warn: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Learns until the inputs end, `request.steps` or `request.decisions` are done or `stop()` is
    true; then saves. `warn` is told of damaged checkpoints, and at the end of duplicates.

    Raises `InputError` for a RUN or settings that cannot be used, for inputs of which nothing can,
    and for weights that become useless. What is wrong with the inputs later on is the outcome's
    `error`: an `InputError`, an `OSError`, or `CheckFailed` for a truncated input if `strict`.
    """
    ranks = open_ranks(request.timeout, device_of(request.device))
    try:
        if ranks.rank == 0:
            with open_run(request, warn) as point:
                game = point.game if point else Game(request.game) if request.game else None
                with contextlib.closing(_Run(request, ranks, point, game, stop, observer)) as run:
                    outcome = run.learn()
                    if number := sum(run.duplicates):
                        were = "duplicate was" if number == 1 else "duplicates were"
                        warn(f"{number} {were} left out")
                    return outcome
        begun = ranks.exchange(None)[0]  # what rank 0 says as soon as it knows
        if begun is None:
            return Outcome(0, 0, None, stopped=True, rank=ranks.rank)
        algorithm, net = begun["algorithm"], begun["net"]
        config = accepted(begun["config"], algorithm)
        request = replace(request, net=net, algorithm=algorithm, options=config)
        point = None
        if file := begun["checkpoint"]:
            point = read_checkpoint(Path(file), begun["inputs"])
            point = replace(point, fresh=begun["fresh"])  # or only rank 0 would save at once
        game = Game.stored(begun["game"], begun["rules"])
        with contextlib.closing(_Run(request, ranks, point, game, stop, observer)) as run:
            return run.learn()
    finally:
        ranks.close()


class _Run:
    """A run of one rank: its source, its learner and, of rank 0, what is written."""

    def __init__(
        self,
        request: Request,
        ranks: Ranks,
        point: ResumePoint | None,
        game: Game | None,
        stop: Callable[[], bool],
        observer: Observer,
    ) -> None:
        self.request, self.ranks, self.stop, self.observer = request, ranks, stop, observer
        self.metadata = metadata = dict(point.metadata) if point else {}
        self.algorithm = point.algorithm if point else request.algorithm or RNAD
        self.kind = algorithm_kind(self.algorithm)
        self.unit = self.kind.batches.unit
        self.device = device_of(request.device)
        self.episodes = int(metadata.get("episodes", 0))
        self.began = [self.episodes, time.time_ns()]
        self.consumed = Consumed(metadata.get("inputs", {}), ranks.size)  # by all ranks
        self.passed: Counter[str] = Counter()  # of them, since it began, through pipes by origin
        self.duplicates = [0] * ranks.size
        self.point = point
        self.window: WindowState | None = None  # old episodes, behind the last step
        self.published = 0  # the period of the newest publication
        self.covered = -1  # episodes of the last checkpoint
        self.saving = 0.0  # seconds of the checkpoint after the step before
        self.error: Exception | None = None  # that ended the inputs
        self.closing = contextlib.ExitStack()
        pin = self.device.type != "cpu"
        self.source = Source(
            request.inputs,
            ExampleStreams() if self.kind.batches.examples else EpisodeStreams(pin),
            game=game,
            consumed=self.consumed.files,
            wait=request.wait,
            strict=request.strict,
            part=(ranks.rank, ranks.size),
        )

    def _settle(self, game: Game) -> Plan:
        """Chooses network and settings, which may depend on the game; once, before anything is
        learned. How batches of this rank are made follows from them."""
        stored, known = self.metadata.get("config", {}), self.metadata.get("net")
        self.net = self.request.net or known or self.kind.net or default_net(game.shape)
        self.settings = self.request.resolve(
            self.net, stored, self.algorithm, self.request.device, game.name
        )
        self.config, hyper = self.settings.run, self.settings.hyper
        size = share(self.config.batch, self.ranks.rank, self.ranks.size)
        if not size:
            raise InputError(f"{self.ranks.size} ranks need a larger batch", text=self.config.batch)
        spec = replace(
            self.kind.batches,
            rows=self.config.rows,
            own_deployment=has_deployment(self.net),
            deployment_only=hyper.deployment_only,
            searched=hyper.searched,
            face_up=hyper.face_up,
        )
        named = f"{self.algorithm} of searches" if spec.searched else self.algorithm
        sampled = "" if spec.hidden or hyper.imitates else named
        parts = parts_of(self.point.tensors) if self.point else []
        own = parts[self.ranks.rank] if len(parts) == self.ranks.size else {}
        window = open_window(self.settings, own)
        self.window = window.state() if window else None
        return Plan(0 if spec.examples else size, spec, window, sampled)

    def close(self) -> None:
        self.source.stop()
        self.closing.close()

    def learn(self) -> Outcome:
        rank = self.ranks.rank
        game = self._wait_for_game()
        if game is not None:
            self.source.begin(self._settle(game))
        if rank == 0:
            self._begin(game)
        if game is None:
            return Outcome(0, 0, None, stopped=True)
        self._open_learner(game)
        if rank == 0:
            self.folder.begin(self.learner.step, self._checkpoint_metadata())
        begun, enough = self.learner.step, self._enough
        self._publish()
        self.publisher.finish()  # a folder that cannot be written to says so before a step
        self._save()
        self._learn(0.0, 0.0, [{}])  # what a smaller --uses has left, if anything
        for prepared, waited, stats in self._batches():
            self._count(prepared, stats)
            self.learner.add(prepared.batch)
            if not self.learner.due:  # but whoever follows may wait for what was consumed
                self._publish()
            self._learn(waited, prepared.seconds, stats)
        self._save()
        self._publish()
        self.publisher.finish()
        dropped = self.source.dropped
        return Outcome(
            step=self.learner.step,
            episodes=self.episodes,
            checkpoint=checkpoint_path(self.request.run, self.learner.step),
            stopped=self.stop(),
            error=self.error,
            truncated=tuple(dropped.truncated),
            left_over=dropped.left_over,
            rank=rank,
            begun=begun,
            learned=self.unit,
            unfilled=dropped.unfilled,
            enough_before=enough,
        )

    def _open_learner(self, game: Game) -> None:
        run, settings = self.request.run, self.settings
        self.folder = RunFolder(run, self.point, game, self.net, settings, self.observer)
        self.closing.callback(self.folder.close)
        self.publisher = self.closing.enter_context(contextlib.closing(Publisher(run)))
        algorithm = open_algorithm(
            self.algorithm, self.net, game, self.settings.hyper, self.config.seed, self.device
        )
        if self.request.weights and not self.point:
            algorithm.begin_with(self.request.weights)
        learner: Any = BufferedOptimizer if self.kind.batches.examples else Optimizer
        self.learner: Optimizer = learner(algorithm, self.config, self.ranks, self.device)
        if self.point:
            with error_context(os.fspath(self.point.path)):
                step, decisions = (int(self.metadata.get(x, 0)) for x in ("step", "decisions"))
                self.learner.load(self.point.tensors, step, decisions)
                self.learner.load_own(parts_of(self.point.tensors), self.episodes)
                if not are_finite(self.learner.adam.parameters):
                    raise InputError("its weights are not all finite")
            self.folder.saved = -1 if self.point.fresh else self.learner.step
            self.covered = self.episodes

    def _begin(self, game: Game | None) -> None:
        """Tells the other ranks what is to be done."""
        begun = game and {
            "game": game.name,
            "rules": game.rules,
            "net": self.net,
            "algorithm": self.algorithm,
            "config": self.settings.to_json(),
            "checkpoint": self.point and os.fspath(self.point.path),
            "inputs": self.point and self.point.metadata["inputs"],
            "fresh": self.point and self.point.fresh,
        }
        self.ranks.exchange(begun)

    # ---- waiting for episodes ----

    def _wait_for_game(self) -> Game | None:
        since = time.perf_counter()
        game = self.source.game(POLL)
        while game is None and not self.stop():
            self.observer.waiting()
            game = self.source.game(POLL)
            if game is None and (late := self._late(since)):
                raise late
        return game

    def _late(self, since: float) -> InputError | None:
        """The error if the other ranks have waited too long for this one's episodes."""
        waited = time.perf_counter() - since
        if self.ranks.size == 1 or waited <= self.request.timeout:
            return None
        what = f"rank {self.ranks.rank} has waited {waited:.0f} s for episodes of its part"
        return InputError(what, file=" ".join(self.request.inputs))

    def _batches(self) -> Iterator[tuple[PreparedBatch, float, list[Stats]]]:
        """Batches, the seconds waited for each, and the statistics of all ranks' batches, as long
        as all ranks have one."""
        since = time.perf_counter()
        while not self._enough:
            prepared = self._next(since)
            stats = self.ranks.exchange(batch_stats(prepared) if prepared else self._final_note())
            if self._ended(stats) or prepared is None:
                return
            yield prepared, time.perf_counter() - since, stats
            since = time.perf_counter()

    @property
    def _enough(self) -> bool:
        """Whether all steps, or all decisions, are done."""
        steps, decisions = self.request.steps, self.request.decisions
        return (steps is not None and self.learner.step >= steps) or (
            decisions is not None and self.learner.algorithm.decisions >= decisions
        )

    def _next(self, since: float) -> PreparedBatch | None:
        """The next batch of this rank; None: there is none, and `error` may say why."""
        while not self.stop():
            try:
                prepared = self.source.next(POLL)
            except StopIteration:
                return None
            except Exception as error:  # what was learned so far is saved first
                self.error = error
                return None
            if prepared is not None:
                return prepared
            self.error = self._late(since)
            if self.error:
                return None
        return None

    def _final_note(self) -> Stats:
        over = "failed" if self.error else "stopped" if self.stop() else "ended"
        if not (final := self.source.final):
            return {"over": over, "complete": []}
        complete, duplicates = sorted(final.complete), final.duplicates
        return {"over": over, "complete": complete, "duplicates": duplicates}

    def _ended(self, stats: Sequence[Stats]) -> bool:
        """Whether some rank has no batch; where that is a failure, the others fail too. A rank
        without one has learned from all of its batches, and so from its complete files."""
        over = {rank: one for rank, one in enumerate(stats) if "over" in one}
        for rank, one in over.items():
            if one["over"] == "failed" and not self.error:
                self.error = StratkitError(f"rank {rank} failed; see its message above")
            self.consumed.add({}, one["complete"])
            self.duplicates[rank] = one.get("duplicates", self.duplicates[rank])
        return bool(over)

    # ---- steps ----

    def _count(self, prepared: PreparedBatch, stats: Sequence[Stats]) -> None:
        """What all ranks have consumed with their next batches."""
        self.window = prepared.window
        for rank, one in enumerate(stats):
            self.episodes += one["episodes"]
            self.consumed.add(one["consumed"], one["complete"])
            self.passed.update(one["passed"])
            self.duplicates[rank] = one["duplicates"]

    def _learn(self, waited: float, replaying: float, stats: Sequence[Stats]) -> None:
        """All updates that are due, which of episodes is one; the first has waited."""
        alone = self.ranks.size == 1
        while self.learner.due and not self._enough and not (alone and self.stop()):
            start = time.perf_counter()
            metrics: Mapping[str, Any] = self.learner.learn()
            self._check_update(metrics, max(one.get("largest_return", 1.0) for one in stats))
            updated = time.perf_counter()
            seconds = {"wait": waited, "replay": replaying, "update": updated - start}
            waited = replaying = 0.0
            if not self.learner.due and self._period > self.published:
                self._publish()
            done = time.perf_counter()
            seconds["save"] = done - updated + self.saving
            at_checkpoint = self.learner.step % self.config.save_every == 0
            if self.ranks.rank == 0:
                if at_checkpoint:
                    metrics = {**metrics, **self.learner.algorithm.measured()}
                so_far = {f"{self.unit}s": self.episodes, "duplicates": sum(self.duplicates)}
                self.folder.log(metrics_of(self.learner.step, stats, metrics, seconds, so_far))
            # The line first: who goes on from a checkpoint drops lines that are too new, but could
            # not make up one that is missing.
            if at_checkpoint:
                self._save()
            self.saving = time.perf_counter() - done

    def _check_update(self, metrics: Mapping[str, float], largest_return: float) -> None:
        """`Exploded`: the update has made the weights useless. They are the same on all ranks,
        and so is the answer."""
        algorithm, adam = self.learner.algorithm, self.learner.adam
        names = (*algorithm.loss_metrics, *algorithm.view_metrics, "grad_norm")
        last = checkpoint_path(self.request.run, self.folder.saved)
        sizes, unit = [metrics[name] for name in names], max(1.0, largest_return**2)
        check_update(self.learner.step, sizes, adam.parameters, last, unit)

    # ---- what is written ----

    def _metadata(self) -> dict[str, Any]:
        step = self.learner.step
        acting = self.settings.hyper.acting(step)
        return {**self.folder.metadata(step, self.episodes), "post": acting}

    def _checkpoint_metadata(self) -> dict[str, Any]:
        algorithm, files = self.learner.algorithm, self.consumed.files
        metadata = {**self._metadata(), "decisions": algorithm.decisions}
        return self.folder.checkpoint_metadata(metadata, list(algorithm.networks), files)

    @property
    def _period(self) -> int:
        return self.learner.step // self.config.publish_every

    def _publish(self) -> None:
        self.published = self._period
        if self.ranks.rank:
            return
        metadata = {
            **self._metadata(),
            "publish_every": self.config.publish_every,
            "learned": list(self.consumed.learned),
            "began": self.began,
            **({"passed": dict(self.passed)} if self.source.pipes else {}),
        }
        acting = next(iter(self.learner.algorithm.networks))
        self.publisher.publish(self.learner.weights(acting, copy=True), metadata)

    def _save(self) -> None:
        """Writes a checkpoint, unless there is one of this step that covers what was consumed; then
        what it has passed may go."""
        step = self.learner.step
        if step != self.folder.saved or self.episodes != self.covered:
            self.folder.overwrite |= step == self.folder.saved
            self.folder.saved, self.covered = step, self.episodes
            window = to_tensors(self.folder.game, self.window) if self.window else {}
            own = collected({**self.learner.own(), **window}, self.ranks)
            if self.ranks.rank == 0:
                self.consumed.forget_missing()
                tensors = {**self.learner.tensors(), **own}
                self.folder.save(tensors, self._checkpoint_metadata())
        if self.request.consume:
            self._consume()

    def _consume(self) -> None:
        """Deletes what the checkpoint has passed. Whoever fills the folder is told first, or it
        would count these episodes as waiting less than none."""
        gone = self.consumed.forget_complete()
        if self.ranks.rank or not gone:
            return
        self._publish()
        self.publisher.finish()
        for file in gone:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file)
