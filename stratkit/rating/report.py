"""All that is said of a pool; as JSON for programs (formats/rating.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from stratkit.errors import counted, printable
from stratkit.rating.bootstrap import RESAMPLES, Estimate, Ratings
from stratkit.rating.elo import Anchor
from stratkit.rating.groups import linked
from stratkit.rating.onemore import CONFIDENCE, MIN_PAIRS
from stratkit.rating.pool import Floats, Pool
from stratkit.rating.residuals import max_by_chance, residuals

FORMAT = "rating"
VERSION = 2


@dataclass(frozen=True)
class RatingOptions:
    """How a pool was rated.

    game         empty where the files name none
    anchors      players whose ratings are given
    to_mean      intervals are those of differences from the mean, not from the anchors
    prior        draws of each player with one more player
    k            of the sequential method; None: maximum likelihood
    confidence   of the intervals
    mixed_rules  rules that are not the same in all games
    """

    game: str
    anchors: Sequence[Anchor] = ()
    to_mean: bool = True
    prior: int = 0
    k: float | None = None
    confidence: float = CONFIDENCE
    mixed_rules: Sequence[str] = ()


@dataclass(frozen=True)
class Standing:
    """A player's line in the ratings.

    name              of the player
    elo, low, high    rating and the ends of its interval
    won, drawn, lost  games
    group             number, from 1, of the group of players who met, if only by others;
                      ratings of different groups cannot be compared
    pairs             of its games, which the intervals count
    """

    name: str
    elo: float
    low: float | None
    high: float | None
    won: int
    drawn: int
    lost: int
    group: int = 1
    pairs: int = 0


@dataclass(frozen=True)
class HeadToHead:
    """The games of two players, the stronger one first.

    first, second     the players
    won, drawn, lost  games of the first one
    expected          its expected share of the points
    deviation         how far its points are from that, in standard deviations
    """

    first: str
    second: str
    won: int
    drawn: int
    lost: int
    expected: float
    deviation: float

    @property
    def games(self) -> int:
        """How many games they played."""
        return self.won + self.drawn + self.lost

    @property
    def score(self) -> float:
        """The first one's share of the points."""
        return (self.won + self.drawn / 2) / self.games

    def turned(self) -> HeadToHead:
        """The same from the other side."""
        return HeadToHead(
            self.second, self.first, self.lost, self.drawn, self.won,
            1 - self.expected, -self.deviation,
        )  # fmt: skip


@dataclass(frozen=True)
class RatingReport:
    """All that is said of a pool.

    options     how it was rated
    standings   the players, the strongest first
    meetings    each two who met, in the order of the standings
    sure        float64 [i, j] of each group of players who met: how likely the i-th is stronger
                than the j-th, in the order of the standings; None: not known
    first_move  advantage in Elo
    draws       share of draws between equals
    """

    options: RatingOptions
    standings: Sequence[Standing]
    meetings: Sequence[HeadToHead]
    sure: Sequence[Floats] | None = None
    first_move: Estimate = field(default=Estimate(0, 0, 0))
    draws: Estimate = field(default=Estimate(0, 0, 0))

    @property
    def games(self) -> int:
        """How many games were rated."""
        return sum(meeting.games for meeting in self.meetings)

    @property
    def groups(self) -> int:
        """How many groups of players there are that never met."""
        return len({s.group for s in self.standings})

    @property
    def superiority(self) -> list[list[float | None]] | None:
        """[i][j]: how likely the i-th is stronger than the j-th; None where they never met."""
        if self.sure is None:
            return None
        table: list[list[float | None]] = [[None] * len(self.standings) for _ in self.standings]
        for at, block in zip(self._places().values(), self.sure, strict=True):
            for i, row in zip(at, block.tolist(), strict=True):
                for j, likely in zip(at, row, strict=True):
                    table[i][j] = likely
        return table

    def parts(self) -> list[RatingReport]:
        """A report for each group; itself where all have met."""
        places = self._places()
        if len(places) == 1:
            return [self]
        group = {s.name: s.group for s in self.standings}
        meetings: dict[int, list[HeadToHead]] = {number: [] for number in places}
        for meeting in self.meetings:
            meetings[group[meeting.first]].append(meeting)
        sure = [None] * len(places) if self.sure is None else [[block] for block in self.sure]
        return [
            replace(self, standings=[self.standings[i] for i in at], meetings=some, sure=block)
            for at, some, block in zip(places.values(), meetings.values(), sure, strict=True)
        ]

    def _places(self) -> dict[int, list[int]]:
        """Where the players of each group stand, by its number, ascending."""
        places: dict[int, list[int]] = {}
        for i, standing in enumerate(self.standings):
            places.setdefault(standing.group, []).append(i)
        return dict(sorted(places.items()))

    @property
    def surprises(self) -> list[HeadToHead]:
        """Meetings that ended so that one number is not enough to tell the players' strength, seen
        from the side that did better; the most surprising first."""
        if self.options.k is not None:
            return []  # these ratings need not have arrived where the games lead them
        limit = max_by_chance(len(self.meetings))
        meetings = [m if m.deviation > 0 else m.turned() for m in self.meetings]
        meetings.sort(key=lambda m: -m.deviation)
        return [m for m in meetings if m.deviation > limit]

    def remarks(self) -> list[str]:
        """A sentence on players of few games, if there are any."""
        few = (
            [s.name for s in self.standings if s.pairs < MIN_PAIRS] if self.sure is not None else []
        )
        return _too_few(few)

    def warnings(self) -> list[str]:
        """A sentence for each surprise."""
        return [_surprise(meeting) for meeting in self.surprises]

    def versus(self, name: str) -> list[HeadToHead]:
        """The meetings of one player, it first, the strongest opponent first."""
        return self._meetings_of.get(name, [])

    @cached_property
    def _meetings_of(self) -> dict[str, list[HeadToHead]]:
        meetings: dict[str, list[HeadToHead]] = {}
        for m in self.meetings:
            meetings.setdefault(m.first, []).append(m)
            meetings.setdefault(m.second, []).append(m.turned())
        rank = {s.name: i for i, s in enumerate(self.standings)}
        for some in meetings.values():
            some.sort(key=lambda m: rank[m.second])
        return meetings

    def notes(self) -> list[str]:
        """How it was rated, in sentences without ends."""
        options = self.options
        of = f" of {printable(options.game)}" if options.game else ""
        notes = [counted(self.games, "game") + of]
        if options.mixed_rules:
            names = ", ".join(map(printable, options.mixed_rules))
            notes.append(f"rules are not the same in all games: {names}")
        if options.k is not None:
            notes.append(f"Elo game by game with K = {options.k:g}")
        else:
            of = "differences from the mean" if options.to_mean else "differences from the anchors"
            notes.append(f"Elo with {100 * options.confidence:g} % intervals of {of}")
        zero = ", ".join(map(_given, options.anchors))
        notes.append(f"given: {zero}" if zero else "the mean is 0")
        if self.first_move.value:
            notes.append(f"first move: {_ends(self.first_move, 1)} Elo")
        if self.draws.value:
            notes.append(f"draws between equals: {_ends(self.draws, 100)} %")
        if options.prior:
            draws = counted(options.prior, "more draw")
            notes.append(f"each player has {draws} with one player made up")
        if self.groups > 1:
            mean = ", whose mean is 0 without an anchor" if zero else ""
            notes.append(f"{self.groups} groups never met: compare Elo only within a group{mean}")
        return notes

    def json(self) -> dict[str, Any]:
        """The report as formats/rating.md describes it."""
        options = self.options
        intervals = "mean" if options.to_mean else "anchors"
        return {
            "stratkit": FORMAT,
            "version": VERSION,
            "game": options.game or None,
            "mixed_rules": list(options.mixed_rules),
            "games": self.games,
            "method": "ml" if options.k is None else "elo",
            "k": options.k,
            "anchors": [
                {"name": a.name, "elo": a.elo, "sigma": a.sigma or None} for a in options.anchors
            ],
            "intervals": None if options.k is not None else intervals,
            "confidence": options.confidence,
            "resamples": RESAMPLES,
            "prior": options.prior,
            "first_move": _rounded(asdict(self.first_move), 2),
            "draws": _rounded(asdict(self.draws), 5),
            "players": [_rounded(asdict(s), 2) for s in self.standings],
            "meetings": [_rounded(asdict(m), 5) for m in self.meetings],
            "superiority": (sure := self.superiority)
            and [[p if p is None else round(p, 4) for p in row] for row in sure],
        }


def report(pool: Pool, ratings: Ratings, options: RatingOptions) -> RatingReport:
    """The report on `pool`."""
    order = sorted(range(len(pool.names)), key=lambda i: (-ratings.elo[i], pool.names[i]))
    rank = {i: k for k, i in enumerate(order)}
    groups = linked(pool, [anchor.player for anchor in options.anchors])
    group = {i: number for number, some in enumerate(groups, start=1) for i in some}
    met = pool.met
    scores, number = met.scores(), np.add.reduceat(met.number, met.starts)
    fits = residuals(pool, ratings)
    total = np.zeros((len(order), 4), np.int64)  # lost, drawn, won, pairs
    np.add.at(total, fits.first, np.column_stack([scores, number]))
    np.add.at(total, fits.second, np.column_stack([scores[:, ::-1], number]))

    def standing(i: int) -> Standing:
        low, high = (None if x is None else float(x[i]) for x in (ratings.low, ratings.high))
        lost, drawn, won, played = total[i].tolist()
        known = float(ratings.elo[i]), low, high, won, drawn, lost, group[i], played
        return Standing(pool.names[i], *known)

    meetings = []
    for i, j, score, expected, deviation in zip(
        *(fits.first.tolist(), fits.second.tolist(), scores.tolist()),
        *(fits.expected, fits.deviation),
        strict=True,
    ):
        names = pool.names[i], pool.names[j]
        lost, drawn, won = score
        meeting = HeadToHead(*names, won, drawn, lost, float(expected), float(deviation))
        better = rank[i] < rank[j]
        key = (rank[i], rank[j]) if better else (rank[j], rank[i])
        meetings.append((key, meeting if better else meeting.turned()))
    return RatingReport(
        options,
        [standing(i) for i in order],
        [meeting for _, meeting in sorted(meetings, key=lambda pair: pair[0])],
        ratings.superiority and _ranked(ratings.superiority, groups, rank),
        ratings.first_move,
        ratings.draws,
    )


def _ranked(
    sure: Sequence[Floats], groups: Sequence[Sequence[int]], rank: Mapping[int, int]
) -> list[Floats]:
    """The likelihoods of each group in the order of its standings."""
    out = []
    for block, players in zip(sure, groups, strict=True):
        order = np.argsort([rank[i] for i in players])
        out.append(block[np.ix_(order, order)])
    return out


def _too_few(names: Sequence[str]) -> list[str]:
    """A sentence on players of few games, if there are any."""
    if not names:
        return []
    few = [printable(name) for name in names]
    who = ", ".join(few if len(few) <= 5 else [*few[:4], f"{len(few) - 4} more"])
    return [f"fewer than {MIN_PAIRS} pairs of games, which say little of the strength: {who}"]


def _surprise(m: HeadToHead) -> str:
    return (
        f"{printable(m.first)} scored {m.score:.1%} against {printable(m.second)} in"
        f" {counted(m.games, 'game')} where {m.expected:.1%} was expected"
        f" ({m.deviation:.1f} sigma): one number does not tell their strength"
    )


def _given(anchor: Anchor) -> str:
    sigma = "" if not anchor.sigma else f" ± {anchor.sigma:g}"
    return f"{printable(anchor.name)} {anchor.elo:g}{sigma}"


def _ends(estimate: Estimate, factor: float) -> str:
    value, low, high = (factor * x for x in (estimate.value, estimate.low, estimate.high))
    return f"{value:z.1f}" if low == high else f"{value:z.1f} ({low:z.1f} to {high:z.1f})"


def _rounded(values: Mapping[str, Any], places: int) -> dict[str, Any]:
    """Numbers with the digits that mean something, so that the output does not vary in others."""
    return {k: round(v, places) + 0.0 if isinstance(v, float) else v for k, v in values.items()}
