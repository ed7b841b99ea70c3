"""Draws exploitability by the updates of a search: Figure 6 of ReBeL's paper, for one game.

solvers.py PICTURE JSON...

A file is of `exploit --json`, and is called SOLVER-exact-T-K.json or SOLVER-learned-T-K.json: T
updates, K games. Leaves are solved to the end of the game, or valued by a network that self-play
with the same solver has taught.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stratkit.errors import InputError
from stratkit.pictures import COLOURS, new_figure, save
from stratkit.script import Parser

NAME = re.compile(r"(cfr|cfr-avg|fp|linear-fp|flop)-(exact|learned)-(\d+)-\d+")
PANELS = {"exact": "exact leaves", "learned": "a network at the leaves"}


class Point(NamedTuple):
    """What a search of T updates is exploited for, and the standard error."""

    updates: int
    exploitability: float
    error: float


def read(paths: Iterable[str]) -> dict[tuple[str, str], list[Point]]:
    """The points of each solver and kind of leaves, by T; `InputError` names a file that is none of
    these."""
    found: dict[tuple[str, str], list[Point]] = {}
    for path in map(pathlib.Path, paths):
        words = NAME.fullmatch(path.stem)
        if not words:
            what = "not called SOLVER-exact-T-K.json or SOLVER-learned-T-K.json"
            raise InputError(what, file=str(path))
        try:
            (policy,) = json.loads(path.read_text())["policies"]
            point = Point(int(words[3]), policy["exploitability"], policy["nash_conv_error"] / 2)
        except (ValueError, KeyError) as error:
            raise InputError("not of `exploit --json`", file=str(path)) from error
        found.setdefault((words[1], words[2]), []).append(point)
    return {key: sorted(points) for key, points in sorted(found.items())}


def main(picture: str, paths: Sequence[str]) -> None:
    curves = read(paths)
    colours = dict(zip(sorted({solver for solver, _ in curves}), COLOURS, strict=False))
    updates = sorted({point.updates for points in curves.values() for point in points})
    figure = new_figure(9, 3.8)
    panels = dict(zip(PANELS, figure.subplots(1, 2, sharey=True), strict=True))
    for (solver, leaves), points in curves.items():
        for point in points:
            print(solver, leaves, *(f"{number:.6g}" for number in point), sep="\t")
        x, y, errors = zip(*points, strict=True)
        panels[leaves].errorbar(
            x, y, yerr=errors, fmt="o-", capsize=3, color=colours[solver], label=solver
        )
    for leaves, axes in panels.items():
        axes.set(title=PANELS[leaves], xscale="log", yscale="log", xlabel="updates, T")
        axes.set_xticks(updates, map(str, updates))
        axes.set_xticks([], minor=True)
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    panels["exact"].set(ylabel="exploitability")
    with open(picture, "wb") as stream:
        save(figure, stream)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("paths", metavar="JSON", nargs="+")
    with parser.telling():
        main(**vars(parser.parse_args()))
