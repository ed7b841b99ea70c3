"""The score of a match: who won what against whom, and what the sequential test says of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from stratkit.errors import InputError, counted, named
from stratkit.match.schedule import NamedSeats, OneAmongOthers, Schedule
from stratkit.play.finished import NOT_PLAYED
from stratkit.rating.distinct import Distinct, distinct_text
from stratkit.rating.onemore import MIN_PAIRS, Unit, between, likely_text
from stratkit.rating.shares import SQUARES, Share, scored
from stratkit.rating.sprt import Sprt
from stratkit.storage.records import GameRecord


@dataclass
class Pairs:
    """Pairs of games.

    whole   int [5], pairs with 0, 1/2, 1, 3/2 and 2 points
    half    by pair, twice the points of those that are half played
    """

    whole: list[int] = field(default_factory=lambda: [0] * 5)
    half: dict[int, int] = field(default_factory=dict)

    def add(self, pair: int, outcome: int) -> None:
        """A game: 0 lost, 1 drawn, 2 won."""
        if pair in self.half:
            self.whole[self.half.pop(pair) + outcome] += 1
        else:
            self.half[pair] = outcome

    def units(self) -> list[Unit]:
        """As `between` has them."""
        whole = [(n, points / 2, 2.0) for points, n in enumerate(self.whole)]
        return whole + [(1, points / 2, 1.0) for points in self.half.values()]


class PairingTally:
    """The games of one pairing, from the side of the player named first.

    games      int [3], losses, draws and wins
    distinct   which games repeat others (rating/distinct.py)
    pairs      what statistics count: where nothing is left to chance, none that repeats others
    """

    def __init__(self) -> None:
        self.games = [0] * 3
        self.distinct = Distinct()
        self._all, self._new = Pairs(), Pairs()

    def add(self, record: GameRecord, first: int) -> None:
        """A game, of the player `first`."""
        seat = record.players.index(first)
        outcome = (record.returns[seat] > 0) + (record.returns[seat] >= 0)
        self.games[outcome] += 1
        self._all.add(record.pair, outcome)
        if self.distinct.add((seat,), record):
            self._new.add(record.pair, outcome)

    @property
    def pairs(self) -> Pairs:
        """The pairs that statistics count."""
        return self._all if self.distinct.by_chance else self._new

    def repeats(self) -> list[str]:
        """What is to be said of games that are not distinct, as a row."""
        total, distinct = sum(self.games), self.distinct
        alike = total - distinct.games
        return [distinct_text(total, alike, 0 if distinct.by_chance else alike)] if alike else []


class Scoreboard:
    """Counts the games of a match. Statistics and the test `sprt` count pairs, as rate does.

    tallies      of each pairing
    faults       by player and reason, games lost by faults
    new          games of this call
    new_faults   of these, games lost by faults
    remaining    games to be played
    not_played   games left out because their player does not answer any more
    """

    def __init__(self, names: Sequence[str], schedule: Schedule, sprt: Sprt | None) -> None:
        self.names, self.schedule, self.sprt = [named(name) for name in names], schedule, sprt
        self.tallies = [PairingTally() for _ in schedule.pairings]
        self.faults: Counter[tuple[int, str]] = Counter()
        self.remaining = self.new = self.new_faults = self.not_played = 0
        self._tested: tuple[tuple[int, ...], int | None] = (), None

    @property
    def done(self) -> int:
        """Games that are in the file."""
        return sum(sum(tally.games) for tally in self.tallies)

    def add_recorded(self, record: GameRecord) -> None:
        """Counts a game that was in the file already. `InputError`: the match has no such game."""
        number, schedule = record.number, self.schedule
        if number >= len(schedule) or record.players != schedule.seats(number):
            raise InputError("a game that is none of this match", text=number)
        self.add(record)

    def add(self, record: GameRecord) -> None:
        """Counts a game."""
        pairing = record.number // self.schedule.games
        self.tallies[pairing].add(record, self.schedule.pairings[pairing][0])
        if record.fault is not None:
            loser = record.players[record.returns.index(min(record.returns))]
            self.faults[loser, record.reason] += 1

    def add_new(self, record: GameRecord) -> bool:
        """Counts a game of this call. False: it was not played."""
        self.remaining -= 1
        if record.reason == NOT_PLAYED:
            self.not_played += 1
            return False
        self.new += 1
        self.new_faults += record.fault is not None
        self.add(record)
        return True

    @property
    def decision(self) -> int | None:
        """The hypothesis that the test accepts, 0 or 1; None: undecided, or there is no test."""
        pairs = tuple(self.tallies[0].pairs.whole)
        if self.sprt and pairs != self._tested[0]:
            self._tested = pairs, self.sprt.decision(pairs)
        return self._tested[1]

    # --- text -------------------------------------------------------------------------------------

    def text(self) -> str:
        """The table, a line for each row."""
        return "\n".join(map(", ".join, self.rows()))

    def rows(self) -> list[list[str]]:
        """Rows of fields: one for each pairing, for each player with faults, and for the test."""
        pairings = [row for index in range(len(self.tallies)) for row in self._pairing(index)]
        return pairings + self._faults() + self._test()

    def _pairing(self, index: int) -> list[list[str]]:
        tally = self.tallies[index]
        lost, drawn, won = tally.games
        first, second = (self.names[i] for i in self.schedule.pairings[index])
        line = f"{first} - {second}: +{won} ={drawn} -{lost}"
        if not sum(tally.games):
            return [[line]]
        score = (won + drawn / 2) / sum(tally.games)
        estimate, number = between(tally.pairs.units()), sum(tally.pairs.whole)
        few = ": too few to say much" if number < MIN_PAIRS else ""
        row = [
            line,
            f"{100 * score:.1f} %",
            f"Elo {_elo(estimate.elo)} ({_elo(estimate.low)} to {_elo(estimate.high)})",
            f"LOS {likely_text(estimate.superiority, ' %')}",
            counted(number, "pair") + few,
        ]
        return [row, *([repeats] if (repeats := tally.repeats()) else [])]

    def _faults(self) -> list[list[str]]:
        rows = []
        for player, name in enumerate(self.names):
            mine = {reason: n for (who, reason), n in sorted(self.faults.items()) if who == player}
            if mine:
                first, *others = [f"{n} {reason}" for reason, n in mine.items()]
                games = counted(sum(mine.values()), "game")
                rows.append([f"{name}: {games} lost by faults: {first}", *others])
        return rows

    def _test(self) -> list[list[str]]:
        if not self.sprt:
            return []
        low, high = self.sprt.bounds
        ratio = self.sprt.ratio(self.tallies[0].pairs.whole)
        words = {None: "undecided", 0: "H0 is accepted", 1: "H1 is accepted"}[self.decision]
        elos = f"elo {self.sprt.elo0:g} against {self.sprt.elo1:g}"
        return [[f"SPRT of {elos}: {words}", f"LLR {ratio:z.2f} ({low:.2f} to {high:.2f})"]]


class ShareBoard(Scoreboard):
    """Of a match of one player among others: the one's mean scores, by squares."""

    def __init__(self, names: Sequence[str], schedule: OneAmongOthers) -> None:
        super().__init__(names, schedule, None)
        self.sides, self.alone = schedule.sides, schedule.alone
        self.shares = [Share([[] for _ in range(self.sides)]) for _ in schedule.pairings]

    @property
    def done(self) -> int:
        return sum(share.games for share in self.shares)

    def add(self, record: GameRecord) -> None:
        pairing = record.number // self.schedule.games
        one, scores = self.schedule.pairings[pairing][0], scored(record.returns, SQUARES)
        mine = [scores[at] for at, player in enumerate(record.players) if player == one]
        turn = record.number % self.sides  # of one alone it is its seat
        self.shares[pairing].scores[turn].append(fmean(mine))

    @property
    def decision(self) -> int | None:
        return None

    def rows(self) -> list[list[str]]:
        return [self._share(index) for index in range(len(self.shares))]

    def _share(self, index: int) -> list[str]:
        share = self.shares[index]
        one, others = (self.names[i] for i in self.schedule.pairings[index])
        who = one if self.alone == 1 else f"{self.alone} of {one}"
        line = f"{who} among {self.sides - self.alone} of {others}"
        line += f": {counted(share.games, 'game')}"
        if not share.games:
            return [line]
        low, high = share.ends()
        score = f"score {share.mean:.3f} ({low:.3f} to {high:.3f})"
        return [line, score, f"equal is {1 / self.sides:.3f}"]


class SeatBoard(Scoreboard):
    """Of a match in which everybody always has the same seats: each one's mean score of a seat."""

    def __init__(self, names: Sequence[str], schedule: NamedSeats) -> None:
        super().__init__(names, schedule, None)
        self.shares = [Share([[]]) for _ in names]

    @property
    def done(self) -> int:
        return self.shares[0].games

    def add(self, record: GameRecord) -> None:
        scores = scored(record.returns, SQUARES)
        for number, share in enumerate(self.shares):
            mine = [scores[at] for at, one in enumerate(record.players) if one == number]
            share.scores[0].append(fmean(mine))

    @property
    def decision(self) -> int | None:
        return None

    def rows(self) -> list[list[str]]:
        return [
            self._share(name, share) for name, share in zip(self.names, self.shares, strict=True)
        ]

    def _share(self, name: str, share: Share) -> list[str]:
        line = f"{name}: {counted(share.games, 'game')}"
        return [line, f"score of a seat {share.mean:.3f}"] if share.games else [line]


def _elo(elo: float) -> str:
    return f"{round(elo):+d}" if math.isfinite(elo) else "-∞" if elo < 0 else "+∞"
