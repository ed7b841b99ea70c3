"""One value network for several games of Liar's Dice, and, of each game, a checkpoint that every
command takes.

one_network.py FOLDER GAME... [--steps N] [--depth D] [--updates T] [--seed S] ...

GAME is such as 1x4. What a network sees means the same in all games: bids are told apart by their
quantity and by how far their face is below the wild one, hands by such faces. So the last bids of
1x6 are those of 1x4. One input more tells each game. To one game this is a network of its own, of
some columns of the first layer and some rows of the last: FOLDER/GAME.safetensors.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stratkit.arrays import Float32s, Int64s
from stratkit.declared import read_options, read_value, whole
from stratkit.engine import Game
from stratkit.errors import UsageError
from stratkit.learn.buffer import BufferedOptimizer
from stratkit.learn.config import ReBeLConfig, RunConfig
from stratkit.learn.rebel import ReBeL
from stratkit.nets.pbs import PBSNet
from stratkit.play.values import parse_search
from stratkit.players.searching.pbs import open_tree, search_of
from stratkit.script import Parser
from stratkit.search.generate import Examples, Generator
from stratkit.search.leaves import NetworkLeaves
from stratkit.storage.checkpoints import save_checkpoint

GAMES, BATCH = 256, 256  # games of self-play at a time; examples of a step
AVERAGE = "average"  # the network that plays


def bids_of(dice: int, faces: int) -> list[Hashable]:
    """What the bids of a game mean, in the order of their numbers."""
    return [(n, faces - face) for n in range(1, 2 * dice + 1) for face in range(1, faces + 1)]


def hands_of(dice: int, faces: int) -> list[Hashable]:
    """What the hands of a game mean, in the order of their numbers."""
    sorted_dice = itertools.combinations_with_replacement(range(1, faces + 1), dice)
    return [tuple(faces - face for face in hand) for hand in sorted_dice]


@dataclass(frozen=True)
class Member:
    """A game among those of one network.

    number  int, among them
    inputs  int64 [pbs_inputs], where its inputs are
    hands   int64 [hands], where its hands are
    tell    int, the input that is 1 in this game alone
    """

    game: Game
    number: int
    inputs: Int64s
    hands: Int64s
    tell: int


class Union:
    """The games of one network. To it they are one, of `pbs_inputs` inputs and `hands` hands: all
    bids and hands that any of them has. `UsageError`: one is not called DxF, or is there twice."""

    actions = 0

    def __init__(self, names: Sequence[str]) -> None:
        sizes = [re.fullmatch(r"([1-9])x([1-9])", name) for name in names]
        for name, size in zip(names, sizes, strict=True):
            if not size or names.count(name) > 1:
                raise UsageError("games are different ones, each such as 1x4", text=name)
        each = [(int(size[1]), int(size[2])) for size in sizes if size]
        bids, hands = _places(bids_of(*x) for x in each), _places(hands_of(*x) for x in each)
        self.name, self.hands = " ".join(names), len(hands)
        self.pbs_inputs = 1 + len(bids) + 2 * len(hands) + len(names)
        self.members = []
        for number, size in enumerate(each):
            game = Game(f"liars_dice:{names[number]}")
            own = np.array([hands[hand] for hand in hands_of(*size)])
            bid = np.array([bids[bid] for bid in bids_of(*size)])
            begin = 1 + len(bids)
            inputs = np.concatenate([[0], 1 + bid, begin + own, begin + len(hands) + own])
            assert (len(inputs), len(own)) == (game.pbs_inputs, game.hands)
            tell = self.pbs_inputs - len(names) + number
            self.members.append(Member(game, number, inputs, own, tell))

    def padded(self, member: Member, examples: Examples) -> Examples:
        """Examples of one game as the network has them."""
        n = len(examples)
        rows = np.zeros((n, self.pbs_inputs), np.float32)
        values = np.full((n, self.hands), np.nan, np.float32)
        rows[:, member.inputs], rows[:, member.tell] = examples.rows, 1
        values[:, member.hands] = examples.values
        return Examples(rows, values)


def _places(lists: Iterable[list[Any]]) -> dict[Hashable, int]:
    return {one: i for i, one in enumerate(sorted({x for some in lists for x in some}))}


def extracted(network: PBSNet, member: Member) -> PBSNet:
    """What a network of all games is to one of them."""
    sizes = [norm.normalized_shape[0] for norm in network.norms]
    game, weights = member.game, dict(network.state_dict())
    first = weights["layers.0.weight"]
    weights["layers.0.weight"] = first[:, torch.from_numpy(member.inputs)]
    weights["layers.0.bias"] = weights["layers.0.bias"] + first[:, member.tell]
    for name in ("last.weight", "last.bias"):
        weights[name] = weights[name][torch.from_numpy(member.hands)]
    own = PBSNet(game.pbs_inputs, game.hands, sizes).requires_grad_(False).eval()
    own.load_state_dict(weights)
    return own


def settings(asked: argparse.Namespace) -> tuple[ReBeLConfig, RunConfig]:
    """As `train` reads them. `UsageError`: it would refuse one."""
    try:
        steps = read_value("steps", whole(1), asked.steps)
        halve = ",".join(str(steps * part // 20) for part in (10, 15, 18))
        learned = {"lr": asked.lr, "uses": asked.uses, "halve": halve}
        run = {"batch": str(BATCH), "seed": asked.seed}
        return read_options(ReBeLConfig, learned), read_options(RunConfig, run)
    except ValueError as error:
        raise UsageError(str(error)) from None


class OneNetwork:
    """Self-play in all games of `union` in turn, and what learns from them."""

    def __init__(self, union: Any, asked: argparse.Namespace) -> None:
        self.union, self.net = union, asked.net
        config, run = settings(asked)
        search = search_of(parse_search(f"cfr,iterations={asked.updates},depth={asked.depth}"))
        self.plays = [
            Generator(open_tree(member.game, search), search, GAMES, run.seed)
            for member in union.members
        ]
        algorithm = ReBeL(asked.net, union, config, run.seed)
        self.learner, self.networks = BufferedOptimizer(algorithm, run), algorithm.networks
        self.examples = [0] * len(self.plays)  # of each game
        self.loss = 0.0  # of the last step

    def round(self, steps: int) -> None:
        """A round of the game that has taught least, and the steps that are due, `steps` at
        most."""
        number = int(np.argmin(self.examples))
        member = self.union.members[number]
        leaves = NetworkLeaves(extracted(self.learner.algorithm.trained, member))
        found = self.plays[number].examples(leaves)
        self.examples[number] += len(found)
        self.learner.add(self.union.padded(member, found))
        while self.learner.due and self.learner.step < steps:
            self.loss = self.learner.learn()["value_loss"]

    def save(self, folder: str) -> None:
        """A checkpoint of each game."""
        for member, examples in zip(self.union.members, self.examples, strict=True):
            weights = extracted(self.networks[AVERAGE], member).state_dict()
            name = member.game.name.partition(":")[2]
            metadata = {
                "game": member.game.name,
                "rules": member.game.rules,
                "net": self.net,
                "algorithm": "rebel",
                "networks": [AVERAGE],
                "step": self.learner.step,
                "episodes": examples,
                "batch": BATCH,
            }
            tensors: dict[str, Float32s] = {
                f"{AVERAGE}/{key}": value.numpy() for key, value in weights.items()
            }
            save_checkpoint(os.path.join(folder, f"{name}.safetensors"), tensors, metadata)


def main(asked: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    one, steps = OneNetwork(Union(asked.games), asked), int(asked.steps)
    os.makedirs(asked.folder, exist_ok=True)
    print(*["step", "seconds", "loss", *asked.games], sep="\t")
    for part in range(1, 11):
        until = steps * part // 10
        while one.learner.step < until:
            one.round(until)
        seconds = f"{time.process_time():.0f}"
        print(until, seconds, f"{one.loss:.5f}", *one.examples, sep="\t", flush=True)
    one.save(asked.folder)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("games", metavar="GAME", nargs="+")
    parser.add_argument("--steps", default="20000", help=f"of {BATCH} examples")
    parser.add_argument("--uses", default="80", help="of an example, on average")
    parser.add_argument("--lr", default="5e-3", help="learning rate at first")
    parser.add_argument("--net", default="pbs:128x128")
    parser.add_argument("--depth", type=int, default=4, help="of searches in self-play")
    parser.add_argument("--updates", type=int, default=128, help="of one player each, of a search")
    parser.add_argument("--seed", default="1")
    with parser.telling():
        main(parser.parse_args())
