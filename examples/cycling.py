"""Draws what regularisation is for: without it the dynamics go round and round.

    python examples/cycling.py cycling.png

On the left matching pennies: one orbit of the replicator dynamics with eta = 0, and R-NaD's
iterations with eta = 0.2. On the right R-NaD with exact expectations on Kuhn poker: NashConv over
the steps with eta = 0 and 0.2. Prints NashConv of both games. (Needs matplotlib, the extra [plot].)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO

import numpy as np
from replicator import MATCHING_PENNIES, Iteration, Profile, iterate, nash_conv, orbit

from stratkit.engine import Game, Tree
from stratkit.script import Parser
from stratkit.solve.exploitability import evaluate
from stratkit.solve.plot import new_figure, save
from stratkit.solve.tabular import RNaDSettings, TabularRNaD

STEPS, EVERY, BETA = 8000, 25, 4.0


def plot_cycling(
    circle: Profile,
    iterations: Sequence[Iteration],
    curves: Mapping[str, Sequence[tuple[int, float]]],
    stream: IO[bytes],
) -> None:
    """On the left an orbit of a game of two actions each, and the paths of R-NaD's iterations; on
    the right curves of (step, NashConv). Raises `InputError` without matplotlib."""
    figure = new_figure(10, 4.5)
    paths, falls = figure.subplots(1, 2)
    paths.plot(circle[0][:, 0], circle[1][:, 0], linewidth=1, label="eta = 0")
    x, y = (np.concatenate([iteration.path[k][:, 0] for iteration in iterations]) for k in (0, 1))
    paths.plot(x, y, linewidth=1, label="R-NaD")
    paths.plot(x[-1], y[-1], "o", color="black", markersize=4)
    paths.set_xlabel("first action of player 0")
    paths.set_ylabel("first action of player 1")
    paths.set_xlim(0, 1)
    paths.set_ylim(0, 1)
    for name, points in curves.items():
        falls.plot(*zip(*points, strict=True), linewidth=1, label=name)
    falls.set_xlabel("step")
    falls.set_ylabel("NashConv")
    falls.set_yscale("log")
    for axes in (paths, falls):
        axes.grid(alpha=0.3)
        axes.legend(loc="lower left")
    save(figure, stream)


parser = Parser(__doc__)
parser.add_argument("picture", metavar="PICTURE", nargs="?")
asked = parser.parse_args()
start = np.array([0.8, 0.2])
circle = orbit(MATCHING_PENNIES, (start, start), 300)
iterations = iterate(MATCHING_PENNIES, (start, start), 5, eta=0.2)
gains = [nash_conv(MATCHING_PENNIES, point) for point in zip(*circle, strict=True)]
print(f"matching pennies, eta 0: NashConv {min(gains):.3f} to {max(gains):.3f} for ever")
last = nash_conv(MATCHING_PENNIES, iterations[-1].fixed)
print(f"matching pennies, eta 0.2: NashConv {last:.4f} after 5 iterations")

tree = Tree(Game("kuhn"))
curves = {}
for eta in (0.0, 0.2):
    learner = TabularRNaD(tree, RNaDSettings(eta=eta, beta=BETA))
    curve = []
    for step in range(STEPS + 1):
        if step % EVERY == 0:
            curve.append((step, evaluate(tree, learner.solution()).nash_conv))
        learner.step()
    curves[f"eta = {eta:g}"] = curve
    half = [gain for step, gain in curve if step > STEPS / 2]
    print(f"Kuhn, eta {eta:g}: NashConv of the last half {np.mean(half):.4f}, max {max(half):.4f}")
if asked.picture is not None:
    with open(asked.picture, "wb") as stream:
        plot_cycling(circle, iterations, curves, stream)
