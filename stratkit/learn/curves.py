"""Metrics of runs as pictures: metrics.jsonl (formats/run.md) of several of them, as curves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stratkit.errors import InputError, nearest
from stratkit.pictures import COLOURS, PNG, legend, new_figure, plain, save
from stratkit.storage import schema
from stratkit.storage.progress import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = npt.NDArray[np.float64]
ELO, LOW, HIGH, AT = "eval/elo", "eval/low", "eval/high", "eval/step"
FEW = "eval/", "value_error/"  # measured at checkpoints, and each in many games or states
OVER = {"step": "step", "episodes": "episodes", "hours": "time"}
POINTS = 200  # of a band
SHARES = (0.01, 0.99)  # of the values, between which a robust axis lies
PARTS = 25  # of the shortest run, each of which is smoothed to about a point


@dataclass(frozen=True)
class Run:
    """The numbers of a run's lines by name, [lines]; nan where a line has none."""

    name: str
    numbers: Mapping[str, Numbers]

    def curve(self, field: str, over: str) -> tuple[Numbers, Numbers]:
        """Where the field was measured, and what it was. An Elo is that of the checkpoint that
        played. `InputError`: the run does not say where."""
        at = AT if field.startswith("eval/") and over == "step" else OVER[over]
        if at not in self.numbers:
            raise InputError(f"no metric {at!r} to draw {field!r} over", file=self.name)
        x, y = self.numbers[at], self.numbers[field]
        x = (x - x[0]) / 3600 if over == "hours" else x
        known = ~np.isnan(y)
        return x[known], y[known]


@dataclass(frozen=True)
class Look:
    """How runs are drawn: as one `band` of all, on a `log` axis, on one that is `robust` against
    few values far off."""

    band: bool = False
    log: bool = False
    robust: bool = False

    def scale(self, axes: Axes, values: Numbers) -> None:
        """Scales the axis up."""
        if self.log:
            axes.set_yscale("symlog" if (values <= 0).any() else "log")
        if self.robust and len(values):
            low, high = np.quantile(values, SHARES)
            room = 0.05 * (high - low) or 1.0
            axes.set_ylim(low if self.log else low - room, high + room)


def read_run(path: str) -> Run:
    """The metrics of a RUN folder, or of a file of metrics. `InputError`: there are none."""
    file = os.path.join(path, METRICS) if os.path.isdir(path) else path
    rows: list[dict[str, float]] = []
    with open(file, "rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break  # it is being written
            values = schema.parse_object(line)
            if values is None or type(values.get("step")) is not int:
                raise InputError("no metrics of a step", file=file, where=f"line {number}")
            rows.append(dict(numbers_of(values)))
    if not rows:
        raise InputError("no metrics yet", file=file)
    names = dict.fromkeys(name for row in rows for name in row)
    nan = float("nan")
    columns = {name: np.array([row.get(name, nan) for row in rows]) for name in names}
    return Run(path.rstrip("/") or path, columns)


def numbers_of(metrics: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a line by name. One within another field has both names, `seconds/wait`; one
    of a player has its number, `returns_mean/0`."""
    for name, value in metrics.items():
        if isinstance(value, list):
            value = {str(player): x for player, x in enumerate(value)}
        if isinstance(value, Mapping):
            yield from numbers_of(value, f"{within}{name}/")
        elif isinstance(value, int | float):
            yield f"{within}{name}", value


def check_fields(runs: Sequence[Run], fields: Sequence[str]) -> None:
    """`InputError`: no run has such a field."""
    known = dict.fromkeys(name for run in runs for name in run.numbers)
    for field in fields:
        if field not in known:
            raise InputError(f"no run has the metric {field!r}{nearest(field, known)}")


def smooth(values: Numbers, width: int) -> Numbers:
    """Means of `width` neighbours; at the ends, of those that there are."""
    width = max(1, min(width, len(values)))
    sums = np.convolve(values, np.ones(width), "same")
    return sums / np.convolve(np.ones(len(values)), np.ones(width), "same")


def plot(
    runs: Sequence[Run],
    fields: Sequence[str],
    stream: IO[bytes],
    form: str = PNG,
    over: str = "step",
    width: int | None = None,
    how: Look = Look(),
) -> None:
    """A picture of each field, one above the other, with a line and a colour for each run, or one
    band of all. `width`: lines that are smoothed into one; None: a 25th of the shortest run.

    `InputError`: an unknown field, or no matplotlib.
    """
    check_fields(runs, fields)
    # The same for all runs: those that are smoothed more look later.
    width = width or max(1, min(len(run.numbers["step"]) for run in runs) // PARTS)
    figure = new_figure(8, 0.8 + 2.4 * len(fields) + 0.2 * ((len(runs) + 2) // 3))
    grid = figure.subplots(len(fields), 1, sharex=True, squeeze=False)
    for field, axes in zip(fields, grid[:, 0], strict=True):
        drawn = [run for run in runs if field in run.numbers]
        if how.band:
            _draw_band(axes, drawn, field, over, width)
        for number, run in enumerate(() if how.band else runs):
            if field in run.numbers:
                _draw(axes, run, field, over, width, number)
        how.scale(axes, np.concatenate([run.curve(field, over)[1] for run in drawn]))
        axes.set_ylabel(field.replace("_", " "))
        axes.grid(alpha=0.3)
    grid[-1][0].set_xlabel(over)
    if over != "hours":  # a step is whole, however short a run is
        grid[-1][0].xaxis.get_major_locator().set_params(integer=True)
    if how.band:
        label = f"mean and range of {len(runs)} runs"
        grid[-1][0].plot([], [], color=_colour(0), label=label)
    # One that has none of the last field is named, too.
    for number, run in enumerate(() if how.band else runs):
        grid[-1][0].plot([], [], _style(number), color=_colour(number), label=plain(run.name))
    legend(grid[-1][0], -0.28)
    save(figure, stream, form)


def _draw(axes: Axes, run: Run, field: str, over: str, width: int, number: int) -> None:
    x, y = run.curve(field, over)
    colour = _colour(number)
    if field.startswith(FEW):
        axes.plot(x, y, f"o{_style(number)}", color=colour, markersize=4)
        if field == ELO:
            _draw_interval(axes, run, x, y, colour)
        return
    if width > 1:
        axes.plot(x, y, color=colour, alpha=0.2, linewidth=0.6)
    axes.plot(x, smooth(y, width), _style(number), color=colour, linewidth=1.6)


def _draw_band(axes: Axes, runs: Sequence[Run], field: str, over: str, width: int) -> None:
    """The mean of the runs and their range, where all of them are."""
    curves = [run.curve(field, over) for run in runs]
    first, last = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    at = np.linspace(first, last, POINTS)
    rare = field.startswith(FEW)
    values = np.stack([np.interp(at, x, y if rare else smooth(y, width)) for x, y in curves])
    axes.fill_between(at, values.min(0), values.max(0), color=_colour(0), alpha=0.2, linewidth=0)
    axes.plot(at, values.mean(0), color=_colour(0), linewidth=1.6)


def _draw_interval(axes: Axes, run: Run, x: Numbers, y: Numbers, colour: str) -> None:
    """The ends as a band, and as lines, so that a lone Elo has them, too. An infinite end is an
    arrow: its Elo is not certain."""
    known = ~np.isnan(run.numbers[ELO])
    low, high = (run.numbers.get(name, run.numbers[ELO] * np.nan)[known] for name in (LOW, HIGH))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    for end, arrow in ((low, "v"), (high, "^")):
        finite = ~np.isnan(end)
        axes.vlines(x[finite], y[finite], end[finite], color=colour, alpha=0.4)
        axes.plot(x[~finite], y[~finite], arrow, color=colour, markersize=9, alpha=0.4)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _style(number: int) -> str:
    """The second run of a colour is dashed, ..."""
    return ("-", "--", "-.", ":")[number // len(COLOURS) % 4]
