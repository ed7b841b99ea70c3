#!/usr/bin/env python
"""How often the intervals of `rate` hold the truth, in simulated pools.

Every two players meet in so many pairs of games. Equal players score one half. Strong ones are
evenly spread over 800 Elo, and score what Elo's formula says. A share of draws is that of the most
that the score lets: of equal players' games. Where the games do not determine the ratings, as
without a prior after wins alone, nothing is said; that is not wrong, and the share of pools that
are rated stands in brackets.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from dataclasses import dataclass

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from stratkit.declared import SEED, number, whole
from stratkit.errors import CheckFailed
from stratkit.rating import bootstrap
from stratkit.rating.bootstrap import rate
from stratkit.rating.elo import DavidsonModel
from stratkit.rating.pool import Pool
from stratkit.rating.sprt import expected_score
from stratkit.script import Parser, argument

POOLS = {2: 400, 5: 50, 40: 5}  # of so many players, so many are simulated
PAIRS = 1, 2, 5, 10, 25, 100
DRAWS = 0.0, 0.2, 0.9, 0.99
SPREAD = 800.0


@dataclass
class Covered:
    """Of all players of all pools: how many intervals there are, how many hold the truth, how many
    would have been if every pool were rated, the least width, and the surest likelihood."""

    rated: int = 0
    held: int = 0
    all: int = 0
    width: float = np.inf
    surest: float = 0.5

    @property
    def share(self) -> float:
        """Of what was not said wrongly."""
        return 1 - (self.rated - self.held) / self.all


def simulated(
    elo: np.ndarray, pairs: int, draws: float, alike: bool, rng: np.random.Generator
) -> Pool:
    """A round robin. With `alike` both games of a pair end alike for a player: as dependent as
    they can be."""
    met = np.repeat(list(itertools.combinations(range(len(elo)), 2)), pairs, axis=0)
    score = np.array([[expected_score(a - b) for b in elo] for a in elo])
    results = []
    for red, blue in (met.T, met.T[::-1]):
        mean = score[red, blue]
        drawn = draws * 2 * np.minimum(mean, 1 - mean)
        luck = rng.random(len(mean))
        results.append(np.where(luck < mean - drawn / 2, 2, luck < mean + drawn / 2))
    if alike:
        results[1] = 2 - results[0]
    names, pair = [str(i) for i in range(len(elo))], np.arange(len(met))
    who = np.concatenate([met, met[:, ::-1]]).T
    return Pool(names, *who, np.concatenate(results), np.concatenate([pair, pair]))


def covered(
    players: int, pairs: int, draws: float, spread: float, prior: int, pools: int,
    alike: bool = False, seed: int = 1,
) -> Covered:  # fmt: skip
    """Simulates so many pools."""
    rng = np.random.default_rng([seed, players, pairs])
    truth = np.linspace(spread / 2, -spread / 2, players)
    found = Covered(all=pools * players)
    for _ in range(pools):
        pool = simulated(truth, pairs, draws, alike, rng)
        try:
            ratings = rate(pool, DavidsonModel(prior=prior))
        except CheckFailed:
            continue
        assert ratings.low is not None and ratings.high is not None and ratings.superiority
        found.rated += players
        found.held += int(((ratings.low <= truth) & (truth <= ratings.high)).sum())
        found.width = min(found.width, float((ratings.high - ratings.low).min()))
        found.surest = max(found.surest, float(ratings.superiority[0].max()))
    return found


def main() -> None:
    parser = Parser(description=__doc__)
    parser.add_argument(
        "--pools",
        type=argument(number(above=0, most=1e6)),
        default=1,
        help="times as many (default: 1)",
    )
    parser.add_argument("--players", type=int, nargs="+", default=list(POOLS), choices=list(POOLS))
    parser.add_argument(
        "--resamples", type=argument(whole(1)), default=200, help="of a bootstrap (default: 200)"
    )
    parser.add_argument("--prior", type=int, nargs="+", default=[0, 1], choices=[0, 1])
    parser.add_argument("--alike", action="store_true", help="both games of a pair end alike")
    parser.add_argument("--seed", type=argument(SEED), default=1)
    options = parser.parse_args()
    bootstrap.RESAMPLES = options.resamples
    least, surest, width = 1.0, 0.5, np.inf
    print("| players | pairs | strength | prior |", *(f"{d:.0%} draws |" for d in DRAWS))
    print("|---" * (4 + len(DRAWS)) + "|")
    for players, spread, prior, pairs in itertools.product(
        options.players, (0.0, SPREAD), options.prior, PAIRS
    ):
        cells = []
        for draws in DRAWS:
            pools = max(1, round(POOLS[players] * options.pools))
            one = covered(players, pairs, draws, spread, prior, pools, options.alike, options.seed)
            least, surest = min(least, one.share), max(surest, one.surest)
            width = min(width, one.width)
            rated = one.rated / one.all
            cells.append(f"{100 * one.share:.1f}" + (f" ({rated:.0%})" if rated < 1 else ""))
        strength = "strong" if spread else "equal"
        print(f"| {players} | {pairs} | {strength} | {prior} |", *(f"{c} |" for c in cells))
        sys.stdout.flush()
    print(f"\nThe least is {least:.1%}; the narrowest interval {width:.1f} Elo;", end=" ")
    print(f"the surest likelihood of superiority {surest:.5f}.")


if __name__ == "__main__":
    main()
