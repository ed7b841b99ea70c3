"""How far a network's values of Hex are from exact ones.

Positions are those of games that the network's policy plays against itself, openings included.
Exact values come from a search to the end, so boards have at most 4 x 4 cells.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import stratkit
from stratkit.declared import SEED, whole
from stratkit.errors import InputError
from stratkit.models.trained_network import TrainedNetwork
from stratkit.script import Parser, argument

Solve = Callable[[int, int], bool]  # own stones and the enemy's, as bits: does who acts win?


def neighbours(size: int) -> list[int]:
    """For each cell the bits of those beside it."""
    steps = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
    return [
        sum(
            1 << (row + down) * size + column + right
            for down, right in steps
            if 0 <= row + down < size and 0 <= column + right < size
        )
        for row in range(size)
        for column in range(size)
    ]


def transposed(stones: int, size: int) -> int:
    """The same with rows and columns exchanged."""
    return sum(
        (stones >> row * size + column & 1) << column * size + row
        for row in range(size)
        for column in range(size)
    )


def solver(size: int) -> Solve:
    """Of positions whose side to act wants a chain from the first row to the last. The other's view
    of a board is the transposed one, so one table serves both."""
    beside, first, last = neighbours(size), (1 << size) - 1, size * (size - 1)
    flip = functools.cache(functools.partial(transposed, size=size))
    middle = (size - 1) / 2
    order = sorted(
        range(size * size), key=lambda c: abs(c // size - middle) + abs(c % size - middle)
    )

    @functools.cache
    def connected(stones: int) -> bool:
        reached = stones & first
        edge = reached
        while edge:
            cell = (edge & -edge).bit_length() - 1
            edge &= edge - 1
            new = beside[cell] & stones & ~reached
            reached |= new
            edge |= new
        return reached >> last != 0

    @functools.cache
    def wins(own: int, enemy: int) -> bool:
        free = [cell for cell in order if not (own | enemy) >> cell & 1]
        if any(connected(own | 1 << cell) for cell in free):
            return True
        return any(not wins(flip(enemy), flip(own | 1 << cell)) for cell in free)

    return wins


def games_of(network: TrainedNetwork, n: int, seed: int) -> list[tuple[int, int, float]]:
    """Positions of `n` games, each once: the stones of the side that acts and of the other, where
    the second player's board is transposed, and what the network expects."""
    size = round(network.game.actions**0.5)
    random, batch = np.random.default_rng(seed), stratkit.Batch(network.game, n)
    batch.reset()
    stones, found = np.zeros((n, 2), object), {}
    for turn in range(network.game.actions):
        playing = np.flatnonzero(batch.actors() >= 0)
        if not len(playing):
            break
        seen, legal = batch.observe(), batch.legal()
        policy, values = network.policy(seen, legal), network.values(seen)
        actions = np.full(n, -1, np.int32)
        for row in playing:
            own, other = stones[row, turn % 2], stones[row, 1 - turn % 2]
            if turn % 2:
                own, other = transposed(own, size), transposed(other, size)
            found[own, other] = float(values[row])
            chances = policy[row].astype(np.float64)
            actions[row] = random.choice(len(chances), p=chances / chances.sum())
            stones[row, turn % 2] |= 1 << int(actions[row])
        batch.apply(actions)
    return [(*at, value) for at, value in found.items()]


def main(networks: list[str], n: int, seed: int) -> None:
    print(
        *["network", "step", "positions", "opening", "bias", "mean error", "rms", "winner known"],
        sep="\t",
    )
    for name in networks:
        network = stratkit.load(name)
        if network.game.name not in ("hex:2", "hex:3", "hex:4"):
            raise InputError("not a network of hex:2, hex:3 or hex:4", text=network.game.name)
        wins = solver(round(network.game.actions**0.5))
        positions = games_of(network, n, seed)
        exact = np.array([1 if wins(own, other) else -1 for own, other, _ in positions])
        error = np.array([value for *_, value in positions]) - exact
        opening = next(value for own, other, value in positions if not own | other)
        shares = (
            error.mean(),
            np.abs(error).mean(),
            (error**2).mean() ** 0.5,
            (np.abs(error) < 1).mean(),
        )
        said = "\t".join(f"{one:.3f}" for one in (opening, *shares))
        print(name, network.step, len(positions), said, sep="\t")


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("networks", nargs="+", metavar="RUN")
    parser.add_argument("-n", type=argument(whole(1)), default=200, help="games (default: 200)")
    parser.add_argument("--seed", type=argument(SEED), default=1, help="of the games (default: 1)")
    with parser.telling():
        main(**vars(parser.parse_args()))
