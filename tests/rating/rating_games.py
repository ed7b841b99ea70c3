"""Game records to rate."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable

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
        moves=("A1A2",),
        returns=RETURNS[result],
        reason="flag_captured",
        plies=1,
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
