"""Pictures. They need matplotlib, which is an extra."""

from __future__ import annotations

from collections import defaultdict
from typing import IO, TYPE_CHECKING

from stratkit.errors import printable
from stratkit.pictures import PNG, new_figure, plain, save
from stratkit.solve.curve import LearnedReport
from stratkit.solve.report import Entry, ExploitabilityReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_HEIGHT = 1e-9  # of an exploitability on a logarithmic axis


def plot(report: ExploitabilityReport, stream: IO[bytes], form: str = PNG) -> None:
    """Exploitability: of checkpoints over their steps, of all others as lines across.

    Raises `InputError` without matplotlib.
    """
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    curves: dict[str, list[Entry]] = defaultdict(list)
    for entry in report.entries:
        if entry.opponent is not None:
            continue
        if entry.step is None:
            _line(axes, entry)
        else:
            curves[entry.policy].append(entry)
    for policy, entries in curves.items():
        points = sorted((entry.step or 0, _height(entry)) for entry in entries)
        (line,) = axes.plot(*zip(*points, strict=True), "o-", markersize=4)
        line.set_label(plain(policy))
    if curves:
        axes.set_xlabel("step")
        axes.legend()
    else:
        axes.set_xticks([])
    axes.set_yscale("log")
    axes.set_ylabel(f"exploitability in {plain(report.game)}")
    axes.grid(alpha=0.3)
    save(figure, stream, form)


def plot_learned(report: LearnedReport, stream: IO[bytes], form: str = PNG) -> None:
    """What exploiters win over their steps, with intervals, the best of them in fresh games, and
    the exact exploitability as a line across. Raises `InputError` without matplotlib."""
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    steps = [mark.step for mark in report.marks]
    curves = [
        (f"seed {some[0].seed}", some, "o-")
        for some in zip(*(mark.seeds for mark in report.marks), strict=True)
    ]
    best = tuple(mark.best for mark in report.marks)
    curves += [("best, fresh games", best, "s--")] if best[-1].fresh else []
    for label, some, style in curves:
        ends = [[one.value - one.low for one in some], [one.high - one.value for one in some]]
        values = [one.value for one in some]
        axes.errorbar(steps, values, ends, fmt=style, markersize=4, capsize=3, label=label)
    if report.exact is not None:
        axes.axhline(report.exact, color="grey", linestyle="--", linewidth=1, label="exact")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xlabel("steps of an exploiter")
    axes.set_ylabel(f"won from {plain(report.player)}")
    axes.legend()
    axes.grid(alpha=0.3)
    save(figure, stream, form)


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
    return max(entry.result.exploitability, MIN_HEIGHT)
