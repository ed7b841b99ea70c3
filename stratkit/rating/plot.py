"""Ratings as pictures. They need matplotlib, which is an extra."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from stratkit.errors import InputError, printable
from stratkit.pictures import COLOURS, PNG, legend, new_figure, plain, save
from stratkit.rating.report import RatingReport, Standing
from stratkit.rating.svg import curves_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(report: RatingReport, stream: IO[bytes], form: str = PNG) -> None:
    """Every player's rating and interval, the strongest on top. `InputError` without matplotlib."""
    standings = [s for part in report.parts() for s in part.standings][::-1]
    elo = [s.elo for s in standings]
    low, high = zip(*map(_interval, standings), strict=True)
    errors = [
        [s.elo - x for s, x in zip(standings, low, strict=True)],
        [x - s.elo for s, x in zip(standings, high, strict=True)],
    ]
    figure = new_figure(8, 1.2 + 0.45 * len(standings))
    axes = figure.subplots()
    axes.errorbar(elo, range(len(elo)), xerr=errors, fmt="o", color=COLOURS[0], capsize=4)
    axes.set_yticks(range(len(elo)), [printable(s.name) for s in standings])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a name may have a $
    axes.set_ylim(-0.6, len(elo) - 0.4)
    for row in range(1, len(standings)):
        if standings[row].group != standings[row - 1].group:
            axes.axhline(row - 0.5, color="black", linewidth=0.8)
    _label(axes, report)
    axes.set_xlabel("Elo")
    axes.grid(axis="x", alpha=0.3)
    save(figure, stream, form)


def plot_curve(report: RatingReport, stream: IO[bytes], form: str = PNG) -> None:
    """The ratings of the checkpoints of each run over their steps, and those of all others as lines
    across.

    Raises `InputError` when no player is a checkpoint by its name, and without matplotlib.
    """
    curves, others = curves_of(report)
    if not curves:
        raise InputError("no player's name ends with a step, such as run@100: there is no curve")
    figure = new_figure(8, 4.8 + 0.2 * ((len(curves) + 2) // 3))
    axes = figure.subplots()
    for number, (run, points) in enumerate(curves.items()):
        steps, standings = zip(*points, strict=True)
        low, high = zip(*map(_interval, standings), strict=True)
        colour, elo = COLOURS[number % len(COLOURS)], [s.elo for s in standings]
        axes.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(steps, elo, "o-", color=colour, markersize=5, label=plain(run))
        if len(steps) == 1:
            axes.vlines(steps, low, high, color=colour, alpha=0.4)
    for other in others:
        axes.axhline(other.elo, color="grey", linestyle="--", linewidth=1)
        axes.annotate(
            printable(other.name),
            (1, other.elo),
            xycoords=axes.get_yaxis_transform(),
            ha="right",
            va="bottom",
            parse_math=False,
        )
    _label(axes, report)
    axes.set_xlabel("step")
    axes.set_ylabel("Elo")
    axes.grid(alpha=0.3)
    legend(axes)
    save(figure, stream, form)


def _interval(s: Standing) -> tuple[float, float]:
    """The rating itself where no interval is known."""
    return (s.elo, s.elo) if s.low is None or s.high is None else (s.low, s.high)


def _label(axes: Axes, report: RatingReport) -> None:
    """How the ratings came about, as the title."""
    notes = report.notes()
    shown = [*notes[:2], *(notes[-1:] if report.groups > 1 else [])]
    axes.set_title("\n".join(map(plain, shown)), fontsize=9)
