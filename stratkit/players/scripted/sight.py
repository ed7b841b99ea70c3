"""What a side sees of a game of Stratego, in arrays over many games.

A `Sight` has n rows, one a decision, and S squares, in the frame of the side. Its `Moves` are those
of all rows, one behind the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bools, Bytes, Float64s, Int64s
from stratkit.engine import Game, expand_planes, observation_dtype
from stratkit.engine.observation import ENEMY_PUBLIC
from stratkit.engine.stratego import (
    EMPTY,
    LAKE,
    MOVED,
    PIECE,
    REVEALED,
    SCOUT,
    SIDE,
    TYPE,
    TYPES,
    UNKNOWN,
    WINS,
    fight,
    variant,
)
from stratkit.games.stratego.heuristic import StrategoHeuristic

NOBODY = 16  # the type where no such piece stands
FAR = 1000  # the distance to nothing

# [attacker, defender]: who wins for certain; the last columns: a hidden piece, and none.
BEATS = np.zeros((len(TYPES), NOBODY + 1), bool)
BEATS[:, : len(TYPES)] = [
    [fight(one, other) == WINS for other in range(len(TYPES))] for one in range(len(TYPES))
]


class Ground:
    """The board of a game. `neighbours` int64 [S + 1, 4]: the next square to the right, left, front
    and back, S where none is; `steps` int64 [S, S]: the steps of a way round the lakes; `rank`
    int64 [S]; `home` and `front` bool [S]: where the side deploys, and the foremost of these
    squares that no lake bars."""

    def __init__(self, game: Game) -> None:
        board = variant(game.name)
        self.game, self.variant, self.squares = game, board, board.squares
        self.dtype = observation_dtype(board.squares)
        self.heuristic = StrategoHeuristic(game)
        square = np.arange(board.squares)
        file, self.rank = square % board.width, square // board.width
        self.lakes = np.isin(square, board.lakes)
        off = board.squares
        next_ = [
            np.where(file < board.width - 1, square + 1, off),
            np.where(file > 0, square - 1, off),
            np.where(self.rank < board.height - 1, square + board.width, off),
            np.where(self.rank > 0, square - board.width, off),
        ]
        self.neighbours = np.append(np.stack(next_, 1), np.full((1, 4), off), 0)
        self.home = (self.rank < board.ranks) & ~self.lakes
        ahead = np.append(self.lakes, True)[self.neighbours[:-1, 2]]
        self.front = self.home & (self.rank == board.ranks - 1) & ~ahead
        self.steps = self._steps()

    def beside(self, there: Bools) -> Float64s:
        """float64 [n, S]: how many neighbours of each square are `there`, bool [n, S]."""
        padded = np.append(there, np.zeros((len(there), 1), bool), 1)
        return np.asarray(padded[:, self.neighbours[:-1]].sum(2), np.float64)

    def _steps(self) -> Int64s:
        """Waves from all squares at once."""
        steps = np.where(np.eye(self.squares, dtype=bool), 0, FAR)
        reached = np.eye(self.squares, dtype=bool)
        for distance in range(1, self.squares):
            wave = (self.beside(reached) > 0) & ~self.lakes & ~reached
            if not wave.any():
                break
            steps[wave] = distance
            reached |= wave
        return steps


class Sight:
    """What the acting sides see in play.

    cells         uint8 [n, S]
    own, foe      int64 [n, S]: types of the own pieces, and of the enemy's (`UNKNOWN`: hidden);
                  `NOBODY` elsewhere
    moved, shown  bool [n, S]: pieces that have moved, whose type both sides know
    chances       float64 [n, 12, S]: of the types of the enemy's pieces
    worth         float64 [n, 12, S]: what an attack by each type is worth
    danger        float64 [n, 12, S]: what a piece of each type stands to lose to known neighbours
    came, went    int64 [n]: where the own last ply began and ended; 255: none was
    """

    def __init__(self, ground: Ground, observations: Bytes) -> None:
        self.ground = ground
        seen = observations.view(ground.dtype)[:, 0]
        self.seen, self.cells = seen, seen["cells"]
        whose, type_ = self.cells & (PIECE | SIDE), (self.cells & TYPE).astype(np.int64)
        self.own = np.where(whose == PIECE, type_, NOBODY)
        self.foe = np.where(whose == PIECE | SIDE, type_, NOBODY)
        self.moved = (self.cells & (PIECE | MOVED)) == PIECE | MOVED
        self.shown = (self.cells & (PIECE | REVEALED)) == PIECE | REVEALED
        planes = expand_planes(ground.game, np.ascontiguousarray(observations))
        planes = planes.reshape(len(seen), planes.shape[1], -1)
        self.chances = planes[:, ENEMY_PUBLIC].astype(np.float64)
        self.worth = ground.heuristic.attack_worth(planes)
        self.danger = ground.heuristic.danger(planes)
        self.came = seen["moves"]["from"][:, 1].astype(np.int64)
        self.went = seen["moves"]["to"][:, 1].astype(np.int64)

    @property
    def hidden(self) -> Bools:
        """bool [n, S]: the enemy's hidden pieces."""
        return np.asarray(self.foe == UNKNOWN)

    def moves(self, legal: Bytes) -> Moves:
        """The moves of the legal pieces as far as the board says, or those of the piece that is
        selected. A rule may forbid one of the former, but no piece has lost all."""
        selected = self.seen["stage"] == 1
        row, start = np.nonzero((legal > 0) & ~selected[:, None])
        moves = [self._reach(row, start)]
        row, end = np.nonzero((legal > 0) & selected[:, None])
        moves.append((row, self.seen["selected"][row].astype(np.int64), end))
        row, start, end = (np.concatenate(each) for each in zip(*moves, strict=True))
        order = np.lexsort((end, start, row))
        return Moves(self, row[order], start[order], end[order])

    def _reach(self, row: Int64s, start: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Where these pieces can go; those that can only attack, as a rule says, do."""
        bits = np.unpackbits(self.seen["only_attacks"], axis=1, bitorder="little")
        free = ~bits[row, start].astype(bool)
        row, start, free = (np.repeat(each, 4) for each in (row, start, free))
        way, at = np.tile(np.arange(4), len(row) // 4), start
        found = [(row[:0], start[:0], at[:0])]
        # An empty row behind the board's edge, as a wall.
        cells = np.append(self.cells, np.full((len(self.cells), 1), LAKE, np.uint8), 1)
        while len(row):
            at = self.ground.neighbours[at, way]
            cell = cells[row, at]
            attack = (cell & (PIECE | SIDE)) == PIECE | SIDE
            goes = attack | (free & (cell == EMPTY))
            found.append((row[goes], start[goes], at[goes]))
            on = (cell == EMPTY) & (self.own[row, start] == SCOUT)
            row, start, free, way, at = (each[on] for each in (row, start, free, way, at))
        rows, starts, ends = (np.concatenate(each) for each in zip(*found, strict=True))
        return rows, starts, ends


@dataclass
class Moves:
    """Moves of a sight: `row`, `start` and `end`, int64 [m], by rows."""

    sight: Sight
    row: Int64s
    start: Int64s
    end: Int64s

    def __post_init__(self) -> None:
        sight, ranks = self.sight, self.sight.ground.rank
        self.piece = sight.own[self.row, self.start]
        self.target = sight.foe[self.row, self.end]
        self.attacks = self.target != NOBODY
        self.hidden = self.target == UNKNOWN
        self.wins = BEATS[self.piece, self.target]  # for certain
        self.gain = sight.worth[self.row, self.piece, self.end]  # 0 where nobody is attacked
        self.risk = np.where(self.attacks, 0.0, sight.danger[self.row, self.piece, self.end])
        self.flees = sight.danger[self.row, self.piece, self.start]
        self.single = sight.ground.steps[self.start, self.end] == 1  # no scout's long move
        self.ahead = np.sign(ranks[self.end] - ranks[self.start])

    def on(self, field: npt.NDArray[np.bool_], square: Int64s) -> Bools:
        """bool [m]: the field, bool [n, S], on a square of each move."""
        return np.asarray(field[self.row, square])

    def beatable(self) -> Bools:
        """bool [m, S]: the known enemies that each move's piece beats."""
        return np.asarray(BEATS[self.piece[:, None], self.sight.foe[self.row]])

    def nearer(self, targets: Bools) -> Int64s:
        """int64 [m]: by how many steps each move comes nearer to the nearest of its targets,
        bool [m, S]; 0: it has none."""
        return self.distance(targets, self.start) - self.distance(targets, self.end)

    def distance(self, targets: Bools, square: Int64s) -> Int64s:
        """int64 [m]: the steps from a square of each move to the nearest target; `FAR`: none."""
        return np.asarray(np.where(targets, self.sight.ground.steps[square], FAR).min(1))


def best(moves: Moves, scores: Float64s, n: int) -> Int64s:
    """int64 [n]: the index of the best move of each row; the first of equals."""
    first = np.searchsorted(moves.row, np.arange(n))
    most = np.maximum.reduceat(scores, first)
    at_most = np.flatnonzero(scores == most[moves.row])
    return np.asarray(at_most[np.searchsorted(moves.row[at_most], np.arange(n))])
