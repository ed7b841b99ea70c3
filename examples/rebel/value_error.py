"""How far a value network is from exact values, by the decisions that are left at most.

value_error.py RUN|CHECKPOINT... [-n STATES] [--updates T] [--depth D] [--search T]
"""

import argparse
import sys

from stratkit.declared import argument, whole
from stratkit.engine import Game, PublicTree
from stratkit.errors import StratkitError
from stratkit.models.open_model import ValueModel, open_model
from stratkit.search.leaves import NetworkLeaves
from stratkit.search.safe import PBSSearch
from stratkit.search.value_error import random_states, states_of_selfplay, value_errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("-n", type=argument(whole(1)), default=200, help="states of either kind")
    parser.add_argument(
        "--updates", type=argument(whole(1)), default=1024, help="of exact solutions"
    )
    parser.add_argument(
        "--search", type=argument(whole(1)), default=32, help="updates of a search in self-play"
    )
    parser.add_argument(
        "--depth", type=argument(whole(0)), default=2, help="of a search in self-play"
    )
    asked = parser.parse_args()

    print(*["run", "step", "states", "left", "n", "bias", "rms", "believed"], sep="\t")
    for run in asked.runs:
        model = open_model(run, "average").must_be(ValueModel)
        game = Game.stored(model.game, model.metadata["rules"])
        tree, network = PublicTree(game), NetworkLeaves(model.network(game))
        search = PBSSearch(updates=asked.search, depth=asked.depth)
        states = {
            "self-play": states_of_selfplay(tree, search, network, asked.n, seed=1),
            "random": random_states(tree, asked.n, seed=1),
        }
        for name, some in states.items():
            for at in value_errors(tree, network, some, asked.updates):
                found = f"{at.bias:.4f}\t{at.rms:.4f}\t{at.believed:.4f}"
                print(run, model.step, name, at.left, at.states, found, sep="\t", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (StratkitError, OSError) as error:
        sys.exit(f"value_error.py: {error}")
