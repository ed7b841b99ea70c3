"""Exploitabilities as a table for people, and as JSON for programs (formats/exploitability.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stratkit.engine.stratego import TYPES, open_types
from stratkit.engine.tree import Tree
from stratkit.errors import named
from stratkit.solve.exploitability import PolicyValue
from stratkit.terminal import aligned

FORMAT = "exploitability"
VERSION = 1
DIGITS = 8  # after the point


@dataclass(frozen=True)
class Entry:
    """What one policy is worth.

    name      in the table
    policy    POLICY of the command line
    step      of a checkpoint, or None
    result    what it is worth
    error     standard error of NashConv, where the policy was sampled, or None
    search    how public belief states were searched, and in how many games
    opponent  POLICY of player 1, where another one plays as player 0
    """

    name: str
    policy: str
    step: int | None
    result: PolicyValue
    error: float | None = None
    search: Mapping[str, int | str] = field(default_factory=dict)
    opponent: str | None = None

    def json(self) -> dict[str, Any]:
        """As formats/exploitability.md describes it."""
        values, local = self.result.values, self.result.local
        sampled = {} if self.error is None else {"nash_conv_error": round(self.error, DIGITS)}
        return {
            "name": self.name,
            "policy": self.policy,
            **({} if self.opponent is None else {"opponent": self.opponent}),
            "step": self.step,
            "value": round(self.result.value, DIGITS),
            "exploitability": round(self.result.exploitability, DIGITS),
            "nash_conv": round(self.result.nash_conv, DIGITS),
            "gains": [round(x, DIGITS) for x in self.result.incentives],
            **({} if len(values) == 2 else {"values": [round(x, DIGITS) for x in values]}),
            **({} if local is None else {"local": [round(x, DIGITS) for x in local]}),
            **sampled,
            **self.search,
        }


@dataclass(frozen=True)
class ExploitabilityReport:
    """All that is said of some policies of one game.

    game       its name
    histories  number of them
    sets       number of information sets
    entries    a policy each, of equally many players
    rules      that differ from the game's own
    """

    game: str
    histories: int
    sets: int
    entries: Sequence[Entry]
    rules: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, tree: Tree, entries: Sequence[Entry], rules: Mapping[str, int] = {}
    ) -> ExploitabilityReport:
        """The report on policies of the game of `tree`, of which somebody asked for these rules."""
        return cls(tree.game.name, tree.histories, len(tree), entries, rules)

    def json(self) -> dict[str, Any]:
        """The report as formats/exploitability.md describes it."""
        return {
            "stratkit": FORMAT,
            "version": VERSION,
            "game": self.game,
            **({"rules": dict(self.rules)} if self.rules else {}),
            "histories": self.histories,
            "information_sets": self.sets,
            "policies": [entry.json() for entry in self.entries],
        }

    def text(self) -> str:
        """A line on the game, and a table."""
        head = ["policy", "step", "value", "exploitability", "NashConv"]
        rows = [_row(entry) for entry in self.entries]
        if any(entry.error is not None for entry in self.entries):
            head.append("+-")
            for row, entry in zip(rows, self.entries, strict=True):
                row.append("-" if entry.error is None else f"{entry.error:.6f}")
        if any(entry.result.local is not None for entry in self.entries):
            head.append("local")
            for row, entry in zip(rows, self.entries, strict=True):
                local = entry.result.local
                row.append("-" if local is None else _number(sum(local)))
        for key in dict.fromkeys(key for entry in self.entries for key in entry.search):
            head.append(key)
            for row, entry in zip(rows, self.entries, strict=True):
                row.append(str(entry.search.get(key, "-")))
        size = f"{self.histories:,} histories, {self.sets:,} information sets"
        known = ", ".join(TYPES[type_] for type_ in open_types(self.rules))
        game = f"{self.game} with open {known}" if known else self.game
        lines = aligned([head, *rows], words=(0,))
        many = any(len(entry.result.values) > 2 for entry in self.entries)
        whose = "to the players in turn" if many else "to player 0"
        return "\n".join([f"{game}: {size}; values {whose}", "", *lines])


def _row(entry: Entry) -> list[str]:
    result = entry.result
    shown = result.values[:1] if len(result.values) == 2 else result.values
    step = "-" if entry.step is None else str(entry.step)
    numbers = " ".join(map(_number, shown)), _number(result.exploitability)
    return [named(entry.name), step, *numbers, _number(result.nash_conv)]


def _number(x: float) -> str:
    return f"{x + 0.0:.6f}"
