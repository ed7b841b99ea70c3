"""Games of more than two players: the mean score of one player alone among others, by seat.

A seat may be better than another, so the error is that of a stratified mean: seats are the strata
(Cochran 1977, section 5.3). Draw-size scoring: the survivors share alike.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, variance
from typing import Any, BinaryIO

import numpy as np

from stratkit.errors import InputError, error_context, printable
from stratkit.rating.onemore import CONFIDENCE, SEED
from stratkit.storage.identities import CommonRules, KnownPlayers, game_hash, match_key
from stratkit.storage.records import GameRecord, RecordHeader, read_records
from stratkit.storage.results import form_of
from stratkit.terminal import aligned

FORMAT, VERSION = "shares", 1
SQUARES, DRAW_SIZE = "squares", "draw-size"
_SAMPLES = 2000


def scored(returns: Sequence[float], how: str) -> list[float]:
    """The scores of all seats: the returns, or alike for all whose return is above 0."""
    if how == SQUARES:
        return list(returns)
    alive = sum(value > 0 for value in returns)
    return [float(value > 0) / max(alive, 1) for value in returns]


@dataclass
class Share:
    """The scores of one player alone in its games, by seat."""

    scores: list[list[float]]

    @property
    def games(self) -> int:
        """How many there are."""
        return sum(map(len, self.scores))

    @property
    def mean(self) -> float:
        """The mean over the seats that were played, each counting alike; NaN: none was."""
        means = [fmean(some) for some in self.scores if some]
        return fmean(means) if means else math.nan

    @property
    def error(self) -> float | None:
        """The standard error; None where it is not known: a seat was played once, or each seat
        always scored the same."""
        played = [some for some in self.scores if some]
        if not played or min(map(len, played)) < 2:
            return None
        error = math.sqrt(sum(variance(some) / len(some) for some in played)) / len(played)
        return error or None

    def ends(self) -> tuple[float, float]:
        """The ends of the mean's 95 % interval: of the Bayesian bootstrap over games, with one more
        game in all seats together, which scores nothing or everything (onemore.py)."""
        played = [some for some in self.scores if some]
        generator = np.random.Generator(np.random.Philox(SEED))
        more = generator.standard_exponential(_SAMPLES) / len(played)
        low, high = np.zeros(_SAMPLES), np.zeros(_SAMPLES)
        for some in played:
            scores, number = np.unique(some, return_counts=True)
            weights = generator.standard_gamma(number, (_SAMPLES, len(number)))
            whole, points = weights.sum(1) + more, weights @ scores
            low += points / whole / len(played)
            high += (points + more) / whole / len(played)
        tail = (1 - CONFIDENCE) / 2
        return float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))

    def seat(self, seat: int) -> tuple[float, float | None]:
        """Mean and standard error of one seat."""
        some = self.scores[seat]
        error = math.sqrt(variance(some) / len(some)) if len(some) > 1 else None
        return fmean(some), error or None


def alone(players: Sequence[int]) -> int | None:
    """The seat of the one player who sits among copies of another; None: nobody does."""
    seats = [i for i, player in enumerate(players) if players.count(player) == 1]
    return seats[0] if len(seats) == 1 and len(set(players)) == 2 else None


@dataclass
class SeatGames(ABC):
    """The games of a pool, whatever is made of them. A game that is met again is not counted again.

    how        how games are scored
    repeated   number of games that were met again
    differing  numbers of games left out: another game of their match came with it
    rules      of all games
    """

    how: str
    repeated: int = 0
    differing: list[int] = field(default_factory=list)
    _met: dict[tuple[str, int], int] = field(default_factory=dict)
    _players: KnownPlayers = field(default_factory=KnownPlayers)
    rules: CommonRules = field(default_factory=CommonRules)

    def read(
        self,
        stream: BinaryIO,
        name: str,
        torn: Callable[[InputError], object] = lambda error: None,
    ) -> None:
        """Adds all games of a stream; `torn` is told of a last line that is left out.
        `InputError`: no game record, another game, or not such games."""
        form, stream = form_of(stream, name)
        if form is not None:
            raise InputError(
                "results of two players, where shares are rated from game records", file=name
            )
        last: RecordHeader | None = None
        lines: list[int] = []  # of the headers so far
        records = read_records(stream, name, torn, lines.append)
        for number, (header, record) in enumerate(records, 1):
            if header is not last:
                self.rules.add(header, name, lines[-1])
                self._players.add(header.players, name)
                last = header
            self.add(header, record, name, number)

    def add(self, header: RecordHeader, record: GameRecord, name: str, number: int) -> None:
        """Adds a game, once; it is game `number` of `name`, from 1."""
        with error_context(name, f"game {number}"):
            self.check(record)
        key = match_key(header), record.number
        if key in self._met:
            if self._met[key] == game_hash(record):
                self.repeated += 1
            else:
                self.differing.append(record.number)
            return
        self._met[key] = game_hash(record)
        self.take(header, record)

    @property
    def met(self) -> int:
        """How many games there are."""
        return len(self._met)

    def check(self, record: GameRecord) -> None:  # noqa: B027 (any game will do)
        """`InputError`: this is no such game."""

    @abstractmethod
    def take(self, header: RecordHeader, record: GameRecord) -> None:
        """Counts a game."""


@dataclass
class Shares(SeatGames):
    """The shares of one player among others.

    seats  their names
    cells  shares by the names of the one and of the others
    """

    seats: tuple[str, ...] = ()
    cells: dict[tuple[str, str], Share] = field(default_factory=dict)

    def check(self, record: GameRecord) -> None:
        if alone(record.players) is None or len(record.players) < 3:
            what = "--score is for games of one player among copies of another"
            raise InputError(f"{what}: rate --method luce rates others")

    def take(self, header: RecordHeader, record: GameRecord) -> None:
        seat = alone(record.players)
        assert seat is not None
        others = record.players[seat - 1]  # seat 0: the last one
        names = header.players[record.players[seat]].name, header.players[others].name
        n = len(record.players)
        self.seats = self.seats or header.powers or tuple(f"seat {i + 1}" for i in range(n))
        share = self.cells.setdefault(names, Share([[] for _ in range(n)]))
        share.scores[seat].append(scored(record.returns, self.how)[seat])

    def text(self) -> str:
        """A table, a line for each two players."""
        n = len(self.seats)
        head = ["one", f"among {n - 1}", "games", "score", "from", "to", *self.seats]
        rows = [head]
        for (one, others), share in sorted(self.cells.items()):
            low, high = (f"{end:.3f}" for end in share.ends())
            by_seat = [f"{share.seat(i)[0]:.3f}" if share.scores[i] else "-" for i in range(n)]
            row = [printable(one), printable(others), str(share.games), f"{share.mean:.3f}"]
            rows.append([*row, low, high, *by_seat])
        mixed = ", ".join(map(printable, sorted(self.rules.differing)))
        title = f"{self.rules.game}, scored by {self.how}; equal is {1 / n:.3f}"
        title += f"; rules are not the same in all games: {mixed}" if mixed else ""
        return "\n".join([title, "", *aligned(rows, words=(0, 1))])

    def json(self) -> dict[str, Any]:
        """As formats/rating.md describes it."""
        cells = []
        for (one, others), share in sorted(self.cells.items()):
            seats = []
            for i, name in enumerate(self.seats):
                if share.scores[i]:
                    mean, error = share.seat(i)
                    about = {"games": len(share.scores[i]), "mean": _round(mean)}
                    seats.append({"seat": name, **about, "error": _round(error)})
            about = {"games": share.games, "mean": _round(share.mean)}
            about["error"] = _round(share.error)
            about["low"], about["high"] = map(_round, share.ends())
            cells.append({"one": one, "others": others, **about, "seats": seats})
        head = {"stratkit": FORMAT, "version": VERSION, "game": self.rules.game, "score": self.how}
        head |= {"mixed_rules": sorted(self.rules.differing)}
        return {**head, "equal": _round(1 / len(self.seats)), "cells": cells}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
