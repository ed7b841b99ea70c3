"""Ratings for games of any number of players: the most likely in the model of Luce and Plackett.

In a choice among seats a player of strength w is chosen with probability w / (sum of all w), every
seat counted (Luce 1959). A game is one choice, of whom the points go to: points that are shared
choose each by its share, and all alike if nobody has any. Or a game is the order in which all came
in: the first is chosen among all, the second among the others, and so on (Plackett 1975); who are
level share each of their choices. Of two players both are the model of Bradley and Terry, in which
a draw is half a win. Elo is 400 log10(w), the mean 0.

The likelihood asks of the games how often each table was chosen at, a table being who sits how
often, and what each player got in all. Intervals are as in bootstrap.py: a random weight for each
pair of games, and at either end one more game, which the player loses or wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stratkit.arrays import Bools, Float64s
from stratkit.errors import CheckFailed, named, printable
from stratkit.rating.elo import ELO
from stratkit.rating.onemore import CONFIDENCE, SEED
from stratkit.rating.shares import SQUARES, SeatGames, scored
from stratkit.storage.identities import match_key
from stratkit.storage.records import GameRecord, RecordHeader
from stratkit.terminal import aligned

FORMAT, VERSION = "luce", 1
ORDER = "order"
RESAMPLES = 400
_STEPS, _FAR, _NEAR = 100, 1.0, 1e-9  # of the fit: how many, the largest, and one that is none
_SPAN = 12.0  # in log w, beyond which no games place anybody

Stage = tuple[tuple[int, ...], dict[int, float]]
"""A choice: the players of all seats that can be chosen, sorted, and each player's share."""


def stages(players: Sequence[int], returns: Sequence[float], how: str) -> list[Stage]:
    """The choices of a game in which `players` had the seats."""
    if how == ORDER:
        return _in_order(players, returns)
    # Who pays gets none: of two players, where one pays the other, the winner gets all.
    shares = [max(value, 0.0) for value in scored(returns, how)]
    total = sum(shares)
    got: dict[int, float] = {}
    for player, share in zip(players, shares, strict=True):
        got[player] = got.get(player, 0.0) + (share / total if total > 0 else 1 / len(players))
    return [(tuple(sorted(players)), got)]


def _in_order(players: Sequence[int], returns: Sequence[float]) -> list[Stage]:
    found: list[Stage] = []
    left = list(range(len(players)))
    while len(left) > 1:
        best = max(returns[seat] for seat in left)
        level = [seat for seat in left if returns[seat] == best]
        table, got = tuple(sorted(players[seat] for seat in left)), dict[int, float]()
        for seat in level:
            got[players[seat]] = got.get(players[seat], 0.0) + 1 / len(level)
        # The last of all is chosen by nobody.
        found += [(table, got)] * (len(level) - (len(level) == len(left)))
        left = [seat for seat in left if seat not in level]
    return found


@dataclass
class Tables(SeatGames):
    """The games as the fit asks for them, in units that belong together: pairs of a match.

    names  of the players
    units  of each the stages of its games
    """

    names: list[str] = field(default_factory=list)
    units: dict[tuple[str, int], list[Stage]] = field(default_factory=dict)
    games: dict[int, int] = field(default_factory=dict)
    points: dict[int, float] = field(default_factory=dict)

    def take(self, header: RecordHeader, record: GameRecord) -> None:
        at = {index: self._number(header.players[index].name) for index in set(record.players)}
        players = [at[index] for index in record.players]
        unit = self.units.setdefault((match_key(header), record.pair), [])
        unit += stages(players, record.returns, self.how)
        for player in set(players):
            self.games[player] = self.games.get(player, 0) + 1
        whole = SQUARES if self.how == ORDER else self.how
        for player, share in stages(players, record.returns, whole)[0][1].items():
            self.points[player] = self.points.get(player, 0.0) + share / players.count(player)

    def _number(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


@dataclass(frozen=True)
class Choices:
    """What the likelihood asks.

    seats   float64 [t, p], how many seats each player has at each table
    chosen  float64 [u, t], how often each unit chooses there
    shares  float64 [u, p], what each player got in it
    beats   bool [p, p], who ever got something where the other one sat
    """

    seats: Float64s
    chosen: Float64s
    shares: Float64s
    beats: Bools

    @classmethod
    def of(cls, units: Sequence[Sequence[Stage]], players: int) -> Choices:
        """Of these units, in which so many players sit."""
        tables: dict[tuple[int, ...], int] = {}
        for stage in (stage for unit in units for stage in unit):
            tables.setdefault(stage[0], len(tables))
        chosen, shares = np.zeros((len(units), len(tables))), np.zeros((len(units), players))
        beats = np.eye(players, dtype=bool)
        for row, unit in enumerate(units):
            for table, got in unit:
                chosen[row, tables[table]] += 1
                for player, share in got.items():
                    shares[row, player] += share
                    beats[player, list(table)] |= share > 0
        seats = np.array([np.bincount(table, minlength=players) for table in tables], float)
        return cls(seats.reshape(len(tables), players), chosen, shares, beats)

    def with_prior(self, games: int) -> Choices:
        """With so many draws of each player against one more, the last one, whose seats at all
        other tables are 0; all in one unit."""
        players = self.shares.shape[1]
        seats = np.zeros((players, players + 1))
        seats[:, :-1], seats[:, -1] = np.eye(players), 1
        shares = np.zeros((len(self.shares) + 1, players + 1))
        shares[:-1, :-1] = self.shares
        shares[-1, :-1], shares[-1, -1] = games / 2, players * games / 2
        chosen = np.zeros((len(shares), len(self.seats) + players))
        chosen[:-1, : len(self.seats)] = self.chosen
        chosen[-1, len(self.seats) :] = games
        known = np.pad(self.seats, ((0, 0), (0, 1)))
        return Choices(np.concatenate([known, seats]), chosen, shares, self.beats)


def fit(seats: Float64s, chosen: Float64s, shares: Float64s) -> Float64s:
    """float64 [b, p]: log w, of mean 0, of b samples: seats [t, p], chosen [b, t], shares [b, p].
    Newton's method: the likelihood is concave."""
    players = seats.shape[1]
    state = np.zeros(shares.shape)
    for _ in range(_STEPS):
        odds = seats * np.exp(state)[:, None, :]
        chance = odds / odds.sum(2, keepdims=True)
        slope = shares - (chosen[:, :, None] * chance).sum(1)
        weighted = chosen[:, :, None] * chance
        curve = np.eye(players) * weighted.sum(1)[:, None, :]
        curve -= weighted.transpose(0, 2, 1) @ chance
        scale = chosen.sum(1)[:, None, None]
        step = np.linalg.solve(curve + scale / players, slope[:, :, None])[:, :, 0]
        step *= np.minimum(1, _FAR / np.maximum(np.abs(step).max(1, keepdims=True), _NEAR))
        state = np.clip(state + step, -_SPAN, _SPAN)
        if np.abs(step).max() < _NEAR:
            break
    return np.asarray(state - state.mean(1, keepdims=True))


@dataclass(frozen=True)
class LuceRatings:
    """Ratings in Elo, [players] each, and the ends of their intervals."""

    elo: Float64s
    low: Float64s
    high: Float64s


def rate(
    choices: Choices, names: Sequence[str], prior: int = 0, confidence: float = CONFIDENCE
) -> LuceRatings:
    """The ratings under which the games are most likely. `CheckFailed`: there are none."""
    players = choices.shares.shape[1]
    if prior:
        choices = choices.with_prior(prior)
    else:
        _check_linked(choices, names)
    seats = choices.seats

    def elo(chosen: Float64s, shares: Float64s) -> Float64s:
        found = ELO * fit(seats, chosen, shares)[:, :players]
        return np.asarray(found - found.mean(1, keepdims=True))

    generator = np.random.Generator(np.random.Philox(SEED))
    weights = generator.standard_exponential((RESAMPLES, len(choices.shares)))
    more = generator.standard_exponential(RESAMPLES)
    weights[:, len(choices.shares) - bool(prior) :] = 1  # the prior is no game
    chosen, shares = weights @ choices.chosen, weights @ choices.shares
    tail = (1 - confidence) / 2
    low, high = np.empty(players), np.empty(players)
    for player in range(players):
        usual = int((choices.chosen.sum(0) * seats[:, player]).argmax())  # its table
        sits = seats[usual].copy()
        sits[player] = 0
        once = chosen.copy()
        once[:, usual] += more
        lost = shares + more[:, None] * sits / max(sits.sum(), 1)
        won = shares.copy()
        won[:, player] += more
        low[player] = np.quantile(elo(once, lost)[:, player], tail)
        high[player] = np.quantile(elo(once, won)[:, player], 1 - tail)
    [found] = elo(choices.chosen.sum(0)[None], choices.shares.sum(0)[None])
    return LuceRatings(found, np.minimum(low, found), np.maximum(high, found))


def _check_linked(choices: Choices, names: Sequence[str]) -> None:
    """`CheckFailed`: somebody won, or lost, everything against the others, or never met them."""
    reach = choices.beats
    for _ in names:
        reach = reach @ reach
    apart = [named(name) for name, row in zip(names, reach & reach.T, strict=True) if not row.all()]
    if apart:
        few = apart if len(apart) <= 5 else [*apart[:4], f"{len(apart) - 4} more"]
        what = "won or lost everything against the others, or never met them"
        raise CheckFailed(f"{', '.join(few)}: somebody {what} (--prior 1 makes ratings finite)")


# ---- what is printed ----


@dataclass(frozen=True)
class LuceReport:
    """The ratings of a pool."""

    tables: Tables
    ratings: LuceRatings

    @property
    def rows(self) -> list[tuple[str, int, float, float, float, float]]:
        """The best first: name, games, mean score of a seat, Elo, and its interval."""
        pool, found = self.tables, self.ratings
        order = np.argsort(-found.elo, kind="stable").tolist()
        return [
            (
                pool.names[i],
                pool.games[i],
                pool.points[i] / pool.games[i],
                *(float(some[i]) for some in (found.elo, found.low, found.high)),
            )
            for i in order
        ]

    def text(self) -> str:
        """A table, a line for each player."""
        rows = [["player", "Elo", "from", "to", "games", "score"]]
        for name, games, score, *elos in self.rows:
            rows.append(
                [printable(name), *(f"{elo:z.0f}" for elo in elos), str(games), f"{score:.3f}"]
            )
        title = f"{self.tables.rules.game}, Plackett-Luce by {self.tables.how}"
        mixed = ", ".join(map(printable, sorted(self.tables.rules.differing)))
        title += f"; rules are not the same in all games: {mixed}" if mixed else ""
        return "\n".join([title, "", *aligned(rows, words=(0,))])

    def json(self) -> dict[str, Any]:
        """As formats/rating.md describes it."""
        head = {"stratkit": FORMAT, "version": VERSION, "game": self.tables.rules.game}
        head |= {"score": self.tables.how}
        keys = ("name", "games", "score", "elo", "low", "high")
        players = [
            {
                key: round(v, 5) + 0.0 if isinstance(v, float) else v
                for key, v in zip(keys, row, strict=True)
            }
            for row in self.rows
        ]
        mixed = {"mixed_rules": sorted(self.tables.rules.differing)}
        return {**head, **mixed, "players": players}
