"""Elo by training step, with intervals: `elo_by_step.py RATING.json PICTURE.png`.

RATING.json is of `rate --json`; its players are called RUN@STEP, but for those left out of the
picture.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def by_run(players: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The players of each run by step, each with its `step`."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for player in players:
        run, at, step = player["name"].rpartition("@")
        if at and step.isdigit():
            runs.setdefault(run, []).append({**player, "step": int(step)})
    return {run: sorted(found, key=lambda p: p["step"]) for run, found in sorted(runs.items())}


def main(rating: str, picture: str) -> None:
    told = json.loads(pathlib.Path(rating).read_text())
    figure, axes = plt.subplots(figsize=(6, 4))
    for run, players in by_run(told["players"]).items():
        steps = [player["step"] for player in players]
        elo = [player["elo"] for player in players]
        sides = [[p["elo"] - p["low"] for p in players], [p["high"] - p["elo"] for p in players]]
        axes.errorbar(steps, elo, yerr=sides, capsize=3, marker="o", label=run)
    anchors = ", ".join(anchor["name"] for anchor in told["anchors"])
    axes.set(xlabel="step", ylabel=f"Elo above {anchors}", title=told["game"])
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, format="png", dpi=120)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: elo_by_step.py RATING.json PICTURE.png")
    main(*sys.argv[1:])
