"""The folder of a run, RUN (formats/run.md): its lock, the checkpoints to go on from, and what
every learner writes there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from stratkit.engine import Game
from stratkit.errors import InputError, error_context
from stratkit.learn.algorithm_kinds import RNAD, algorithm_kind
from stratkit.learn.config import STEPS
from stratkit.learn.metrics import as_line, open_metrics
from stratkit.learn.request import Observer, Request, Settings, accepted
from stratkit.learn.source import plain_path
from stratkit.netnames import check_net
from stratkit.storage import schema
from stratkit.storage.atomic import lock, remove_abandoned, sync_folder
from stratkit.storage.checkpoints import (
    CHECKPOINT,
    FOLDER,
    POLICY,
    POLICY_FILE,
    Tensors,
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    read_metadata,
    resolve,
    save_checkpoint,
)
from stratkit.storage.progress import LOCK, METRICS, RECORDS
from stratkit.storage.schema import Count, Text

ONLY_A_POLICY = "a policy, where a checkpoint is needed: train --weights begins with it"


@dataclass(frozen=True)
class _Resumed:
    """What a checkpoint's metadata need to be resumed."""

    config: Mapping[str, Any]
    inputs: Mapping[Text, Count]


@dataclass(frozen=True)
class ResumePoint:
    """The newest checkpoint of a RUN that is resumed, or (`fresh`) goes on in another folder."""

    path: Path
    tensors: Tensors
    metadata: Mapping[str, Any]
    game: Game
    fresh: bool = False

    @property
    def algorithm(self) -> str:
        """Its name; checkpoints of before there was a choice name none."""
        return str(self.metadata.get("algorithm", RNAD))


@contextlib.contextmanager
def open_run(request: Request, warn: Callable[[str], None]) -> Iterator[ResumePoint | None]:
    """Makes the folder or finds what is in it; nobody else learns there meanwhile. `InputError`:
    the checkpoint to go on from is another network's, algorithm's or game's than is asked for."""
    folder = Path(request.run)
    if request.resume and not folder.is_dir():
        raise InputError("there is no such run to resume", file=request.run)
    with _locked_folder(folder):
        if request.resume:
            yield _requested(request, _read_newest(folder, warn))
            return
        for where in (folder, folder / FOLDER):
            remove_abandoned(where)  # of a run that was killed while it wrote its first file
        if not _is_unused(folder):
            what = "holds files already: --resume goes on with a run, another --out begins one"
            raise InputError(what, file=request.run)
        yield None if request.start is None else _requested(request, _begin_at(request.start))


@contextlib.contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Makes the folder and its lock, and holds the lock. If the folder is unused in the end, what
    was made since is removed."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    _check_links(folder)
    before = os.listdir(folder)
    with lock(folder / LOCK):
        try:
            yield
        finally:
            if LOCK not in before and _is_unused(folder):
                for path in folder.iterdir():
                    if path.name not in before:
                        path.rmdir() if path.name == FOLDER else path.unlink()
                with contextlib.suppress(OSError):  # others may write there, too
                    for path in made:
                        path.rmdir()


def _check_links(folder: Path) -> None:
    """`InputError`: a folder or the lock of the run is a symbolic link, which may lead to files
    that its user did not mean."""
    for name in (FOLDER, RECORDS, LOCK):
        if (folder / name).is_symlink():
            what = "a symbolic link: a run writes and deletes only in its own folder"
            raise InputError(what, file=os.fspath(folder / name))


def _is_unused(folder: Path) -> bool:
    """Whether there is nothing, or only what a run leaves that could not write its first
    checkpoint, as on a full disk. Nothing was learned there, and nothing could go on with it."""
    names = set(os.listdir(folder))
    if METRICS not in names:
        return names <= {LOCK}
    known = names <= {LOCK, METRICS, POLICY_FILE, FOLDER}
    return known and not any((folder / FOLDER).glob("*")) and not os.path.getsize(folder / METRICS)


def _read_newest(folder: Path, warn: Callable[[str], None]) -> ResumePoint:
    """The newest checkpoint that can be read; `warn` is told of those that cannot."""
    errors: list[InputError] = []
    for _, path in reversed(list_checkpoints(folder)):
        try:
            checkpoint = read_checkpoint(path)
        except InputError as error:
            errors.append(error)
            continue
        for damage in errors:
            warn(f"{damage}; going on from {path}")
        return checkpoint
    raise errors[0] if errors else InputError("no checkpoint to go on from", file=str(folder))


def _begin_at(start: str) -> ResumePoint:
    """Everything of a checkpoint, but for how far its run had read."""
    path = resolve(start)
    if read_metadata(path)["kind"] == POLICY:
        raise InputError(ONLY_A_POLICY, file=os.fspath(path))
    return replace(read_checkpoint(path, inputs={}), fresh=True)


def _requested(request: Request, point: ResumePoint) -> ResumePoint:
    """The same; `InputError`: something else is asked for."""
    net = point.metadata["net"]
    if request.game not in (None, point.game.name):
        what = f"the run learns {point.game.name}"
        raise InputError(what, file=request.run, text=request.game)
    if request.net not in (None, net):
        raise InputError(f"the run has the network {net}", file=request.run, text=request.net)
    if request.algorithm not in (None, point.algorithm):
        if request.start is not None:  # of finetune, where nobody named an algorithm
            what = f"learned by {point.algorithm}; finetune goes on with {request.algorithm} alone"
            raise InputError(what, file=os.fspath(point.path))
        what = f"learned by {point.algorithm}, which alone can go on with it"
        raise InputError(what, file=os.fspath(point.path), text=request.algorithm)
    begun = point.metadata["config"].get("anneal_by", STEPS)
    if begun != (wanted := request.given.get("anneal_by", begun)):
        what = f"begun with --anneal-by {begun}, and cannot go on with another"
        raise InputError(what, file=os.fspath(point.path), text=wanted)
    return point


def read_checkpoint(path: Path, inputs: Mapping[str, int] | None = None) -> ResumePoint:
    """The checkpoint, with all that is needed to go on from it, or with other `inputs` than its
    own; `InputError` names the file."""
    tensors, metadata = load_checkpoint(path, CHECKPOINT)
    with error_context(os.fspath(path)):
        schema.convert(metadata, _Resumed, "metadata")
        check_net(metadata["net"])
        algorithm = metadata.get("algorithm", RNAD)
        algorithm_kind(algorithm)
        config = accepted(metadata["config"], algorithm)
        inputs = metadata["inputs"] if inputs is None else inputs
        read = {plain_path(file): n for file, n in inputs.items()}
        metadata = {**metadata, "config": config, "inputs": read}
        game = Game.stored(metadata["game"], metadata["rules"])
        return ResumePoint(path, tensors, metadata, game)


class RunFolder:
    """What a learner of `game`, by the network `net` and with these `settings`, writes into the
    folder `run`: a line a step, and checkpoints. `point`: from which it goes on, if from any."""

    def __init__(
        self,
        run: str,
        point: ResumePoint | None,
        game: Game,
        net: str,
        settings: Settings,
        observer: Observer,
    ) -> None:
        self.run, self.game, self.net = run, game, net
        self.settings, self.observer = settings, observer
        # A file that is there already could not be read, or the run would have gone on from it.
        self.overwrite = point is not None
        self.parents = [point.metadata["sha256"]] if point else []
        self.saved = -1  # the step of the last checkpoint
        self._metrics: BinaryIO | None = None

    def begin(self, step: int, metadata: Mapping[str, Any]) -> None:
        """After so many steps; `metadata` as `checkpoint_metadata`."""
        self._metrics = open_metrics(Path(self.run) / METRICS, step)
        self.observer.begin(metadata)

    def close(self) -> None:
        """Closes the file of metrics."""
        if self._metrics:
            self._metrics.close()

    def metadata(self, step: int, episodes: int) -> dict[str, Any]:
        """What checkpoints and published weights have in common."""
        return {
            "game": self.game.name,
            "rules": self.game.rules,
            "net": self.net,
            "algorithm": self.settings.algorithm,
            "step": step,
            "episodes": episodes,
            "batch": self.settings.run.batch,
        }

    def checkpoint_metadata(
        self, metadata: Mapping[str, Any], networks: Sequence[str], inputs: Mapping[str, int]
    ) -> dict[str, Any]:
        """Of a checkpoint, beside `metadata`: its networks, and what was read of which files."""
        return {
            **metadata,
            "networks": list(networks),
            "config": self.settings.to_json(),
            "seed": self.settings.run.seed,
            "parents": self.parents,
            "inputs": inputs,
        }

    def log(self, metrics: Mapping[str, Any]) -> None:
        """Writes the line of a step."""
        assert self._metrics is not None
        metrics = {**metrics, **self.observer.more()}
        self._metrics.write(as_line(metrics))
        self.observer.step(metrics)

    def save(self, tensors: Tensors, metadata: Mapping[str, Any]) -> None:
        """Writes a checkpoint; older ones go as the settings say."""
        step, config = metadata["step"], self.settings.run
        path = checkpoint_path(self.run, step)
        if not path.parent.exists():
            path.parent.mkdir()
            sync_folder(path.parent.parent)
        save_checkpoint(path, tensors, metadata, self.overwrite)
        self.observer.saved(step)
        delete_old(self.run, step, config.keep, config.milestone)


def delete_old(run: str, newest: int, keep: int, milestone: int) -> None:
    """Deletes all but the last `keep` checkpoints (0: none), those of milestones, and links."""
    # Newer ones than `newest` are damaged, or the run would have gone on from them: they do not
    # count.
    good = [(step, path) for step, path in list_checkpoints(run) if step <= newest]
    for step, path in good[:-keep] if keep else []:
        if step % milestone and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
