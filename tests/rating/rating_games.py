"""Game records to rate."""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Iterable, Sequence

import numpy as np

from stratkit.rating.elo import ELO
from stratkit.rating.pool import Ints, Pool
from stratkit.storage.records import GameRecord, RecordHeader, RecordPlayer, RecordWriter

RETURNS = {"red": (1.0, -1.0), "draw": (0.0, 0.0), "blue": (-1.0, 1.0)}


def header(
    *names: str, game: str = "mini", seed: int = 1, weights: str | None = None
) -> RecordHeader:
    players = tuple(RecordPlayer(name, "random", weights) for name in names)
    return RecordHeader(game=game, rules={"two_squares": 3}, seed=seed, games=2, players=players)


def record(number: int, red: int, blue: int, result: str) -> GameRecord:
    return GameRecord(
        number=number,
        pair=number // 2,
        players=(red, blue),
        setups=None,
        moves=f"A1A2 {number}",  # no two games are alike
        result=result,
        returns=RETURNS[result],
        reason="flag_captured",
        plies=2,
    )


def write(path: pathlib.Path, head: RecordHeader, records: Iterable[GameRecord]) -> pathlib.Path:
    with RecordWriter(str(path), head, overwrite=True) as writer:
        for one in records:
            writer.write(one)
    return path


def changed(path: pathlib.Path, line: int, **fields: object) -> None:
    """Replaces fields of a line (from 0)."""
    lines = path.read_text().splitlines()
    lines[line] = json.dumps({**json.loads(lines[line]), **fields})
    path.write_text("\n".join(lines) + "\n")


Outcome = tuple[str, str, str]  # who is red, who is blue, and red's result: won, drawn or lost


def pool_of(*units: Sequence[Outcome] | tuple[int, Sequence[Outcome]]) -> Pool:
    """A pool of units, each the games in it; with a number before it, so many of them."""
    names: dict[str, int] = {}
    rows = []
    count = 0
    for unit in units:
        many, games = unit if isinstance(unit[0], int) else (1, unit)
        for _ in range(many):
            count += 1
            for red, blue, result in games:
                who = [names.setdefault(name, len(names)) for name in (red, blue)]
                rows.append((*who, ("lost", "drawn", "won").index(result), count))
    return Pool(list(names), *np.array(rows, np.int64).T)


def colours(pool: Pool) -> Ints:
    """[i, j, r]: how often result r was player i's, as red, against player j."""
    counts = np.zeros((len(pool.names), len(pool.names), 3), np.int64)
    np.add.at(counts, (pool.red, pool.blue, pool.result), 1)
    return counts


def scores(pool: Pool) -> Ints:
    """The same, whatever the colours."""
    counts = colours(pool)
    return counts + counts.transpose(1, 0, 2)[:, :, ::-1]


def both(first: str, second: str, score: str) -> list[Outcome]:
    """A pair of games with the same result for `first`: `won`, `drawn` or `lost`; or `even`: each
    won as red."""
    if score == "even":
        return [(first, second, "won"), (second, first, "won")]
    other = {"won": "lost", "drawn": "drawn", "lost": "won"}[score]
    return [(first, second, score), (second, first, other)]


def simulated(
    elo: Sequence[float],
    pairs: int,
    rng: np.random.Generator,
    *,
    first_move: float = 0.0,
    draws: float = 0.0,
    alike: bool = False,
) -> Pool:
    """A round robin of players of known strengths by Davidson's model; with `alike` both games of a
    pair have the same result for the same player: as dependent as they can be."""
    v = 2 * draws / (1 - draws)
    met = np.repeat(list(itertools.combinations(range(len(elo)), 2)), pairs, axis=0)
    results = []
    for red, blue in (met.T, met.T[::-1]):
        x = (np.take(elo, red) - np.take(elo, blue) + first_move) / (ELO * 2 / (2 + v))
        weights = np.exp([-x / 2, np.full(len(x), np.log(v) if v else -np.inf), x / 2])
        chances = (weights / weights.sum(0)).cumsum(0)
        results.append((rng.random(len(x)) > chances[:-1]).sum(0))
    if alike:
        results[1] = 2 - results[0]
    unit = np.arange(len(met))
    return Pool(
        [str(i) for i in range(len(elo))],
        np.concatenate([met[:, 0], met[:, 1]]),
        np.concatenate([met[:, 1], met[:, 0]]),
        np.concatenate(results),
        np.concatenate([unit, unit]),
    )
