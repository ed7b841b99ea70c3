"""Ratings as a picture."""

from __future__ import annotations

from typing import IO

from stratkit.errors import InputError, printable
from stratkit.rating.report import Report


def plot(report: Report, stream: IO[bytes]) -> None:
    """Writes a PNG with every player's rating and interval, the strongest on top.

    Raises `InputError` without matplotlib, which is an extra.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'stratkit[plot]'") from None

    standings = report.standings[::-1]
    elo = [s.elo for s in standings]
    below = [s.elo - s.low for s in standings]
    above = [s.high - s.elo for s in standings]
    figure = Figure(figsize=(8, 1.2 + 0.45 * len(standings)), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(elo, range(len(elo)), xerr=[below, above], fmt="o", color="#205080", capsize=4)
    axes.set_yticks(range(len(elo)), [printable(s.name) for s in standings])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a name may have a $
    axes.set_ylim(-0.6, len(elo) - 0.4)
    axes.set_xlabel(f"Elo with 95 % interval, {report.games} games of {report.game}")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
