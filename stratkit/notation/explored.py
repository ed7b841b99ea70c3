"""What games tell about a player: its setups in groups of similar ones, how they scored and began,
and its habits, with positions that show them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine.stratego import (
    BOMB,
    FLAG,
    MARSHAL,
    SPY,
    TYPES,
    Variant,
)
from stratkit.notation.attacks import each_ply, own_plies
from stratkit.notation.play import Played
from stratkit.notation.scores import CERTAINTY, DRAWN, LOST, WON
from stratkit.notation.setups import Setup, variant_of

FIRST = 10  # own moves of a game that are kept
MAX_SIDES = 1 << 17  # setups of a variant that are kept, with their games
EXAMPLES = 3  # positions that show a habit
MAX_GROUPS, MAX_COMPARED, ROUNDS = 10, 4096, 30  # of setups
GENERAL = 9
# How much a piece counts for how alike setups are; the others count 1.
WEIGHTS: Mapping[int, float] = {FLAG: 6.0, MARSHAL: 3.0, GENERAL: 2.0, BOMB: 2.0, SPY: 2.0}
BESIDE = 0.5  # the share of a piece on the squares beside it

Moves = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Habit:
    """What a player may do, and how often of what: names of `attacks.COUNTED`. `before`: a position
    that shows it is the one before the move."""

    event: str
    of: str
    title: str
    before: bool = False


HABITS = (
    Habit("chases", "plies", "moves of a hidden piece to the side of a known one (chases)"),
    Habit("bluffs", "chases", "chases that are bluffs: an attack would lose"),
    Habit("scout_chases_by_spy", "scout_chases", "chases of a known scout by the spy"),
    Habit(
        "marshal_chases_as_spy",
        "marshal_chases",
        "chases of a known marshal by a piece that it beats, as if it were the spy",
    ),
    Habit(
        "strong_chases_met",
        "strong_chases",
        "chases by a stronger piece, which the chased one attacks and falls",
    ),
    Habit("scouts_let_go", "scouts", "chances to take a known scout for certain, let go", True),
    Habit("known_lost", "known", "attacks on known pieces that lose for certain"),
    Habit("beside_taken", "beside", "pieces left beside a known stronger one that it then took"),
)


@dataclass(frozen=True)
class Side:
    """One side of a game: its setup as bytes, the outcome (`WON`, `DRAWN`, `LOST`), and its first
    moves from square to square; squares as it sees the board itself."""

    setup: bytes
    outcome: int
    moves: Moves


@dataclass(frozen=True)
class Example:
    """The position of a game after so many plies that shows a habit of red (0) or blue (1)."""

    played: Played
    ply: int
    side: int


@dataclass
class Explored:
    """Sums over games of a player, or of all.

    games     how many
    sides     by variant
    sums      by event of a habit: of the event's number x and the chances' y in a game, the sums of
              x, y, x², xy and y², float64 [5]
    examples  by event, `EXAMPLES` at most
    """

    games: int = 0
    sides: dict[str, list[Side]] = field(default_factory=dict)
    sums: dict[str, Float64s] = field(
        default_factory=lambda: {habit.event: np.zeros(5) for habit in HABITS}
    )
    examples: dict[str, list[Example]] = field(
        default_factory=lambda: {habit.event: [] for habit in HABITS}
    )

    def add(self, played: Played, sides: Sequence[int]) -> None:
        """Adds a game with its boards, as these sides played it."""
        if not sides:
            return
        self.games += 1
        for side in sides:
            self._add_setup(played, side)
        every = each_ply(played)
        for habit in HABITS:
            x, y = (
                sum(float(own_plies(played, every[name], side).sum()) for side in sides)
                for name in (habit.event, habit.of)
            )
            self.sums[habit.event] += (x, y, x * x, x * y, y * y)
            shown = self.examples[habit.event]
            mover, events = played.log.mover, np.flatnonzero(every[habit.event]).tolist()
            plies = [ply for ply in events if mover(ply) in sides]
            if plies and len(shown) < EXAMPLES:
                ply = plies[len(plies) // 2]
                shown.append(Example(played, ply + (not habit.before), mover(ply)))

    def _add_setup(self, played: Played, side: int) -> None:
        log = played.log
        variant = variant_of(log.setups[side], log.variant) if log.setups else None
        if variant is None or log.setups is None:
            return
        known = self.sides.setdefault(log.variant.name, [])
        if len(known) >= MAX_SIDES:
            return
        outcome = DRAWN if log.winner is None else WON if log.winner == side else LOST
        squares = [int(log.variant.framed(side, square)) for square in log.moves]
        moves = list(zip(squares[::2], squares[1::2], strict=True))[side::2][:FIRST]
        known.append(Side(log.setups[side].tobytes(), outcome, tuple(moves)))

    def merge(self, other: Explored) -> None:
        """Adds other games."""
        self.games += other.games
        for name, sides in other.sides.items():
            known = self.sides.setdefault(name, [])
            known += sides[: MAX_SIDES - len(known)]
        for event, sums in other.sums.items():
            self.sums[event] += sums
        for event, examples in other.examples.items():
            known_examples = self.examples[event]
            known_examples += examples[: EXAMPLES - len(known_examples)]

    def share(self, event: str) -> tuple[float, float, float] | None:
        """How often the event of a habit came, of its chances, with its interval of 95 %; None: it
        had none.

        It is Wilson's interval for as many independent chances as vary like these, whose games vary
        as wholes (Kish 1965: the design effect). A share of 0 or 1 counts games for chances.
        """
        x, y, xx, xy, yy = self.sums[event].tolist()
        if not y:
            return None
        share = min(1.0, x / y)
        spread = (xx - 2 * share * xy + share * share * yy) / y**2
        alone = min(y, float(self.games))
        chances = min(y, share * (1 - share) / spread) if spread > 0 and 0 < share < 1 else alone
        z = CERTAINTY**2 / chances
        middle = (share + z / 2) / (1 + z)
        half = math.sqrt(z * share * (1 - share) + z * z / 4) / (1 + z)
        return share, max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Group:
    """Similar setups: the most typical of them, and its sides of games."""

    typical: Setup
    sides: Sequence[Side]

    @property
    def counts(self) -> list[int]:
        """Games won, drawn and lost."""
        return counts_of(self.sides)


def counts_of(sides: Sequence[Side]) -> list[int]:
    """Games won, drawn and lost."""
    outcomes = [side.outcome for side in sides]
    return [outcomes.count(outcome) for outcome in (WON, DRAWN, LOST)]


def groups_of(variant: Variant, sides: Sequence[Side]) -> list[Group]:
    """The sides by similarity of their setups, the group with most games first.

    Two setups are alike as far as the same pieces stand on the same squares, or beside them. Groups
    are made by k-means, whose first centres are setups far from each other. The same games give the
    same groups.
    """
    by_setup: dict[bytes, list[Side]] = {}
    for side in sides:
        by_setup.setdefault(side.setup, []).append(side)
    ordered = sorted(by_setup, key=lambda setup: (-len(by_setup[setup]), setup))
    if not ordered:
        return []
    setups = np.frombuffer(b"".join(ordered), np.uint8).reshape(len(ordered), -1)
    games = np.array([len(by_setup[setup]) for setup in ordered], np.float64)
    number = max(1, min(MAX_GROUPS, round(math.sqrt(len(ordered) / 3))))
    compared = _features(variant, setups[:MAX_COMPARED])
    centres = _centres(compared, games[:MAX_COMPARED], number)
    nearest, distances = [], []
    for first in range(0, len(setups), MAX_COMPARED):
        far = _distances(_features(variant, setups[first : first + MAX_COMPARED]), centres)
        nearest.append(far.argmin(axis=1))
        distances.append(far.min(axis=1))
    labels, away = np.concatenate(nearest), np.concatenate(distances)
    found = []
    for label in range(number):
        members = np.flatnonzero(labels == label)
        if len(members):
            typical = setups[members[np.argmin(away[members])]]
            own = [side for at in members for side in by_setup[ordered[at]]]
            found.append(Group(typical, own))
    return sorted(found, key=lambda group: -len(group.sides))


def _features(variant: Variant, setups: Bytes) -> Float64s:
    """float64 [n, features], whose squared distances say how much setups differ."""
    shape = len(setups), variant.ranks, variant.width
    parts = []
    for type_ in range(len(TYPES)):
        if variant.counts[type_]:
            there = np.pad((setups == type_).reshape(shape).astype(float), ((0, 0), (1, 1), (1, 1)))
            near = there[:, 1:-1, 1:-1].copy()
            for up, right in ((0, 1), (2, 1), (1, 0), (1, 2)):
                near += BESIDE * there[:, up : up + shape[1], right : right + shape[2]]
            weight = WEIGHTS.get(type_, 1.0)
            parts.append(math.sqrt(weight) * near.reshape(len(setups), -1))
    return np.concatenate(parts, axis=1)


def _centres(points: Float64s, weights: Float64s, number: int) -> Float64s:
    """The centres of k-means, float64 [number, features]."""
    centres = points[:1]
    while len(centres) < number:
        far = _distances(points, centres).min(axis=1) * weights
        centres = np.concatenate([centres, points[[int(far.argmax())]]])
    for _ in range(ROUNDS):
        labels = _distances(points, centres).argmin(axis=1)
        moved = centres.copy()
        for label in range(number):
            own = labels == label
            if own.any():
                moved[label] = np.average(points[own], axis=0, weights=weights[own])
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def _distances(points: Float64s, centres: Float64s) -> Float64s:
    """float64 [points, centres]: squared distances."""
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * points @ centres.T, 0))


def first_moves(sides: Sequence[Side]) -> list[tuple[tuple[int, int], Sequence[Side]]]:
    """How most games began, ten own moves at most: each move that was played most often after those
    before it, with the sides that had played so far."""
    line: list[tuple[tuple[int, int], Sequence[Side]]] = []
    for at in range(FIRST):
        played: dict[tuple[int, int], list[Side]] = {}
        for side in sides:
            if len(side.moves) > at:
                played.setdefault(side.moves[at], []).append(side)
        if not played:
            break
        move, sides = max(played.items(), key=lambda one: (len(one[1]), one[0]))
        line.append((move, sides))
    return line


def flag_counts(variant: Variant, sides: Sequence[Side]) -> Int64s:
    """int64 [3, zone]: games won, drawn and lost with the flag on each square."""
    counts = np.zeros((3, variant.zone), np.int64)
    for side in sides:
        counts[side.outcome, side.setup.index(FLAG)] += 1
    return counts
