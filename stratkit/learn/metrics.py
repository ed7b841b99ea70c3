"""The metrics of a step: metrics.jsonl (formats/run.md), from the statistics of each rank."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from stratkit.errors import InputError
from stratkit.learn.data import StepBatch
from stratkit.learn.source import PreparedBatch
from stratkit.regular import open_regular
from stratkit.storage import schema
from stratkit.storage.atomic import atomic_file

Stats = dict[str, Any]  # of a rank's batch: JSON


def batch_stats(prepared: PreparedBatch) -> Stats:
    """How far its rank has read with a batch and, of episodes, sums over them."""
    progress = prepared.progress
    games = _sums_of(prepared.batch) if isinstance(prepared.batch, StepBatch) else {}
    return {
        "episodes": prepared.fresh,
        **games,
        "consumed": progress.consumed,
        "passed": progress.passed,
        "complete": sorted(progress.complete),
        "duplicates": progress.duplicates,
    }


def _sums_of(batch: StepBatch) -> Stats:
    """Sums over the episodes of a batch. Of games that go on, only that they are there is known."""
    steps, returns = batch.steps[batch.steps >= 0], batch.returns[batch.ended]
    endings = zip(batch.endings, batch.ended.tolist(), strict=True)
    return {
        "ended": len(returns),
        "states": batch.states,
        "length": int(batch.lengths[batch.ended].sum()),
        "returns": returns.double().sum(0).tolist(),
        "wins": (returns > 0).sum(0).tolist(),
        "draws": int((returns == 0).all(1).sum()),
        "endings": Counter(ending for ending, ended in endings if ended),
        "largest_return": float(batch.returns.abs().max()),
        "begun": int(steps.sum()),  # at which steps, of the episodes that know it
        "oldest": int(steps.min()) if len(steps) else None,
        "aged": len(steps),
    }


def metrics_of(
    step: int,
    stats: Sequence[Stats],
    update: Mapping[str, Any],
    seconds: Mapping[str, float],
    so_far: Mapping[str, int],
) -> dict[str, Any]:
    """The fields of a line after optimizer step number `step`.

    stats: of each rank's batch. update: the metrics of `Optimizer.update`. seconds: of rank 0.
    so_far: `episodes`, or `examples`, and `duplicates` of the run.
    """
    if "examples" in so_far:  # which are of no games
        done = {"step": step, "examples": so_far["examples"], **update}
        return {**done, "seconds": dict(seconds), "time": time.time()}

    def total(name: str) -> int:
        return sum(one[name] for one in stats)

    def mean(of_all: float) -> float | None:
        """Of the games that ended; none may have."""
        return of_all / ended if ended else None

    def means(name: str) -> list[float | None]:
        """Of each player."""
        return [mean(sum(x)) for x in zip(*(one[name] for one in stats), strict=True)]

    def age(begun: float | None) -> float | None:
        """None of steps that this run has not made: another's network played."""
        return None if begun is None or begun > step - 1 else step - 1 - begun

    endings: Counter[str] = Counter()
    for one in stats:
        endings.update(one["endings"])
    ended, aged = total("ended"), total("aged")
    wins = means("wins")
    outcomes = {"first_wins": wins[0], "second_wins": wins[1]} if len(wins) == 2 else {"wins": wins}
    busy = seconds["wait"] + seconds["update"] + seconds["save"]
    return {
        "step": step,
        "episodes": so_far["episodes"],
        "states": total("states"),
        **update,
        "length": mean(total("length")),
        **outcomes,
        "draws": mean(total("draws")),
        "returns_mean": means("returns"),
        "endings": dict(sorted(endings.items())),
        "age_mean": age(total("begun") / aged if aged else None),
        "age_max": age(min((one["oldest"] for one in stats if one["aged"]), default=None)),
        "duplicates": so_far["duplicates"],
        "seconds": dict(seconds),
        "states_per_second": total("states") / busy,
        "time": time.time(),
    }


def as_line(metrics: Mapping[str, Any]) -> bytes:
    """The metrics as a line of the file."""
    return json.dumps(_rounded(metrics), separators=(",", ":")).encode() + b"\n"


def open_metrics(path: Path, step: int) -> BinaryIO:
    """The file, without lines of steps that the checkpoint does not know of. If it is a link, or
    has other names, a file of its own takes its place: those stay as they are."""
    keep = 0
    with contextlib.suppress(FileNotFoundError), open_regular(path) as stream:
        keep = _known(stream, step, os.fspath(path))
    if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
        with (
            atomic_file(path, overwrite=True, follow=False) as new,
            contextlib.suppress(FileNotFoundError),  # a link to nothing
            open_regular(path) as old,
        ):
            shutil.copyfileobj(old, new)
    appended = open(path, "ab", buffering=0)  # noqa: SIM115 (closed by the run)
    appended.truncate(keep)
    return appended


def _known(lines: BinaryIO, step: int, file: str) -> int:
    """The bytes of the lines up to that of `step`. `InputError`: something else is there. One line
    is in memory at a time: a long run has gigabytes of them."""
    keep = 0
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        value = schema.parse_object(line) or {}
        if type(value.get("step")) is not int or value["step"] < 0:
            raise InputError("no metrics of a step", file=file, where=f"line {number}")
        if value["step"] > step:
            break
        keep += len(line)
    return keep


def _rounded(value: Any) -> Any:
    """Numbers with six digits: the rest is noise in a log."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if value < 1e9 else round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return value
