"""The habits of the scripted players: where pieces are placed, and what moves are worth.

What no habit says, all of them do alike: they attack what they expect to beat, run from known
stronger pieces, and go forward, as `stratkit.games.stratego.heuristic` does. A habit is worth more
than that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bools, Float64s, Int64s
from stratkit.engine.stratego import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY, UNKNOWN
from stratkit.games.stratego.heuristic import ADVANCE, RETREAT, VALUES
from stratkit.players.scripted.sight import NOBODY, Ground, Moves, Sight

SERGEANT, CAPTAIN, MAJOR, COLONEL, GENERAL = 4, 6, 7, 8, 9
NEVER = -1000.0  # of a move that is made where there is no other
CERTAIN = 20.0  # of a move that the habit is about


@dataclass(frozen=True)
class Placing:
    """The next piece of each of n sides. `type_` int64 [n, 1]; `own` int64 [n, S], the types that
    stand; `usual` float64 [n, S], the weights of the rules of thumb; `lot` float64 [n, 1], a number
    in [0, 1) that stays in a game."""

    ground: Ground
    type_: Int64s
    own: Int64s
    usual: Float64s
    lot: Float64s

    def beside(self, *types: int) -> Bools:
        """bool [n, S]: the squares beside own pieces of these types."""
        return np.asarray(self.ground.beside(np.isin(self.own, types)) > 0)

    def post(self) -> Bools:
        """bool [n, S]: one of the foremost squares that no lake bars."""
        squares = np.flatnonzero(self.ground.front)
        chosen = squares[(self.lot[:, 0] * len(squares)).astype(int)]
        return np.asarray(np.arange(self.ground.squares) == chosen[:, None])


def sense(moves: Moves) -> Float64s:
    """What all do alike, float64 [m]."""
    forward = np.where(moves.ahead > 0, ADVANCE, np.where(moves.ahead < 0, RETREAT, 0.0))
    return moves.gain - 0.8 * moves.risk + 0.5 * moves.flees + forward


class Habit(ABC):
    """One habit. It remembers nothing."""

    def places(self, placing: Placing) -> Float64s:
        """Weights of the squares, float64 [n, S], for the next piece."""
        return placing.usual

    @abstractmethod
    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        """What the moves are worth, float64 [m]."""


class Raider(Habit):
    """One middle piece walks along the enemy's home ranks and takes what it can, hidden or not,
    while the others stay behind it. It passes by what is known to stop it. The raider is the best
    piece up to a colonel; where there is none, the general, the marshal, or any other."""

    ORDER = (COLONEL, MAJOR, CAPTAIN, 5, SERGEANT, GENERAL, MARSHAL, MINER, SCOUT, SPY)

    def places(self, placing: Placing) -> Float64s:
        """The raider has a free way before it."""
        counts = placing.ground.variant.counts
        raider = next(type_ for type_ in self.ORDER if counts[type_])
        return np.where((placing.type_ == raider) & placing.ground.front, 50.0, placing.usual)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        raids = moves.start == self.raider(sight)[moves.row]
        foe = sight.foe[moves.row]
        prey = (foe == UNKNOWN) | moves.beatable()
        at_home = prey & sight.ground.home[::-1]
        prey = np.where(at_home.any(1, keepdims=True), at_home, prey)
        takes = moves.hidden | moves.wins
        raid = np.where(takes, CERTAIN + moves.gain, 3.0 * moves.nearer(prey) - 5 * moves.risk)
        raid = np.where(moves.attacks & ~takes, -CERTAIN, raid + 5 * moves.flees)
        return np.where(raids, raid, sense(moves) - 0.5 * (moves.ahead > 0))

    def raider(self, sight: Sight) -> Int64s:
        """int64 [n]: the square of the raider, of equal pieces the foremost."""
        rank_of = np.zeros(NOBODY + 1)
        rank_of[list(self.ORDER)] = np.arange(len(self.ORDER), 0, -1)
        return np.asarray((100 * rank_of[sight.own] + sight.ground.rank).argmax(1))


class Baiter(Habit):
    """The spy waits in the foremost rank beside a weak piece, which steps out and comes back: who
    comes for it stands beside the spy. Most bombs stand where strong pieces probe, in front."""

    WEAK = (SCOUT, MINER, SERGEANT)

    def places(self, placing: Placing) -> Float64s:
        front, type_ = placing.ground.front, placing.type_
        post = placing.post()
        beside = (placing.ground.beside(post) > 0) & front
        baited = (beside & np.isin(placing.own, self.WEAK)).any(1, keepdims=True)
        bait = np.isin(type_, self.WEAK) & ~baited
        bombs = 4.0 * front + placing.beside(FLAG) + 1e-3
        weights = np.where(type_ == BOMB, bombs, placing.usual)
        weights = np.where(beside, weights * np.where(bait, 1e3, 1e-3), weights)
        spy = np.where(post, 1.0, 1e-6)
        return np.where(type_ == SPY, spy, np.where(post, 1e-9, weights))

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        spy = sight.own == SPY
        waits = spy & ~sight.moved & ~sight.shown
        by_spy = sight.ground.beside(waits) > 0
        leaves, comes = moves.on(by_spy, moves.start), moves.on(by_spy, moves.end)
        weak = np.isin(moves.piece, self.WEAK) & ~moves.attacks & moves.single
        known = moves.on(sight.moved, moves.start)
        invites = weak & leaves & ~known & (moves.ahead > 0)
        invites |= weak & ~leaves & comes & known
        worth = sense(moves) + 1.5 * invites - 1.5 * (weak & leaves & known)
        springs = (moves.piece == SPY) & (moves.target == MARSHAL)
        worth = np.where(moves.on(waits, moves.start), -CERTAIN, worth)
        return np.where(springs, CERTAIN, worth)


class Waiter(Habit):
    """It never attacks while it can do otherwise. It walls in its flag, stays at home, and moves to
    and fro where the rules allow."""

    def places(self, placing: Placing) -> Float64s:
        wall = np.where(placing.type_ == BOMB, 50.0, 20.0) * placing.beside(FLAG)
        return np.where(placing.type_ == FLAG, placing.usual, placing.usual + wall)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        to_and_fro = (moves.start == sight.went[moves.row]) & (moves.end == sight.came[moves.row])
        wall = sight.ground.beside(sight.own == FLAG) > 0
        worth = 2.0 * to_and_fro - moves.risk + 0.5 * moves.flees
        worth -= 2.0 * ~sight.ground.home[moves.end] + 3.0 * moves.on(wall, moves.start)
        return np.where(moves.attacks, NEVER, worth)


class Bluffer(Habit):
    """Low pieces stand in front and advance as high ones would: step by step, and towards known
    strong pieces, as long as nobody knows them. High pieces stand behind and wait."""

    LOW = (SCOUT, MINER, SERGEANT)

    def places(self, placing: Placing) -> Float64s:
        """Low pieces in front, the marshal to the majors behind."""
        rank = np.minimum(placing.ground.rank, placing.ground.variant.ranks)
        high = (placing.type_ >= MAJOR) & (placing.type_ <= MARSHAL)
        weights = np.where(np.isin(placing.type_, self.LOW), np.exp(2.0 * rank), placing.usual)
        return np.where(high, np.exp(-1.0 * rank), weights)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        low = np.isin(moves.piece, self.LOW) & ~moves.on(sight.shown, moves.start)
        foe = sight.foe[moves.row]
        strong = (foe >= moves.piece[:, None]) & (foe <= MARSHAL)
        bold = 0.5 * moves.nearer(strong) + 3 * ADVANCE * moves.ahead - CERTAIN * ~moves.single
        bold = np.where(moves.attacks, moves.gain - CERTAIN * (moves.gain < 0), bold)
        worth = np.where(low, bold, sense(moves))
        high = (moves.piece >= MAJOR) & (moves.piece <= MARSHAL)
        return np.asarray(worth - 1.0 * (high & ~moves.attacks & (moves.flees == 0)))


class Rusher(Habit):
    """All go forward, strong pieces and scouts first, and attack whatever is hidden."""

    def places(self, placing: Placing) -> Float64s:
        rank = np.minimum(placing.ground.rank, placing.ground.variant.ranks)
        leads = np.isin(placing.type_, (SCOUT, MAJOR, COLONEL, GENERAL, MARSHAL))
        return np.where(leads, np.exp(1.5 * rank), placing.usual)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        prey = (sight.foe[moves.row] == UNKNOWN) | moves.beatable()
        step = 1.5 * moves.nearer(prey) + 0.05 * sight.ground.rank[moves.start]
        attack = np.where(moves.hidden | moves.wins, CERTAIN + moves.gain, moves.gain)
        return np.where(moves.attacks, attack, step)


class MinerHunter(Habit):
    """It hunts the enemy's miners, known ones first, then those that are likeliest. Its flag stands
    behind bombs, which nobody else clears away."""

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        likely = sight.chances[:, MINER]
        most = likely.max(1, keepdims=True)
        prey = (likely > 0.9 * most) & (most > 0)
        hunts = (moves.piece > MINER) | (moves.piece == SCOUT)
        worth = sense(moves) + np.where(hunts, 0.6 * moves.nearer(prey[moves.row]), 0.0)
        miner = likely[moves.row, moves.end]
        cheap = moves.hidden & (VALUES[moves.piece] <= VALUES[MAJOR])
        worth += np.where(hunts & cheap, 4.0 * miner, 0.0)
        return np.where(hunts & moves.wins & (moves.target == MINER), CERTAIN, worth)


class Careful(Habit):
    """It attacks only what it knows, and knows to beat, and goes after that."""

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        worth = sense(moves) + 0.4 * moves.nearer(moves.beatable())
        worth = np.where(moves.wins, CERTAIN + moves.gain, worth)
        return np.where(moves.attacks & ~moves.wins, NEVER, worth)


class Turtle(Habit):
    """All its pieces draw together around the flag, strong ones and bombs next to it. It takes what
    comes into its home ranks and is expected to fall there, and else moves to and fro."""

    def places(self, placing: Placing) -> Float64s:
        strong = (placing.type_ >= MAJOR) & (placing.type_ <= MARSHAL)
        near = np.where(placing.type_ == BOMB, 20.0, np.where(strong, 10.0, 1.0))
        wall = near * placing.beside(FLAG)
        return np.where(placing.type_ == FLAG, placing.usual, placing.usual + wall)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        flag = (sight.own == FLAG)[moves.row]
        to_and_fro = (moves.start == sight.went[moves.row]) & (moves.end == sight.came[moves.row])
        worth = 0.3 * moves.nearer(flag) + 0.5 * to_and_fro - moves.risk + 0.5 * moves.flees
        home = sight.ground.home
        worth -= 5.0 * (home[moves.start] & ~home[moves.end])
        defends = home[moves.end] & (moves.wins | (moves.gain > 0))
        return np.where(moves.attacks, np.where(defends, CERTAIN + moves.gain, NEVER), worth)


class Shuttler(Habit):
    """One piece moves to and fro in the open, and all others stand where they are. It takes what it
    knows to beat beside that piece, and nothing else."""

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        one = moves.start == sight.went[moves.row]
        back = one & (moves.end == sight.came[moves.row])
        ahead = 0.1 * (moves.ahead > 0) * ~sight.moved.any(1)[moves.row]
        worth = 2.0 * one + back + ahead - moves.risk + 0.5 * moves.flees
        attack = np.where(moves.wins & one, CERTAIN, NEVER)
        return np.where(moves.attacks, attack, worth)


class Sniper(Habit):
    """Scouts stand in front, and wait for an open file to a piece of the enemy's last two ranks
    that has not moved: it may be the flag. The others open files."""

    def places(self, placing: Placing) -> Float64s:
        rank = np.minimum(placing.ground.rank, placing.ground.variant.ranks)
        return np.where(placing.type_ == SCOUT, np.exp(2.0 * rank), placing.usual)

    def judge(self, sight: Sight, moves: Moves) -> Float64s:
        scout = (moves.piece == SCOUT) & ~moves.on(sight.shown, moves.start)
        still = moves.hidden & ~moves.on(sight.moved, moves.end)
        last = sight.ground.rank[moves.end] >= sight.ground.rank.max() - 1
        flag = sight.chances[moves.row, FLAG, moves.end]
        shot = CERTAIN * (1 + flag) + sight.ground.rank[moves.end]
        worth = sense(moves) - 1.0 * (scout & (moves.flees == 0) & ~moves.wins)
        return np.asarray(np.where((moves.piece == SCOUT) & still & last, shot, worth))


HABITS: dict[str, type[Habit]] = {
    "raider": Raider,
    "baiter": Baiter,
    "waiter": Waiter,
    "bluffer": Bluffer,
    "rusher": Rusher,
    "miner-hunter": MinerHunter,
    "careful": Careful,
    "turtle": Turtle,
    "shuttler": Shuttler,
    "sniper": Sniper,
}
