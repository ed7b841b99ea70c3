"""A run's metrics for TensorBoard, which is an optional extra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratkit.errors import InputError, error_context
from stratkit.learn.curves import AT, ELO, numbers_of

FLUSH = 5  # seconds until what was written can be seen


class Scalars:
    """Every number of a step's metrics as a scalar, in event files in `folder`. A number within
    another field has both names, `seconds/wait`; one of a player has its number, `returns_mean/0`.
    A context manager.

    The first step that is written replaces what the folder has of it and of later steps: a resumed
    run does them again. `InputError`: TensorBoard is not installed. `OSError`, at the first step:
    the folder cannot be made. It may lie in RUN, which has to be empty before.
    """

    def __init__(self, folder: str) -> None:
        if not folder:  # TensorBoard would choose one
            raise InputError("no such folder", file=folder)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            what = "this needs TensorBoard: pip install 'stratkit[tensorboard]'"
            raise InputError(what) from None
        self._kind, self._folder = SummaryWriter, folder
        self._writer: Any = None
        self._settings: dict[str, Any] = {}

    def begin(self, metadata: Mapping[str, Any]) -> None:
        """The hyper-parameters are those of this checkpoint."""
        settings = {name: metadata[name] for name in ("game", "net", "algorithm")}
        settings.update(metadata["config"])
        self._settings = {
            name: ",".join(map(str, value)) if isinstance(value, list | tuple) else value
            for name, value in settings.items()
        }

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Writes the numbers of a line of metrics; those of an evaluation at the step that it
        evaluates."""
        step = metrics["step"]
        if self._writer is None:
            with error_context(self._folder, only=OSError):
                self._writer = self._kind(self._folder, purge_step=step, flush_secs=FLUSH)
            self._write_settings()
        for name, value in numbers_of(metrics):
            if name not in ("step", "time", AT):
                at = metrics["eval"]["step"] if name.startswith("eval/") else step
                self._writer.add_scalar(name, value, at, walltime=metrics["time"])

    def _write_settings(self) -> None:
        """For the page HPARAMS, beside the metrics that tell progress. (`add_hparams` would make
        another run of them.)"""
        from torch.utils.tensorboard import summary

        make: Any = summary.hparams  # which has no types
        for part in make(self._settings, dict.fromkeys(("value_loss", "entropy", ELO), 0)):
            self._writer.file_writer.add_summary(part)

    def __enter__(self) -> Scalars:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
