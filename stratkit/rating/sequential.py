"""Sequential Elo, game by game with a factor K (AlphaZe** paper, equations 7 and 8).

After each game R_A becomes R_A + K (S_A - E_A), with E_A = 1 / (1 + 10^((R_B - R_A) / 400)); all
begin with the same rating. What comes out depends on the order of the games.
"""

from __future__ import annotations

import numpy as np

from stratkit.rating.pool import Floats, Pool
from stratkit.rating.sprt import expected_score


def sequential(pool: Pool, k: float = 1.0) -> Floats:
    """Ratings float64 [players], 0 at the beginning, after all games in the order of the pool."""
    ratings = [0.0] * len(pool.names)
    for red, blue, result in zip(
        pool.red.tolist(), pool.blue.tolist(), pool.result.tolist(), strict=True
    ):
        change = k * (result / 2 - expected_score(ratings[red] - ratings[blue]))
        ratings[red] += change
        ratings[blue] -= change
    return np.array(ratings)
