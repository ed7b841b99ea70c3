"""Ratings as pictures (PNG). They need matplotlib, which is an extra."""

from __future__ import annotations

from typing import IO

from stratkit.errors import InputError, printable
from stratkit.pictures import new_figure, save
from stratkit.rating.report import Report, Standing
from stratkit.rating.svg import curve_of

BLUE = "#205080"


def plot(report: Report, stream: IO[bytes]) -> None:
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
    axes.errorbar(elo, range(len(elo)), xerr=errors, fmt="o", color=BLUE, capsize=4)
    axes.set_yticks(range(len(elo)), [printable(s.name) for s in standings])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a name may have a $
    axes.set_ylim(-0.6, len(elo) - 0.4)
    for row in range(1, len(standings)):
        if standings[row].group != standings[row - 1].group:
            axes.axhline(row - 0.5, color="black", linewidth=0.8)
    axes.set_xlabel(_caption(report))
    axes.grid(axis="x", alpha=0.3)
    save(figure, stream)


def plot_curve(report: Report, stream: IO[bytes]) -> None:
    """The ratings of the checkpoints over their steps, and those of all others as lines across.

    Raises `InputError` when no player is a checkpoint by its name, and without matplotlib.
    """
    steps, points, others = curve_of(report)
    if not points:
        raise InputError("no player's name ends with a step, such as run@100: there is no curve")
    figure = new_figure(8, 4.5)
    axes = figure.subplots()
    low, high = zip(*map(_interval, points), strict=True)
    axes.fill_between(steps, low, high, color=BLUE, alpha=0.2)
    axes.plot(steps, [s.elo for s in points], "o-", color=BLUE)
    for other in others:
        axes.axhline(other.elo, color="grey", linestyle="--")
        axes.text(
            steps[-1], other.elo, printable(other.name), ha="right", va="bottom", parse_math=False
        )
    axes.set_xlabel("step")
    axes.set_ylabel(_caption(report))
    axes.grid(alpha=0.3)
    save(figure, stream)


def _interval(s: Standing) -> tuple[float, float]:
    """The rating itself where no interval is known."""
    return (s.elo, s.elo) if s.low is None or s.high is None else (s.low, s.high)


def _caption(report: Report) -> str:
    notes = report.notes()
    return "\n".join([*notes[1::-1], *(notes[-1:] if report.groups > 1 else [])])
