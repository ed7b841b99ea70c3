"""What a policy network saves a search (Brown et al. 2020, ReBeL, section 5.3 and appendix J):
exploitability by updates, of searches that begin at uniform play and at what the network says.

warm_start.py RUN|CHECKPOINT [STATES [SEED]]

RUN has the value network. The policy network learns the average policies of searches by it, at
STATES states of self-play. Its policy then counts as the first 15 iterations: the regrets are those
of best responses against it.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import torch
from torch import Tensor

from stratkit.arrays import Float32s, Float64s, Int32s
from stratkit.engine import Game, PublicTree, Subgames, Tree
from stratkit.errors import StratkitError
from stratkit.models.open_model import ValueModel, open_model
from stratkit.nets.pbs import PBSNet
from stratkit.search.leaves import NetworkLeaves, rows_of
from stratkit.search.safe import PBSSearch, play_through
from stratkit.search.subgame import CFRD, SOLVERS, Leaves, nothing
from stratkit.search.value_error import states_of_selfplay
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import evaluate, jackknife_of_sums

FIRST = 15
LEARNING, UPDATES = PBSSearch(updates=256), (8, 16, 32, 64)
REPEATS, GROUPS = 256, 16  # games, and parts of them that tell the error
BATCH, AT_ONCE = 512, 256
Beliefs = tuple[Float64s, Float64s]


class PolicyNetwork:
    """Says what the hands of the player who acts play at public belief states."""

    def __init__(self, tree: PublicTree, seed: int) -> None:
        self.tree, self.actions = tree, int(tree.choices.max()) + 1
        torch.manual_seed(seed)
        self.network = PBSNet(
            tree.game.pbs_inputs, tree.game.hands * self.actions, (128, 128)
        )  # of each hand and action a logit
        sets = np.repeat(np.arange(len(tree.set_nodes)), np.diff(tree.first))
        node, side = tree.set_nodes[sets], tree.set_players[sets]
        place = tree.hand[node, side] + sets - tree.infoset[node]
        hand = np.empty(len(sets), np.int64)
        for player in (0, 1):
            hand[side == player] = tree.number[player][place[side == player]]
        self.column = hand * self.actions + tree.choices  # of each choice of the tree

    def states(
        self, subgames: Subgames, policy: Float64s, beliefs: Beliefs
    ) -> tuple[Float32s, tuple[Int32s, Int32s]]:
        """What it sees where a player acts, float32 [n, inputs], if `policy` leads there; and of
        each choice the row and the logit."""
        parts = np.flatnonzero((subgames.child >= 0) & (self.tree.actors[subgames.nodes] >= 0))
        at, believed = parts.astype(np.int32), []
        for player in (0, 1):
            reach = subgames.begin(player, beliefs[player])
            subgames.reach(player, policy, reach)
            believed.append(subgames.beliefs(player, reach, at))
        nodes, both = subgames.nodes[at], (believed[0], believed[1])
        first, second = (rows_of(self.tree, nodes, both, player) for player in (0, 1))
        rows = np.where(self.tree.actors[nodes][:, None] == 0, first, second)
        sizes = np.diff(np.append(subgames.choice[at], subgames.choices))
        return rows, (np.repeat(np.arange(len(at)), sizes), self.column[subgames.tree_choice])

    def policy(self, subgames: Subgames, beliefs: Beliefs) -> Float64s:
        """The policy [E], from the roots downwards: beliefs below follow from it."""
        policy = subgames.uniform()
        while True:
            rows, at = self.states(subgames, policy, beliefs)
            with torch.no_grad():
                logits = self.network(torch.from_numpy(rows)).double().numpy()[at]
            found = subgames.normalised(np.exp(logits))
            if np.allclose(found, policy, atol=1e-9):
                return found
            policy = found

    def learn(self, rows: Tensor, wanted: Tensor, steps: int) -> float:
        """From states and what is played there, float32 [n, hands, actions], NaN where a hand has
        no such action. Returns the last loss, the mean square error over what hands have."""
        adam = torch.optim.Adam(self.network.parameters(), 1e-3)
        rate = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
        for _ in range(steps):
            some = torch.randint(len(rows), (BATCH,))
            there = ~wanted[some].isnan()
            logits = self.network(rows[some]).view(wanted[some].shape)
            found = logits.masked_fill(~there, -1e9).softmax(-1)
            loss = (found - wanted[some])[there].square().mean()
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            rate.step()
        return float(loss.detach())


def searched(
    network: PolicyNetwork, leaves: Leaves, nodes: Int32s, beliefs: Beliefs
) -> tuple[Tensor, Tensor]:
    """The states of subgames that are searched, and what is played there on average."""
    tree, rows, wanted = network.tree, [], []
    for begin in range(0, len(nodes), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        subgames, roots = (
            Subgames(tree, nodes[some], LEARNING.depth),
            tuple(b[some] for b in beliefs),
        )
        solver = CFRD(subgames, roots, leaves)
        solver.solve(LEARNING.updates)
        seen, at = network.states(subgames, solver.averaged(), roots)
        table = np.full((len(seen), tree.game.hands * network.actions), np.nan, np.float32)
        table[at] = solver.averaged()
        rows.append(seen)
        wanted.append(table.reshape(len(seen), tree.game.hands, -1))
    return torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(wanted))


def warm(network: PolicyNetwork) -> type[CFRD]:
    """CFR-D that begins at the network's policy."""

    class Warm(CFRD):
        def __init__(self, subgames: Subgames, beliefs: Beliefs, leaves: Leaves = nothing) -> None:
            super().__init__(subgames, beliefs, leaves)
            self.policy = network.policy(subgames, beliefs)
            self._begin(beliefs)
            self._first = self.reach[0].copy(), self.reach[1].copy()

        def _update(self, player: int, times: int) -> None:
            if times:
                super()._update(player, times + FIRST - 1)
                return
            subgames, values = self.subgames, self._values[player]
            mine = subgames.player == player
            found = self.leaves(subgames, player, self._first)
            subgames.ends(player, self._first[1 - player], found, values)
            subgames.best_response(player, self.policy.copy(), values, self._q)
            sizes = np.diff(subgames.first)
            expected = np.add.reduceat(self.policy * self._q, subgames.first[:-1])
            gains = self._q - np.repeat(expected, sizes)
            self.regrets[mine] = FIRST / 2 * gains[mine]
            self.average[mine] = (FIRST + 1) / 2 * self.played(player)[mine]
            matched = subgames.normalised(np.maximum(self.regrets, 0))
            self.policy[mine] = matched[mine]
            subgames.reach(player, self.policy, self.reach[player])

        @staticmethod
        def weights(updates: int) -> Float64s:
            first = FIRST * (FIRST + 1) / 2
            return np.array([first, *(FIRST + np.arange(1.0, updates // 2)), 0])

    return Warm


def main(run: str, n: int, seed: int) -> None:
    torch.set_num_threads(1)
    model = open_model(run, "average").must_be(ValueModel)
    game = Game.stored(model.game, model.metadata["rules"])
    whole, tree = Tree(game), PublicTree(game)
    leaves, sets = NetworkLeaves(model.network(game)), tree.infosets(whole)

    at = np.zeros(len(tree.choices), np.int64)  # of each choice of the whole tree
    for mine, theirs in enumerate(sets):
        own = np.arange(tree.first[mine], tree.first[mine + 1])
        at[whole.first[theirs] : whole.first[theirs + 1]] = own

    def exploitability(sums: Float64s) -> str:
        """Of groups of games, with its standard error."""
        reach = sums[:, at]
        found = evaluate(whole, from_reach(whole, reach.sum(0))).exploitability
        return f"{found:.4f} ({jackknife_of_sums(whole, list(reach)) / 2:.4f})"

    states = states_of_selfplay(tree, PBSSearch(updates=32), leaves, n, seed)
    opening = np.full(n // 8 + 1, tree.opening, np.int32)
    start = [np.tile(tree.prior(tree.opening, player), (len(opening), 1)) for player in (0, 1)]
    both = [np.concatenate(pair) for pair in zip(states.beliefs, start, strict=True)]
    network = PolicyNetwork(tree, seed)
    examples = searched(network, leaves, np.append(states.nodes, opening), (both[0], both[1]))
    loss = network.learn(*examples, steps=2 * n)

    subgames = Subgames(tree, np.array([tree.opening], np.int32), 0)
    alone = np.zeros(len(tree.choices))
    alone[subgames.tree_choice] = network.policy(subgames, (start[0][:1], start[1][:1]))
    print("examples", "loss", "exploitability of the policy network alone", sep="\t")
    print(len(examples[0]), f"{loss:.5f}", exploitability(alone[None]), sep="\t", flush=True)
    SOLVERS["warm"] = warm(network)
    print("T", "from uniform play", "from the network", sep="\t")
    for updates in UPDATES:
        found = []
        for kind in ("cfr", "warm"):
            search = PBSSearch(kind, updates)
            found.append(exploitability(play_through(tree, leaves, search, REPEATS, seed, GROUPS)))
        print(updates, *found, sep="\t", flush=True)


def states(text: str) -> int:
    """Reads a number of states, of which there is one at least."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number of states: {text!r}")
    return int(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", metavar="RUN|CHECKPOINT")
    parser.add_argument("n", metavar="STATES", nargs="?", default=2000, type=states)
    parser.add_argument("seed", metavar="SEED", nargs="?", default=1, type=int)
    asked = parser.parse_args()
    try:
        main(**vars(asked))
    except (StratkitError, OSError) as error:
        sys.exit(f"warm_start.py: {error}")
