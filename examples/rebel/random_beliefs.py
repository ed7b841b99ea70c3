"""Figure 2 of the ReBeL paper in small: a value network learns from self-play, or from random
public belief states, which teach little of those that play leads to.

random_beliefs.py [GAME [EXAMPLES [SEED]]]
"""

import sys
from collections.abc import Iterator

import torch

from stratkit.declared import SEED, whole
from stratkit.engine import Game, PublicTree, Subgames, Tree
from stratkit.learn.buffer import BufferedOptimizer
from stratkit.learn.config import ReBeLConfig, RunConfig
from stratkit.learn.rebel import ReBeL
from stratkit.script import Parser, argument
from stratkit.search.generate import Examples, Generator, examples_of
from stratkit.search.leaves import ExactLeaves, NetworkLeaves
from stratkit.search.safe import PBSSearch, play_through
from stratkit.search.subgame import SOLVERS, Leaves
from stratkit.search.value_error import random_states
from stratkit.solve.exploitability import evaluate

GAMES, BATCH, POINTS = 128, 512, 5
LEARNING, PLAYING, REPEATS = PBSSearch("cfr-avg", 32), PBSSearch("cfr-avg", 128), 64

parser = Parser(__doc__)
parser.add_argument("game", metavar="GAME", nargs="?", default="leduc")
parser.add_argument(
    "examples", metavar="EXAMPLES", nargs="?", default=40000, type=argument(whole(1))
)
parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=argument(SEED))
asked = parser.parse_args()
examples, seed = asked.examples, asked.seed
with parser.telling():
    game = Game(asked.game)
    both, tree = Tree(game), PublicTree(game)
torch.set_num_threads(1)
sets = tree.infosets(both)


def of_selfplay(network: NetworkLeaves) -> Iterator[Examples]:
    play = Generator(tree, LEARNING, GAMES, seed)
    while True:
        yield play.examples(network)


def of_random_states(network: NetworkLeaves) -> Iterator[Examples]:
    for number in range(sys.maxsize):
        states = random_states(tree, GAMES, seed + number)
        subgames = Subgames(tree, states.nodes, LEARNING.depth)
        solver = SOLVERS[LEARNING.kind](subgames, states.beliefs, network)
        solver.solve(LEARNING.updates)
        yield examples_of(solver, states.beliefs)


def exploitability(leaves: Leaves) -> float:
    sums = play_through(tree, leaves, PLAYING, REPEATS, 1, 1)[0]
    played, policy = tree.normalised(sums), both.uniform()
    for mine, theirs in enumerate(sets):
        a, b = both.first[theirs : theirs + 2]
        policy[a:b] = played[tree.first[mine] : tree.first[mine + 1]]
    return evaluate(both, policy).exploitability


print("solved leaves", "", f"{exploitability(ExactLeaves(16)):.4f}", sep="\t", flush=True)
for name, made in (("self-play", of_selfplay), ("random", of_random_states)):
    algorithm = ReBeL("pbs:128x128", game, ReBeLConfig(), seed)
    learner = BufferedOptimizer(algorithm, RunConfig(batch=BATCH, seed=seed))
    source = made(NetworkLeaves(algorithm.trained))
    for point in range(POINTS + 1):
        while learner.added < examples * point // POINTS:
            learner.add(next(source))
            while learner.due:
                learner.learn()
        found = exploitability(NetworkLeaves(algorithm.networks["average"]))
        print(name, learner.added, f"{found:.4f}", sep="\t", flush=True)
