"""Figures about many games and setups, those of the DeepNash paper's section 3.3.1 among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Bools, Bytes, Int64s
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MARSHAL,
    MINER,
    SCOUT,
    SPY,
    TYPES,
    VARIANTS,
    Variant,
)
from stratkit.notation.explored import Explored
from stratkit.notation.log import Log
from stratkit.notation.scores import DRAWN, LOST, WON, Scores
from stratkit.notation.select import EVERYTHING, Selection
from stratkit.notation.setups import Setup, variant_of

GENERAL, COLONEL = 9, 8
OUTCOMES = ("won", "drawn", "lost")
MAX_DISTINCT = 1 << 20  # setups that are remembered to tell new ones from old ones


@dataclass
class SetupFigures:
    """Sums over setups of one variant.

    count      of setups
    maps       int64 [12, zone], how often each type stands on each own-view square
    sums       by name, of which `figures` makes shares and means
    distinct   the setups' bytes, `MAX_DISTINCT` at most
    """

    variant: Variant
    count: int = 0
    maps: Int64s = field(default_factory=lambda: np.zeros((12, 0), np.int64))
    sums: Counter[str] = field(default_factory=Counter)
    distinct: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not self.maps.size:
            self.maps = np.zeros((len(TYPES), self.variant.zone), np.int64)

    def add(self, setups: Bytes) -> None:
        """Adds setups, uint8 [n, zone], all regular."""
        self.count += len(setups)
        for type_ in range(len(TYPES)):
            self.maps[type_] += (setups == type_).sum(axis=0)
        self.sums.update(_sums(self.variant, setups))
        self._meet({setup.tobytes() for setup in setups})

    def merge(self, other: SetupFigures) -> None:
        """Adds the figures of other setups of the variant."""
        self.count += other.count
        self.maps += other.maps
        self.sums.update(other.sums)
        self._meet(other.distinct)

    def _meet(self, more: set[bytes]) -> None:
        if len(self.distinct) < MAX_DISTINCT:
            self.distinct |= more

    def figures(self) -> dict[str, float]:
        """Shares from 0 to 1 and means, by their names; those that the variant does not have are
        left out."""
        n, counts = self.count, self.variant.counts
        shares = {
            "flag on the back rank": ("flag back", 1),
            "no bomb beside the flag": ("no bomb", 1),
            "flag closed in by bombs": ("closed in", 1),
            "bombs beside the flag, mean": ("bombs beside", 1),
            "bombs on the front rank, of all": ("bombs front", counts[BOMB]),
            "marshal and general on different wings": ("wings", 1),
            "distance of spy and marshal, mean": ("spy marshal", 1),
            "distance of spy and general, mean": ("spy general", 1),
            "spy within 2 of a general or colonel": ("spy guarded", 1),
            "miners on the back rank, of all": ("miners back", counts[MINER]),
            "scouts on the front rank, of all": ("scouts front", counts[SCOUT]),
        }
        return {
            name: self.sums[key] / (n * of)
            for name, (key, of) in shares.items()
            if n and of and key in self.sums
        }


def _sums(variant: Variant, setups: Bytes) -> Mapping[str, int]:
    """The sums of `SetupFigures` for setups uint8 [n, zone]."""
    width, last = variant.width, variant.ranks - 1
    places = {t: np.argmax(setups == t, axis=1) for t in (FLAG, SPY, MARSHAL, GENERAL)}
    file = {t: squares % width for t, squares in places.items()}
    rank = {t: squares // width for t, squares in places.items()}
    beside, neighbours = _beside_flag(setups, rank[FLAG], file[FLAG], width, variant.ranks)
    sums = {
        "flag back": (rank[FLAG] == 0).sum(),
        "no bomb": (beside == 0).sum(),
        # A flag on the front rank has a neighbour that no own bomb can be on.
        "closed in": ((beside == neighbours) & (rank[FLAG] < last)).sum(),
        "bombs beside": beside.sum(),
    }
    grid = setups.reshape(len(setups), variant.ranks, width)
    counts = variant.counts
    if counts[BOMB]:
        sums["bombs front"] = (grid[:, -1] == BOMB).sum()
    if counts[MINER]:
        sums["miners back"] = (grid[:, 0] == MINER).sum()
    if counts[SCOUT]:
        sums["scouts front"] = (grid[:, -1] == SCOUT).sum()
    if counts[MARSHAL] == counts[GENERAL] == 1:
        left = {t: 2 * file[t] < width for t in (MARSHAL, GENERAL)}
        sums["wings"] = (left[MARSHAL] != left[GENERAL]).sum()
    if counts[SPY] == counts[MARSHAL] == counts[GENERAL] == 1:
        apart = {t: abs(rank[SPY] - rank[t]) + abs(file[SPY] - file[t]) for t in (MARSHAL, GENERAL)}
        sums["spy marshal"], sums["spy general"] = apart[MARSHAL].sum(), apart[GENERAL].sum()
        sums["spy guarded"] = _guarded(grid, rank[SPY], file[SPY]).sum()
    return {key: int(value) for key, value in sums.items()}


def _beside_flag(
    setups: Bytes, rank: Int64s, file: Int64s, width: int, ranks: int
) -> tuple[Int64s, Int64s]:
    """How many bombs are beside each flag, and how many squares of the own ranks are."""
    bombs = np.zeros(len(setups), np.int64)
    squares = np.zeros(len(setups), np.int64)
    for up, right in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        on_zone = (
            (rank + up >= 0) & (rank + up < ranks) & (file + right >= 0) & (file + right < width)
        )
        squares += on_zone
        at = np.where(on_zone, width * (rank + up) + file + right, 0)
        bombs += on_zone & (np.take_along_axis(setups, at[:, None], 1)[:, 0] == BOMB)
    return bombs, squares


def _guarded(grid: Bytes, rank: Int64s, file: Int64s) -> Bools:
    """Whether a general or colonel is at most two steps from the spy."""
    ranks, files = np.indices(grid.shape[1:])
    steps = abs(ranks - rank[:, None, None]) + abs(files - file[:, None, None])
    strong = (grid == GENERAL) | (grid == COLONEL)
    return np.asarray((strong & (steps <= 2)).any(axis=(1, 2)))


@dataclass
class Figures:
    """Sums over games and setups, which can be added up piece by piece.

    games                      how many
    kinds, endings, results    by word, how many games
    moves                      by number of plies, how many games
    players                    by nick, how many games were `won`, `drawn` and `lost`
    setups                     by variant
    free                       setups that fit no variant
    attacks                    by nick, what `attacks.count_attacks` counts; None: not counted
    scores                     of setups, by variant; None: not counted
    explored                   of the sides that were asked for, and of their opponents; None: not
                               looked at
    """

    games: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)
    moves: Counter[int] = field(default_factory=Counter)
    players: dict[str, Counter[str]] = field(default_factory=dict)
    setups: dict[str, SetupFigures] = field(default_factory=dict)
    free: int = 0  # setups that fit no variant
    attacks: dict[str, Counter[str]] | None = None
    scores: dict[str, Scores] | None = None
    explored: tuple[Explored, Explored] | None = None

    def add_logs(self, logs: Sequence[Log], selection: Selection = EVERYTHING) -> None:
        """Adds games, and the setups of the sides that the selection asks for."""
        self.games += len(logs)
        for log in logs:
            self.kinds[log.kind or log.variant.name] += 1
            self.endings[log.reason] += 1
            self.results[{0: "red", 1: "blue", None: "draw"}[log.winner]] += 1
            self.moves[log.plies] += 1
            for side, nick in enumerate(log.players):
                outcome = "drawn" if log.winner is None else ("lost", "won")[log.winner == side]
                self.players.setdefault(nick, Counter())[outcome] += 1
        sides = [(log, side) for log in logs if log.setups for side in selection.sides(log)]
        setups = [_setup_of(log, side) for log, side in sides]
        self.add_setups(setups)
        for (log, side), (setup, variant) in zip(sides, setups, strict=True):
            ended = DRAWN if log.winner is None else WON if log.winner == side else LOST
            if self.scores is not None and variant is not None:  # it is regular
                self.scores.setdefault(variant.name, Scores(variant)).add(setup, ended)

    def add_attacks(self, players: Sequence[str], counts: Sequence[Counter[str]]) -> None:
        """Adds what each of the players did in a game."""
        assert self.attacks is not None
        for nick, count in zip(players, counts, strict=True):
            self.attacks.setdefault(nick, Counter()).update(count)

    def add_setups(self, setups: Sequence[tuple[Setup, Variant | None]]) -> None:
        """Adds setups, uint8 [zone] each, with their variants; None: they fit no variant."""
        by_variant: dict[str, list[Setup]] = {}
        for setup, variant in setups:
            if variant is None:
                self.free += 1
            else:
                by_variant.setdefault(variant.name, []).append(setup)
        for name, some in by_variant.items():
            self._of(name).add(np.stack(some))

    def _of(self, name: str) -> SetupFigures:
        return self.setups.setdefault(name, SetupFigures(VARIANTS[name]))

    def merge(self, other: Figures) -> None:
        """Adds the figures of other games."""
        self.games += other.games
        self.free += other.free
        for mine, others in (
            (self.kinds, other.kinds),
            (self.endings, other.endings),
            (self.results, other.results),
        ):
            mine.update(others)
        self.moves.update(other.moves)
        for nick, outcomes in other.players.items():
            self.players.setdefault(nick, Counter()).update(outcomes)
        for name, figures in other.setups.items():
            self._of(name).merge(figures)
        if other.attacks:
            self.add_attacks(list(other.attacks), list(other.attacks.values()))
        for name, scores in (other.scores or {}).items():
            assert self.scores is not None
            self.scores.setdefault(name, Scores(VARIANTS[name])).merge(scores)
        for mine_explored, more in zip(self.explored or (), other.explored or (), strict=True):
            mine_explored.merge(more)

    def of_player(self, nick: str) -> Counter[str]:
        """How many games somebody `won`, had `drawn` and `lost`, in whatever case the nick is."""
        same = (c for name, c in self.players.items() if name.casefold() == nick.casefold())
        return sum(same, Counter())

    def length(self, share: float) -> int:
        """The number of moves that this share of the games does not exceed."""
        seen = 0
        for moves, count in sorted(self.moves.items()):
            seen += count
            if seen >= share * self.games:
                return moves
        return 0

    def json(self) -> dict[str, object]:
        """All figures; heat maps by type, rank by rank from the back."""
        return {
            "games": self.games,
            "types": dict(sorted(self.kinds.items())),
            "endings": dict(sorted(self.endings.items())),
            "results": dict(sorted(self.results.items())),
            "players": {
                nick: {outcome: outcomes[outcome] for outcome in OUTCOMES}
                for nick, outcomes in sorted(self.players.items())
            },
            "moves": {
                "least": self.length(0),
                "median": self.length(0.5),
                "most": self.length(1),
                "mean": sum(m * n for m, n in self.moves.items()) / max(1, self.games),
            },
            **({} if self.attacks is None else {"attacks": dict(sorted(self.attacks.items()))}),
            **({} if self.scores is None else {"scores": self._scores_json()}),
            "free_setups": self.free,
            "setups": {name: _setups_json(f) for name, f in sorted(self.setups.items())},
        }

    def _scores_json(self) -> dict[str, object]:
        return {name: scores.json() for name, scores in sorted((self.scores or {}).items())}


def _setup_of(log: Log, side: int) -> tuple[Setup, Variant | None]:
    """The setup of a side of a game that has setups, and the variant that it fits."""
    assert log.setups is not None
    return log.setups[side], variant_of(log.setups[side], log.variant)


def _setups_json(figures: SetupFigures) -> dict[str, object]:
    variant = figures.variant
    maps = figures.maps.reshape(len(TYPES), variant.ranks, variant.width)
    return {
        "setups": figures.count,
        "distinct": len(figures.distinct),
        "figures": figures.figures(),
        "maps": {
            name: maps[type_].tolist() for type_, name in enumerate(TYPES) if variant.counts[type_]
        },
    }


def pieces_of(variant: Variant) -> list[int]:
    """The types that the variant has, the strongest first, then bomb, flag and spy."""
    order = [MARSHAL, GENERAL, COLONEL, 7, 6, 5, 4, MINER, SCOUT, SPY, BOMB, FLAG]
    return [type_ for type_ in order if variant.counts[type_]]
