"""What there is to tell of a step: metrics.jsonl (formats/run.md), from what each rank notes."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from stratkit.errors import InputError
from stratkit.learn.learner import Learner
from stratkit.learn.source import Ready
from stratkit.storage import fields as check

Note = dict[str, Any]  # what a rank tells of its batch: JSON


def note_of(ready: Ready) -> Note:
    """Sums over the episodes of a batch, and how far its rank has read."""
    batch, progress = ready.batch, ready.progress
    steps, first = batch.steps[batch.steps >= 0], batch.returns[:, 0]
    return {
        "episodes": len(first),
        "states": batch.states,
        "length": int(batch.lengths.sum()),
        "first_wins": int((first > 0).sum()),
        "second_wins": int((first < 0).sum()),
        "draws": int((first == 0).sum()),
        "endings": Counter(batch.endings),
        "largest": float(batch.returns.abs().max()),
        "begun": int(steps.sum()),  # at which steps, of the episodes that know it
        "oldest": int(steps.min()) if len(steps) else None,
        "aged": len(steps),
        "taken": progress.taken,
        "complete": sorted(progress.complete),
        "duplicates": progress.duplicates,
    }


def metrics_of(
    learner: Learner,
    notes: Sequence[Note],
    told: Mapping[str, float],
    seconds: Mapping[str, float],
    so_far: Mapping[str, int],
) -> dict[str, Any]:
    """A line's fields: after a step of `learner`, which `told` of it, with batches of which the
    ranks made `notes`; `seconds` are rank 0's; `so_far`: `episodes` and `duplicates` of the run."""
    step = learner.step

    def total(name: str) -> int:
        return sum(note[name] for note in notes)

    endings: Counter[str] = Counter()
    for note in notes:
        endings.update(note["endings"])
    episodes, aged = total("episodes"), total("aged")
    busy = seconds["wait"] + seconds["update"] + seconds["save"]
    return {
        "step": step,
        "episodes": so_far["episodes"],
        "states": total("states"),
        **told,
        "iteration": learner.schedule.iteration(step - 1)[0],
        "length": total("length") / episodes,
        "first_wins": total("first_wins") / episodes,
        "second_wins": total("second_wins") / episodes,
        "draws": total("draws") / episodes,
        "endings": dict(sorted(endings.items())),
        "age_mean": step - 1 - total("begun") / aged if aged else None,
        "age_max": step - 1 - min(n["oldest"] for n in notes if n["aged"]) if aged else None,
        "duplicates": so_far["duplicates"],
        "seconds": dict(seconds),
        "states_per_second": total("states") / busy,
        "time": time.time(),
    }


def as_line(metrics: Mapping[str, Any]) -> bytes:
    """The metrics as a line of the file."""
    return json.dumps(_rounded(metrics), separators=(",", ":")).encode() + b"\n"


def open_metrics(path: Path, step: int) -> BinaryIO:
    """The file, without lines of steps that the checkpoint does not know of."""
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
