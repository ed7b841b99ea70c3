"""Draws what a network of Diplomacy is worth by CPU minute: its share of the squares alone among
others, and that of one of these among networks.

    python examples/diplomacy/curve.py PICTURE MINUTES TABLE... [--before MINUTES]

TABLE is of `rate --score squares --json`, of two players, and its name ends with the step, as in
marks-1000.json. The first player of its matches is the network. The last step has taken so many
MINUTES, and the others their part of them; what the network began with took those before.
"""

import json
import pathlib
import re

import numpy as np

from stratkit.declared import number
from stratkit.errors import InputError
from stratkit.pictures import COLOURS, new_figure, save
from stratkit.script import Parser, argument

Point = tuple[float, float, float]  # the mean, and the ends of its interval


def points(table: pathlib.Path, network: str) -> tuple[dict[bool, Point], float]:
    """By whether the network is the one among others; and what is equal."""
    try:
        read = json.loads(table.read_text())
        cells, equal = read["cells"], read["equal"]
    except (ValueError, KeyError, TypeError):
        raise InputError("not of rate --score squares --json", file=str(table)) from None
    found = {cell["one"] == network: (cell["mean"], cell["low"], cell["high"]) for cell in cells}
    if len(found) != 2:
        raise InputError(f"no table of {network} and another player", file=str(table))
    return found, equal


def step_of(table: pathlib.Path) -> int:
    """The step at the end of its name."""
    step = re.search(r"-(\d+)$", table.stem)
    if step is None:
        raise InputError("no step at the end of the name", file=str(table))
    return int(step[1])


def main(
    picture: str, minutes: float, before: float, network: str, tables: list[pathlib.Path]
) -> None:
    by_step = {step_of(table): points(table, network) for table in tables}
    steps = sorted(by_step)
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for alone, label, colour in (
        (True, "the network alone among others", COLOURS[0]),
        (False, "one other among networks", COLOURS[1]),
    ):
        means, low, high = zip(*(by_step[step][0][alone] for step in steps), strict=True)
        beside = (np.subtract(means, low), np.subtract(high, means))
        x = [before + minutes * step / max(steps[-1], 1) for step in steps]
        axes.errorbar(x, means, yerr=beside, fmt="o-", capsize=3, color=colour, label=label)
    axes.axhline(by_step[steps[0]][1], color="grey", linestyle="--", label="equal")
    imitation = f", {before:g} of them imitation" if before else ""
    axes.set(xlabel=f"CPU minutes of all learning{imitation}", ylabel="share of the squares")
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.legend()
    axes.grid(alpha=0.3)
    with open(picture, "wb") as stream:
        save(figure, stream)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("minutes", metavar="MINUTES", type=argument(number(above=0, most=1e6)))
    parser.add_argument("tables", metavar="TABLE", type=pathlib.Path, nargs="+")
    parser.add_argument("--network", metavar="NAME", default="network", help="its name there")
    parser.add_argument(
        "--before", metavar="MINUTES", type=argument(number(0, 1e6)), default=0, help="of imitation"
    )
    asked = parser.parse_args()
    with parser.telling():
        main(asked.picture, asked.minutes, asked.before, asked.network, asked.tables)
