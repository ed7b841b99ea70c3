"""Draws Figure 3 of the DeepNash paper: R-NaD on matching pennies by replicator dynamics.

    python examples/figure3.py figure3.png

prints each iteration's fixed point and its NashConv, and draws the paths to the fixed points and
the Lyapunov function, which falls along each. (Needs matplotlib, the extra [plot].)
"""

import sys

import numpy as np

from stratkit.solve.plot import plot_iterations
from stratkit.solve.replicator import MATCHING_PENNIES, iterate, nash_conv

start = np.array([0.999, 0.001])
iterations = iterate(MATCHING_PENNIES, (start, start), 5, eta=0.2)
for iteration in iterations:
    policies = "  ".join(f"[{p[0]:.4f}, {p[1]:.4f}]" for p in iteration.fixed)
    print(f"{policies}  NashConv {nash_conv(MATCHING_PENNIES, iteration.fixed):.4f}")
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as stream:
        plot_iterations(iterations, stream)
