"""Pictures (PNG). They need matplotlib, which is an extra."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np

from stratkit.errors import InputError, printable
from stratkit.solve.replicator import Iteration, Profile
from stratkit.solve.report import Entry, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST = 1e-9  # of an exploitability on a logarithmic axis


def plot(report: Report, stream: IO[bytes]) -> None:
    """Exploitability: of checkpoints over their steps, of all others as lines across.

    Raises `InputError` without matplotlib.
    """
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    curves: dict[str, list[Entry]] = defaultdict(list)
    for entry in report.entries:
        if entry.step is None:
            _line(axes, entry)
        else:
            curves[entry.policy].append(entry)
    for policy, entries in curves.items():
        points = sorted((entry.step or 0, _height(entry)) for entry in entries)
        (line,) = axes.plot(*zip(*points, strict=True), "o-", markersize=4)
        line.set_label(_plain(policy))
    if curves:
        axes.set_xlabel("step")
        axes.legend()
    else:
        axes.set_xticks([])
    axes.set_yscale("log")
    axes.set_ylabel(f"exploitability in {_plain(report.game)}")
    axes.grid(alpha=0.3)
    save(figure, stream)


def _line(axes: Axes, entry: Entry) -> None:
    axes.axhline(_height(entry), color="grey", linestyle="--", linewidth=1)
    axes.annotate(
        printable(entry.name),
        (1, _height(entry)),
        xycoords=axes.get_yaxis_transform(),
        ha="right",
        va="bottom",
        parse_math=False,
    )


def _height(entry: Entry) -> float:
    return max(entry.worth.exploitability, LEAST)


def plot_iterations(iterations: Sequence[Iteration], stream: IO[bytes]) -> None:
    """R-NaD on a game of two actions each: the paths to the fixed points of the iterations, and the
    Lyapunov function along each. Raises `InputError` without matplotlib."""
    figure = new_figure(10, 4.5)
    paths, falls = figure.subplots(1, 2)
    for number, iteration in enumerate(iterations):
        x, y = iteration.path[0][:, 0], iteration.path[1][:, 0]
        (line,) = paths.plot(x, y, linewidth=1)
        paths.plot(x[-1], y[-1], "o", color=line.get_color(), label=f"fixed point {number}")
        falls.plot(iteration.lyapunov[:-1], color=line.get_color(), label=f"iteration {number}")
    paths.set_xlabel("first action of player 0")
    paths.set_ylabel("first action of player 1")
    paths.set_xlim(0, 1)
    paths.set_ylim(0, 1)
    falls.set_xlabel("steps of the replicator dynamics")
    falls.set_ylabel("Lyapunov function")
    falls.set_yscale("log")
    for axes in (paths, falls):
        axes.grid(alpha=0.3)
        axes.legend()
    save(figure, stream)


def plot_cycling(
    circle: Profile,
    iterations: Sequence[Iteration],
    curves: Mapping[str, Sequence[tuple[int, float]]],
    stream: IO[bytes],
) -> None:
    """On the left an orbit of a game of two actions each, and the paths of R-NaD's iterations; on
    the right curves of (step, NashConv). Raises `InputError` without matplotlib."""
    figure = new_figure(10, 4.5)
    paths, falls = figure.subplots(1, 2)
    paths.plot(circle[0][:, 0], circle[1][:, 0], linewidth=1, label="eta = 0")
    x, y = (np.concatenate([iteration.path[k][:, 0] for iteration in iterations]) for k in (0, 1))
    paths.plot(x, y, linewidth=1, label="R-NaD")
    paths.plot(x[-1], y[-1], "o", color="black", markersize=4)
    paths.set_xlabel("first action of player 0")
    paths.set_ylabel("first action of player 1")
    paths.set_xlim(0, 1)
    paths.set_ylim(0, 1)
    for name, points in curves.items():
        falls.plot(*zip(*points, strict=True), linewidth=1, label=name)
    falls.set_xlabel("step")
    falls.set_ylabel("NashConv")
    falls.set_yscale("log")
    for axes in (paths, falls):
        axes.grid(alpha=0.3)
        axes.legend(loc="lower left")
    save(figure, stream)


def _plain(text: str) -> str:
    """`text` with its $ as they are: a legend would read mathematics between two."""
    return printable(text).replace("$", r"\$")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches. Raises `InputError` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'stratkit[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, stream: IO[bytes]) -> None:
    """Writes the figure as PNG, the same bytes for the same picture."""
    figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
