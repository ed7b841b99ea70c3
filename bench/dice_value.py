"""The value of Liar's Dice, D dice of F faces each: `dice_value.py D F I`.

Linear CFR (Brown and Sandholm 2019) over bidding sequences, with vectors of hands. It knows nothing
of stratkit, so it checks its numbers. A bid follows only lower ones. So a sequence is a set of
bids, the bits of its number, and those whose last bid is b are a block of neighbours.

Prints, after each power of two of the I iterations, between which bounds the first player's value
lies: what best responses leave it, and what its own one gets. Half of their distance is the
exploitability.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from stratkit.declared import whole
from stratkit.script import Parser, argument

Floats = NDArray[np.float32]


class Dice:
    """The game: hands with their probability, and who wins a call; and linear CFR's sums.

    Sums and policies have an array for each bid c, [2^c, hands], of the sequences that it may
    follow; and behind these that of the call, [2^bids, hands], whose first row has no meaning.
    """

    def __init__(self, dice: int, faces: int) -> None:
        hands = list(itertools.combinations_with_replacement(range(faces), dice))
        counts = [Counter(hand) for hand in hands]
        ways = [math.factorial(dice) / math.prod(map(math.factorial, c.values())) for c in counts]
        self.chance = np.array(ways, np.float32) / faces**dice
        self.bids, wild = 2 * dice * faces, faces - 1
        shows = [[c[f] + (c[wild] if f != wild else 0) for f in range(faces)] for c in counts]
        of = np.array(shows)
        self.true = [
            of[:, None, b % faces] + of[None, :, b % faces] >= b // faces + 1
            for b in range(self.bids)
        ]
        rows = [1 << c for c in (*range(self.bids), self.bids)]
        self.regrets = [np.zeros((n, len(hands)), np.float32) for n in rows]
        self.sums = [np.zeros_like(r) for r in self.regrets]
        # The player at a sequence: 0 after an even number of bids.
        self.turn = np.array([0], np.int8)
        for _ in range(self.bids):
            self.turn = np.concatenate([self.turn, 1 - self.turn])

    def policy(self, weights: list[Floats]) -> list[Floats]:
        """Proportional to the positive weights, or uniform where there are none."""
        positive = [np.maximum(w, 0) for w in weights]
        positive[-1][0] = 0  # nobody calls before a bid
        total, number = positive[-1].copy(), np.ones(len(positive[-1]), np.float32)
        number[0] = 0
        for c in range(self.bids):
            total[: 1 << c] += positive[c]
            number[: 1 << c] += 1
        none = total == 0
        total[none] = 1
        for p in positive:
            n = len(p)
            p /= total[:n]
            np.copyto(p, np.broadcast_to(1 / number[:n, None], p.shape), where=none[:n])
        positive[-1][0] = 0
        return positive

    def reaches(self, policy: list[Floats]) -> list[Floats]:
        """Of each player, the probability with which its own bids lead to each sequence."""
        shape = 1 << self.bids, len(self.chance)
        reach = [np.ones(shape, np.float32) for _ in range(2)]
        for c in range(self.bids):
            n, turn = 1 << c, self.turn[: 1 << c, None]
            for player in (0, 1):
                own = np.where(turn == player, policy[c], 1)
                np.multiply(reach[player][:n], own, out=reach[player][n : 2 * n])
        return reach

    def calls(self, player: int, policy: list[Floats], reach: Floats) -> Floats:
        """What a call at each sequence is worth to the player by hand, times the probability that
        its opponent, whose `reach` is given, has come there, and makes it."""
        out = np.zeros_like(reach)
        mine = self.turn[:, None] == player
        reach = np.where(mine, reach, reach * policy[-1]) * self.chance
        for b in range(self.bids):
            block = slice(1 << b, 2 << b)
            caller = np.where(self.true[b], -1, 1).astype(np.float32)  # who wins if it is a lie
            out[block] = reach[block] @ caller
        np.negative(out, out=out, where=~mine)
        return out

    def values(
        self, player: int, policy: list[Floats], reach: list[Floats], weight: float = 0.0
    ) -> Floats:
        """Counterfactual values of each sequence by the player's hand, as it plays; its regrets,
        with this weight, are added to `regrets`. Without a weight, at its best response."""
        call = self.calls(player, policy, reach[1 - player])
        mine = self.turn[:, None] == player
        if weight:
            value = np.where(mine, policy[-1] * call, call)
        else:
            value = call.copy()
            value[0] = -np.inf if player == 0 else 0
        for c in reversed(range(self.bids)):
            n, child = 1 << c, value[1 << c : 2 << c]
            if weight:
                value[:n] += np.where(mine[:n], policy[c] * child, child)
            else:
                best = np.maximum(value[:n], child)
                value[:n] = np.where(mine[:n], best, value[:n] + child)
        if weight:
            for c in range(self.bids):
                n = 1 << c
                gain = weight * (value[n : 2 * n] - value[:n])
                self.regrets[c] += np.where(mine[:n], gain, 0)
            self.regrets[-1] += np.where(mine, weight * (call - value), 0)
        return value

    def iterate(self, number: int) -> None:
        """Linear CFR's iteration, counted from 1."""
        for player in (0, 1):
            policy = self.policy(self.regrets)
            reach = self.reaches(policy)
            own = np.where(self.turn[:, None] == player, reach[player], 0)
            for sums, part in zip(self.sums, policy, strict=True):
                sums += number * own[: len(part)] * part
            self.values(player, policy, reach, number)

    def judged(self, policy: list[Floats]) -> tuple[float, float]:
        """The least that the first player gets by this policy, and the most against it."""
        reach = self.reaches(policy)
        second, first = (self.values(player, policy, reach)[0] @ self.chance for player in (1, 0))
        return -float(second), float(first)


def main(dice: int, faces: int, iterations: int) -> None:
    game = Dice(dice, faces)
    for number in range(1, iterations + 1):
        game.iterate(number)
        if number & (number - 1) == 0 or number == iterations:
            low, high = game.judged(game.policy(game.sums))
            line = f"{number} iterations: {low:.6f} to {high:.6f}, exploitability"
            print(line, f"{(high - low) / 2:.6f}, {time.process_time():.0f} s", flush=True)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    for name in ("dice", "faces", "iterations"):
        parser.add_argument(name, metavar=name[0].upper(), type=argument(whole(1)))
    main(**vars(parser.parse_args()))
