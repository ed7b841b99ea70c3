"""Draws Figure 3 of the DeepNash paper: R-NaD on matching pennies by replicator dynamics.

    python examples/figure3.py figure3.png

prints each iteration's fixed point and its NashConv, and draws the paths to the fixed points and
the Lyapunov function, which falls along each. (Needs matplotlib, the extra [plot].)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import numpy as np
from replicator import MATCHING_PENNIES, Iteration, iterate, nash_conv

from stratkit.script import Parser
from stratkit.solve.plot import new_figure, save


def plot_iterations(iterations: Sequence[Iteration], stream: IO[bytes]) -> None:
    """R-NaD on a game of two actions each: the paths to the fixed points of the iterations, and the
    Lyapunov function along each. Raises `InputError` without matplotlib."""
    figure = new_figure(10, 4.5)
    paths, falls = figure.subplots(1, 2)
    for number, iteration in enumerate(iterations):
        x, y = iteration.path[0][:, 0], iteration.path[1][:, 0]
        (line,) = paths.plot(x, y, linewidth=1)
        paths.plot(x[-1], y[-1], "o", color=line.get_color(), label=f"fixed point {number}")
        falls.plot(iteration.lyapunov[:-1], color=line.get_color(), label=f"iteration {number}")
    paths.set_xlabel("first action of player 0")
    paths.set_ylabel("first action of player 1")
    paths.set_xlim(0, 1)
    paths.set_ylim(0, 1)
    falls.set_xlabel("steps of the replicator dynamics")
    falls.set_ylabel("Lyapunov function")
    falls.set_yscale("log")
    for axes in (paths, falls):
        axes.grid(alpha=0.3)
        axes.legend()
    save(figure, stream)


parser = Parser(__doc__)
parser.add_argument("picture", metavar="PICTURE", nargs="?")
asked = parser.parse_args()
start = np.array([0.999, 0.001])
iterations = iterate(MATCHING_PENNIES, (start, start), 5, eta=0.2)
for iteration in iterations:
    policies = "  ".join(f"[{p[0]:.4f}, {p[1]:.4f}]" for p in iteration.fixed)
    print(f"{policies}  NashConv {nash_conv(MATCHING_PENNIES, iteration.fixed):.4f}")
if asked.picture is not None:
    with open(asked.picture, "wb") as stream:
        plot_iterations(iterations, stream)
