"""One step of MMD search with exact values, at every information set of a small game:

    python bench/exact_search.py GAME STEPS [TAU]

The blueprint is tabular MMD after STEPS steps. Prints NashConv before the step; after it, by eta;
and what the new policy gains against the blueprint, on average over the seats.
"""

from __future__ import annotations

import numpy as np

from stratkit.declared import number, whole
from stratkit.engine import Game, Tree
from stratkit.script import Parser, argument
from stratkit.solve.exploitability import evaluate
from stratkit.solve.mmd import TabularMMD, action_values
from stratkit.solve.tabular import log_softmax


def main(game: str, steps: int, tau: float) -> None:
    tree = Tree(Game(game))
    solver = TabularMMD(tree)
    for _ in range(steps):
        solver.step()
    policy, unit = solver.solution(), tree.game.unit
    reach, q = tree.reach(policy), action_values(tree, policy) / unit
    values = [tree.backup(player, policy, tree.payoffs(player, reach)) for player in (0, 1)]
    print(f"{game}, mmd:{steps}: {evaluate(tree, policy).nash_conv / unit:.4f}")
    for eta in (0.3, 1, 3, 10, 30, 50):
        logits = (np.log(np.maximum(policy, 1e-9)) + eta * q) / (1 + tau)
        new = np.exp(log_softmax(tree, logits))
        after = [tree.backup(player, new, tree.payoffs(player, reach)) for player in (0, 1)]
        gain = (sum(after) - sum(values)) / 2 / unit
        print(f"eta {eta}: {evaluate(tree, new).nash_conv / unit:.4f}, gain {gain:+.3f}")


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("steps", metavar="STEPS", type=argument(whole(1)))
    parser.add_argument(
        "tau", metavar="TAU", nargs="?", default=0.01, type=argument(number(above=0, most=1e6))
    )
    main(**vars(parser.parse_args()))
