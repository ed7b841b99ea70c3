"""What a player's belief=setups knows of setups that others made, in nats; less is better:

    python bench/strangers.py PLAYER GAME SETUPS [N [ORDERS]]

Of N of the SETUPS, a file, all pieces are hidden, or half of them are known. The truth is weighed
against ORDERS random orders of the hidden pieces on their squares: uniformly, and as
`stratkit.search.beliefs` does, with its floor and without. But here all orders of placing equal
pieces count. The same of the player's own setups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from stratkit.arrays import Bytes, Float64s
from stratkit.declared import whole
from stratkit.engine import Game
from stratkit.engine.stratego import NO_PIECE, variant
from stratkit.notation.setups import all_setups
from stratkit.players.factory import open_player
from stratkit.players.registry import parse_player
from stratkit.script import Parser, argument
from stratkit.search.beliefs import EPS, FLOOR, MIN_EFFECTIVE, exponent
from stratkit.setups.constraints import constraints_of
from stratkit.setups.deployed import PlayerPlacer
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.uniform import UniformSetups


def orders(setup: Bytes, known: int, n: int, random: np.random.Generator) -> Bytes:
    """uint8 [1 + n, zone]: the setup, and random orders of all but `known` random pieces of it."""
    squares = random.permutation(np.flatnonzero(setup != NO_PIECE))[known:]
    rows = np.tile(setup, (1 + n, 1))
    for row in rows[1:]:
        row[squares] = random.permutation(setup[squares])
    return rows


def more_than_uniform(log_weights: Float64s) -> float:
    """Nats that the first of these worlds needs more than by the uniform belief; the others are
    drawn from it. Flattened as a belief is."""
    truth, others = log_weights[0], log_weights[1:]
    power = exponent(others, MIN_EFFECTIVE)
    return float(np.logaddexp.reduce(power * others) - math.log(len(others)) - power * truth)


def report(of: str, setups: Bytes, source: PlacedSetups, uniform: float, n: int) -> Iterator[str]:
    random = np.random.default_rng(1)
    pieces = source.constraints.variant.pieces
    for known in (0, pieces // 2):
        found = [source.logprobs(orders(setup, known, n, random)) for setup in setups]
        logs = [np.maximum(one, pieces * math.log(EPS)) for one in found]
        for floor in (0.0, FLOOR):
            least = math.log(floor) + uniform if floor else -np.inf
            mixed = [np.logaddexp(math.log(1 - floor) + one, least) for one in logs]
            nats = np.array([more_than_uniform(one) for one in mixed])
            error = nats.std(ddof=1) / math.sqrt(len(nats))
            yield f"{of}, {known} known, floor {floor:g}: {nats.mean():+.2f} +- {error:.2f}"


def main(player: str, game: str, file: str, n: int, orders: int) -> None:
    kind, random = variant(game), np.random.default_rng(1)
    placing = PlayerPlacer(Game(game), open_player(parse_player(player), Game(game), 1, 256).player)
    source = PlacedSetups(placing, constraints_of(kind))
    with open(file, "rb") as stream:
        there = np.stack(all_setups(stream, file, kind))
    setups = there[random.permutation(len(there))[:n]]
    (uniform,) = UniformSetups(constraints_of(kind), 1).logprobs(setups[:1])
    for of, which in (("others", setups), ("own", source.draw(0, len(setups)))):
        for line in report(of, which, source, uniform, orders):
            print(line, flush=True)


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("file", metavar="SETUPS")
    parser.add_argument("n", metavar="N", nargs="?", default=40, type=argument(whole(2)))
    parser.add_argument("orders", metavar="ORDERS", nargs="?", default=60, type=argument(whole(1)))
    asked = parser.parse_args()
    with parser.telling():
        main(**vars(asked))
