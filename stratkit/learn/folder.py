"""The folder of a run, RUN (formats/run.md): its lock, and the checkpoints to go on from."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stratkit.engine import Game
from stratkit.errors import InputError, error_context
from stratkit.learn.config import RNAD
from stratkit.learn.request import Request, check_algorithm, check_settings, without_former
from stratkit.learn.source import plain_path
from stratkit.netnames import check_net
from stratkit.storage import schema
from stratkit.storage.atomic import lock, sync_folder
from stratkit.storage.checkpoints import (
    CHECKPOINT,
    Tensors,
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    resolve,
    save_checkpoint,
)
from stratkit.storage.schema import Count, Text


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
    """Makes the folder or finds what is in it; nobody else learns there meanwhile."""
    folder = Path(request.run)
    if request.resume and not folder.is_dir():
        raise InputError("there is no such run to resume", file=request.run)
    with _locked_folder(folder):
        if request.resume:
            yield _read_newest(folder, warn)
            return
        if any(entry != "lock" for entry in os.listdir(folder)):
            what = "holds files already: --resume goes on with a run, another --out begins one"
            raise InputError(what, file=request.run)
        yield None if request.start is None else _begin_at(request.start)


@contextlib.contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Makes the folder and its lock, and holds the lock. If nothing else is there in the end, what
    was made is removed."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "lock"
    was_there = file.exists()
    with lock(file):
        try:
            yield
        finally:
            if not was_there and os.listdir(folder) == [file.name]:
                file.unlink()
                with contextlib.suppress(OSError):  # others may write there, too
                    for path in made:
                        path.rmdir()


def _read_newest(folder: Path, warn: Callable[[str], None]) -> ResumePoint:
    """The newest checkpoint that can be read; `warn` is told of those that cannot."""
    errors: list[InputError] = []
    for _, path in reversed(list_checkpoints(folder)):
        try:
            found = read_checkpoint(path)
        except InputError as error:
            errors.append(error)
            continue
        for damage in errors:
            warn(f"{damage}; going on from {path}")
        return found
    raise errors[0] if errors else InputError("no checkpoint to go on from", file=str(folder))


def _begin_at(start: str) -> ResumePoint:
    """Everything of a checkpoint, but for how far its run had read."""
    return replace(read_checkpoint(resolve(start), inputs={}), fresh=True)


def read_checkpoint(path: Path, inputs: Mapping[str, int] | None = None) -> ResumePoint:
    """The checkpoint, with all that is needed to go on from it, or with other `inputs` than its
    own; `InputError` names the file."""
    tensors, metadata = load_checkpoint(path, CHECKPOINT)
    with error_context(os.fspath(path)):
        schema.convert(metadata, _Resumed, "metadata")
        check_net(metadata["net"])
        algorithm = metadata.get("algorithm", RNAD)
        check_algorithm(algorithm)
        config = without_former(metadata["config"], algorithm)
        check_settings(config, algorithm)
        inputs = metadata["inputs"] if inputs is None else inputs
        read = {plain_path(file): n for file, n in inputs.items()}
        metadata = {**metadata, "config": config, "inputs": read}
        return ResumePoint(path, tensors, metadata, Game(metadata["game"], metadata["rules"]))


def write_checkpoint(
    run: str, step: int, tensors: Tensors, metadata: Mapping[str, Any], overwrite: bool
) -> None:
    """Writes the checkpoint of this step. `overwrite`: one that is there could not be read."""
    path = checkpoint_path(run, step)
    if not path.parent.exists():
        path.parent.mkdir()
        sync_folder(path.parent.parent)
    save_checkpoint(path, tensors, metadata, overwrite)


def delete_old(run: str, newest: int, keep: int, milestone: int) -> None:
    """Deletes all but the last `keep` checkpoints (0: none) and those of milestones."""
    # Newer ones than `newest` are damaged, or the run would have gone on from them: they do not
    # count.
    good = [(step, path) for step, path in list_checkpoints(run) if step <= newest]
    for step, path in good[:-keep] if keep else []:
        if step % milestone:
            path.unlink(missing_ok=True)
