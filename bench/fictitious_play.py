"""Exploitability of fictitious play, by how ties are broken and by who answers whom.

fictitious_play.py GAME... [--iterations N]

Plain averages from uniform play, as `exploit GAME fp:N`, whose figure is the first one: ties are
shared, and each player answers the other's newest average.
"""

import itertools
import sys

import numpy as np

from stratkit.declared import whole
from stratkit.engine import Game, Tree
from stratkit.engine.tree import Vector
from stratkit.errors import StratkitError
from stratkit.script import Parser, argument
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import best_response, evaluate

TIES, ANSWERS = ("shared", "first", "last", "drawn"), ("alternating", "simultaneous")


def chosen(tree: Tree, policy: Vector, ties: str, random: np.random.Generator) -> Vector:
    """A best response [E] that plays ties alike, with one action of each set chosen."""
    if ties == "shared":
        return policy
    order = {"first": -np.arange(len(policy)), "last": np.arange(len(policy))}
    keys = order[ties] if ties in order else random.permutation(len(policy))
    keys = np.where(policy > 0, keys, -len(policy) - 1)
    best = np.full(len(tree), -len(policy) - 1)
    np.maximum.at(best, tree.owner, keys)
    return np.where((keys == best[tree.owner]) & (policy > 0), 1.0, 0.0)


def exploitability(tree: Tree, iterations: int, ties: str, answers: str) -> float:
    """After so many responses of each player."""
    random = np.random.default_rng(1)
    average = tree.reach(tree.uniform())
    for t in range(1, iterations + 1):
        before = average.copy() if answers == "simultaneous" else average
        for player in (0, 1):
            _, answer = best_response(tree, player, before)
            reach = tree.reach(chosen(tree, answer, ties, random))
            mine = np.flatnonzero(tree.mine == player) + 1
            average[mine] *= 1 - 1 / (t + 1)
            average[mine] += 1 / (t + 1) * reach[mine]
    return evaluate(tree, from_reach(tree, average[1:])).exploitability


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("games", metavar="GAME", nargs="+")
    parser.add_argument("--iterations", type=argument(whole(1)), default=512, metavar="N")
    asked = parser.parse_args()
    try:
        for name in asked.games:
            tree = Tree(Game(name))
            for answers, ties in itertools.product(ANSWERS, TIES):
                found = exploitability(tree, asked.iterations, ties, answers)
                print(name, answers, ties, f"{found:.4f}", sep="\t", flush=True)
    except StratkitError as error:
        sys.exit(f"fictitious_play.py: {error}")
