"""Ratings as tables for people, and as JSON for programs (formats/rating.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stratkit.errors import printable
from stratkit.rating.elo import CONFIDENCE, RESAMPLES, Ratings, expected_score
from stratkit.rating.pool import Pool

FORMAT = "rating"
VERSION = 1


@dataclass(frozen=True)
class Standing:
    """A player's rating, its interval, and its games."""

    name: str
    elo: float
    low: float
    high: float
    won: int
    drawn: int
    lost: int


@dataclass(frozen=True)
class Meeting:
    """The games of two players, the stronger one first; `expected` is its expected share of the
    points."""

    first: str
    second: str
    won: int
    drawn: int
    lost: int
    expected: float


@dataclass(frozen=True)
class Report:
    """All that is said of a pool; `anchor` is the player whose rating was given."""

    game: str
    anchor: str | None
    prior: int
    standings: Sequence[Standing]
    meetings: Sequence[Meeting]

    @property
    def games(self) -> int:
        """How many games were rated."""
        return sum(m.won + m.drawn + m.lost for m in self.meetings)

    def json(self) -> dict[str, Any]:
        """The report as formats/rating.md describes it."""
        return {
            "stratkit": FORMAT,
            "version": VERSION,
            "game": self.game,
            "games": self.games,
            "anchor": self.anchor,
            "prior": self.prior,
            "confidence": CONFIDENCE,
            "resamples": RESAMPLES,
            "players": [_rounded(asdict(s)) for s in self.standings],
            "meetings": [_rounded(asdict(m)) for m in self.meetings],
        }

    def text(self) -> str:
        """Two tables, and a line that says what was rated and how."""
        zero = f"relative to {printable(self.anchor)}" if self.anchor else "their mean is 0"
        prior = f"; draws added for each two who met: {self.prior}" if self.prior else ""
        return "\n".join(
            [
                f"{self.games} games of {self.game}; Elo with 95 % intervals, {zero}{prior}",
                "",
                *_table(
                    [
                        "rank",
                        "player",
                        "Elo",
                        "from",
                        "to",
                        "games",
                        "won",
                        "drawn",
                        "lost",
                        "score",
                    ],
                    [_standing_row(rank, s) for rank, s in enumerate(self.standings, start=1)],
                ),
                "",
                *_table(
                    ["player", "against", "won", "drawn", "lost", "score", "expected"],
                    [_meeting_row(meeting) for meeting in self.meetings],
                ),
            ]
        )


def report(pool: Pool, ratings: Ratings, game: str, anchor: str | None, prior: int) -> Report:
    """The report on `pool`, strongest player first."""
    order = sorted(range(len(pool.names)), key=lambda i: (-ratings.elo[i], pool.names[i]))
    totals = pool.totals()
    totals |= {(j, i): score[::-1] for (i, j), score in totals.items()}

    def standing(i: int) -> Standing:
        scores = [score for (first, _), score in totals.items() if first == i]
        elo, low, high = (float(x[i]) for x in (ratings.elo, ratings.low, ratings.high))
        return Standing(pool.names[i], elo, low, high, *map(sum, zip(*scores, strict=True)))

    def meeting(i: int, j: int) -> Meeting:
        expected = float(expected_score(ratings.elo[i] - ratings.elo[j]))
        return Meeting(pool.names[i], pool.names[j], *totals[i, j], expected)

    return Report(
        game,
        anchor,
        prior,
        [standing(i) for i in order],
        [
            meeting(i, j)
            for rank, i in enumerate(order)
            for j in order[rank + 1 :]
            if (i, j) in totals
        ],
    )


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers with the digits that mean something, so that the output does not vary in others."""
    places = {"elo": 2, "low": 2, "high": 2, "expected": 5}
    return {key: round(v, places[key]) if key in places else v for key, v in values.items()}


def _standing_row(rank: int, s: Standing) -> list[str]:
    elo = [f"{value:.0f}" for value in (s.elo, s.low, s.high)]
    games = s.won + s.drawn + s.lost
    score = f"{(s.won + s.drawn / 2) / games:.1%}"
    counts = [str(n) for n in (games, s.won, s.drawn, s.lost)]
    return [str(rank), printable(s.name), *elo, *counts, score]


def _meeting_row(m: Meeting) -> list[str]:
    score = (m.won + m.drawn / 2) / (m.won + m.drawn + m.lost)
    counts = [str(n) for n in (m.won, m.drawn, m.lost)]
    return [printable(m.first), printable(m.second), *counts, f"{score:.1%}", f"{m.expected:.1%}"]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of columns: names to the left, numbers to the right."""
    words = ("player", "against")
    width = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(w) if name in words else cell.rjust(w)
            for cell, w, name in zip(row, width, head, strict=True)
        ).rstrip()
        for row in [head, *rows]
    ]
