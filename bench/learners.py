#!/usr/bin/env python
"""Draws what learners score against frozen players by their steps, from a table of a page.

    python bench/learners.py bench/learning-barrage.md bench/learners-barrage.png

The head of the table begins with *learner of*; its other cells are numbers of steps. A row is a
learner. Those of one frozen player share a colour: its name comes first, up to a comma. Intervals
are of 95 %, for the number of GAMES in a cell.
"""

from __future__ import annotations

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from stratkit.declared import whole
from stratkit.notation.scores import score
from stratkit.pictures import COLOURS, form_of, new_figure, save
from stratkit.script import Parser, argument

HEAD = "| learner of "
MARKERS = "os^Dv<>P"


def rows_of(page: str) -> list[tuple[str, list[tuple[int, float]]]]:
    """Each learner, and its scores in percent by steps."""
    table = re.sub("[*`]", "", page[page.index(HEAD) :].split("\n\n")[0]).splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    steps = [int(cell.replace(",", "")) for cell in head[1:]]
    return [
        (name, [(step, float(cell)) for step, cell in zip(steps, cells, strict=True) if cell])
        for name, *cells in rows
    ]


def main(page: str, picture: str, games: int) -> None:
    form = form_of(picture)
    figure = new_figure(10, 5)
    axes = figure.subplots()
    colours: dict[str, str] = {}
    rows = rows_of(pathlib.Path(page).read_text())
    for (name, points), marker in zip(rows, MARKERS * len(rows), strict=False):
        colour = colours.setdefault(name.split(",")[0], COLOURS[len(colours) % len(COLOURS)])
        won = [round(y * games / 100) for _, y in points]
        ends = [score((here, 0, games - here)) for here in won]
        axes.errorbar(
            [step for step, _ in points],
            [y for _, y in points],
            [
                [100 * (share - low) for share, low, _ in ends],
                [100 * (high - share) for share, _, high in ends],
            ],
            fmt=f"{marker}-",
            color=colour,
            markersize=5,
            capsize=2,
            linewidth=1,
            label=name,
        )
    axes.axhline(50, color="black", linewidth=0.5)
    axes.set_xscale("log")
    steps = sorted({step for _, points in rows for step, _ in points})
    axes.set_xticks(steps, [f"{step:,}" for step in steps])
    axes.minorticks_off()
    axes.set_xlabel("steps of a learner")
    axes.set_ylabel("its score against the frozen player, percent")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    with open(picture, "wb") as stream:
        save(figure, stream, form)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("page", metavar="PAGE")
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("games", metavar="GAMES", nargs="?", default=400, type=argument(whole(1)))
    main(**vars(parser.parse_args()))
