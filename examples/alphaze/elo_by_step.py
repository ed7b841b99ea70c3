"""Elo by training step: `elo_by_step.py RATING.json [RATING.json ...] PICTURE.png`.

RATING.json is of `rate --json`; its players are called RUN@STEP, but for those left out of the
picture. One has its intervals. Several are seeds of the same runs: shown are their mean, and the
lowest and the highest of them.
"""

from __future__ import annotations

import json
import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from stratkit.errors import InputError
from stratkit.script import Parser


def by_run(players: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The players of each run by step, each with its `step`."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for player in players:
        run, at, step = player["name"].rpartition("@")
        if at and step.isdigit():
            runs.setdefault(run, []).append({**player, "step": int(step)})
    return {run: sorted(found, key=lambda p: p["step"]) for run, found in sorted(runs.items())}


def steps_of(runs: dict[str, list[dict[str, Any]]]) -> dict[str, list[int]]:
    """The steps of each run."""
    return {run: [player["step"] for player in players] for run, players in runs.items()}


def heights(seeds: list[list[dict[str, Any]]]) -> list[tuple[float, float, float]]:
    """Elo at each step, and its ends: the interval of one seed, the range of several."""
    if len(seeds) == 1:
        return [(player["elo"], player["low"], player["high"]) for player in seeds[0]]
    elo = [[player["elo"] for player in at] for at in zip(*seeds, strict=True)]
    return [(statistics.fmean(found), min(found), max(found)) for found in elo]


def read(rating: str, keys: Sequence[str]) -> dict[str, Any]:
    """A table of ratings. `InputError`: it is none, has no player of a step, or lacks a number of
    one by these keys."""
    try:
        told: dict[str, Any] = json.loads(pathlib.Path(rating).read_text())
        runs = by_run(told["players"])
        if not runs:
            raise InputError("no player is called RUN@STEP", file=rating)
        for players in runs.values():
            _ = [float(player[key]) for player in players for key in keys]
        _ = told["game"], [anchor["name"] for anchor in told["anchors"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        what = f"not of rate --json, with {', '.join(keys)} and anchors"
        raise InputError(what, file=rating) from None
    return told


def main(ratings: Sequence[str], picture: str) -> None:
    keys = ("elo", "low", "high") if len(ratings) == 1 else ("elo",)
    told = [read(rating, keys) for rating in ratings]
    seeds = [by_run(rating["players"]) for rating in told]
    for rating, seed in zip(ratings, map(steps_of, seeds), strict=True):
        if seed != steps_of(seeds[0]):
            raise InputError(f"other runs or steps than {ratings[0]}", file=rating)
    figure, axes = plt.subplots(figsize=(6, 4))
    for run, players in seeds[0].items():
        found = heights([seed[run] for seed in seeds])
        sides = [[at[0] - at[1] for at in found], [at[2] - at[0] for at in found]]
        steps = [player["step"] for player in players]
        axes.errorbar(steps, [at[0] for at in found], yerr=sides, capsize=3, marker="o", label=run)
    anchors = ", ".join(anchor["name"] for anchor in told[0]["anchors"])
    axes.set(xlabel="step", ylabel=f"Elo above {anchors}", title=told[0]["game"])
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, format="png", dpi=120)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("ratings", metavar="RATING.json", nargs="+")
    parser.add_argument("picture", metavar="PICTURE.png")
    with parser.telling():
        main(**vars(parser.parse_args()))
