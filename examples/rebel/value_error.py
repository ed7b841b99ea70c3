"""How far a value network is from exact values, by the decisions that are left at most.

value_error.py RUN|CHECKPOINT... [-n STATES] [--updates T] [--depth D] [--search T]
"""

from stratkit.declared import whole
from stratkit.engine import Game, PublicTree
from stratkit.models.open_model import ValueModel, open_model
from stratkit.script import Parser, argument
from stratkit.search.leaves import NetworkLeaves
from stratkit.search.safe import PBSSearch
from stratkit.search.value_error import random_states, states_of_selfplay, value_errors


def main(runs: list[str], n: int, updates: int, search: int, depth: int) -> None:
    print(*["run", "step", "states", "left", "n", "bias", "rms", "believed"], sep="\t")
    for run in runs:
        model = open_model(run, "average").must_be(ValueModel)
        game = Game.stored(model.game, model.metadata["rules"])
        tree, network = PublicTree(game), NetworkLeaves(model.network(game))
        play = PBSSearch(updates=search, depth=depth)
        states = {
            "self-play": states_of_selfplay(tree, play, network, n, seed=1),
            "random": random_states(tree, n, seed=1),
        }
        for name, some in states.items():
            for at in value_errors(tree, network, some, updates):
                found = f"{at.bias:.4f}\t{at.rms:.4f}\t{at.believed:.4f}"
                print(run, model.step, name, at.left, at.states, found, sep="\t", flush=True)


if __name__ == "__main__":
    parser = Parser(__doc__)
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
    with parser.telling():
        main(**vars(parser.parse_args()))
