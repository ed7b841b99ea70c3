"""Setups on stdin, each with its pieces in a random order on its squares:

    deploy-gen --game barrage -n 80000 --from barrage-easy | python bench/shuffled.py SEED

A belief network that learns from games which begin so knows what moves tell, and nothing of setups.
Its games stand on the squares on which the player would place its pieces.
"""

from __future__ import annotations

import random
import sys

from stratkit.declared import SEED
from stratkit.script import Parser, argument


def main(seed: int) -> None:
    drawn = random.Random(seed)
    for line in sys.stdin:
        setup = list(line.strip())
        squares = [square for square, letter in enumerate(setup) if letter != "A"]
        pieces = [setup[square] for square in squares]
        drawn.shuffle(pieces)
        for square, piece in zip(squares, pieces, strict=True):
            setup[square] = piece
        print("".join(setup))


if __name__ == "__main__":
    parser = Parser(description=__doc__)
    parser.add_argument("seed", metavar="SEED", type=argument(SEED))
    main(**vars(parser.parse_args()))
