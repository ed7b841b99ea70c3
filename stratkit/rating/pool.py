"""Who played whom and how it ended: the games of a pool as arrays, in their records' order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LOST, DRAWN, WON = 0, 1, 2  # a result


@dataclass(frozen=True)
class Pool:
    """Games between players. The games of a pair share their setups; pairs are independent of each
    other.

        names   of the players
        red     int64 [games], indices of names
        blue    int64 [games], indices of names
        result  int64 [games], red's: LOST, DRAWN or WON
        pair    int64 [games], the number of the pair
    """

    names: Sequence[str]
    red: Ints
    blue: Ints
    result: Ints
    pair: Ints

    def __len__(self) -> int:
        return len(self.red)

    @cached_property
    def met(self) -> GamePairs:
        """Its pairs of games."""
        return pairs(self)

    def played(self) -> Ints:
        """[player]: how many games."""
        return np.bincount(np.concatenate([self.red, self.blue]), minlength=len(self.names))

    def only(self, games: Mask) -> Pool:
        """These games, and the players who are in them."""
        red, blue = self.red[games], self.blue[games]
        stay, number = np.unique(np.concatenate([red, blue]), return_inverse=True)
        names = [self.names[i] for i in stay]
        half = len(red)
        return Pool(names, number[:half], number[half:], self.result[games], self.pair[games])

    def without(self, players: Iterable[int]) -> Pool:
        """The games in which none of these players is."""
        out = np.isin(np.arange(len(self.names)), list(players))
        return self.only(~(out[self.red] | out[self.blue]))


@dataclass(frozen=True)
class GamePairs:
    """The pairs of games in a pool, alike ones counted together, ordered by who met. A pair may
    have one game, while its other one is missing.

        first   int64 [kinds], the player with the smaller index
        second  int64 [kinds], the other player
        number  int64 [kinds], how many pairs of this kind
        counts  int64 [kinds, 2, 3], their games by the first player's colour (red, blue) and result
    """

    first: Ints
    second: Ints
    number: Ints
    counts: Ints

    @property
    def points(self) -> Floats:
        """[kinds]: what the first player scored in a pair."""
        return np.asarray((self.counts @ [0, 0.5, 1]).sum(1))

    def scores(self) -> Ints:
        """[meetings, r]: how often result r was the first player's, whatever the colours."""
        kinds = self.counts.sum(1) * self.number[:, None]
        return np.asarray(np.add.reduceat(kinds, self.starts))

    @property
    def starts(self) -> Ints:
        """[meetings]: the first kind of each two players who met."""
        new = (np.diff(self.first, prepend=-1) != 0) | (np.diff(self.second, prepend=-1) != 0)
        return np.flatnonzero(new)


def pairs(pool: Pool) -> GamePairs:
    """The pairs of `pool`. Games of a pair that have other players are pairs of their own."""
    swapped = pool.red > pool.blue
    first = np.where(swapped, pool.blue, pool.red)
    second = np.where(swapped, pool.red, pool.blue)
    kind = np.where(swapped, 3 + WON - pool.result, pool.result)
    meeting = first * len(pool.names) + second
    _, one, number = np.unique(
        pair_codes(meeting, pool.pair), return_index=True, return_inverse=True
    )
    counts = np.bincount(number * 6 + kind, minlength=len(one) * 6).reshape(-1, 6)
    key = meeting[one]
    for column in counts.T:
        key = pair_codes(key, column)
    _, some, many = np.unique(key, return_index=True, return_counts=True)
    games = one[some]
    return GamePairs(first[games], second[games], many, counts[some].reshape(-1, 2, 3))


def pair_codes(high: Ints, low: Ints) -> Ints:
    """A number for each two numbers, in the order of the pairs, from 0 without gaps."""
    _, high = np.unique(high, return_inverse=True)
    values, low = np.unique(low, return_inverse=True)
    _, codes = np.unique(high * len(values) + low, return_inverse=True)
    return np.asarray(codes)
