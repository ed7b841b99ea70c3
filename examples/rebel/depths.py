"""Draws exploitability by the depth of searches in play, and by the games of the mixture.

depths.py PICTURE JSON...

A file is of `exploit --json`: searches of several depths by one network. On the left are all games,
each by the same number of repeated games; on the right the one that was judged by most numbers of
them. Where the average counts inside a subgame, not the iterate, it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stratkit.errors import InputError
from stratkit.pictures import COLOURS, new_figure, save
from stratkit.script import Parser

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Point(NamedTuple):
    """What a search is exploited for, and the standard error."""

    game: str
    depth: int
    repeats: int
    estimator: str
    exploitability: float
    error: float


def read(paths: Iterable[str]) -> list[Point]:
    """The points of some files; `InputError` names one that is none of these."""
    points = set()
    for path in paths:
        try:
            with open(path) as stream:
                report = json.load(stream)
            for one in report["policies"]:
                kind = str(report["game"]), int(one["depth"]), int(one["games"])
                judged = float(one["exploitability"]), one["nash_conv_error"] / 2
                points.add(Point(*kind, str(one["estimator"]), *judged))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "not of `exploit --json` with searches to a depth", file=path
            ) from error
    return sorted(points)


def draw(axes: Axes, curves: Sequence[tuple[str, list[Point]]], title: str) -> None:
    for (label, points), colour in zip(curves, COLOURS, strict=False):
        x, y = [point.depth for point in points], [point.exploitability for point in points]
        errors = [point.error for point in points]
        axes.errorbar(
            x, y, yerr=errors, fmt="o-", markersize=4, capsize=3, color=colour, label=label
        )
    axes.set(title=title, yscale="log", xlabel="decisions that a search looks ahead")
    axes.set_xticks(sorted({point.depth for _, points in curves for point in points}))
    axes.grid(alpha=0.3)
    axes.legend()


def main(picture: str, paths: Sequence[str]) -> None:
    found = read(paths)
    for point in found:
        print(*point[:4], *(f"{number:.5f}" for number in point[4:]), sep="\t")
    drawn = [point for point in found if point.estimator == "average"]
    if not drawn:
        raise InputError("no search was judged by its average")
    games = sorted({point.game for point in drawn})
    numbers = {game: {x.repeats for x in drawn if x.game == game} for game in games}
    both = set.intersection(*numbers.values())
    if not both:
        raise InputError("there is no number of games by which all of them were judged")
    most = max(games, key=lambda game: len(numbers[game]))
    left = [
        (game, [x for x in drawn if (x.game, x.repeats) == (game, max(both))]) for game in games
    ]
    right = [
        (f"{number} games", [x for x in drawn if (x.game, x.repeats) == (most, number)])
        for number in sorted(numbers[most])
    ]
    figure = new_figure(9, 3.8)
    panels = figure.subplots(1, 2, sharey=True)
    draw(panels[0], left, f"mixtures of {max(both)} games")
    draw(panels[1], right, most)
    panels[0].set(ylabel="exploitability")
    with open(picture, "wb") as stream:
        save(figure, stream)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("paths", metavar="JSON", nargs="+")
    with parser.telling():
        main(**vars(parser.parse_args()))
