"""Draws what regularisation is for: without it the dynamics go round and round.

    python examples/cycling.py cycling.png

On the left matching pennies: one orbit of the replicator dynamics with eta = 0, and R-NaD's
iterations with eta = 0.2. On the right R-NaD with exact expectations on Kuhn poker: NashConv over
the steps with eta = 0 and 0.2. Prints NashConv of both games. (Needs matplotlib, the extra [plot].)
"""

import sys

import numpy as np

from stratkit.engine import Game, Tree
from stratkit.solve.plot import plot_cycling
from stratkit.solve.replicator import MATCHING_PENNIES, iterate, nash_conv, orbit
from stratkit.solve.tabular import Settings, TabularRNaD
from stratkit.solve.worth import worth

STEPS, EVERY, BETA = 8000, 25, 4.0

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
    learner = TabularRNaD(tree, Settings(eta=eta, beta=BETA))
    curve = []
    for step in range(STEPS + 1):
        if step % EVERY == 0:
            curve.append((step, worth(tree, learner.solution()).nash_conv))
        learner.step()
    curves[f"eta = {eta:g}"] = curve
    half = [gain for step, gain in curve if step > STEPS / 2]
    print(f"Kuhn, eta {eta:g}: NashConv of the last half {np.mean(half):.4f}, max {max(half):.4f}")
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as stream:
        plot_cycling(circle, iterations, curves, stream)
