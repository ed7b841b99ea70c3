"""Draws exploitability by CPU minute: what checkpoints of ReBeL and R-NaD play, and tabular CFR.

curve.py PICTURE T REPEATS GAME...

GAME is such as 1x4: the folders 1x4-deep, 1x4, 1x4-fine and 1x4-rnad are runs of the Makefile here,
and 1x4-deep.times and so on what they cost; those that are there are drawn. ReBeL plays by searches
of T updates, REPEATS games of which are exploited: 1x4-deep to depth 4 or as public states say, the
others to depth 2. What was measured is kept in RUN-exploited, and is not measured again.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from stratkit.declared import whole
from stratkit.engine import Game, Tree
from stratkit.pictures import COLOURS, new_figure, save
from stratkit.script import Parser, argument
from stratkit.solve.cfr import CFR, EXPONENTS
from stratkit.solve.exploitability import evaluate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Search(NamedTuple):
    """How a network is searched with: T, the games that are exploited, and a PLAYER's keys of the
    depth, with a comma."""

    updates: str
    repeats: str
    depth: str = "depth=2,"


ITERATIONS = [2**n for n in range(2, 11)]
PAPER = {"1x4": 0.017, "1x5": 0.015, "1x6": 0.024, "2x3": 0.017}  # its table 2, T = 1,024
BY_STATES = ("1x6", "2x3")  # searches of GAME-deep, but where they reach the end of the game
Point = tuple[float, float, float]  # CPU minutes, exploitability, its standard error


def tabular(game: str) -> list[Point]:
    """What linear CFR on the whole tree comes to, with the time that it takes to build that."""
    begun, points = time.process_time(), []
    tree = Tree(Game(game))
    solver = CFR(tree, EXPONENTS["linear-cfr"])
    for wanted in ITERATIONS:
        while solver.iteration < wanted:
            solver.step()
        stopped = time.process_time()
        found = evaluate(tree, solver.solution()).exploitability
        points.append(((stopped - begun) / 60, found, 0.0))
        begun += time.process_time() - stopped
    return points


def cost(run: pathlib.Path) -> float:
    """The CPU minutes of a run."""
    times = re.findall(r"(\d+)m([\d.]+)s", run.with_name(f"{run.name}.times").read_text())
    return sum(int(minutes) + float(rest) / 60 for minutes, rest in times)


def learned(
    run: pathlib.Path, game: str, search: Search | None, before: float = 0.0
) -> list[Point]:
    """What the checkpoints of a run play, or search: the last, and of each that is drawn the newest
    of at most half of its steps. `before`: CPU minutes of the run that it goes on from."""
    if not run.is_dir():
        return []
    done = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    points: list[Point] = []
    wanted = done
    for checkpoint in sorted((run / "checkpoints").iterdir(), reverse=True):
        step = int(checkpoint.stem.removeprefix("step-"))
        if 0 < step <= wanted:
            wanted = step // 2
            # All steps of a run cost the same, and so do their examples.
            minutes = before + cost(run) * step / done
            points.append((minutes, *exploited(checkpoint, game, search)))
    return points


def exploited(checkpoint: pathlib.Path, game: str, search: Search | None) -> tuple[float, float]:
    """The exploitability and its standard error."""
    run = checkpoint.parents[1]
    folder = run.with_name(f"{run.name}-exploited")
    kept = folder / ("-".join([checkpoint.stem, *(search[:2] if search else ())]) + ".json")
    if not kept.exists():
        folder.mkdir(exist_ok=True)
        words = [str(checkpoint)]
        if search:
            keys = f"search=cfr,iterations={search.updates},{search.depth}"
            words = [f"{keys}{checkpoint}", "--repeats", search.repeats]
        command = ["exploit", game, *words, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        part = kept.with_suffix(".part")
        part.write_bytes(done.stdout)
        part.replace(kept)
    (found,) = json.loads(kept.read_text())["policies"]
    return found["exploitability"], found.get("nash_conv_error", 0.0) / 2


def draw(axes: Axes, name: str, updates: str, repeats: str) -> None:
    """One game."""
    game, run, fine = f"liars_dice:{name}", pathlib.Path(name), pathlib.Path(f"{name}-fine")
    search, deep = Search(updates, repeats), pathlib.Path(f"{name}-deep")
    ahead = search._replace(depth="" if name in BY_STATES else "depth=4,")
    curves = {
        f"ReBeL, T = {updates}, {repeats} games": learned(deep, game, ahead),
        "ReBeL, depth 2": learned(run, game, search),
        "then by more updates": learned(fine, game, search, cost(run)) if fine.is_dir() else [],
        "R-NaD, no search": learned(pathlib.Path(f"{run}-rnad"), game, None),
        "linear CFR, the whole tree": tabular(game),
    }
    for (label, points), colour in zip(curves.items(), COLOURS, strict=False):
        if not points:
            continue
        for minutes, found, error in points:
            print(game, label, f"{minutes:.4f}\t{found:.5f}\t{error:.5f}", sep="\t", flush=True)
        x, y, errors = zip(*points, strict=True)
        axes.errorbar(
            x, y, yerr=errors, fmt="o-", markersize=4, capsize=3, color=colour, label=label
        )
    if name in PAPER:
        axes.axhline(PAPER[name], color="grey", linestyle="--", label="ReBeL in the paper")
    axes.set(title=game, xscale="log", yscale="log")
    axes.set(xlabel="CPU minutes", ylabel="exploitability")
    axes.grid(alpha=0.3)


def main(picture: str, updates: int, repeats: int, games: Sequence[str]) -> None:
    columns = min(2, len(games))
    rows = -(-len(games) // columns)
    figure = new_figure(5 * columns, 3.6 * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, name in zip(panels, games, strict=False):
        draw(axes, name, str(updates), str(repeats))
    for axes in panels[len(games) :]:
        axes.remove()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    with open(picture, "wb") as stream:
        save(figure, stream)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("picture", metavar="PICTURE")
    parser.add_argument("updates", metavar="T", type=argument(whole(1)))
    parser.add_argument("repeats", metavar="REPEATS", type=argument(whole(1)))
    parser.add_argument("games", metavar="GAME", nargs="+")
    asked = parser.parse_args()
    try:
        with parser.telling():
            main(**vars(asked))
    except subprocess.CalledProcessError as error:
        sys.exit(f"curve.py: {' '.join(error.cmd)}: status {error.returncode}")
