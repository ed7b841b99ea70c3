"""How far a RUN has come, from its files (formats/run.md): of one that goes on or has ended."""

from __future__ import annotations

import itertools
import mmap
import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratkit.errors import InputError
from stratkit.storage import schema
from stratkit.storage.atomic import holder
from stratkit.storage.checkpoints import list_checkpoints, read_metadata

METRICS, LOCK = "metrics.jsonl", "lock"
RECORDS = "eval"  # the folder of game records
MEASURED_STEPS = 100  # last steps from which the rate is told


@dataclass(frozen=True)
class NewestCheckpoint:
    """The newest checkpoint of a RUN.

    step   of learning
    file   its path
    age    in seconds
    fault  what is wrong with it, or None
    """

    step: int
    file: str
    age: float
    fault: str | None


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come; None where its files do not say.

    run                   the folder
    holder                the process that learns
    game, net, algorithm  of the newest checkpoint
    step, episodes        learned so far
    age                   seconds since the last step
    rate                  steps a second, the median of the last ones
    checkpoint            the newest one
    elo                   of the newest checkpoint that `train --eval` has measured
    """

    run: str
    holder: str | None
    game: str | None
    net: str | None
    algorithm: str | None
    step: int
    episodes: int
    age: float | None
    rate: float | None
    checkpoint: NewestCheckpoint | None
    elo: Mapping[str, Any] | None


def read_progress(run: str) -> RunProgress:
    """How far `run` has come. Raises `InputError` for a folder that is no RUN."""
    if not os.path.isdir(run):
        what = "not a folder" if os.path.exists(run) else "no such folder"
        raise InputError(what, file=run)
    now = time.time()
    lines, elo = _metrics(Path(run) / METRICS)
    checkpoint, metadata = _newest(run, now)
    learner = holder(Path(run) / LOCK)
    if not lines and checkpoint is None and learner is None:
        raise InputError("no RUN: it has neither a checkpoint nor metrics", file=run)
    last = lines[-1] if lines else metadata
    times = [float(line["time"]) for line in lines]
    steps = [b - a for a, b in itertools.pairwise(times) if b > a]
    return RunProgress(
        run=run,
        holder=learner,
        game=metadata.get("game"),
        net=metadata.get("net"),
        algorithm=metadata.get("algorithm"),
        step=int(last.get("step", 0)),
        episodes=int(last.get("episodes", 0)),
        age=max(0.0, now - times[-1]) if times else None,
        rate=1 / statistics.median(steps) if steps else None,
        checkpoint=checkpoint,
        elo=elo,
    )


def _newest(run: str, now: float) -> tuple[NewestCheckpoint | None, Mapping[str, Any]]:
    """The newest checkpoint and its metadata; those of the one before it where it is damaged."""
    saved, metadata = None, {}
    for step, path in reversed(list_checkpoints(run)):
        fault = None
        try:
            metadata = read_metadata(path)
        except (InputError, OSError) as error:
            fault = str(error)
        if saved is None:
            saved = NewestCheckpoint(
                step, os.fspath(path), max(0.0, now - path.stat().st_mtime), fault
            )
        if fault is None:
            break
    return saved, metadata


def _metrics(path: Path) -> tuple[list[dict[str, Any]], Mapping[str, Any] | None]:
    """The last whole lines, and the last Elo; an unterminated line is being written."""
    try:
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as text:
            end = text.rfind(b"\n") + 1
            start = end
            for _ in range(MEASURED_STEPS):
                start = text.rfind(b"\n", 0, max(start - 1, 0)) + 1
            lines = [schema.parse_object(line) for line in text[start:end].splitlines()]
            at = text.rfind(b'"eval":', 0, end)
            begin = text.rfind(b"\n", 0, max(at, 0)) + 1
            rated = schema.parse_object(text[begin : text.find(b"\n", begin)]) or {}
    except (FileNotFoundError, ValueError):  # none, or an empty file
        return [], None
    elo = rated.get("eval") if at >= 0 else None
    return [line for line in lines if line and _is_step(line)], elo if isinstance(
        elo, dict
    ) else None


def _is_step(line: Mapping[str, Any]) -> bool:
    """Whether these are the metrics of a step; others are left out."""
    whole = type(line.get("step")) is int and type(line.get("episodes", 0)) is int
    return whole and isinstance(line.get("time"), int | float)
