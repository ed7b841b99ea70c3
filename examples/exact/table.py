"""What the cells of examples/exact/Makefile have brought: `table.py RUNS [PICTURE]`.

RUNS/GAME/LEARNER-SEED/MARK.json is of `exploit --json`, of the last policy and of the average after
so many decisions; cpu.txt beside it has the CPU seconds. Prints a Markdown table, a row for each
learner of a game, and draws exploitability of averages by decisions. Intervals are those of
Student's t, over seeds; one seed has none, and more than ten are the first ten.
"""

from __future__ import annotations

import json
import pathlib
import re
import statistics
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from stratkit.errors import InputError
from stratkit.pictures import form_of
from stratkit.script import Parser

# Of Student's t, the 97.5 % quantiles with 1, 2, ... degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
POLICIES = ("last", "average")
Cells = dict[int, dict[str, list[float]]]  # by mark: exploitability of either policy, by seed


def read(folder: pathlib.Path) -> dict[str, Cells]:
    """The cells of a game by learner. `InputError` names a file that is none."""
    found: dict[str, Cells] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for path in sorted(folder.glob("*-*/[0-9]*.json")):
        learner = path.parent.name.rpartition("-")[0]
        try:
            policies = json.loads(path.read_text())["policies"]
            judged = [float(policy["exploitability"]) for policy in policies]
            for name, value in zip(POLICIES, judged, strict=True):
                found[learner][int(path.stem)][name].append(value)
        except (ValueError, KeyError, TypeError):
            what = "not of exploit --json, with the last policy and the average"
            raise InputError(what, file=str(path)) from None
    return found


def minutes(folder: pathlib.Path, learner: str) -> str:
    """CPU minutes of a run of this learner, in the mean, of self-play and learning; nothing, if no
    run says them."""
    runs = [
        path
        for path in folder.glob(f"{learner}-*/cpu.txt")
        if path.parent.name.rpartition("-")[0] == learner
    ]
    spent = re.findall(r"(\d+)m([\d.]+)s", " ".join(path.read_text() for path in runs))
    return f"{sum(int(m) + float(s) / 60 for m, s in spent) / len(runs):.1f}" if runs else ""


def interval(values: list[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval."""
    values = values[: len(STUDENT) + 1]
    n, mean = len(values), statistics.fmean(values)
    if n == 1:
        return mean, 0.0
    return mean, STUDENT[n - 2] * statistics.stdev(values) / n**0.5


def name_of(folder: str) -> str:
    """The game's, of which the Makefile makes folders."""
    return folder.replace("-", ":")


def short(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def cell(values: list[float]) -> str:
    mean, half = interval(values)
    return f"{short(mean)} ± {short(half)}" if len(values) > 1 else short(mean)


def print_table(games: dict[str, dict[str, Cells]], root: pathlib.Path) -> None:
    """A row for each learner of a game: averages at each mark, and the last policy at the last."""
    marks = sorted({mark for of in games.values() for cells in of.values() for mark in cells})
    titles = ["game", "learner", *(f"average after {mark:,}" for mark in marks)]
    titles += ["of each seed", "last policy", "CPU minutes"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for game, learners in games.items():
        for learner, cells in learners.items():
            averages = [cell(cells[mark]["average"]) if mark in cells else "" for mark in marks]
            end = cells[max(cells)]
            seeds = ", ".join(short(value) for value in end["average"])
            whole = len(end["last"]) == len(cells[min(cells)]["last"])
            cost = minutes(root / game, learner) if whole else ""
            row = (f"`{name_of(game)}`", learner, *averages, seeds, cell(end["last"]), cost)
            print(f"| {' | '.join(row)} |")


def draw(games: dict[str, dict[str, Cells]], picture: str) -> None:
    across = min(3, len(games))
    down = -(-len(games) // across)
    figure, axes = plt.subplots(down, across, figsize=(4.5 * across, 3.5 * down), squeeze=False)
    for one in axes.flat[len(games) :]:
        one.remove()
    for one, (game, learners) in zip(axes.flat, games.items(), strict=False):
        for number, (learner, marks) in enumerate(learners.items()):
            ends = [interval(marks[mark]["average"]) for mark in sorted(marks)]
            means, errors = zip(*ends, strict=True)
            beside = [mark * (1 + 0.03 * number) for mark in sorted(marks)]  # no bar hides another
            at = {"color": f"C{number}", "label": learner, "ms": 3, "capsize": 2, "lw": 1.2}
            one.errorbar(beside, means, errors, fmt="o-", **at)
        one.set(
            title=name_of(game),
            xlabel="decisions",
            ylabel="exploitability",
            xscale="log",
            yscale="log",
        )
        one.legend(fontsize=8)
    figure.suptitle("exploitability of averages, with 95 % intervals over seeds")
    figure.tight_layout()
    figure.savefig(picture, format=form_of(picture), dpi=110)


def main(runs: pathlib.Path, picture: str | None) -> None:
    picture = picture or str(runs / "exploitability.png")
    form_of(picture)
    every = {path.name: read(path) for path in sorted(runs.iterdir()) if path.is_dir()}
    found = {game: learners for game, learners in every.items() if learners}
    if not found:
        raise InputError("no GAME/LEARNER-SEED/MARK.json", file=str(runs))
    print_table(found, runs)
    draw(found, picture)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("runs", metavar="RUNS", type=pathlib.Path)
    parser.add_argument("picture", metavar="PICTURE", nargs="?")
    with parser.telling():
        main(**vars(parser.parse_args()))
