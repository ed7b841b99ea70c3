"""Leaf counts of the game tree against the table in perft.txt, which make_perft.py writes."""

from __future__ import annotations

import dataclasses
import pathlib
from dataclasses import dataclass

import numpy as np
import pytest

from stratkit.engine import Batch, Game
from stratkit.engine.stratego import VARIANTS, Position, Variant, perft
from stratkit.notation.fenfs import parse_fenfs, position

TABLE = pathlib.Path(__file__).parent / "perft.txt"


@dataclass
class Entry:
    """One line of the table."""

    variant: Variant
    rules: dict[str, int]
    fenfs: str
    leaves: list[int]  # after 1, 2, ... plies

    @classmethod
    def parse(cls, line: str) -> Entry:
        words, numbers = (part.split() for part in line.split(":"))
        pairs = [] if words[1] == "-" else [rule.split("=") for rule in words[1].split(",")]
        rules = {key: int(value) for key, value in pairs}
        return cls(VARIANTS[words[0]], rules, " ".join(words[2:]), [int(n) for n in numbers])

    def __str__(self) -> str:
        rules = ",".join(f"{key}={value}" for key, value in self.rules.items()) or "-"
        return f"{self.variant.name} {rules} {self.fenfs} : {' '.join(map(str, self.leaves))}"

    def start(self) -> Position:
        # The text tells the board's shape, but not which of its variants is played.
        return dataclasses.replace(position(parse_fenfs(self.fenfs)), variant=self.variant)


def entries(name: str) -> list[Entry]:
    lines = [line for line in TABLE.read_text().splitlines() if line.split()[0] == name]
    return [Entry.parse(line) for line in lines]


@pytest.mark.parametrize("name", VARIANTS)
def test_leaf_counts(name: str) -> None:
    table = entries(name)
    assert len(table) == 10
    for entry in table:
        batch = Batch(Game(name, entry.rules), 1)
        batch.start(0, entry.start().to_bytes())
        before = batch.save(0)
        depths = range(1, len(entry.leaves) + 1)
        assert [perft(batch, 0, depth) for depth in depths] == entry.leaves, str(entry)
        assert batch.save(0) == before


def test_rows_that_cannot_be_counted_are_refused() -> None:
    batch = Batch(Game("mini"), 1)
    with pytest.raises(ValueError, match="between two plies"):
        perft(batch, 0, 1)  # deployment
    entry = entries("mini")[0]
    batch.start(0, entry.start().to_bytes())
    for depth in (0, 101):
        with pytest.raises(ValueError, match="depth must be a number from 1 to 100"):
            perft(batch, 0, depth)
    batch.apply(np.array([np.flatnonzero(batch.legal()[0])[0]], np.int32))
    with pytest.raises(ValueError, match="between two plies"):
        perft(batch, 0, 1)  # a piece is selected
    with pytest.raises(ValueError, match="row"):
        perft(batch, 1, 1)
